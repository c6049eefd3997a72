// The metrics of an engine: their names, labels and buckets, and what counts.
#include "hooks/metrics.hpp"

#include "hooks/engine.hpp"
#include "hooks/metrics_server.hpp"
#include "hooks/metrics_table.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

TimePoint at(std::int64_t ms) {
  return TimePoint{} + Duration{ms};
}

bool has(const std::string& text, const std::string& line) {
  INFO(text);
  return text.find(line + "\n") != std::string::npos;
}

EngineFacts facts() {
  EngineFacts out;
  out.controllers.emplace_back();
  out.controllers[0].controller = "website";
  out.controllers[0].started = true;
  out.controllers[0].ready = 3;
  out.controllers[0].oldest = Duration{1500};
  for (const bool well : {true, false}) {
    WatchFacts watch;
    watch.resource = "pods";
    watch.namespace_ = "shop";
    watch.synced = true;
    watch.relists = 2;
    watch.failures = {0, 3, 1, 0, 0};
    watch.objects = 5;
    if (!well) watch.failing_for = Duration{2000};
    out.watches.push_back(watch);
  }
  return out;
}

}  // namespace

// A change here is a change for everybody's dashboards and alerts.
TEST_CASE("the names, labels and buckets of own metrics are these") {
  std::string table;
  for (const OwnMetric& metric : own_metrics()) {
    table += std::string(to_string(metric.spec.kind)) + " " + metric.spec.name;
    for (const std::string& label : metric.labels) table += " " + label;
    table += metric.spec.buckets.empty()
                 ? "\n"
                 : " " + std::to_string(metric.spec.buckets.size()) + " buckets\n";
  }
  CHECK(table ==
        "counter kubewatch_runs_total controller outcome\n"
        "histogram kubewatch_run_seconds controller 14 buckets\n"
        "histogram kubewatch_run_cpu_seconds controller 10 buckets\n"
        "histogram kubewatch_run_max_rss_bytes controller 6 buckets\n"
        "counter kubewatch_retries_total controller\n"
        "counter kubewatch_loops_total controller\n"
        "counter kubewatch_writes_total verb result\n"
        "counter kubewatch_hook_metrics_dropped_total controller\n"
        "gauge kubewatch_controller_started controller\n"
        "gauge kubewatch_queue_objects controller state\n"
        "gauge kubewatch_queue_oldest_seconds controller\n"
        "gauge kubewatch_failing_objects controller\n"
        "gauge kubewatch_watch_up resource namespace\n"
        "gauge kubewatch_watch_failing_seconds resource namespace\n"
        "counter kubewatch_watch_failures_total resource namespace class\n"
        "counter kubewatch_watch_relists_total resource namespace\n"
        "counter kubewatch_watch_reconnects_total resource namespace\n"
        "gauge kubewatch_cache_objects resource namespace\n"
        "gauge kubewatch_cache_bytes resource namespace\n"
        "gauge kubewatch_build_info version\n"
        "gauge kubewatch_ready\n"
        "gauge kubewatch_leader shard\n"
        "counter kubewatch_loop_slow_turns_total\n"
        "gauge kubewatch_loop_longest_turn_seconds\n"
        "counter kubewatch_trace_spans_sent_total\n"
        "counter kubewatch_trace_spans_dropped_total\n"
        "counter process_cpu_seconds_total\n"
        "gauge process_resident_memory_bytes\n");
  CHECK(metrics_manual().find(".B kubewatch_runs_total\ncounter; labels controller, outcome.") !=
        std::string::npos);
}

TEST_CASE("runs, retries, writes and what runs used are counted") {
  Metrics metrics;
  RunRecord run;
  run.controller = "website";
  run.outcome = "done";
  run.elapsed = Duration{20};
  metrics.run_ended(run, at(0));
  run.outcome = "failed";
  run.attempt = 2;
  metrics.run_ended(run, at(1));
  metrics.run_used("website", 0.25, 2e6, at(1));
  metrics.on_request({"apply pods \"a\"", "PATCH", "/x", 200});
  metrics.on_request({"apply pods \"a\"", "PATCH", "/x", 409});
  metrics.on_request({"get pods \"a\"", "GET", "/x", 200});
  const std::string text = metrics.text({}, {}, at(2));
  CHECK(has(text, "kubewatch_runs_total{controller=\"website\",outcome=\"done\"} 1"));
  CHECK(has(text, "kubewatch_runs_total{controller=\"website\",outcome=\"failed\"} 1"));
  CHECK(has(text, "kubewatch_run_seconds_count{controller=\"website\"} 2"));
  CHECK(has(text, "kubewatch_run_seconds_bucket{controller=\"website\",le=\"0.025\"} 2"));
  CHECK(has(text, "kubewatch_run_cpu_seconds_sum{controller=\"website\"} 0.25"));
  CHECK(has(text, "kubewatch_retries_total{controller=\"website\"} 1"));
  CHECK(has(text, "kubewatch_writes_total{result=\"ok\",verb=\"apply\"} 1"));
  CHECK(has(text, "kubewatch_writes_total{result=\"conflict\",verb=\"apply\"} 1"));
  CHECK(text.find("verb=\"get\"") == std::string::npos);
}

