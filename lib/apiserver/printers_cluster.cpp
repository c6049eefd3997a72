// Nodes, namespaces, events, configuration and rights.
#include <fmt/format.h>

#include "apiserver/printer_parts.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver::parts {

namespace {

using base::find;
using base::string_at;

Json node_status(const Json& o, WallTime) {
  std::string out = "Unknown";
  if (condition(o, "Ready") != nullptr) out = condition_true(o, "Ready") ? "Ready" : "NotReady";
  return flag(o, {"spec", "unschedulable"}) ? out + ",SchedulingDisabled" : out;
}

Json node_roles(const Json& o, WallTime) {
  constexpr std::string_view kRole = "node-role.kubernetes.io/";
  std::vector<std::string> out;
  if (const Json* labels = find(o, {"metadata", "labels"}); labels && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      if (key.starts_with(kRole)) out.push_back(key.substr(kRole.size()));
      if (key == "kubernetes.io/role" && value.is_string()) out.push_back(value);
    }
  }
  out = sorted_set(std::move(out));
  if (!out.empty() && out.front().empty()) out.erase(out.begin());
  return out.empty() ? "<none>" : base::join(out, ",");
}

std::string node_address(const Json& o, std::string_view type) {
  std::string out;
  each(o, {"status", "addresses"}, [&](const Json& one) {
    if (out.empty() && text(one, {"type"}) == type) out = text(one, {"address"});
  });
  return out.empty() ? "<none>" : out;
}

Json node_kernel(const Json& o, WallTime) {
  const std::string machine = text(o, {"status", "nodeInfo", "architecture"});
  return text(o, {"status", "nodeInfo", "kernelVersion"}, "<unknown>") +
         (machine.empty() ? "" : " (" + machine + ")");
}

// An event's field, by its name in v1 or else in events.k8s.io.
std::string event_text(const Json& o, Path old_path, Path new_path) {
  std::string out = text(o, old_path);
  return out.empty() ? text(o, new_path) : out;
}

std::string first_seen(const Json& o) {
  std::string first = event_text(o, {"firstTimestamp"}, {"deprecatedFirstTimestamp"});
  return first.empty() ? text(o, {"eventTime"}) : first;
}

Json event_last(const Json& o, WallTime now) {
  if (exists(o, {"series"})) return since(o, {"series", "lastObservedTime"}, now);
  const std::string last = event_text(o, {"lastTimestamp"}, {"deprecatedLastTimestamp"});
  return age_of(last.empty() ? first_seen(o) : last, now);
}

Json event_count(const Json& o, WallTime) {
  if (exists(o, {"series"})) return number(o, {"series", "count"});
  const auto count = number(o, {"count"}, number(o, {"deprecatedCount"}));
  return count == 0 ? 1 : count;
}

Json event_object(const Json& o, WallTime) {
  const std::string kind =
      base::to_lower(event_text(o, {"involvedObject", "kind"}, {"regarding", "kind"}));
  const std::string name = event_text(o, {"involvedObject", "name"}, {"regarding", "name"});
  return name.empty() ? kind : kind + "/" + name;
}

Json event_source(const Json& o, WallTime) {
  std::string from = event_text(o, {"source", "component"}, {"deprecatedSource", "component"});
  if (from.empty()) from = event_text(o, {"reportingComponent"}, {"reportingController"});
  std::string host = event_text(o, {"source", "host"}, {"deprecatedSource", "host"});
  if (host.empty()) host = text(o, {"reportingInstance"});
  return host.empty() ? from : from + ", " + host;
}

Json event_message(const Json& o, WallTime) {
  return std::string(base::trim(event_text(o, {"message"}, {"note"})));
}

std::string quota(const Json& o, bool limits) {
  std::vector<std::string> out;
  if (const Json* hard = find(o, {"status", "hard"}); hard != nullptr && hard->is_object()) {
    for (const auto& [name, value] : hard->items()) {
      if (name.starts_with("limits.") != limits) continue;
      out.push_back(fmt::format("{}: {}/{}", name, shown(o, {"status", "used", name}, "0"),
                                shown(value, {}, "0")));
    }
  }
  return base::join(out, ", ");
}

