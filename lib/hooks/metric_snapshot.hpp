// The facts of one moment as families of the table of metrics: of run-controller and of reflect.
// Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hooks/facts.hpp"
#include "hooks/metric_store.hpp"

namespace kubewatch::hooks {

// Equal labels are added up; `most` and `least` keep the greater and the smaller value.
class MetricSnapshot {
 public:
  using Merge = double (*)(double, double);
  // Precondition: the name is in the table.
  void add(const std::string& name, MetricLabels labels, double value, Merge merge = sum);
  static double sum(double a, double b) { return a + b; }
  static double most(double a, double b);
  static double least(double a, double b);

  void append_to(std::vector<MetricFamily>& out) const;

 private:
  std::map<std::string, std::map<MetricLabels, double>> families_;
};

double seconds(Duration time);

// Of a watch and its cache. `more`: labels besides resource and namespace.
void add_watch(const WatchFacts& facts, const MetricLabels& more, MetricSnapshot& out);
void add_process(bool ready, double cpu_seconds, double resident_bytes, MetricSnapshot& out);

}  // namespace kubewatch::hooks
