#include "hooks/metric_snapshot.hpp"

#include <algorithm>
#include <utility>

#include "hooks/metrics_table.hpp"

namespace kubewatch::hooks {

double seconds(Duration time) {
  return static_cast<double>(time.count()) / 1000.0;
}

double MetricSnapshot::most(double a, double b) {
  return std::max(a, b);
}
double MetricSnapshot::least(double a, double b) {
  return std::min(a, b);
}

void MetricSnapshot::add(const std::string& name, MetricLabels labels, double value, Merge merge) {
  auto& series = families_[name];
  const auto [it, fresh] = series.try_emplace(std::move(labels), value);
  if (!fresh) it->second = merge(it->second, value);
}

void MetricSnapshot::append_to(std::vector<MetricFamily>& out) const {
  for (const auto& [name, series] : families_) {
    MetricFamily family{own_metric(name), {}};
    for (const auto& [labels, value] : series) family.series.push_back({labels, value});
    out.push_back(std::move(family));
  }
}

void add_watch(const WatchFacts& facts, const MetricLabels& more, MetricSnapshot& out) {
  MetricLabels labels = {{"resource", facts.resource}, {"namespace", facts.namespace_}};
  labels.insert(more.begin(), more.end());
  out.add("kubewatch_watch_up", labels, facts.synced && !facts.failing_for ? 1 : 0,
          MetricSnapshot::least);
  out.add("kubewatch_watch_failing_seconds", labels,
          seconds(facts.failing_for.value_or(Duration{0})), MetricSnapshot::most);
  // Those that never happened as well: a rate needs the 0 before the first one.
  for (std::size_t i = 0; i < facts.failures.size(); ++i) {
    MetricLabels of_class = labels;
    of_class["class"] = std::string(runtime::key_of(static_cast<runtime::WatcherFailure>(i)));
    out.add("kubewatch_watch_failures_total", of_class, static_cast<double>(facts.failures[i]));
  }
  out.add("kubewatch_watch_relists_total", labels, static_cast<double>(facts.relists));
  out.add("kubewatch_watch_reconnects_total", labels, static_cast<double>(facts.reconnects));
  out.add("kubewatch_cache_objects", labels, static_cast<double>(facts.objects));
  out.add("kubewatch_cache_bytes", labels, static_cast<double>(facts.bytes));
}

void add_process(bool ready, double cpu_seconds, double resident_bytes, MetricSnapshot& out) {
  out.add("kubewatch_build_info", {{"version", KUBEWATCH_VERSION}}, 1);
  out.add("kubewatch_ready", {}, ready ? 1 : 0);
  out.add("process_cpu_seconds_total", {}, cpu_seconds);
  out.add("process_resident_memory_bytes", {}, resident_bytes);
}

}  // namespace kubewatch::hooks