Json component_status(const Json& o, WallTime) {
  std::string out = "Unknown";
  each(o, {"conditions"}, [&](const Json& one) {
    if (out != "Unknown" || text(one, {"type"}) != "Healthy") return;
    out = text(one, {"status"}) == "True" ? "Healthy" : "Unhealthy";
  });
  return out;
}

std::string component_text(const Json& o, const char* field) {
  std::string out;
  each(o, {"conditions"}, [&](const Json& one) {
    if (out.empty() && text(one, {"type"}) == "Healthy") out = text(one, {field});
  });
  return out;
}

std::string subjects(const Json& o, std::string_view kind) {
  std::vector<std::string> out;
  each(o, {"subjects"}, [&](const Json& one) {
    if (string_at(one, {"kind"}) != kind) return;
    const bool account = kind == "ServiceAccount";
    out.push_back((account ? string_at(one, {"namespace"}) + "/" : "") + string_at(one, {"name"}));
  });
  return base::join(out, ", ");
}

Json request_duration(const Json& o, WallTime) {
  if (!exists(o, {"spec", "expirationSeconds"})) return "<none>";
  return base::format_age(std::chrono::seconds(number(o, {"spec", "expirationSeconds"})));
}

Json request_condition(const Json& o, WallTime) {
  std::string out = condition(o, "Denied") != nullptr     ? "Denied"
                    : condition(o, "Approved") != nullptr ? "Approved"
                                                          : "Pending";
  if (condition(o, "Failed") != nullptr) out += ",Failed";
  return text(o, {"status", "certificate"}).empty() ? out : out + ",Issued";
}

Json api_service(const Json& o, WallTime) {
  if (!exists(o, {"spec", "service"})) return "Local";
  return text(o, {"spec", "service", "namespace"}) + "/" + text(o, {"spec", "service", "name"});
}

Json api_available(const Json& o, WallTime) {
  const Json* found = condition(o, "Available");
  if (found == nullptr) return "Unknown";
  const std::string status = text(*found, {"status"});
  const std::string reason = text(*found, {"reason"});
  return status == "True" || reason.empty() ? status : fmt::format("{} ({})", status, reason);
}

void add_nodes(ColumnTable& t) {
  t["namespaces"] = {kName, {"Status", "string", 0, KW_CELL(text(o, {"status", "phase"}))}, kAge};
  t["nodes"] = {
      kName,
      {"Status", "string", 0, node_status},
      {"Roles", "string", 0, node_roles},
      kAge,
      {"Version", "string", 0, KW_CELL(text(o, {"status", "nodeInfo", "kubeletVersion"}))},
      {"Internal-IP", "string", 1, KW_CELL(node_address(o, "InternalIP"))},
      {"External-IP", "string", 1, KW_CELL(node_address(o, "ExternalIP"))},
      {"OS-Image", "string", 1, KW_CELL(text(o, {"status", "nodeInfo", "osImage"}, "<unknown>"))},
      {"Kernel-Version", "string", 1, node_kernel},
      {"Container-Runtime", "string", 1,
       KW_CELL(text(o, {"status", "nodeInfo", "containerRuntimeVersion"}, "<unknown>"))}};
  t["componentstatuses"] = {kName,
                            {"Status", "string", 0, component_status},
                            {"Message", "string", 0, KW_CELL(component_text(o, "message"))},
                            {"Error", "string", 0, KW_CELL(component_text(o, "error"))}};
  t["leases.coordination.k8s.io"] = {
      kName, {"Holder", "string", 0, KW_CELL(text(o, {"spec", "holderIdentity"}))}, kAge};
  t["leasecandidates.coordination.k8s.io"] = {
      kName,
      {"LeaseName", "string", 0, KW_CELL(text(o, {"spec", "leaseName"}))},
      {"BinaryVersion", "string", 0, KW_CELL(text(o, {"spec", "binaryVersion"}))},
      {"EmulationVersion", "string", 0, KW_CELL(text(o, {"spec", "emulationVersion"}))},
      kAge};
  t["runtimeclasses.node.k8s.io"] = {
      kName, {"Handler", "string", 0, KW_CELL(text(o, {"handler"}))}, kAge};
  t["priorityclasses.scheduling.k8s.io"] = {
      kName,
      {"Value", "integer", 0, KW_CELL(number(o, {"value"}))},
      {"Global-Default", "boolean", 0, KW_CELL(flag(o, {"globalDefault"}))},
      kAge,
      {"PreemptionPolicy", "string", 0, KW_CELL(text(o, {"preemptionPolicy"}))}};
}