TEST_CASE("counters of a controller begin with 0, so that its first failure is an increase") {
  Metrics metrics;
  std::string text = metrics.text(facts(), {}, at(0));
  for (const char* outcome : {"done", "not-yet", "permanent", "failed", "timeout", "invalid-output",
                              "write-failed", "dropped"}) {
    CHECK(has(text, "kubewatch_runs_total{controller=\"website\",outcome=\"" +
                        std::string(outcome) + "\"} 0"));
  }
  CHECK(has(text, "kubewatch_retries_total{controller=\"website\"} 0"));
  CHECK(has(text, "kubewatch_loops_total{controller=\"website\"} 0"));
  CHECK(has(text, "kubewatch_hook_metrics_dropped_total{controller=\"website\"} 0"));
  metrics.loop_found("website", at(1));
  text = metrics.text(facts(), {}, at(2));
  CHECK(has(text, "kubewatch_loops_total{controller=\"website\"} 1"));
}

TEST_CASE("who leads is told where leaders are elected") {
  Metrics metrics;
  EngineFacts some = facts();
  CHECK(metrics.text(some, {}, at(0)).find("kubewatch_leader") == std::string::npos);
  some.leads = {{0, true}, {1, false}};
  const std::string text = metrics.text(some, {}, at(0));
  CHECK(has(text, "kubewatch_leader{shard=\"0\"} 1"));
  CHECK(has(text, "kubewatch_leader{shard=\"1\"} 0"));
}

TEST_CASE("what is sent as writes are, and writes nothing, is not counted as a write") {
  Metrics metrics;
  const std::string none = metrics.text({}, {}, at(2));
  const std::string server = "https://server";
  const std::string pod = server + "/api/v1/namespaces/a/pods/p?fieldManager=k";
  const std::string robot = server + "/api/v1/namespaces/a/serviceaccounts/robot";
  const std::string review = server + "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  metrics.on_request({"apply pods \"p\"", "PATCH", pod + "&dryRun=All", 200});
  metrics.on_request({"create serviceaccounts", "POST", robot + "/token", 201});
  metrics.on_request({"create selfsubjectaccessreviews", "POST", review, 201});
  CHECK(metrics.text({}, {}, at(2)) == none);
  metrics.on_request({"apply pods \"p\"", "PATCH", pod, 200});
  CHECK(metrics.text({}, {}, at(2)) != none);
}

TEST_CASE("facts of the moment are shown, two watches of one kind as one series") {
  Metrics metrics;
  const std::string text = metrics.text(facts(), {}, at(0));
  CHECK(has(text, "kubewatch_queue_objects{controller=\"website\",state=\"ready\"} 3"));
  CHECK(has(text, "kubewatch_queue_oldest_seconds{controller=\"website\"} 1.5"));
  CHECK(has(text, "kubewatch_watch_up{namespace=\"shop\",resource=\"pods\"} 0"));
  CHECK(has(text, "kubewatch_watch_failing_seconds{namespace=\"shop\",resource=\"pods\"} 2"));
  CHECK(has(text, "kubewatch_watch_relists_total{namespace=\"shop\",resource=\"pods\"} 4"));
  CHECK(has(text, "kubewatch_cache_objects{namespace=\"shop\",resource=\"pods\"} 10"));
}

TEST_CASE("failures of a watch are counted by class, those that never happened as 0") {
  Metrics metrics;
  const std::string text = metrics.text(facts(), {}, at(0));
  const auto counted = [&](const std::string& where, int count) {
    return has(text, "kubewatch_watch_failures_total{class=\"" + where +
                         "\",namespace=\"shop\",resource=\"pods\"} " + std::to_string(count));
  };
  CHECK(counted("initialList", 0));
  CHECK(counted("watchStart", 6));
  CHECK(counted("stream", 2));
  CHECK(counted("serverError", 0));
  CHECK(counted("noResourceVersion", 0));
}

TEST_CASE("metrics of hooks carry their controller, what cannot be taken is counted") {
  Metrics metrics;
  HookMetric metric;
  metric.name = "sites_built";
  metric.value = 2;
  metric.labels = {{"site", "a"}};
  metrics.hook_reported("website", {metric, metric}, at(0));
  metric.kind = MetricKind::gauge;
  metrics.hook_reported("other", {metric}, at(0));
  const std::string text = metrics.text({}, {}, at(0));
  CHECK(has(text, "sites_built{controller=\"website\",site=\"a\"} 4"));
  CHECK(has(text, "kubewatch_hook_metrics_dropped_total{controller=\"other\"} 1"));
}

TEST_CASE("every status has one word for the result of a write") {
  CHECK(write_result(0) == "unreachable");
  CHECK(write_result(201) == "ok");
  CHECK(write_result(403) == "forbidden");
  CHECK(write_result(422) == "invalid");
  CHECK(write_result(429) == "throttled");
  CHECK(write_result(503) == "unavailable");
  CHECK(write_result(301) == "refused");
}
