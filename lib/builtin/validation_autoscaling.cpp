// HorizontalPodAutoscalers, in the form of autoscaling/v2, and PodDisruptionBudgets.
#include <fmt/format.h>

#include "base/strings.hpp"
#include "builtin/validation_kinds.hpp"

namespace kubewatch::builtin {

namespace {

void check_segment(const Field& field, const char* missing) {
  if (field.empty()) return field.required(missing);
  field.invalid_each(path_segment_problems(field.text()));
}

void check_object_reference(const Field& ref, bool needs_group) {
  check_segment(ref["kind"], "");
  check_segment(ref["name"], "");
  const Field version = ref["apiVersion"];
  const auto parts = base::split(version.text(), '/');
  if (parts.size() > 2) {
    version.invalid("unexpected GroupVersion string: " + version.text());
  } else if (needs_group && parts.size() < 2 && ref["kind"].text() != "ReplicationController") {
    version.invalid_text("apiVersion must specify API group");
  }
}

void check_target(const Field& target) {
  const Field type = target["type"];
  if (type.empty()) type.required("must specify a metric target type");
  if (!type.is("Utilization") && !type.is("Value") && !type.is("AverageValue")) {
    type.invalid_text("must be either Utilization, Value, or AverageValue");
  }
  for (const char* key : {"value", "averageValue"}) {
    const auto quantity = target[key].quantity();
    if (!quantity || quantity->sign() > 0) continue;
    target[key].invalid_as(go_quoted(quantity_text(*quantity)), "must be positive");
  }
  const Field utilization = target["averageUtilization"];
  if (utilization.number_or(1) < 1) utilization.invalid("must be greater than 0");
}

constexpr const char* kTotal = "value";
constexpr const char* kEach = "averageValue";
constexpr const char* kShare = "averageUtilization";

// One of the two, and which is told when neither is there.
void check_target_values(const Field& target, const char* first, const char* second,
                         const char* told, const std::string& missing) {
  if (target[first].present() || target[second].present()) return;
  target[told].required(missing);
}

void check_object_metric(const Field& source) {
  check_object_reference(source["describedObject"], false);
  check_segment(source["metric"]["name"], "must specify a metric name");
  check_target(source["target"]);
  check_target_values(source["target"], kTotal, kEach, kEach,
                      "must set either a target value or averageValue");
}

void check_external_metric(const Field& source) {
  const Field target = source["target"];
  check_segment(source["metric"]["name"], "must specify a metric name");
  check_target(target);
  check_target_values(target, kTotal, kEach, kEach,
                      "must set either a target value for metric or a per-pod target");
  if (target[kTotal].present() && target[kEach].present()) {
    target[kTotal].forbidden("may not set both a target value for metric and a per-pod target");
  }
}

void check_pods_metric(const Field& source) {
  check_segment(source["metric"]["name"], "must specify a metric name");
  check_target(source["target"]);
  if (source["target"][kEach].present()) return;
  source["target"][kEach].required("must specify a positive target averageValue");
}

void check_share(const Field& target) {
  check_target(target);
  check_target_values(target, kShare, kEach, kShare,
                      "must set either a target raw value or a target utilization");
  if (target[kShare].present() && target[kEach].present()) {
    target[kEach].forbidden("may not set both a target raw value and a target utilization");
  }
}

void check_resource_metric(const Field& source) {
  if (source["name"].empty()) source["name"].required("must specify a resource name");
  check_share(source["target"]);
}

void check_container_metric(const Field& source) {
  const Field name = source["name"];
  if (name.empty()) {
    name.required("must specify a resource name");
  } else {
    check_container_resource_name(name, name.text());
  }
  const Field container = source["container"];
  if (container.empty()) {
    container.required("must specify a container");
  } else {
    container.invalid_each(label_problems(container.text()));
  }
  check_share(source["target"]);
}

struct MetricKind {
  const char* type;
  const char* key;
  void (*check)(const Field& source);
};

// In the order in which the server looks.
const std::vector<MetricKind>& metric_kinds() {
  static const std::vector<MetricKind> kinds = {
      {"Object", "object", check_object_metric},
      {"External", "external", check_external_metric},
      {"Pods", "pods", check_pods_metric},
      {"Resource", "resource", check_resource_metric},
      {"ContainerResource", "containerResource", check_container_metric}};
  return kinds;
}

void check_metric(const Field& metric) {
  static const Values types = {"ContainerResource", "External", "Object", "Pods", "Resource"};
  const Field type = metric["type"];
  if (type.empty()) type.required("must specify a metric source type");
  std::string expected;
  Values present;
  for (const auto& kind : metric_kinds()) {
    if (type.is(kind.type)) expected = kind.key;
  }
  if (expected.empty()) type.not_supported(types);
  for (const auto& kind : metric_kinds()) {
    if (!metric[kind.key].present()) continue;
    present.emplace_back(kind.key);
    if (present.size() == 1) kind.check(metric[kind.key]);
  }
  if (expected.empty()) {
    type.not_supported(types);
  } else if (!metric[expected].present()) {
    metric[expected].required("must populate information for the given metric source");
  }
  if (present.size() == 1) return;
  for (const auto& key : present) {
    if (key != expected) metric[key].forbidden("must populate the given metric source only");
  }
}

constexpr std::int64_t kMostPeriod = 1800;
constexpr std::int64_t kMostWindow = 3600;

void check_scaling_policy(const Field& policy) {
  const Field type = policy["type"];
  if (!type.is("Pods") && !type.is("Percent")) type.not_supported({"Percent", "Pods"});
  for (const char* key : {"value", "periodSeconds"}) {
    const std::int64_t value = policy[key].number_or(0);
    if (value <= 0) policy[key].invalid_as(std::to_string(value), "must be greater than zero");
  }
  const Field period = policy["periodSeconds"];
  if (period.number_or(0) > kMostPeriod) {
    period.invalid(fmt::format("must be less than or equal to {}", kMostPeriod));
  }
}

void check_scaling_rules(const Field& rules) {
  if (!rules.present()) return;
  const Field window = rules["stabilizationWindowSeconds"];
  if (window.number_or(0) < 0) window.invalid("must be greater than or equal to zero");
  if (window.number_or(0) > kMostWindow) {
    window.invalid(fmt::format("must be less than or equal to {}", kMostWindow));
  }
  rules["selectPolicy"].one_of({"Disabled", "Max", "Min"});
  const Field policies = rules["policies"];
  if (policies.present() && policies.empty()) policies.required("must specify at least one Policy");
  for (const auto& policy : policies.items()) check_scaling_policy(policy);
  check_not_negative_quantity(rules["tolerance"]);
}

}  // namespace

void check_autoscaler(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  const Field least = spec["minReplicas"];
  const Field most = spec["maxReplicas"];
  if (least.number_or(1) < 1) least.invalid("must be greater than or equal to 1");
  if (most.number_or(0) == 0) {
    most.required("must be set and greater than 0");
  } else if (most.number_or(0) < 0) {
    most.invalid("must be greater than or equal to 1");
  }
  if (least.present() && most.number_or(0) < least.number_or(0)) {
    most.invalid_as(std::to_string(most.number_or(0)),
                    "must be greater than or equal to `minReplicas`");
  }
  // Of a target that stays the group is not looked at again.
  const Field target = spec["scaleTargetRef"];
  bool same = live != nullptr;
  for (const char* key : {"apiVersion", "kind"}) {
    same =
        same && same_value(target[key].json(), base::find(*live, {"spec", "scaleTargetRef", key}));
  }
  check_object_reference(target, !same);
  for (const auto& metric : spec["metrics"].items()) check_metric(metric);
  if (least.present() && least.number_or(1) == 0) {
    spec["metrics"].forbidden(
        "must specify at least one Object or External metric to support scaling to zero replicas");
  }
  check_scaling_rules(spec["behavior"]["scaleUp"]);
  check_scaling_rules(spec["behavior"]["scaleDown"]);
}

void check_autoscaler_status(const Field& object, const Json* /*live*/) {
  for (const char* key : {"currentReplicas", "desiredReplicas"}) {
    object["status"][key].not_negative();
  }
}

void check_disruption_budget(const Field& object, const Json* /*live*/) {
  const Field spec = object["spec"];
  const Field least = spec["minAvailable"];
  const Field most = spec["maxUnavailable"];
  if (least.present() && most.present()) {
    const std::string shown = fmt::format(
        "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},"
        "\"UnhealthyPodEvictionPolicy\":{}}}",
        least.shown(), selector_text(spec["selector"]), most.shown(),
        spec["unhealthyPodEvictionPolicy"].shown());
    spec.invalid_as(shown, "minAvailable and maxUnavailable cannot be both set");
  }
  for (const Field& value : {least, most}) {
    check_int_or_percent(value);
    check_not_above_all(value);
  }
  check_label_selector(spec["selector"]);
  spec["unhealthyPodEvictionPolicy"].one_of({"AlwaysAllow", "IfHealthyBudget"});
}

void check_disruption_budget_status(const Field& object, const Json* /*live*/) {
  const Field status = object["status"];
  check_conditions(status["conditions"]);
  for (const char* key :
       {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"}) {
    status[key].not_negative();
  }
}

}  // namespace kubewatch::builtin
