#include "hooks/metrics_table.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

constexpr auto kCounter = MetricKind::counter;
constexpr auto kGauge = MetricKind::gauge;
constexpr auto kHistogram = MetricKind::histogram;

std::vector<OwnMetric> runs() {
  return {
      {{"kubewatch_runs_total", kCounter,
        "Runs that ended, by outcome: done, not-yet, permanent, failed, timeout, invalid-output, "
        "write-failed, dropped (the object went to another shard, or the lead was lost, while it "
        "ran)."},
       {"controller", "outcome"}},
      {{"kubewatch_run_seconds",
        kHistogram,
        "How long runs took, hook and writes together.",
        {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}},
       {"controller"}},
      {{"kubewatch_run_cpu_seconds",
        kHistogram,
        "CPU time that the processes of a run used.",
        {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60}},
       {"controller"}},
      {{"kubewatch_run_max_rss_bytes",
        kHistogram,
        "The most memory that a process of a run held; only of runs where that is more than the "
        "controller has held itself, because what the kernel counts of a hook begins with that.",
        {1048576, 4194304, 16777216, 67108864, 268435456, 1073741824}},
       {"controller"}},
      {{"kubewatch_retries_total", kCounter, "Runs that were another attempt after a failure."},
       {"controller"}},
      {{"kubewatch_loops_total", kCounter,
        "Objects that were found to be run again and again by what their own runs write."},
       {"controller"}},
      {{"kubewatch_writes_total", kCounter,
        "Writes to the API server, by verb (create, update, apply, patch, delete) and result (ok, "
        "conflict, forbidden, invalid, not-found, throttled, unavailable, unreachable, refused)."},
       {"verb", "result"}},
      {{"kubewatch_hook_metrics_dropped_total", kCounter,
        "Values of metrics that hooks printed and that were not taken: too many series, a name "
        "with two types or that lines of a histogram have, or one that holds a value of a "
        "Secret."},
       {"controller"}},
  };
}

std::vector<OwnMetric> state() {
  return {
      {{"kubewatch_controller_started", kGauge,
        "1 when the caches of a controller had their first sync, 0 while it waits."},
       {"controller"}},
      {{"kubewatch_queue_objects", kGauge,
        "Objects in the queue, by state: ready, waiting (for a retry, a requeue, a resync), "
        "running, parked."},
       {"controller", "state"}},
      {{"kubewatch_queue_oldest_seconds", kGauge,
        "How long the oldest object that is due has waited for its run."},
       {"controller"}},
      {{"kubewatch_failing_objects", kGauge, "Objects whose last run failed and is tried again."},
       {"controller"}},
      {{"kubewatch_watch_up", kGauge, "1 when a watch is synced and well, 0 while it is failing."},
       {"resource", "namespace"}},
      {{"kubewatch_watch_failing_seconds", kGauge, "For how long a watch has been failing."},
       {"resource", "namespace"}},
      {{"kubewatch_watch_failures_total", kCounter,
        "Failures of a watch, each of which is tried again, by class: initialList, watchStart, "
        "stream, serverError, noResourceVersion."},
       {"resource", "namespace", "class"}},
      {{"kubewatch_watch_relists_total", kCounter, "Lists after the first, each after a gap."},
       {"resource", "namespace"}},
      {{"kubewatch_watch_reconnects_total", kCounter, "Watches started after the first."},
       {"resource", "namespace"}},
      {{"kubewatch_cache_objects", kGauge, "Objects in the cache."}, {"resource", "namespace"}},
      {{"kubewatch_cache_bytes", kGauge, "Memory that the cache of a kind holds."},
       {"resource", "namespace"}},
  };
}

std::vector<OwnMetric> process() {
  return {
      {{"kubewatch_build_info", kGauge, "Always 1."}, {"version"}},
      {{"kubewatch_ready", kGauge, "1 when /readyz says ok."}, {}},
      {{"kubewatch_leader", kGauge,
        "With --leader-elect: 1 while this instance leads, 0 while it stands by; without --shards "
        "there is shard 0 alone."},
       {"shard"}},
      {{"kubewatch_loop_slow_turns_total", kCounter,
        "Turns of the event loop that took longer than 100 ms."},
       {}},
      {{"kubewatch_loop_longest_turn_seconds", kGauge, "The longest turn of the event loop."}, {}},
      {{"kubewatch_trace_spans_sent_total", kCounter, "Spans that the collector took."}, {}},
      {{"kubewatch_trace_spans_dropped_total", kCounter,
        "Spans that were given up: the queue was full, or the collector refused them."},
       {}},
      {{"process_cpu_seconds_total", kCounter, "CPU time of this process, its hooks not counted."},
       {}},
      {{"process_resident_memory_bytes", kGauge, "Memory that this process holds."}, {}},
  };
}

