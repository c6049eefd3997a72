#include "cli/watch/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>

#include "base/strings.hpp"
#include "cli/printers/label_cells.hpp"
#include "core/json_cut.hpp"
#include "core/json_path.hpp"
#include "core/json_scan.hpp"

namespace kubewatch::cli::watch {

namespace {

using Path = std::vector<std::string>;
using Cell = std::function<std::string(const RawObject&, WallTime)>;

constexpr const char* kNone = "<none>";

std::string or_none(std::string text) {
  return text.empty() ? kNone : std::move(text);
}

using Keys = std::initializer_list<std::string_view>;

std::string_view find(const RawObject& object, Keys keys) {
  return object.at(std::span(keys.begin(), keys.size()));
}

std::string text_at(const RawObject& object, Keys keys) {
  return raw_text(find(object, keys));
}

void each_object(std::string_view list, const std::function<void(const RawObject&)>& on_item) {
  each_raw_item(list, [&](std::string_view item) { on_item(RawObject(item)); });
}

// A path that is known when it runs.
std::string_view find_path(const RawObject& object, const Path& path) {
  const std::vector<std::string_view> keys(path.begin(), path.end());
  return object.at(keys);
}

Path path_of(std::string_view dotted) {
  return base::split(dotted, '.');
}

Cell value(std::string_view dotted, std::string absent = kNone) {
  return [path = path_of(dotted), absent = std::move(absent)](const RawObject& object, WallTime) {
    std::string out = raw_text(find_path(object, path));
    return out.empty() ? absent : out;
  };
}

Cell number(std::string_view dotted) {
  return value(dotted, "0");
}

Cell ratio(std::string_view have, std::string_view want) {
  return [have = number(have), want = number(want)](const RawObject& object, WallTime now) {
    return have(object, now) + "/" + want(object, now);
  };
}

Cell count_of(std::string_view dotted) {
  return [path = path_of(dotted)](const RawObject& object, WallTime) {
    std::size_t count = 0;
    const std::string_view map = find_path(object, path);
    if (!map.empty()) {
      (void)core::for_each_member(map, [&](const core::JsonMember&) { ++count; });
    }
    return std::to_string(count);
  };
}

// The status of the condition with this type.
std::string condition_status(std::string_view conditions, std::string_view type) {
  std::string out;
  each_object(conditions, [&](const RawObject& item) {
    if (text_at(item, {"type"}) == type) out = text_at(item, {"status"});
  });
  return out;
}

std::string node_status(const RawObject& object, WallTime) {
  const std::string ready = condition_status(find(object, {"status", "conditions"}), "Ready");
  std::string out = ready == "True" ? "Ready" : ready.empty() ? "Unknown" : "NotReady";
  if (text_at(object, {"spec", "unschedulable"}) == "true") out += ",SchedulingDisabled";
  return out;
}

std::size_t items_in(std::string_view list) {
  std::size_t count = 0;
  each_raw_item(list, [&](std::string_view) { ++count; });
  return count;
}

std::string pod_ready(const RawObject& object, WallTime) {
  std::size_t ready = 0;
  each_object(find(object, {"status", "containerStatuses"}), [&](const RawObject& item) {
    if (find(item, {"ready"}) == "true") ++ready;
  });
  return fmt::format("{}/{}", ready, items_in(find(object, {"spec", "containers"})));
}

std::string pod_restarts(const RawObject& object, WallTime) {
  std::uint64_t restarts = 0;
  each_object(find(object, {"status", "containerStatuses"}), [&](const RawObject& item) {
    const std::string text = text_at(item, {"restartCount"});
    std::uint64_t one = 0;
    std::from_chars(text.data(), text.data() + text.size(), one);
    restarts += one;
  });
  return std::to_string(restarts);
}

// Why a container does not run: what it waits for, or how it ended; "" where it runs.
std::string container_reason(const RawObject& status) {
  if (auto waits = text_at(status, {"state", "waiting", "reason"}); !waits.empty()) return waits;
  const RawObject ended(find(status, {"state", "terminated"}));
  if (ended.text().empty()) return "";
  if (auto reason = text_at(ended, {"reason"}); !reason.empty()) return reason;
  const std::string signal = text_at(ended, {"signal"});
  if (!signal.empty() && signal != "0") return "Signal:" + signal;
  return "ExitCode:" + text_at(ended, {"exitCode"});
}

// An init container that is not through, with how many are: "Init:1/2", "Init:Error".
std::string init_reason(std::string_view statuses, std::size_t of) {
  std::size_t at = 0;
  std::string out;
  each_object(statuses, [&](const RawObject& item) {
    const std::size_t mine = at++;
    if (!out.empty()) return;
    if (text_at(item, {"state", "terminated", "exitCode"}) == "0") return;
    if (text_at(item, {"started"}) == "true") return;  // a sidecar
    const std::string why = container_reason(item);
    const bool plain = why.empty() || why == "PodInitializing";
    out = "Init:" + (plain ? fmt::format("{}/{}", mine, of) : why);
  });
  return out;
}

std::string pod_status(const RawObject& object, WallTime) {
  const bool leaving = !find(object, {"metadata", "deletionTimestamp"}).empty();
  std::string out = text_at(object, {"status", "phase"});
  if (auto reason = text_at(object, {"status", "reason"}); !reason.empty()) out = reason;
  if (leaving) return out == "NodeLost" ? "Unknown" : "Terminating";
  const std::string_view init = find(object, {"status", "initContainerStatuses"});
  const auto inits = items_in(find(object, {"spec", "initContainers"}));
  if (auto reason = init_reason(init, inits); !reason.empty()) return reason;
  std::string first;
  bool running = false;
  each_object(find(object, {"status", "containerStatuses"}), [&](const RawObject& item) {
    const std::string reason = container_reason(item);
    if (first.empty()) first = reason;
    running = running || (reason.empty() && find(item, {"ready"}) == "true");
  });
  if (first == "Completed" && running) return "Running";
  return or_none(first.empty() ? out : first);
}

std::string ports_of(const RawObject& object, WallTime) {
  std::string out;
  each_object(find(object, {"spec", "ports"}), [&](const RawObject& item) {
    if (!out.empty()) out += ',';
    out += text_at(item, {"port"});
    if (auto node = text_at(item, {"nodePort"}); !node.empty()) out += ":" + node;
    const std::string protocol = text_at(item, {"protocol"});
    out += "/" + (protocol.empty() ? "TCP" : protocol);
  });
  return or_none(out);
}

std::string involved(const RawObject& object, WallTime) {
  for (const char* field : {"involvedObject", "regarding"}) {
    const RawObject about(find(object, {field}));
    if (about.text().empty()) continue;
    return base::to_lower(text_at(about, {"kind"})) + "/" + text_at(about, {"name"});
  }
  return kNone;
}

std::string message_of(const RawObject& object, WallTime) {
  std::string out = text_at(object, {"message"});
  return out.empty() ? text_at(object, {"note"}) : out;
}

std::string job_status(const RawObject& object, WallTime) {
  const std::string_view conditions = find(object, {"status", "conditions"});
  for (const char* type : {"Complete", "Failed", "Suspended"}) {
    if (condition_status(conditions, type) == "True") return type;
  }
  return "Running";
}

const std::map<std::string, std::vector<Column>>& builtin() {
  static const std::map<std::string, std::vector<Column>> kTable = {
      {"pods", {{"READY", pod_ready}, {"STATUS", pod_status}, {"RESTARTS", pod_restarts}}},
      {"deployments.apps",
       {{"READY", ratio("status.readyReplicas", "spec.replicas")},
        {"UP-TO-DATE", number("status.updatedReplicas")},
        {"AVAILABLE", number("status.availableReplicas")}}},
      {"statefulsets.apps", {{"READY", ratio("status.readyReplicas", "spec.replicas")}}},
      {"daemonsets.apps",
       {{"DESIRED", number("status.desiredNumberScheduled")},
        {"CURRENT", number("status.currentNumberScheduled")},
        {"READY", number("status.numberReady")},
        {"UP-TO-DATE", number("status.updatedNumberScheduled")},
        {"AVAILABLE", number("status.numberAvailable")}}},
      {"replicasets.apps",
       {{"DESIRED", number("spec.replicas")},
        {"CURRENT", number("status.replicas")},
        {"READY", number("status.readyReplicas")}}},
      {"jobs.batch",
       {{"STATUS", job_status}, {"COMPLETIONS", ratio("status.succeeded", "spec.completions")}}},
      {"cronjobs.batch",
       {{"SCHEDULE", value("spec.schedule")}, {"SUSPEND", value("spec.suspend", "false")}}},
      {"services",
       {{"TYPE", value("spec.type")},
        {"CLUSTER-IP", value("spec.clusterIP")},
        {"PORT(S)", ports_of}}},
      {"namespaces", {{"STATUS", value("status.phase")}}},
      {"nodes", {{"STATUS", node_status}, {"VERSION", value("status.nodeInfo.kubeletVersion")}}},
      {"configmaps", {{"DATA", count_of("data")}}},
      {"secrets", {{"TYPE", value("type")}, {"DATA", count_of("data")}}},
      {"persistentvolumeclaims",
       {{"STATUS", value("status.phase")},
        {"VOLUME", value("spec.volumeName")},
        {"CAPACITY", value("status.capacity.storage")}}},
      {"persistentvolumes",
       {{"CAPACITY", value("spec.capacity.storage")}, {"STATUS", value("status.phase")}}},
      {"ingresses.networking.k8s.io", {{"CLASS", value("spec.ingressClassName")}}},
      {"events",
       {{"TYPE", value("type")},
        {"REASON", value("reason")},
        {"OBJECT", involved},
        {"MESSAGE", message_of}}},
      {"leases.coordination.k8s.io", {{"HOLDER", value("spec.holderIdentity")}}},
  };
  return kTable;
}

std::string age_text(const std::string& text, WallTime now) {
  const auto at = base::parse_rfc3339(text);
  if (!at.ok()) return text.empty() ? "" : "<invalid>";
  return base::format_age(std::chrono::duration_cast<std::chrono::seconds>(now - *at));
}

// ".status.conditions[?(@.type=="Ready")].status": the plain keys in front, which are walked in the
// text, and the rest, for which only what stands there is parsed.
std::pair<Path, std::string> plain_front(const std::string& json_path) {
  const auto bracket = json_path.find_first_of("[\\*");
  if (bracket == std::string::npos) {
    return {path_of(json_path.substr(json_path.starts_with(".") ? 1 : 0)), ""};
  }
  const auto dot = json_path.rfind('.', bracket);
  // ".a.b[..." -> a, "b[..."; the last key goes with its bracket.
  if (dot == std::string::npos || dot == 0) return {{}, json_path};
  return {path_of(json_path.substr(1, dot - 1)), json_path.substr(dot)};
}

Cell custom_cell(const std::string& json_path, bool date) {
  auto [front, rest] = plain_front(json_path);
  auto path = core::JsonPath::parse(rest.empty() ? "." + front.back() : rest);
  if (!path.ok()) return [](const RawObject&, WallTime) { return std::string("<invalid>"); };
  return [front = front, rest = rest, path = std::move(*path), date](const RawObject& object,
                                                                     WallTime now) {
    std::string text;
    const std::string_view found = front.empty() ? object.text() : find_path(object, front);
    if (rest.empty()) {
      text = raw_text(found);
    } else if (auto parsed = base::parse_json(found); !found.empty() && parsed.ok()) {
      for (const Json* one : path.find(*parsed)) {
        text += (text.empty() ? "" : ",") + core::scalar_text(*one);
      }
    }
    return date ? age_text(text, now) : text;
  };
}

}  // namespace

const std::vector<RawObject>& RawObject::members() const {
  if (std::exchange(split_, true) || text_.empty() || text_.front() != '{') return members_;
  members_.reserve(8);
  (void)core::for_each_member(text_, [this](const core::JsonMember& member) {
    members_.emplace_back(member.value).key_ = member.key;
  });
  return members_;
}

std::string_view RawObject::at(std::span<const std::string_view> path) const {
  const RawObject* object = this;
  for (const std::string_view key : path) {
    const auto& members = object->members();
    // Of equal keys the last counts, as in Go's decoder.
    const auto found = std::find_if(members.rbegin(), members.rend(),
                                    [&](const RawObject& member) { return member.key_ == key; });
    if (found == members.rend()) return {};
    object = &*found;
  }
  return object->text_ == "null" ? std::string_view() : object->text_;
}

std::string raw_text(std::string_view value) {
  if (value.empty() || value == "null") return "";
  if (value.front() != '"') return std::string(value);
  auto text = core::decode_json_string(value);
  return text.ok() ? std::move(*text) : "<invalid>";
}

void each_raw_item(std::string_view list, const std::function<void(std::string_view)>& on_item) {
  core::JsonCursor cursor(list);
  if (!cursor.accept('[') || cursor.peek() == ']') return;
  do {
    const auto item = cursor.take_value();
    if (item.text.empty()) return;
    on_item(item.text);
  } while (cursor.accept(','));
}

std::vector<Column> builtin_columns(const core::ResourceType& type) {
  const auto found = builtin().find(type.qualified_plural());
  return found == builtin().end() ? std::vector<Column>() : found->second;
}

std::vector<Column> custom_columns(const Json& definition, const std::string& version, bool wide) {
  std::vector<Column> out;
  const Json* versions = base::find(definition, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return out;
  for (const Json& one : *versions) {
    if (base::string_at(one, {"name"}) != version) continue;
    const Json* columns = base::find(one, {"additionalPrinterColumns"});
    if (columns == nullptr || !columns->is_array()) continue;
    for (const Json& column : *columns) {
      const std::string path = base::string_at(column, {"jsonPath"});
      if (path.size() < 2 || path == ".metadata.creationTimestamp") continue;
      if (!wide && base::int_at(column, {"priority"}).value_or(0) > 0) continue;
      out.push_back({as_header(base::string_at(column, {"name"})),
                     custom_cell(path, base::string_at(column, {"type"}) == "date")});
    }
  }
  return out;
}

}  // namespace kubewatch::cli::watch
