// The parts of a Result that are lists of small documents: events, patches and metrics. As printed,
// with types and sizes checked; whether the rule may write them is output's business. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/params.hpp"
#include "hooks/metric_store.hpp"

namespace kubewatch::hooks {

struct HookEvent {
  bool warning = false;
  std::string reason;             // one word
  std::string action;             // one word, "Reconcile" when not given
  std::string note;               // for people
  std::optional<Json> regarding;  // {apiVersion, kind, namespace?, name, uid?}; absent: the object
};

struct HookPatch {
  Json target;  // {apiVersion, kind, namespace?, name}
  std::string subresource;
  core::PatchType type = core::PatchType::merge;
  Json patch;
};

// Of one metric of a hook: a series is kept for each set of values.
inline constexpr std::size_t kMostMetricLabels = 16;
inline constexpr std::size_t kMostMetricBuckets = 50;
inline constexpr std::size_t kLongestMetricLabel = 256;

struct HookMetric {
  std::string name;
  MetricKind kind = MetricKind::counter;
  double value = 0;  // counter: added; gauge: set; histogram: observed
  std::map<std::string, std::string> labels;
  std::optional<Duration> ttl;  // the series is gone so long after its last value
  std::vector<double> buckets;  // histogram; empty: the default ones
  std::string help;
};

// Of what a Result says: its message begins with that word.
Error invalid_result(const std::string& message);
// Each takes the list under its key. Errors: invalid, naming the entry and the key.
Result<std::vector<HookEvent>> read_events(const Json& value);
Result<std::vector<HookPatch>> read_patches(const Json& value);
Result<std::vector<HookMetric>> read_metrics(const Json& value);

}  // namespace kubewatch::hooks
