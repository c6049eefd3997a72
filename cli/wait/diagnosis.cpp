#include "cli/wait/diagnosis.hpp"

#include <fmt/format.h>

#include <set>

#include "base/strings.hpp"
#include "core/selector.hpp"
#include "runtime/wait_cause.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::uint32_t kMaxPods = 200;
constexpr std::uint32_t kMaxReplicaSets = 50;
constexpr std::uint32_t kMaxEvents = 500;
constexpr std::size_t kMaxClaims = 3;
constexpr std::size_t kMaxUids = 3;

// Kinds that every server has.
core::ResourceType builtin(const std::string& group, const std::string& kind,
                           const std::string& plural) {
  core::ResourceType out;
  out.gvk = {group, "v1", kind};
  out.plural = plural;
  return out;
}

std::string text(const Json& object, std::initializer_list<std::string_view> path) {
  return base::string_at(object, path);
}

bool is_pod(const Json& object) {
  return text(object, {"kind"}) == "Pod" && text(object, {"apiVersion"}) == "v1";
}

// Kinds that own no Pods, so nobody needs to ask.
bool owns_none(const Json& object) {
  static const std::set<std::string> kKinds = {
      "ConfigMap", "Secret",  "Service", "PersistentVolumeClaim",   "PersistentVolume",
      "Namespace", "Ingress", "CronJob", "CustomResourceDefinition"};
  return kKinds.count(text(object, {"kind"})) != 0;
}

std::string selector_of(const Json& object) {
  const Json* selector = base::find(object, {"spec", "selector"});
  if (selector == nullptr || !selector->is_object()) return "";
  const bool labels = selector->contains("matchLabels") || selector->contains("matchExpressions");
  const auto parsed = core::LabelSelector::from_json(*selector);
  return labels && parsed.ok() ? parsed->str() : "";
}

}  // namespace

std::vector<Json> WaitDiagnosis::list(const core::ResourceType& type, const std::string& namespace_,
                                      const std::string& labels, const std::string& fields,
                                      std::uint32_t limit, bool* refused) {
  core::ListParams params;
  params.label_selector = labels;
  params.field_selector = fields;
  params.limit = limit;
  params.resource_version = "";
  std::vector<Json> out;
  const auto now = session_.loop().now();
  if (now >= ends_) return out;
  std::optional<Result<client::ListResult>> answer;
  const auto pending = session_.client().list(
      type, namespace_, params,
      [&](Result<client::ListResult> result) { answer.emplace(std::move(result)); });
  session_.loop().run_until([&] { return answer.has_value(); }, ends_ - now);
  if (!answer) return out;
  if (!answer->ok()) {
    if (refused != nullptr) *refused = true;
    return out;
  }
  for (const auto& item : (*answer)->items) {
    if (auto object = base::parse_json(item); object.ok()) out.push_back(std::move(*object));
  }
  return out;
}

std::vector<Json> WaitDiagnosis::pods_of(const Json& object) {
  if (is_pod(object)) return {object};
  const std::string namespace_ = text(object, {"metadata", "namespace"});
  if (namespace_.empty() || owns_none(object)) return {};
  const std::string labels = selector_of(object);
  std::vector<Json> sets;
  if (text(object, {"kind"}) == "Deployment") {
    sets =
        list(builtin("apps", "ReplicaSet", "replicasets"), namespace_, labels, "", kMaxReplicaSets);
  }
  return runtime::pods_owned_by(list(builtin("", "Pod", "pods"), namespace_, labels, "", kMaxPods),
                                text(object, {"metadata", "uid"}), sets);
}

std::string WaitDiagnosis::claims_cause(const Json& pod, std::vector<std::string>& uids) {
  if (text(pod, {"status", "phase"}) != "Pending") return "";
  auto names = runtime::claims_of(pod);
  if (names.size() > kMaxClaims) names.resize(kMaxClaims);
  for (const auto& name : names) {
    const auto claims =
        list(builtin("", "PersistentVolumeClaim", "persistentvolumeclaims"),
             text(pod, {"metadata", "namespace"}), "", core::with_name("", name), 1);
    if (claims.empty()) return "PersistentVolumeClaim " + name + " does not exist";
    if (auto cause = runtime::claim_cause(claims.front()); !cause.empty()) {
      uids.push_back(text(claims.front(), {"metadata", "uid"}));
      return cause;
    }
  }
  return "";
}

// The newest Pod with something wrong, and how many others have.
std::string WaitDiagnosis::pods_cause(const Json& object, std::vector<std::string>& uids) {
  std::string out;
  std::size_t others = 0;
  for (const auto& pod : pods_of(object)) {
    std::string cause = runtime::pod_cause(pod);
    if (out.empty()) {
      if (const auto claim = claims_cause(pod, uids); !claim.empty()) {
        cause = cause.empty() ? claim : claim + ", so " + cause;
      }
    }
    if (cause.empty()) {
      if (!is_pod(object) && uids.size() < kMaxUids) {
        uids.push_back(text(pod, {"metadata", "uid"}));
      }
      continue;
    }
    if (!out.empty()) {
      ++others;
      continue;
    }
    uids.insert(uids.begin(), text(pod, {"metadata", "uid"}));
    out =
        is_pod(object) ? cause : fmt::format("pod {}: {}", text(pod, {"metadata", "name"}), cause);
  }
  if (others > 0) out += fmt::format(" (and {} more Pod{})", others, others == 1 ? "" : "s");
  return out;
}

std::string WaitDiagnosis::events_cause(const std::string& namespace_,
                                        const std::vector<std::string>& uids) {
  const auto modern = builtin("events.k8s.io", "Event", "events");
  const auto core = builtin("", "Event", "events");
  // Events about objects without a namespace stand in "default".
  const std::string where = namespace_.empty() ? "default" : namespace_;
  for (std::size_t i = 0; i < uids.size() && i < kMaxUids; ++i) {
    bool refused = false;
    auto events = list(modern, where, "", "regarding.uid=" + uids[i], kMaxEvents, &refused);
    if (refused) events = list(core, where, "", "involvedObject.uid=" + uids[i], kMaxEvents);
    if (auto cause = runtime::event_cause(events, {uids[i]}); !cause.empty()) return cause;
  }
  return "";
}

std::string WaitDiagnosis::cause(const runtime::WaitedObject& of, const Json& object) {
  std::vector<std::string> uids;
  const std::string pods = pods_cause(object, uids);
  uids.push_back(text(object, {"metadata", "uid"}));
  const std::string events = events_cause(of.key.namespace_, uids);
  if (pods.empty() || events.empty()) return runtime::cause_line(pods + events, 600);
  return runtime::cause_line(pods + "; last warning: " + events, 600);
}

}  // namespace kubewatch::cli
