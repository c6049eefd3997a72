#include "hooks/metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "base/log.hpp"
#include "hooks/engine.hpp"
#include "hooks/metric_snapshot.hpp"
#include "hooks/metric_text.hpp"
#include "hooks/metrics_table.hpp"
#include "hooks/recorded_request.hpp"
#include "hooks/verdict.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostOwnSeries = 20000;
constexpr std::size_t kMostHookSeries = 10000;
const std::vector<double> kHookBuckets = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

void add_controller(const ControllerFacts& facts, MetricSnapshot& out) {
  const MetricLabels labels = {{"controller", facts.controller}};
  const auto in_state = [&](const char* state, std::size_t count) {
    out.add("kubewatch_queue_objects", {{"controller", facts.controller}, {"state", state}},
            static_cast<double>(count));
  };
  out.add("kubewatch_controller_started", labels, facts.started ? 1 : 0, MetricSnapshot::least);
  in_state("ready", facts.ready);
  in_state("waiting", facts.waiting);
  in_state("running", facts.running);
  in_state("parked", facts.parked);
  out.add("kubewatch_queue_oldest_seconds", labels, seconds(facts.oldest.value_or(Duration{0})),
          MetricSnapshot::most);
  out.add("kubewatch_failing_objects", labels, static_cast<double>(facts.failing));
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

ProcessFacts process_facts(const loop::EventLoop& loop, bool ready) {
  ProcessFacts out;
  out.ready = ready;
  out.slow_turns = loop.stalls().slow_turns;
  out.longest_turn = loop.stalls().longest;
  read_process(out);
  return out;
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

// What increases from nothing to 1 has not increased for who asks Prometheus.
void Metrics::begin_counters(const std::string& controller, TimePoint now) {
  for (const Outcome outcome : kOutcomes) {
    count("kubewatch_runs_total",
          {{"controller", controller}, {"outcome", std::string(to_string(outcome))}}, 0, now);
  }
  for (const OwnMetric& metric : own_metrics()) {
    const bool of_controller = metric.labels == std::vector<std::string>{"controller"};
    if (metric.spec.kind != MetricKind::counter || !of_controller) continue;
    count(metric.spec.name, {{"controller", controller}}, 0, now);
  }
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
  for (const ControllerFacts& one : facts.controllers) {
    if (begun_.insert(one.controller).second) begin_counters(one.controller, now);
  }
  std::vector<MetricFamily> families = own_.collect(now);
  MetricSnapshot snapshot;
  for (const ControllerFacts& one : facts.controllers) add_controller(one, snapshot);
  for (const WatchFacts& watch : facts.watches) add_watch(watch, {}, snapshot);
  for (const auto& [shard, leads] : facts.leads) {
    snapshot.add("kubewatch_leader", {{"shard", std::to_string(shard)}}, leads ? 1 : 0);
  }
  add_process(process.ready, process.cpu_seconds, process.resident_bytes, snapshot);
  snapshot.add("kubewatch_loop_slow_turns_total", {}, static_cast<double>(process.slow_turns));
  snapshot.add("kubewatch_loop_longest_turn_seconds", {}, seconds(process.longest_turn));
  snapshot.add("kubewatch_trace_spans_sent_total", {}, static_cast<double>(process.spans_sent));
  snapshot.add("kubewatch_trace_spans_dropped_total", {},
               static_cast<double>(process.spans_dropped));
  snapshot.append_to(families);
  for (MetricFamily& family : hooks_.collect(now)) families.push_back(std::move(family));
  return metric_text(families);
}

}  // namespace kubewatch::hooks