void add_events(ColumnTable& t) {
  BuiltinColumn name = kName;
  name.priority = 1;
  t["events"] = {
      {"Last Seen", "string", 0, event_last},
      {"Type", "string", 0, KW_CELL(text(o, {"type"}))},
      {"Reason", "string", 0, KW_CELL(text(o, {"reason"}))},
      {"Object", "string", 0, event_object},
      {"Subobject", "string", 1,
       KW_CELL(event_text(o, {"involvedObject", "fieldPath"}, {"regarding", "fieldPath"}))},
      {"Source", "string", 1, event_source},
      {"Message", "string", 0, event_message},
      {"First Seen", "string", 1, KW_CELL(age_of(first_seen(o), now))},
      {"Count", "string", 1, event_count},
      name};
}

void add_plain(ColumnTable& t) {
  for (const char* id :
       {"limitranges", "csistoragecapacities.storage.k8s.io", "roles.rbac.authorization.k8s.io",
        "clusterroles.rbac.authorization.k8s.io",
        "customresourcedefinitions.apiextensions.k8s.io"}) {
    t[id] = created_columns();
  }
}

}  // namespace

void add_cluster(ColumnTable& t) {
  add_nodes(t);
  add_events(t);
  add_plain(t);
  t["configmaps"] = {
      kName, {"Data", "string", 0, KW_CELL(count(o, {"data"}) + count(o, {"binaryData"}))}, kAge};
  t["secrets"] = {kName,
                  {"Type", "string", 0, KW_CELL(text(o, {"type"}))},
                  {"Data", "string", 0, KW_CELL(count(o, {"data"}))},
                  kAge};
  t["serviceaccounts"] = {kName, kAge};
  t["resourcequotas"] = {kName,
                         {"Request", "string", 0, KW_CELL(quota(o, false))},
                         {"Limit", "string", 0, KW_CELL(quota(o, true))},
                         kAge};
  for (const char* binding : {"rolebindings.rbac.authorization.k8s.io",
                              "clusterrolebindings.rbac.authorization.k8s.io"}) {
    t[binding] = {kName,
                  {"Role", "string", 0,
                   KW_CELL(text(o, {"roleRef", "kind"}) + "/" + text(o, {"roleRef", "name"}))},
                  kAge,
                  {"Users", "string", 1, KW_CELL(subjects(o, "User"))},
                  {"Groups", "string", 1, KW_CELL(subjects(o, "Group"))},
                  {"ServiceAccounts", "string", 1, KW_CELL(subjects(o, "ServiceAccount"))}};
  }
  t["certificatesigningrequests.certificates.k8s.io"] = {
      kName,
      kAge,
      {"SignerName", "string", 0, KW_CELL(text(o, {"spec", "signerName"}, "<none>"))},
      {"Requestor", "string", 0, KW_CELL(text(o, {"spec", "username"}))},
      {"RequestedDuration", "string", 0, request_duration},
      {"Condition", "string", 0, request_condition}};
  t["apiservices.apiregistration.k8s.io"] = {kName,
                                             {"Service", "string", 0, api_service},
                                             {"Available", "string", 0, api_available},
                                             kAge};
}

}  // namespace kubewatch::apiserver::parts
