// Why an object runs or does not: one row for each answer, and which of two facts wins.
#include "hooks/explain.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

Rule website() {
  Rule rule;
  rule.name = "website";
  rule.finalizer_name = "kubewatch.dev/website";
  rule.debounce = Duration{5000};
  rule.resync = Duration{600000};
  rule.concurrency = 2;
  rule.changed = {".spec"};
  return rule;
}

// Started, in the cache, passing the filter, nothing to be done.
ExplainFacts quiet() {
  ExplainFacts facts;
  facts.now = TimePoint{Duration{1000000}};
  facts.started = true;
  facts.cached = true;
  facts.passes_filter = true;
  facts.meta.name = "a";
  facts.meta.namespace_ = "shop";
  return facts;
}

runtime::KeyState pending(const ExplainFacts& facts, runtime::Reason reason, int wait) {
  runtime::KeyState key;
  key.pending = true;
  key.reason = reason;
  key.due = facts.now + Duration{wait};
  return key;
}

std::string all_of(const Explanation& out) {
  std::string text = out.text;
  for (const auto& detail : out.details) text += "\n" + detail;
  return text;
}

bool says(const Explanation& out, const std::string& words) {
  return all_of(out).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a rule that is not at work says what it waits for, whatever the object") {
  auto facts = quiet();
  facts.queued = pending(facts, runtime::Reason::updated, 0);
  facts.started = false;
  CHECK(explain(website(), facts).state == "syncing");
  facts.blocked = true;
  CHECK(explain(website(), facts).state == "forbidden");
  facts.waits_for = "the server has no kind x/v1 Website";
  const auto out = explain(website(), facts);
  CHECK(out.state == "waiting-for-kind");
  CHECK(says(out, "no kind x/v1 Website"));
  CHECK_FALSE(out.matched);
  facts.stopping = true;
  CHECK(explain(website(), facts).state == "stopping");
}

TEST_CASE("nothing is called idle while a watch of its rule fails") {
  auto facts = quiet();
  REQUIRE(explain(website(), facts).state == "idle");
  facts.failing = {"the watch of websites.x in namespace shop has failed for 37s: Forbidden"};
  const auto out = explain(website(), facts);
  CHECK(out.state == "stale");
  CHECK(says(out, "has failed for 37s: Forbidden"));
  facts.queued = pending(facts, runtime::Reason::updated, 0);
  CHECK(explain(website(), facts).state == "due");
  CHECK(says(explain(website(), facts), "has failed for 37s"));
}

TEST_CASE("an object outside of the selection is told which selector keeps it out") {
  auto facts = quiet();
  facts.cached = false;
  CHECK(explain(website(), facts).state == "not-found");
  Json live = {{"metadata", {{"name", "a"}, {"namespace", "shop"}, {"labels", {{"tier", "db"}}}}},
               {"spec", {{"size", "1"}}}};
  facts.live = &live;
  Rule rule = website();
  rule.for_.label_selector = *core::LabelSelector::parse("tier=web");
  auto out = explain(rule, facts);
  CHECK(out.state == "not-selected");
  CHECK(says(out, "labelSelector tier=web"));
  rule.for_.label_selector = {};
  rule.for_.field_selector = *core::FieldSelector::parse("spec.size=2");
  CHECK(says(explain(rule, facts), "fieldSelector spec.size=2"));
  rule.for_.namespaces = {"blog"};
  CHECK(says(explain(rule, facts), "namespace shop is none"));
  live["metadata"]["finalizers"] = Json::array({"kubewatch.dev/website"});
  CHECK(says(explain(rule, facts), "still carries the finalizer"));
  facts.live = nullptr;
  facts.live_error = "403";
  CHECK(says(explain(rule, facts), "could not be asked why: 403"));
}

TEST_CASE("the filter keeps an object out, but not one that we have to let go") {
  auto facts = quiet();
  facts.passes_filter = false;
  CHECK(explain(website(), facts).state == "filtered");
  facts.meta.finalizers = {"kubewatch.dev/website"};
  CHECK(explain(website(), facts).state == "idle");
  Rule keep = website();
  keep.when_no_longer_matched = WhenUnmatched::keep;
  CHECK(explain(keep, facts).state == "filtered");
  facts.meta.finalizers.clear();
  facts.passes_filter.reset();
  facts.filter_error = "not a number";
  const auto out = explain(website(), facts);
  CHECK(out.matched);
  CHECK(says(out, "the filter fails on it: not a number"));
}

