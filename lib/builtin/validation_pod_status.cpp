// The status of Pods, as whoever runs them tells it.
#include <algorithm>
#include <map>
#include <set>

#include "builtin/app_armor.hpp"
#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

void check_conditions_of_pod(const Field& conditions) {
  static const std::set<std::string> known = {"PodScheduled", "Ready", "Initialized"};
  for (const auto& condition : conditions.items()) {
    const Field generation = condition["observedGeneration"];
    if (generation.number_or(0) < 0) generation.invalid("must be a non-negative integer");
    const Field type = condition["type"];
    if (known.count(type.text()) != 0) continue;
    type.at(condition.path() + ".Type").invalid_each(qualified_problems(type.text()));
  }
}

void check_nominated_node(const Field& name, const Field& live) {
  if (name.empty() || same_field(name, live["status"]["nominatedNodeName"])) return;
  name.invalid_each(subdomain_problems(name.text()));
  if (live["spec"]["nodeName"].empty()) return;
  name.forbidden("may not be set on pods that are already bound to a node");
}

// The first rule that the code fits.
std::string restart_action(const Field& container, std::int64_t code) {
  for (const auto& rule : container["restartPolicyRules"].items()) {
    const Field codes = rule["exitCodes"];
    const auto values = codes["values"].items();
    const bool listed = std::any_of(values.begin(), values.end(),
                                    [&](const Field& value) { return value.number() == code; });
    if (codes["operator"].is(listed ? "In" : "NotIn")) return rule["action"].text();
  }
  return "";
}

bool restarts(const Field& container, const Field& spec, std::int64_t code) {
  Field policy = spec["restartPolicy"];
  if (container["restartPolicy"].present()) {
    const std::string action = restart_action(container, code);
    if (action == "Restart" || action == "RestartAllContainers") return true;
    policy = container["restartPolicy"];
  }
  return policy.is("OnFailure") ? code != 0 : !policy.is("Never");
}

// Any of them may start them all again.
bool may_restart_all(const Field& spec) {
  for (const char* list : {"initContainers", "containers"}) {
    for (const auto& container : spec[list].items()) {
      for (const auto& rule : container["restartPolicyRules"].items()) {
        if (rule["action"].is("RestartAllContainers")) return true;
      }
    }
  }
  return false;
}

// What has ended and is not started again stays ended. `containers`: null for those that never are.
void check_ended(const Field& now, const Field& before, const char* containers, const Field& spec) {
  if (containers != nullptr && may_restart_all(spec)) return;
  std::set<std::string> runs;
  for (const auto& status : now.items()) {
    if (!status["state"]["terminated"].present()) runs.insert(status["name"].text());
  }
  std::map<std::string, Field> by_name;
  if (containers != nullptr) {
    for (const auto& one : spec[containers].items()) by_name.emplace(one["name"].text(), one);
  }
  const auto old = before.items();
  for (std::size_t i = 0; i < old.size(); ++i) {
    const Field ended = old[i]["state"]["terminated"];
    const std::string name = old[i]["name"].text();
    if (!ended.present() || runs.count(name) == 0) continue;
    const auto found = by_name.find(name);
    if (found != by_name.end() && restarts(found->second, spec, ended["exitCode"].number_or(0))) {
      continue;
    }
    // Told at the place that it had.
    now.at(now.path() + "[" + std::to_string(i) + "].state")
        .forbidden("may not be transitioned to non-terminated state");
  }
}

void check_claim_statuses(const Field& statuses, const Field& claims) {
  std::set<std::string> known;
  for (const auto& claim : claims.items()) known.insert(claim["name"].text());
  std::set<std::string> seen;
  for (const auto& status : statuses.items()) {
    const Field name = status["name"];
    if (known.count(name.text()) == 0) {
      name.invalid_text("must match the name of an entry in `spec.resourceClaims`");
    }
    if (!seen.insert(name.text()).second) name.duplicate();
    const Field claim = status["resourceClaimName"];
    if (claim.present()) claim.invalid_each(subdomain_problems(claim.text()));
  }
}

// In the form of the server's own type.
std::string ips_text(const std::vector<Field>& addresses) {
  std::string out;
  for (const auto& one : addresses) {
    out += (out.empty() ? "" : ",") + ("{\"IP\":" + json_text(one["ip"].text()) + "}");
  }
  return "[" + out + "]";
}

// One of each family; those that were there may be odd ones.
void check_ips(const Field& list, const Field& before) {
  std::set<std::string> known;
  for (const auto& one : before.items()) known.insert(one["ip"].text());
  const auto all = list.items();
  for (const auto& one : all) check_ip(one["ip"].at(one.path()), known);
  if (all.size() < 2) return;
  const bool dual = all.size() == 2 && is_ip(all[0]["ip"].text()) && is_ip(all[1]["ip"].text()) &&
                    is_ipv6(all[0]["ip"].text()) != is_ipv6(all[1]["ip"].text());
  if (!dual) {
    list.invalid_as(ips_text(all), "may specify no more than one IP for each IP family");
  }
}

void check_host_ips(const Field& status, const Field& before) {
  const Field hosts = status["hostIPs"];
  const auto each = hosts.items();
  if (each.empty()) return;
  const Field first = each.front()["ip"];
  if (first.text() != status["hostIP"].text()) first.invalid_text("must be equal to `hostIP`");
  check_ips(hosts, before["hostIPs"]);
}

}  // namespace

void check_pod_status(const Field& object, const Json* live) {
  if (live == nullptr) return;
  const Field before(*live, object.errors());
  const Field spec = before["spec"];
  const Field status = object["status"];
  const Field old = before["status"];
  const Field annotations = object["metadata"]["annotations"];
  check_kept_app_armor(annotations, before["metadata"]["annotations"]);
  check_pod_annotations(annotations, object["spec"]);
  check_conditions_of_pod(status["conditions"]);
  check_nominated_node(status["nominatedNodeName"], before);
  const Field generation = status["observedGeneration"];
  if (generation.number_or(0) < 0) generation.invalid("must be a non-negative integer");
  const Field service = status["qosClass"];
  if (!same_field(service, old["qosClass"])) service.invalid_text("field is immutable");
  for (const auto& [list, containers] :
       {std::pair{"containerStatuses", "containers"},
        std::pair{"initContainerStatuses", "initContainers"},
        std::pair{"ephemeralContainerStatuses", static_cast<const char*>(nullptr)}}) {
    check_ended(status[list], old[list], containers, spec);
  }
  check_claim_statuses(status["resourceClaimStatuses"], spec["resourceClaims"]);
  check_extended_claim_status(status["extendedResourceClaimStatus"], spec);
  check_ips(status["podIPs"], old["podIPs"]);
  check_host_ips(status, old);
  check_container_statuses(status, spec);
}

}  // namespace kubewatch::builtin
