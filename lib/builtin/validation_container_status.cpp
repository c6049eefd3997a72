// What the status of a Pod says of its containers' users and of the resources that they have got.
#include <map>
#include <set>
#include <tuple>

#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::size_t kMostHealthMessage = 1024;

using ByName = std::map<std::string, Field>;

// Of two with one name the last.
void add_named(const Field& containers, ByName& out) {
  for (const auto& one : containers.items()) out.insert_or_assign(one["name"].text(), one);
}

void check_user(const Field& user, bool windows) {
  const Field linux = user["linux"];
  if (!linux.present()) return;
  if (windows) return linux.forbidden("cannot be set for a windows pod");
  linux["uid"].in_range(0, kMostInt32);
  linux["gid"].in_range(0, kMostInt32);
  for (const auto& group : linux["supplementalGroups"].items()) group.in_range(0, kMostInt32);
}

void check_health(const Field& resources) {
  std::set<std::string> ids;
  for (const auto& resource : resources.items()) {
    const Field health = resource["health"];
    static const Values known = {"Healthy", "Unhealthy", "Unknown"};
    if (!is_one(health.text(), known)) health.not_supported(known);
    const Field message = resource["message"];
    if (message.present() && message.empty()) message.required("must be non-empty if specified");
    if (message.size() > kMostHealthMessage) message.too_long(kMostHealthMessage);
    const Field id = resource["resourceID"];
    if (!ids.insert(id.text()).second) id.duplicate();
  }
}

bool has_claim(const Field& container, const std::string& name) {
  for (const auto& claim : container["resources"]["claims"].items()) {
    const std::string request = claim["request"].text();
    const std::string all =
        "claim:" + claim["name"].text() + (request.empty() ? "" : "/" + request);
    if (all == name) return true;
  }
  return false;
}

void check_allocated_name(const Field& name, const Field& container) {
  const std::string text = name.text();
  if (!text.starts_with("claim:")) {
    if (container["resources"]["requests"][text].present()) return;
    return name.invalid_text("must match one of the container's resource requests");
  }
  if (has_claim(container, text)) return;
  name.invalid_text(
      "must match one of the container's resource claims in a format "
      "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty");
}

// A container that is not there is not asked.
void check_allocated(const Field& status, const ByName& containers) {
  const auto container = containers.find(status["name"].text());
  for (const auto& resource : status["allocatedResourcesStatus"].items()) {
    const Field name = resource["name"];
    if (container != containers.end()) check_allocated_name(name, container->second);
    check_health(resource["resources"]);
  }
}

}  // namespace

void check_container_statuses(const Field& status, const Field& spec) {
  const bool windows = spec["os"]["name"].is("windows");
  for (const char* list :
       {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}) {
    for (const auto& one : status[list].items()) check_user(one["user"], windows);
  }
  for (const auto& [list, of] : {std::pair{"containerStatuses", "containers"},
                                 std::pair{"initContainerStatuses", "initContainers"}}) {
    ByName containers;
    // Of two with one name the first.
    for (const auto& one : spec[of].items()) containers.emplace(one["name"].text(), one);
    for (const auto& one : status[list].items()) check_allocated(one, containers);
  }
  for (const auto& one : status["ephemeralContainerStatuses"].items()) {
    const Field allocated = one["allocatedResourcesStatus"];
    if (!allocated.empty()) allocated.forbidden("must not be specified in container status");
  }
}

void check_extended_claim_status(const Field& status, const Field& spec) {
  if (!status.present()) return;
  ByName containers;
  add_named(spec["initContainers"], containers);
  add_named(spec["containers"], containers);
  const Field mappings = status["requestMappings"];
  if (mappings.empty()) mappings.required("at least one request mapping is required");
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const auto& mapping : mappings.items()) {
    const Field container = mapping["containerName"];
    const Field resource = mapping["resourceName"];
    const Field request = mapping["requestName"];
    const auto found = containers.find(container.text());
    if (found == containers.end()) {
      container.invalid_text(
          "must match the name of an entry in spec.initContainers.name or spec.containers.name");
    } else if (!found->second["resources"]["requests"][resource.text()].present()) {
      resource.invalid_text(
          "must match the extended resource name of an entry in "
          "spec.initContainers.resources.requests or spec.containers.resources.requests");
    }
    request.at(status.path() + ".requestName").invalid_each(label_problems(request.text()));
    if (seen.insert({container.text(), resource.text(), request.text()}).second) continue;
    for (const Field& part : {container, resource, request}) part.duplicate();
  }
  const Field claim = status["resourceClaimName"];
  if (claim.empty()) return claim.required();
  claim.invalid_each(subdomain_problems(claim.text()));
}

}  // namespace kubewatch::builtin