TEST_CASE("an object whose lists may lack something waits, and says for what") {
  auto facts = quiet();
  facts.lacks = {"rules.yaml:9: map of watches config fails on v1 ConfigMap shop/b: no JSON"};
  const std::string why = "before its lists are whole: " + facts.lacks[0];
  CHECK(explain(website(), facts).state == "idle");
  CHECK(says(explain(website(), facts), why));
  facts.queued = pending(facts, runtime::Reason::requeue, 4000);
  const auto out = explain(website(), facts);
  CHECK(out.state == "incomplete");
  CHECK(out.matched);
  CHECK_FALSE(out.next_run);
  CHECK(says(out, why));
  facts.queued->held = true;
  CHECK(explain(website(), facts).state == "running");
}

TEST_CASE("a dying object without our finalizer is nobody's, with it it is held") {
  auto facts = quiet();
  facts.meta.deletion_timestamp = "2026-01-02T03:04:05Z";
  CHECK(explain(website(), facts).state == "deleting");
  facts.meta.finalizers = {"kubewatch.dev/website"};
  CHECK(says(explain(website(), facts), "since 2026-01-02T03:04:05Z"));
}

TEST_CASE("what waits in the queue says for what and for how long") {
  struct Row {
    runtime::Reason reason;
    const char* state;
    const char* words;
  };
  const Row rows[] = {{runtime::Reason::updated, "debounced", "debounce of 5s"},
                      {runtime::Reason::retry, "backoff", "last 3 runs failed"},
                      {runtime::Reason::requeue, "requeued", "asked to run again"},
                      {runtime::Reason::resync, "resync", "resync of every 10m"},
                      {runtime::Reason::schedule, "scheduled", "the schedule runs it"}};
  for (const Row& row : rows) {
    auto facts = quiet();
    facts.queued = pending(facts, row.reason, 12000);
    facts.queued->failures = 3;
    const auto out = explain(website(), facts);
    INFO(row.state);
    CHECK(out.state == row.state);
    CHECK(out.matched);
    CHECK(says(out, row.words));
    CHECK(says(out, "in 12s"));
    CHECK(out.next_run == Duration{12000});
  }
}

TEST_CASE("the next time of the schedule is told of what is idle, or waits for a later resync") {
  auto facts = quiet();
  facts.schedule_in = Duration{60000};
  auto out = explain(website(), facts);
  CHECK(out.state == "scheduled");
  CHECK(says(out, "the schedule runs it in 1m"));
  CHECK(out.next_run == Duration{60000});
  facts.queued = pending(facts, runtime::Reason::resync, 61000);
  CHECK(explain(website(), facts).state == "scheduled");
  facts.queued = pending(facts, runtime::Reason::resync, 59000);
  CHECK(explain(website(), facts).state == "resync");
  facts.queued = pending(facts, runtime::Reason::retry, 90000);
  CHECK(explain(website(), facts).state == "backoff");
  // The clock does not run it.
  facts.queued = runtime::KeyState{};
  facts.queued->parked = true;
  out = explain(website(), facts);
  CHECK(out.state == "parked");
  CHECK_FALSE(out.next_run);
}

TEST_CASE("a run that waits for what the last one wrote says for what, and how long at most") {
  auto facts = quiet();
  facts.behind = "no watch has shown yet what its last run wrote: ConfigMap shop/page";
  facts.queued = pending(facts, runtime::Reason::updated, 3000);
  auto out = explain(website(), facts);
  CHECK(out.state == "behind");
  CHECK(out.next_run == Duration{3000});
  CHECK(says(out, "(Updated) waits, 3s more at most"));
  CHECK(says(out, "ConfigMap shop/page"));
  // What else holds it is said first.
  facts.queued->held = true;
  CHECK(explain(website(), facts).state == "running");
}

TEST_CASE("what is due runs next, unless a limit holds it") {
  auto facts = quiet();
  facts.queued = pending(facts, runtime::Reason::updated, -10);
  CHECK(explain(website(), facts).state == "due");
  facts.slot_limit = 8;
  facts.used_slots = 8;
  CHECK(says(explain(website(), facts), "--concurrency 8"));
  facts.held_keys = 2;
  facts.ready_ahead = 5;
  const auto out = explain(website(), facts);
  CHECK(out.state == "limited");
  CHECK(says(out, "concurrency 2"));
  CHECK(says(out, "5 objects"));
}

