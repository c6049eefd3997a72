#include "builtin/convert_autoscaling.hpp"

#include <array>
#include <string>
#include <vector>

#include "builtin/autoscaling_metrics.hpp"
#include "builtin/default_rules.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr const char* kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr const char* kConditions = "autoscaling.alpha.kubernetes.io/conditions";
constexpr const char* kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr std::array<const char*, 6> kRoundTrip = {
    kMetrics,
    kCurrentMetrics,
    kConditions,
    kBehavior,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance"};

constexpr const char* kTargetShare = "targetCPUUtilizationPercentage";
constexpr const char* kCurrentShare = "currentCPUUtilizationPercentage";
constexpr int kDefaultShare = 80;

Json taken(Json& from, const char* key) {
  const auto at = from.find(key);
  if (at == from.end()) return nullptr;
  Json value = std::move(*at);
  from.erase(at);
  return value;
}

Json& part_of(Json& object, const char* key) {
  Json& part = object[key];
  if (!part.is_object()) part = Json::object();
  return part;
}

bool is_cpu(const Json& metric) {
  return base::string_at(metric, {"type"}) == "Resource" &&
         base::string_at(metric, {"resource", "name"}) == "cpu";
}

Json cpu_share(const Json& share, const char* of, bool spec) {
  Json values = {{"averageUtilization", share}};
  if (spec) values["type"] = "Utilization";
  return {{"type", "Resource"}, {"resource", {{"name", "cpu"}, {of, std::move(values)}}}};
}

void annotate(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) part_of(part_of(object, "metadata"), "annotations")[key] = text;
}

// The first share of the CPU is v1's own; all other metrics are kept aside.
Json take_target_share(Json& metrics) {
  Json share;
  Json others = Json::array();
  for (Json& metric : metrics) {
    const Json* wanted = base::find(metric, {"resource", "target", "averageUtilization"});
    if (!is_cpu(metric) || wanted == nullptr || wanted->is_null()) {
      others.push_back(std::move(metric));
    } else if (share.is_null()) {
      share = *wanted;
    }
  }
  metrics = std::move(others);
  return share;
}

Json current_share(const Json& metrics) {
  Json share;
  for (const Json& metric : metrics) {
    const Json* has = base::find(metric, {"resource", "current", "averageUtilization"});
    if (is_cpu(metric) && has != nullptr && !has->is_null()) share = *has;
  }
  return share;
}

// What the annotation tells, null where there is none or it is not of that form.
template <class Read>
Json told(const Json& annotations, const char* key, const Read& read) {
  const std::string text = base::string_at(annotations, {key});
  const auto parsed = base::parse_json(text);
  return parsed ? read(*parsed) : Json();
}

void read_spec(const Json& annotations, Json& spec) {
  const Json share = taken(spec, kTargetShare);
  Json metrics = told(annotations, kMetrics, metrics_of_v1);
  if (!metrics.is_array()) metrics = Json::array();
  if (!share.is_null()) metrics.push_back(cpu_share(share, "target", true));
  if (metrics.empty()) metrics.push_back(cpu_share(kDefaultShare, "target", true));
  spec["metrics"] = std::move(metrics);
  Json behavior = told(annotations, kBehavior, behavior_of_v1);
  if (!behavior.is_null()) spec["behavior"] = std::move(behavior);
}

void read_status(const Json& annotations, Json& status) {
  const Json share = taken(status, kCurrentShare);
  Json metrics = told(annotations, kCurrentMetrics, statuses_of_v1);
  if (!metrics.is_array()) {
    metrics = nullptr;
    if (!share.is_null()) metrics = Json::array({cpu_share(share, "current", false)});
  }
  status["currentMetrics"] = std::move(metrics);
  Json conditions = told(annotations, kConditions, conditions_of_v1);
  if (!conditions.is_null()) status["conditions"] = std::move(conditions);
  if (status.value("currentReplicas", Json()) == 0) status.erase("currentReplicas");
}

void drop_annotations(Json& object) {
  Json* annotations = base::find(object, {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->is_object()) return;
  for (const char* key : kRoundTrip) annotations->erase(key);
  if (annotations->empty()) object["metadata"].erase("annotations");
}

}  // namespace

void complete_autoscaler(Json& v2) {
  static const DefaultRules times = {{"status.conditions[].lastTransitionTime", "null"}};
  drop_annotations(v2);
  times.apply(v2);
}

Json autoscaler_to_v1(Json v2) {
  drop_annotations(v2);
  v2["apiVersion"] = "autoscaling/v1";
  Json& spec = part_of(v2, "spec");
  Json metrics = taken(spec, "metrics");
  if (!metrics.is_array()) metrics = Json::array();
  if (const Json share = take_target_share(metrics); !share.is_null()) spec[kTargetShare] = share;
  annotate(v2, kMetrics, metrics_text(metrics));
  annotate(v2, kBehavior, behavior_text(taken(spec, "behavior")));
  Json& status = part_of(v2, "status");
  const Json current = taken(status, "currentMetrics");
  if (current.is_array()) {
    if (const Json share = current_share(current); !share.is_null()) status[kCurrentShare] = share;
    annotate(v2, kCurrentMetrics, statuses_text(current));
  }
  annotate(v2, kConditions, conditions_text(taken(status, "conditions")));
  for (const char* key : {"currentReplicas", "desiredReplicas"}) {
    if (status.value(key, Json()).is_null()) status[key] = 0;
  }
  return v2;
}

Json autoscaler_to_v2(Json v1) {
  const Json* found = base::find(v1, {"metadata", "annotations"});
  const Json annotations = found != nullptr && found->is_object() ? *found : Json::object();
  drop_annotations(v1);
  v1["apiVersion"] = "autoscaling/v2";
  read_spec(annotations, part_of(v1, "spec"));
  read_status(annotations, part_of(v1, "status"));
  return v1;
}

}  // namespace kubewatch::builtin
