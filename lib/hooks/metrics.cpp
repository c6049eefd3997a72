#include "hooks/metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/log.hpp"
#include "hooks/engine.hpp"
#include "hooks/metric_text.hpp"
#include "hooks/metrics_table.hpp"
#include "hooks/recorded_request.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostOwnSeries = 20000;
constexpr std::size_t kMostHookSeries = 10000;
const std::vector<double> kHookBuckets = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

double seconds(Duration time) {
  return static_cast<double>(time.count()) / 1000.0;
}

// The facts of the moment as families of the table. Equal labels are added up; `most` and `least`
// keep the greater and the smaller value.
class Snapshot {
 public:
  using Merge = double (*)(double, double);
  void add(const std::string& name, MetricLabels labels, double value, Merge merge = sum) {
    auto& series = families_[name];
    const auto [it, fresh] = series.try_emplace(std::move(labels), value);
    if (!fresh) it->second = merge(it->second, value);
  }
  static double sum(double a, double b) { return a + b; }
  static double most(double a, double b) { return std::max(a, b); }
  static double least(double a, double b) { return std::min(a, b); }

  void append_to(std::vector<MetricFamily>& out) const {
    for (const auto& [name, series] : families_) {
      MetricFamily family{own_metric(name), {}};
      for (const auto& [labels, value] : series) family.series.push_back({labels, value});
      out.push_back(std::move(family));
    }
  }

 private:
  std::map<std::string, std::map<MetricLabels, double>> families_;
};

void add_controller(const ControllerFacts& facts, Snapshot& out) {
  const MetricLabels labels = {{"controller", facts.controller}};
  const auto in_state = [&](const char* state, std::size_t count) {
    out.add("kubewatch_queue_objects", {{"controller", facts.controller}, {"state", state}},
            static_cast<double>(count));
  };
  out.add("kubewatch_controller_started", labels, facts.started ? 1 : 0, Snapshot::least);
  in_state("ready", facts.ready);
  in_state("waiting", facts.waiting);
  in_state("running", facts.running);
  in_state("parked", facts.parked);
  out.add("kubewatch_queue_oldest_seconds", labels, seconds(facts.oldest.value_or(Duration{0})),
          Snapshot::most);
  out.add("kubewatch_failing_objects", labels, static_cast<double>(facts.failing));
}

void add_watch(const WatchFacts& facts, Snapshot& out) {
  const MetricLabels labels = {{"resource", facts.resource}, {"namespace", facts.namespace_}};
  out.add("kubewatch_watch_up", labels, facts.synced && !facts.failing_for ? 1 : 0,
          Snapshot::least);
  out.add("kubewatch_watch_failing_seconds", labels,
          seconds(facts.failing_for.value_or(Duration{0})), Snapshot::most);
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

void add_process(const ProcessFacts& facts, Snapshot& out) {
  out.add("kubewatch_build_info", {{"version", KUBEWATCH_VERSION}}, 1);
  out.add("kubewatch_ready", {}, facts.ready ? 1 : 0);
  out.add("kubewatch_loop_slow_turns_total", {}, static_cast<double>(facts.slow_turns));
  out.add("kubewatch_loop_longest_turn_seconds", {}, seconds(facts.longest_turn));
  out.add("kubewatch_trace_spans_sent_total", {}, static_cast<double>(facts.spans_sent));
  out.add("kubewatch_trace_spans_dropped_total", {}, static_cast<double>(facts.spans_dropped));
  out.add("process_cpu_seconds_total", {}, facts.cpu_seconds);
  out.add("process_resident_memory_bytes", {}, facts.resident_bytes);
}

}  // namespace

void read_process(ProcessFacts& out) {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    const auto time = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    out.cpu_seconds = time(usage.ru_utime) + time(usage.ru_stime);
  }
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  double resident = 0;
  if (statm >> pages >> resident) {
    out.resident_bytes = resident * static_cast<double>(sysconf(_SC_PAGESIZE));
  }
}

std::string_view write_result(int status) {
  switch (status) {
    case 0: return "unreachable";
    case 401:
    case 403: return "forbidden";
    case 404: return "not-found";
    case 409: return "conflict";
    case 400:
    case 422: return "invalid";
    case 429: return "throttled";
    default: break;
  }
  if (status >= 500) return "unavailable";
  return status < 300 ? "ok" : "refused";
}

Metrics::Metrics() : own_(kMostOwnSeries), hooks_(kMostHookSeries) {}

void Metrics::count(const std::string& name, const MetricLabels& labels, double value,
                    TimePoint now) {
  // More series than that come of thousands of controllers only.
  (void)own_.record(own_metric(name), labels, value, now);
}

void Metrics::run_ended(const RunRecord& run, TimePoint now) {
  count("kubewatch_runs_total", {{"controller", run.controller}, {"outcome", run.outcome}}, 1, now);
  count("kubewatch_run_seconds", {{"controller", run.controller}}, seconds(run.elapsed), now);
  if (run.attempt > 1) count("kubewatch_retries_total", {{"controller", run.controller}}, 1, now);
}

void Metrics::run_used(const std::string& controller, double cpu_seconds, double max_rss_bytes,
                       TimePoint now) {
  count("kubewatch_run_cpu_seconds", {{"controller", controller}}, cpu_seconds, now);
  if (max_rss_bytes <= 0) return;  // not known
  count("kubewatch_run_max_rss_bytes", {{"controller", controller}}, max_rss_bytes, now);
}

void Metrics::loop_found(const std::string& controller, TimePoint now) {
  count("kubewatch_loops_total", {{"controller", controller}}, 1, now);
}

void Metrics::hook_reported(const std::string& controller, const std::vector<HookMetric>& metrics,
                            TimePoint now, const OnMetric& taken) {
  for (const HookMetric& metric : metrics) {
    MetricSpec spec{metric.name, metric.kind, metric.help, metric.buckets};
    if (metric.kind == MetricKind::histogram && spec.buckets.empty()) spec.buckets = kHookBuckets;
    MetricLabels labels = metric.labels;
    labels["controller"] = controller;
    const auto recorded = hooks_.record(spec, labels, metric.value, now, metric.ttl);
    if (recorded.ok()) {
      if (taken) taken(controller, metric);
      continue;
    }
    hook_refused(controller, recorded.error().message(), now);
  }
}

void Metrics::hook_refused(const std::string& controller, const std::string& why, TimePoint now) {
  count("kubewatch_hook_metrics_dropped_total", {{"controller", controller}}, 1, now);
  if (!told_.admit(controller + " " + why, now)) return;
  base::log_warn("a metric of a hook is not taken: " + why, {{"controller", controller}});
}

void Metrics::on_request(const client::RequestFacts& request) {
  if (request.method == "GET" || request.method == "HEAD") return;
  const auto target = api_target(request.url);
  const bool asks = target && (is_review(*target) || !target->parameter("dryRun").empty());
  if (asks) return;
  count("kubewatch_writes_total",
        {{"verb", std::string(request.verb())},
         {"result", std::string(write_result(request.status))}},
        1, TimePoint{});
}

std::string Metrics::text(const EngineFacts& facts, const ProcessFacts& process, TimePoint now) {
  std::vector<MetricFamily> families = own_.collect(now);
  Snapshot snapshot;
  for (const ControllerFacts& one : facts.controllers) add_controller(one, snapshot);
  for (const WatchFacts& watch : facts.watches) add_watch(watch, snapshot);
  add_process(process, snapshot);
  snapshot.append_to(families);
  for (MetricFamily& family : hooks_.collect(now)) families.push_back(std::move(family));
  return metric_text(families);
}

}  // namespace kubewatch::hooks
