#include "apiserver/printers.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/strings.hpp"

namespace kubewatch::apiserver {

namespace {

using base::find;
using base::int_at;
using base::string_at;
using Path = std::initializer_list<std::string_view>;

std::int64_t number(const Json& o, Path path, std::int64_t fallback = 0) {
  return int_at(o, path).value_or(fallback);
}

std::string text_or(const Json& o, Path path, const char* fallback) {
  const std::string text = string_at(o, path);
  return text.empty() ? fallback : text;
}

std::size_t count(const Json& o, Path path) {
  const Json* found = find(o, path);
  return found != nullptr && (found->is_array() || found->is_object()) ? found->size() : 0;
}

// One field of every item of an array, joined by commas.
std::string each(const Json& o, Path path, const char* field) {
  std::vector<std::string> out;
  if (const Json* items = find(o, path); items != nullptr && items->is_array()) {
    for (const auto& item : *items) out.push_back(string_at(item, {field}));
  }
  return base::join(out, ",");
}

std::string pairs(const Json* labels) {
  if (labels == nullptr || !labels->is_object() || labels->empty()) return "<none>";
  std::vector<std::string> out;
  for (const auto& [key, value] : labels->items()) {
    out.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return base::join(out, ",");
}

std::string shown(const Json* value, const char* fallback) {
  if (value == nullptr || value->is_null()) return fallback;
  return value->is_string() ? value->get<std::string>() : value->dump();
}

Json age(const Json& o, WallTime now) {
  return age_of(string_at(o, {"metadata", "creationTimestamp"}), now);
}

Json containers(const Json& o, WallTime) {
  return each(o, {"spec", "template", "spec", "containers"}, "name");
}
Json images(const Json& o, WallTime) {
  return each(o, {"spec", "template", "spec", "containers"}, "image");
}
Json match_labels(const Json& o, WallTime) {
  return pairs(find(o, {"spec", "selector", "matchLabels"}));
}

Json pod_ready(const Json& o, WallTime) {
  std::size_t ready = 0;
  if (const Json* states = find(o, {"status", "containerStatuses"}); states && states->is_array()) {
    for (const auto& state : *states) ready += state.value("ready", false) ? 1U : 0U;
  }
  return fmt::format("{}/{}", ready, count(o, {"spec", "containers"}));
}

Json pod_status(const Json& o, WallTime) {
  if (find(o, {"metadata", "deletionTimestamp"}) != nullptr) return "Terminating";
  if (const Json* states = find(o, {"status", "containerStatuses"}); states && states->is_array()) {
    for (const auto& state : *states) {
      const std::string waiting = string_at(state, {"state", "waiting", "reason"});
      if (!waiting.empty()) return waiting;
    }
  }
  return text_or(o, {"status", "reason"}, string_at(o, {"status", "phase"}).c_str());
}

Json pod_restarts(const Json& o, WallTime) {
  std::int64_t restarts = 0;
  if (const Json* states = find(o, {"status", "containerStatuses"}); states && states->is_array()) {
    for (const auto& state : *states) restarts += number(state, {"restartCount"});
  }
  return std::to_string(restarts);
}

Json service_ports(const Json& o, WallTime) {
  std::vector<std::string> out;
  if (const Json* ports = find(o, {"spec", "ports"}); ports != nullptr && ports->is_array()) {
    for (const auto& port : *ports) {
      const auto node = number(port, {"nodePort"});
      out.push_back(fmt::format("{}{}/{}", number(port, {"port"}),
                                node != 0 ? fmt::format(":{}", node) : "",
                                text_or(port, {"protocol"}, "TCP")));
    }
  }
  return out.empty() ? std::string("<none>") : base::join(out, ",");
}

Json service_external(const Json& o, WallTime) {
  const std::string type = string_at(o, {"spec", "type"});
  if (type == "ExternalName") return string_at(o, {"spec", "externalName"});
  if (type == "LoadBalancer") {
    const std::string ips = each(o, {"status", "loadBalancer", "ingress"}, "ip");
    return ips.empty() ? std::string("<pending>") : ips;
  }
  return "<none>";
}

bool condition_true(const Json& o, const std::string& type) {
  if (const Json* all = find(o, {"status", "conditions"}); all != nullptr && all->is_array()) {
    for (const auto& one : *all) {
      if (string_at(one, {"type"}) == type) return string_at(one, {"status"}) == "True";
    }
  }
  return false;
}

Json job_status(const Json& o, WallTime) {
  if (condition_true(o, "Complete")) return "Complete";
  if (condition_true(o, "Failed")) return "Failed";
  if (find(o, {"metadata", "deletionTimestamp"}) != nullptr) return "Terminating";
  if (condition_true(o, "Suspended")) return "Suspended";
  return "Running";
}

Json job_duration(const Json& o, WallTime now) {
  const auto start = base::parse_rfc3339(string_at(o, {"status", "startTime"}));
  if (!start) return "";
  const auto done = base::parse_rfc3339(string_at(o, {"status", "completionTime"}));
  const WallTime end = done ? done.value() : now;
  return base::format_age(std::chrono::duration_cast<std::chrono::seconds>(end - start.value()));
}

Json node_status(const Json& o, WallTime) {
  const std::string ready = condition_true(o, "Ready") ? "Ready" : "NotReady";
  const Json* off = find(o, {"spec", "unschedulable"});
  return off != nullptr && *off == true ? ready + ",SchedulingDisabled" : ready;
}

Json ingress_hosts(const Json& o, WallTime) {
  const std::string hosts = each(o, {"spec", "rules"}, "host");
  return hosts.empty() ? std::string("*") : hosts;
}

Json event_object(const Json& o, WallTime) {
  return base::to_lower(string_at(o, {"involvedObject", "kind"})) + "/" +
         string_at(o, {"involvedObject", "name"});
}

Json event_last(const Json& o, WallTime now) {
  for (const auto* field : {"lastTimestamp", "eventTime", "firstTimestamp"}) {
    const std::string at = string_at(o, {field});
    if (!at.empty()) return age_of(at, now);
  }
  return "<unknown>";
}

Json binding_role(const Json& o, WallTime) {
  return string_at(o, {"roleRef", "kind"}) + "/" + string_at(o, {"roleRef", "name"});
}

template <const char* Kind>
Json subjects(const Json& o, WallTime) {
  std::vector<std::string> out;
  if (const Json* all = find(o, {"subjects"}); all != nullptr && all->is_array()) {
    for (const auto& one : *all) {
      if (string_at(one, {"kind"}) != Kind) continue;
      const std::string ns = string_at(one, {"namespace"});
      out.push_back(ns.empty() ? string_at(one, {"name"}) : ns + "/" + string_at(one, {"name"}));
    }
  }
  return base::join(out, ", ");
}
constexpr char kUser[] = "User";
constexpr char kGroup[] = "Group";
constexpr char kServiceAccount[] = "ServiceAccount";

using Columns = std::vector<BuiltinColumn>;
using Table = std::map<std::string, Columns>;

#define KW_CELL(expression) \
  []([[maybe_unused]] const Json& o, [[maybe_unused]] WallTime now) -> Json { return expression; }

void add_workloads(Table& t) {
  const BuiltinColumn aged = {"Age", "string", 0, age};
  const BuiltinColumn names = {"Containers", "string", 1, containers};
  const BuiltinColumn pictures = {"Images", "string", 1, images};
  const BuiltinColumn selector = {"Selector", "string", 1, match_labels};
  t["pods"] = {{"Ready", "string", 0, pod_ready},
               {"Status", "string", 0, pod_status},
               {"Restarts", "string", 0, pod_restarts},
               aged,
               {"IP", "string", 1, KW_CELL(text_or(o, {"status", "podIP"}, "<none>"))},
               {"Node", "string", 1, KW_CELL(text_or(o, {"spec", "nodeName"}, "<none>"))},
               {"Nominated Node", "string", 1,
                KW_CELL(text_or(o, {"status", "nominatedNodeName"}, "<none>"))},
               {"Readiness Gates", "string", 1, KW_CELL("<none>")}};
  t["deployments.apps"] = {
      {"Ready", "string", 0,
       KW_CELL(fmt::format("{}/{}", number(o, {"status", "readyReplicas"}),
                           number(o, {"spec", "replicas"}, 1)))},
      {"Up-to-date", "string", 0, KW_CELL(number(o, {"status", "updatedReplicas"}))},
      {"Available", "string", 0, KW_CELL(number(o, {"status", "availableReplicas"}))},
      aged,
      names,
      pictures,
      selector};
  t["replicasets.apps"] = {{"Desired", "integer", 0, KW_CELL(number(o, {"spec", "replicas"}, 1))},
                           {"Current", "integer", 0, KW_CELL(number(o, {"status", "replicas"}))},
                           {"Ready", "integer", 0, KW_CELL(number(o, {"status", "readyReplicas"}))},
                           aged,
                           names,
                           pictures,
                           selector};
  t["replicationcontrollers"] = t["replicasets.apps"];
  t["statefulsets.apps"] = {{"Ready", "string", 0,
                             KW_CELL(fmt::format("{}/{}", number(o, {"status", "readyReplicas"}),
                                                 number(o, {"spec", "replicas"}, 1)))},
                            aged,
                            names,
                            pictures};
  t["daemonsets.apps"] = {
      {"Desired", "integer", 0, KW_CELL(number(o, {"status", "desiredNumberScheduled"}))},
      {"Current", "integer", 0, KW_CELL(number(o, {"status", "currentNumberScheduled"}))},
      {"Ready", "integer", 0, KW_CELL(number(o, {"status", "numberReady"}))},
      {"Up-to-date", "integer", 0, KW_CELL(number(o, {"status", "updatedNumberScheduled"}))},
      {"Available", "integer", 0, KW_CELL(number(o, {"status", "numberAvailable"}))},
      {"Node Selector", "string", 0,
       KW_CELL(pairs(find(o, {"spec", "template", "spec", "nodeSelector"})))},
      aged,
      names,
      pictures,
      selector};
}

void add_batch(Table& t) {
  const BuiltinColumn aged = {"Age", "string", 0, age};
  t["jobs.batch"] = {{"Status", "string", 0, job_status},
                     {"Completions", "string", 0,
                      KW_CELL(fmt::format("{}/{}", number(o, {"status", "succeeded"}),
                                          number(o, {"spec", "completions"}, 1)))},
                     {"Duration", "string", 0, job_duration},
                     aged,
                     {"Containers", "string", 1, containers},
                     {"Images", "string", 1, images},
                     {"Selector", "string", 1, match_labels}};
  t["cronjobs.batch"] = {
      {"Schedule", "string", 0, KW_CELL(string_at(o, {"spec", "schedule"}))},
      {"Timezone", "string", 0, KW_CELL(text_or(o, {"spec", "timeZone"}, "<none>"))},
      {"Suspend", "boolean", 0,
       KW_CELL(shown(find(o, {"spec", "suspend"}), "False") == "true" ? "True" : "False")},
      {"Active", "integer", 0, KW_CELL(count(o, {"status", "active"}))},
      {"Last Schedule", "string", 0,
       KW_CELL(find(o, {"status", "lastScheduleTime"}) == nullptr
                   ? std::string("<none>")
                   : age_of(string_at(o, {"status", "lastScheduleTime"}), now))},
      aged};
}

void add_cluster(Table& t) {
  const BuiltinColumn aged = {"Age", "string", 0, age};
  t["namespaces"] = {{"Status", "string", 0, KW_CELL(string_at(o, {"status", "phase"}))}, aged};
  t["nodes"] = {
      {"Status", "string", 0, node_status},
      {"Roles", "string", 0, KW_CELL("<none>")},
      aged,
      {"Version", "string", 0, KW_CELL(string_at(o, {"status", "nodeInfo", "kubeletVersion"}))}};
  t["events"] = {{"Type", "string", 0, KW_CELL(string_at(o, {"type"}))},
                 {"Reason", "string", 0, KW_CELL(string_at(o, {"reason"}))},
                 {"Object", "string", 0, event_object},
                 {"Message", "string", 0, KW_CELL(string_at(o, {"message"}))}};
  t["leases.coordination.k8s.io"] = {
      {"Holder", "string", 0, KW_CELL(string_at(o, {"spec", "holderIdentity"}))}, aged};
  t["persistentvolumes"] = {
      {"Capacity", "string", 0, KW_CELL(string_at(o, {"spec", "capacity", "storage"}))},
      {"Status", "string", 0, KW_CELL(string_at(o, {"status", "phase"}))},
      {"StorageClass", "string", 0, KW_CELL(string_at(o, {"spec", "storageClassName"}))},
      aged};
  t["storageclasses.storage.k8s.io"] = {
      {"Provisioner", "string", 0, KW_CELL(string_at(o, {"provisioner"}))},
      {"ReclaimPolicy", "string", 0, KW_CELL(text_or(o, {"reclaimPolicy"}, "Delete"))},
      {"VolumeBindingMode", "string", 0, KW_CELL(text_or(o, {"volumeBindingMode"}, "Immediate"))},
      aged};
  for (const char* binding : {"rolebindings.rbac.authorization.k8s.io",
                              "clusterrolebindings.rbac.authorization.k8s.io"}) {
    t[binding] = {{"Role", "string", 0, binding_role},
                  aged,
                  {"Users", "string", 1, subjects<kUser>},
                  {"Groups", "string", 1, subjects<kGroup>},
                  {"ServiceAccounts", "string", 1, subjects<kServiceAccount>}};
  }
}

void add_config(Table& t) {
  const BuiltinColumn aged = {"Age", "string", 0, age};
  t["configmaps"] = {{"Data", "string", 0, KW_CELL(count(o, {"data"}) + count(o, {"binaryData"}))},
                     aged};
  t["secrets"] = {{"Type", "string", 0, KW_CELL(string_at(o, {"type"}))},
                  {"Data", "string", 0, KW_CELL(count(o, {"data"}))},
                  aged};
  t["serviceaccounts"] = {aged};
  t["services"] = {
      {"Type", "string", 0, KW_CELL(text_or(o, {"spec", "type"}, "ClusterIP"))},
      {"Cluster-IP", "string", 0, KW_CELL(text_or(o, {"spec", "clusterIP"}, "<none>"))},
      {"External-IP", "string", 0, service_external},
      {"Port(s)", "string", 0, service_ports},
      aged,
      {"Selector", "string", 1, KW_CELL(pairs(find(o, {"spec", "selector"})))}};
  t["persistentvolumeclaims"] = {
      {"Status", "string", 0, KW_CELL(string_at(o, {"status", "phase"}))},
      {"Volume", "string", 0, KW_CELL(string_at(o, {"spec", "volumeName"}))},
      {"Capacity", "string", 0, KW_CELL(string_at(o, {"status", "capacity", "storage"}))},
      {"StorageClass", "string", 0, KW_CELL(string_at(o, {"spec", "storageClassName"}))},
      aged};
  t["ingresses.networking.k8s.io"] = {
      {"Class", "string", 0, KW_CELL(text_or(o, {"spec", "ingressClassName"}, "<none>"))},
      {"Hosts", "string", 0, ingress_hosts},
      {"Address", "string", 0, KW_CELL(each(o, {"status", "loadBalancer", "ingress"}, "ip"))},
      {"Ports", "string", 0, KW_CELL(count(o, {"spec", "tls"}) > 0 ? "80, 443" : "80")},
      aged};
  t["networkpolicies.networking.k8s.io"] = {
      {"Pod-Selector", "string", 0,
       KW_CELL(pairs(find(o, {"spec", "podSelector", "matchLabels"})))},
      aged};
  t["poddisruptionbudgets.policy"] = {
      {"Min Available", "string", 0, KW_CELL(shown(find(o, {"spec", "minAvailable"}), "N/A"))},
      {"Max Unavailable", "string", 0, KW_CELL(shown(find(o, {"spec", "maxUnavailable"}), "N/A"))},
      {"Allowed Disruptions", "integer", 0, KW_CELL(number(o, {"status", "disruptionsAllowed"}))},
      aged};
}

#undef KW_CELL

Table make_table() {
  Table t;
  add_workloads(t);
  add_batch(t);
  add_cluster(t);
  add_config(t);
  for (auto& [id, columns] : t) {
    columns.insert(columns.begin(), {"Name", "string", 0, [](const Json& o, WallTime) -> Json {
                                       return string_at(o, {"metadata", "name"});
                                     }});
  }
  t["events"].erase(t["events"].begin());
  t["events"].insert(t["events"].begin(), {"Last Seen", "string", 0, event_last});
  t["events"].push_back({"Name", "string", 1, [](const Json& o, WallTime) -> Json {
                           return string_at(o, {"metadata", "name"});
                         }});
  return t;
}

}  // namespace

std::string age_of(const std::string& timestamp, WallTime now) {
  if (timestamp.empty()) return "<unknown>";
  const auto at = base::parse_rfc3339(timestamp);
  if (!at) return "<invalid>";
  return base::format_age(std::chrono::duration_cast<std::chrono::seconds>(now - at.value()));
}

const std::vector<BuiltinColumn>* builtin_columns(const std::string& storage_id) {
  static const Table table = make_table();
  const auto it = table.find(storage_id);
  return it == table.end() ? nullptr : &it->second;
}

}  // namespace kubewatch::apiserver
