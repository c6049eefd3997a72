// What a hook writes into METRICS_PATH: JSON lines, each a change of a metric; and what becomes of
// them, groups that replace each other included. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hooks/metric_store.hpp"

namespace kubewatch::compat {

struct MetricOperation {
  enum class Action { add, set, observe, expire } action = Action::add;
  std::string name;  // expire: may be empty
  double value = 0;
  hooks::MetricLabels labels;
  std::vector<double> buckets;
  std::string group;  // "" = none; expire: always set
};

// `unknown`: also the fields that are none of a metric, in words; as with shell-operator they are
// passed over. Errors: invalid, "document 2: value: ..."; too_large.
Result<std::vector<MetricOperation>> parse_metrics_file(std::string_view text,
                                                        std::set<std::string>& unknown);

// The series that hooks reported. Each has the label `hook`.
class HookMetrics {
 public:
  HookMetrics();
  // What one run wrote. A group that it names holds afterwards what this run said, and nothing of
  // earlier runs. Gives what could not be taken, in words.
  std::vector<std::string> apply(const std::string& hook,
                                 const std::vector<MetricOperation>& operations, TimePoint now);
  std::vector<hooks::MetricFamily> collect(TimePoint now) { return store_.collect(now); }

 private:
  struct Series {
    std::string name;
    hooks::MetricLabels labels;
    auto operator<=>(const Series&) const = default;
  };
  void expire(const std::string& group);

  hooks::MetricStore store_;
  std::map<std::string, std::set<Series>> groups_;  // by hook and group
};

}  // namespace kubewatch::compat