TEST_CASE("running, parked and idle objects say what runs them next") {
  auto facts = quiet();
  facts.queued = runtime::KeyState{};
  facts.queued->held = true;
  facts.queued->pending = true;
  auto out = explain(website(), facts);
  CHECK(out.state == "running");
  CHECK(says(out, "once more"));
  facts.held_by = "5 workers ended";
  out = explain(website(), facts);
  CHECK(out.state == "waiting-for-worker");
  CHECK(says(out, "waits for a worker: 5 workers ended"));
  facts.queued = runtime::KeyState{};
  facts.queued->parked = true;
  facts.slow_retry_in = Duration{60000};
  facts.last = LastRun{"write-failed", "403: no", Duration{3000}, false};
  out = explain(website(), facts);
  CHECK(out.state == "parked");
  CHECK(out.next_run == Duration{60000});
  CHECK(says(out, "last run ended 3s ago: write-failed: 403: no"));
  facts.last = LastRun{"permanent: no such plan", "", Duration{7200000}, true};
  out = explain(website(), facts);
  CHECK(says(out, "its last run began 2h ago: permanent: no such plan"));
  facts = quiet();
  facts.ignored = IgnoredChange{"77", Duration{2000}};
  out = explain(website(), facts);
  CHECK(out.state == "idle");
  CHECK_FALSE(out.next_run);
  CHECK(says(out, "resourceVersion 77, 2s ago"));
  CHECK(says(out, ".spec"));
}

TEST_CASE("an instance that may not write or does not lead the shard says so") {
  auto facts = quiet();
  facts.queued = pending(facts, runtime::Reason::updated, 0);
  facts.may_write = false;
  CHECK(explain(website(), facts).state == "standby");
  facts.owns_shard = false;
  facts.sharded = true;
  const auto out = explain(website(), facts);
  CHECK(out.state == "other-shard");
  CHECK_FALSE(out.matched);
}

TEST_CASE("an instance that could not lead says why, and not that another one leads") {
  auto facts = quiet();
  facts.queued = pending(facts, runtime::Reason::updated, 0);
  facts.may_write = false;
  facts.lead_trouble = "create leases: forbidden";
  auto out = explain(website(), facts);
  CHECK(out.state == "standby");
  CHECK(out.text == "this instance may not write now, and cannot lead: create leases: forbidden");
  facts.owns_shard = false;
  facts.sharded = true;
  out = explain(website(), facts);
  CHECK(out.state == "other-shard");
  CHECK(out.text ==
        "this instance does not lead its shard, and could not take it over: create leases: "
        "forbidden");
}

TEST_CASE("an explanation as JSON has a next run only where it is known") {
  Explanation out;
  out.state = "idle";
  CHECK_FALSE(to_json(out).contains("nextRunMilliseconds"));
  out.next_run = Duration{-5};
  CHECK(to_json(out)["nextRunMilliseconds"] == 0);
}

TEST_CASE("an object slowed down for its loop says until when, and which paths keep changing") {
  auto facts = quiet();
  facts.loop = SlowedLoop{{"ConfigMap shop/a: data.time"}, true, Duration{8000}};
  for (const auto reason : {runtime::Reason::owned_changed, runtime::Reason::updated}) {
    facts.queued = pending(facts, reason, 7000);
    const auto out = explain(website(), facts);
    CHECK(out.state == "slowed");
    CHECK(out.next_run == Duration{7000});
    CHECK(says(out, "it comes in 7s"));
    CHECK(says(out, "ConfigMap shop/a: data.time"));
    CHECK(says(out, "put off by 8s"));
  }
  // Others ask for it: nothing puts that off.
  facts.queued = pending(facts, runtime::Reason::resync, 7000);
  CHECK(explain(website(), facts).state == "resync");
  facts.queued.reset();
  facts.loop->paths.clear();
  const auto idle = explain(website(), facts);
  CHECK(idle.state == "idle");
  CHECK(says(idle, "prints the same each time"));
}

TEST_CASE("an object of which only metadata is cached is not run, and says why") {
  auto facts = quiet();
  facts.reduced = true;
  auto out = explain(website(), facts);
  CHECK(out.state == "reduced");
  CHECK_FALSE(out.matched);
  CHECK(says(out, "nested deeper than 200 levels"));
  // There are only children to remove.
  facts.meta.deletion_timestamp = "2026-01-02T03:04:05Z";
  facts.meta.finalizers = {"kubewatch.dev/website"};
  CHECK(explain(website(), facts).state == "idle");
  Rule rule = website();
  rule.finalize.emplace();
  CHECK(explain(rule, facts).state == "reduced");
  rule.for_.list.content = core::Content::metadata;
  CHECK(explain(rule, facts).state == "idle");
}