std::vector<OwnMetric> reflected() {
  return {
      {{"kubewatch_cache_json_bytes", kGauge, "Bytes of the JSON of the objects in the cache."},
       {"resource", "namespace"}},
      {{"kubewatch_cache_synced", kGauge, "1 when the cache had its first sync."},
       {"resource", "namespace"}},
      {{"kubewatch_cache_lag_seconds", kGauge,
        "How long ago the server last said where it stands; not there before it has."},
       {"resource", "namespace"}},
      {{"kubewatch_cache_events_total", kCounter, "Events of the watch."},
       {"resource", "namespace"}},
      {{"kubewatch_serve_requests_total", kCounter, "With --serve: requests of readers."}, {}},
      {{"kubewatch_serve_refused_total", kCounter, "Those that were refused."}, {}},
      {{"kubewatch_serve_forwarded_total", kCounter, "Those that were passed on to the server."},
       {}},
      {{"kubewatch_serve_objects_total", kCounter, "Objects sent by gets and lists."}, {}},
      {{"kubewatch_serve_watches_total", kCounter, "Watches that readers have opened."}, {}},
      {{"kubewatch_serve_watches_open", kGauge, "Watches of readers that are open now."}, {}},
      {{"kubewatch_serve_watches_dropped_total", kCounter,
        "Watches ended because their client did not read."},
       {}},
  };
}

std::vector<OwnMetric> table() {
  std::vector<OwnMetric> out = runs();
  for (auto& metric : state()) out.push_back(std::move(metric));
  for (auto& metric : process()) out.push_back(std::move(metric));
  return out;
}

std::string escaped(std::string text) {
  std::string out;
  for (const char c : text) out += c == '-' ? "\\-" : std::string(1, c);
  return out;
}

struct Told {
  std::string kind;     // "counter; labels a, b."
  std::string buckets;  // "" where it has none
};

Told told_of(const OwnMetric& metric) {
  Told out;
  out.kind = to_string(metric.spec.kind);
  if (!metric.labels.empty()) out.kind += "; labels " + base::join(metric.labels, ", ");
  out.kind += ".";
  if (metric.spec.buckets.empty()) return out;
  std::vector<std::string> bounds;
  for (const double bound : metric.spec.buckets) bounds.push_back(fmt::format("{}", bound));
  out.buckets = "Buckets: " + base::join(bounds, ", ") + ".";
  return out;
}

std::string manual_of(const std::vector<OwnMetric>& metrics) {
  std::string out;
  for (const OwnMetric& metric : metrics) {
    const Told told = told_of(metric);
    out +=
        fmt::format(".TP\n.B {}\n{}\n{}\n", metric.spec.name, told.kind, escaped(metric.spec.help));
    if (!told.buckets.empty()) out += told.buckets + "\n";
  }
  return out;
}

std::string text_of(const std::vector<OwnMetric>& metrics) {
  std::string out;
  for (const OwnMetric& metric : metrics) {
    const Told told = told_of(metric);
    out += fmt::format("\n{}\n    {} {}\n", metric.spec.name, told.kind, metric.spec.help);
    if (!told.buckets.empty()) out += "    " + told.buckets + "\n";
  }
  return out;
}

}  // namespace

const std::vector<OwnMetric>& own_metrics() {
  static const std::vector<OwnMetric> metrics = table();
  return metrics;
}

const std::vector<OwnMetric>& reflect_metrics() {
  static const std::vector<OwnMetric> metrics = reflected();
  return metrics;
}

const MetricSpec& own_metric(const std::string& name) {
  for (const auto* metrics : {&own_metrics(), &reflect_metrics()}) {
    for (const OwnMetric& metric : *metrics) {
      if (metric.spec.name == name) return metric.spec;
    }
  }
  throw std::logic_error("not in the table of metrics: " + name);
}

std::string metrics_manual() {
  return manual_of(own_metrics()) + ".SS Of reflect alone\n" + manual_of(reflect_metrics());
}

std::string metrics_text() {
  return text_of(own_metrics()) + "\nOf reflect alone:\n" + text_of(reflect_metrics());
}

}  // namespace kubewatch::hooks
