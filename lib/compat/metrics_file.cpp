// Reading and applying metric operations.
#include "compat/metrics_file.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/json.hpp"
#include "compat/config_node.hpp"
#include "hooks/result_extras.hpp"

namespace kubewatch::compat {
namespace {

constexpr std::size_t kMostMetricsBytes = 4U << 20U;
constexpr std::size_t kMostMetrics = 10'000;
constexpr std::size_t kMostSeries = 10'000;

using Action = MetricOperation::Action;

// "add" and "set" as keys are an older way to write action and value, which they go before.
void read_action(ConfigNode& node, MetricOperation& out) {
  std::string action;
  std::optional<double> value;
  std::optional<double> add;
  std::optional<double> set;
  node.text("action", action);
  node.number("value", value);
  node.number("add", add);
  node.number("set", set);
  if (node.failed()) return;
  if (add || set) {
    if (add && set) return node.fail("", "has both add and set");
    action = add ? "add" : "set";
    value = add ? add : set;
  }
  if (action == "add") {
    out.action = Action::add;
  } else if (action == "set") {
    out.action = Action::set;
  } else if (action == "observe") {
    out.action = Action::observe;
  } else if (action == "expire") {
    out.action = Action::expire;
    return;
  } else {
    return node.fail(action.empty() ? "" : "action",
                     "must have the action add, set, observe or expire");
  }
  if (!value) return node.fail("", "value is missing");
  if (out.action == Action::add && *value < 0) {
    return node.fail("value", "must not be negative: a counter only grows");
  }
  out.value = *value;
}

void read_labels(ConfigNode& node, MetricOperation& out) {
  const Json& labels = node.raw("labels");
  if (node.failed() || labels.is_null()) return;
  if (!labels.is_object()) return node.fail("labels", "must be a mapping");
  if (labels.size() > hooks::kMostMetricLabels) {
    return node.fail("labels", fmt::format("has {} entries; at most {} are kept", labels.size(),
                                           hooks::kMostMetricLabels));
  }
  for (const auto& [name, value] : labels.items()) {
    if (!hooks::is_metric_name(name, false) || name.starts_with("__")) {
      return node.fail("labels", "has a name that is none for a label");
    }
    if (name == "le" && out.action == Action::observe) {
      return node.fail("labels", "has le, which tells the buckets of a histogram apart");
    }
    if (!value.is_string()) return node.fail("labels", name + " must be a string");
    if (value.get_ref<const std::string&>().size() > hooks::kLongestMetricLabel) {
      return node.fail("labels",
                       fmt::format("{} has more than {} bytes", name, hooks::kLongestMetricLabel));
    }
    // To Prometheus an empty label is none.
    if (!value.get_ref<const std::string&>().empty()) out.labels[name] = value.get<std::string>();
  }
}

void read_buckets(ConfigNode& node, MetricOperation& out) {
  const Json& buckets = node.raw("buckets");
  if (node.failed() || buckets.is_null()) return;
  if (!buckets.is_array()) return node.fail("buckets", "must be a list of numbers");
  if (buckets.size() > hooks::kMostMetricBuckets) {
    return node.fail("buckets", fmt::format("has {} entries; at most {} are kept", buckets.size(),
                                            hooks::kMostMetricBuckets));
  }
  for (const Json& bound : buckets) {
    if (!bound.is_number()) return node.fail("buckets", "must be a list of numbers");
    // Two of one bound would be one series twice.
    if (!out.buckets.empty() && !hooks::rises(out.buckets.back(), bound.get<double>())) {
      return node.fail("buckets", "must rise, within 16 digits");
    }
    out.buckets.push_back(bound.get<double>());
  }
}

void read_operation(ConfigNode& node, MetricOperation& out) {
  node.text("name", out.name, true);
  node.text("group", out.group, true);
  read_action(node, out);
  read_labels(node, out);
  read_buckets(node, out);
  if (node.failed()) return;
  if (out.action == Action::expire) {
    if (out.group.empty()) node.fail("", "expire needs a group");
    return;
  }
  if (!hooks::is_metric_name(out.name, true))
    return node.fail("", "name is missing, or no name of a metric");
  if (out.name.starts_with("kubewatch_") || out.name.starts_with("process_")) {
    return node.fail("name", "kubewatch_ and process_ are kept for metrics of kubewatch itself");
  }
  if (out.action != Action::observe) return;
  if (out.buckets.empty()) return node.fail("", "observe needs buckets");
  if (!out.group.empty()) node.fail("group", "is not supported with observe");
}

}  // namespace

Result<std::vector<MetricOperation>> parse_metrics_file(std::string_view text,
                                                        std::set<std::string>& unknown) {
  if (text.size() > kMostMetricsBytes) return Error(ErrorKind::too_large, "more than 4 MiB");
  base::YamlLimits limits;
  limits.max_documents = kMostMetrics;
  limits.documents_are = "operations";
  KW_ASSIGN(const auto documents, base::parse_yaml(text, limits));
  std::vector<MetricOperation> out;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (!documents[i].value.is_object()) {
      return Error(ErrorKind::invalid, fmt::format("document {}: must be a mapping", i + 1));
    }
    ConfigProblem problem;
    ConfigNode node(documents[i].value, documents[i].marks, problem);
    MetricOperation operation;
    read_operation(node, operation);
    if (problem.error) {
      return std::move(*problem.error).with_context(fmt::format("document {}", i + 1));
    }
    node.note_unknown(unknown);
    out.push_back(std::move(operation));
  }
  return out;
}

HookMetrics::HookMetrics() : store_(kMostSeries) {}

void HookMetrics::expire(const std::string& group) {
  const auto held = groups_.extract(group);
  if (held.empty()) return;
  for (const Series& series : held.mapped()) store_.erase(series.name, series.labels);
}

std::vector<std::string> HookMetrics::apply(const std::string& hook,
                                            const std::vector<MetricOperation>& operations,
                                            TimePoint now) {
  const auto key = [&](const MetricOperation& one) { return hook + "\n" + one.group; };
  for (const MetricOperation& one : operations) {
    if (!one.group.empty()) expire(key(one));
  }
  std::vector<std::string> problems;
  for (const MetricOperation& one : operations) {
    if (one.action == Action::expire) continue;
    hooks::MetricSpec spec;
    spec.name = one.name;
    spec.help = one.name;
    spec.buckets = one.buckets;
    if (one.action == Action::set) spec.kind = hooks::MetricKind::gauge;
    if (one.action == Action::observe) spec.kind = hooks::MetricKind::histogram;
    hooks::MetricLabels labels = one.labels;
    labels["hook"] = hook;
    const auto taken = store_.record(spec, labels, one.value, now);
    if (!taken.ok()) {
      problems.push_back(taken.error().render());
    } else if (!one.group.empty()) {
      groups_[key(one)].insert({one.name, std::move(labels)});
    }
  }
  return problems;
}

}  // namespace kubewatch::compat
