// 10,000 objects whose hooks all fail for an hour, and then succeed: an hour of virtual time over
// the real queue, backoff, parking, history of runs, alarms, Events and state. What is kept stays
// bounded, nobody is forgotten, and there is no storm when it is over.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

#include "hooks/loop_alarm.hpp"
#include "hooks/rule_folder.hpp"
#include "hooks/run_history.hpp"
#include "hooks/state_store.hpp"
#include "runtime/controller.hpp"
#include "runtime/event_aggregator.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using runtime::Reason;
using runtime::RunOutcome;

namespace {

constexpr std::size_t kObjects = 10'000;
constexpr std::size_t kConcurrency = 4;
constexpr Duration kRun{20};  // of one hook
constexpr Duration kHour{3'600'000};
constexpr Duration kLongestBackoff{300'000};

core::ObjectKey key(std::size_t index) {
  return {"shop", "o" + std::to_string(index)};
}

// What the driver does around a hook that takes 20 ms, with all that it tells and keeps.
class Outage : public runtime::Reconciler {
 public:
  explicit Outage(std::uint32_t max_attempts = 0)
      : random_(7), aggregator_({}, random_), controller_(loop, *this, random_, slots_, [&] {
          runtime::WorkQueueOptions options;
          options.concurrency = kConcurrency;
          options.max_attempts = max_attempts;
          return options;
        }()) {
    auto state = StateStore::open(folder_.file("state"), {"boot", "", ""});
    REQUIRE(state.ok());
    state_ = std::move(*state);
  }

  void add_all(Reason reason) {
    for (std::size_t i = 0; i < kObjects; ++i) {
      controller_.add(
          key(i), reason, "", Duration{0},
          reason == Reason::startup ? runtime::Priority::background : runtime::Priority::live);
    }
    controller_.release();
  }
  void pass(Duration time) {
    loop.run_until([] { return false; }, time);
  }

  void reconcile(const runtime::Work& work, std::function<void(RunOutcome)> done) override {
    most_at_once_ = std::max(most_at_once_, ++running_);
    starts_.push_back(loop.now());
    state_->set({"site", work.key}, {"uid-" + work.key.name, "", false, 0, 0, ""});
    timers_.push_back(loop.after(kRun, [this, work, done = std::move(done)] { end(work, done); }));
    if (timers_.size() > 2 * kConcurrency) timers_.pop_front();
  }

  const runtime::WorkQueue& queue() const { return controller_.queue(); }
  // The most runs that began in any such time since then.
  std::size_t busiest(TimePoint since, Duration window) const {
    std::size_t most = 0;
    auto first = std::lower_bound(starts_.begin(), starts_.end(), since);
    for (auto last = first; last != starts_.end(); ++last) {
      while (*last - *first > window) ++first;
      most = std::max(most, static_cast<std::size_t>(last - first) + 1);
    }
    return most;
  }
  void check_bounds() const {
    const auto counts = queue().counts(loop.now());
    CHECK(counts.ready + counts.waiting + counts.held + counts.parked <= kObjects);
    CHECK(queue().entries(2 * kObjects).size() <= kObjects);
    CHECK(history_.objects() <= HistoryLimits{}.objects);
    CHECK(history_.of_controller("site").size() == HistoryLimits{}.per_controller);
    CHECK(state_->size() == kObjects);
    // Rewritten when it has grown: not a line for each run.
    CHECK(std::filesystem::file_size(folder_.file("state/handled.log")) < 4U << 20U);
    // More objects than Events remember: without a limit for those each failure would be written.
    CHECK(event_writes_ < 8 * kObjects);
    CHECK(most_at_once_ == kConcurrency);
    CHECK(loops_found_ + events_refused_ == 0);
  }

  loop::EventLoop loop{loop::VirtualClock{}};
  bool broken = true;
  std::size_t runs = 0;
  std::set<std::string> succeeded;
  std::size_t succeeded_again = 0;

 private:
  void end(const runtime::Work& work, const std::function<void(RunOutcome)>& done) {
    --running_;
    ++runs;
    RunRecord record;
    record.controller = "site";
    record.key = work.key;
    record.object = "Website shop/" + work.key.name;
    record.attempt = work.attempt;
    record.outcome = broken ? "failed" : "done";
    record.message = "exit code 1: the database does not answer";
    history_.add(loop.wall(), record);
    if (alarm_.note(work.key, loop.now(), LoopAlarm::Woken::by_others, false, {})) ++loops_found_;
    if (!broken) {
      if (!succeeded.insert(work.key.name).second) ++succeeded_again;
      return done(RunOutcome::done());
    }
    tell(work);
    done(RunOutcome::failed());
  }
  void tell(const runtime::Work& work) {
    runtime::Happening what;
    what.type = runtime::EventType::warning;
    what.reason = "HookFailed";
    what.action = "Reconcile";
    what.regarding.kind = "Website";
    what.regarding.namespace_ = "shop";
    what.regarding.name = work.key.name;
    if (!aggregator_.observe({"kubewatch.dev/site", "me"}, what, loop.now(), loop.wall()).ok()) {
      ++events_refused_;
    }
    while (const auto write = aggregator_.take(loop.now())) {
      ++event_writes_;
      aggregator_.on_result(write->id, nullptr, loop.now());
    }
  }

  test::RuleFolder folder_;
  base::Random random_;
  runtime::RunSlots slots_{0};
  runtime::EventAggregator aggregator_;
  RunHistory history_;
  LoopAlarm alarm_{10, Duration{60000}};
  std::unique_ptr<StateStore> state_;
  std::vector<TimePoint> starts_;
  std::deque<loop::Timer> timers_;
  std::size_t running_ = 0;
  std::size_t most_at_once_ = 0;
  std::size_t loops_found_ = 0;
  std::size_t events_refused_ = 0;
  std::size_t event_writes_ = 0;
  runtime::Controller controller_;
};

}  // namespace

TEST_CASE("ten thousand objects that fail for an hour stay bounded and recover without a storm") {
  Outage outage;
  outage.add_all(Reason::startup);
  for (int part = 0; part < 4; ++part) {
    outage.pass(kHour / 4);
    outage.check_bounds();
    // In the middle of it all objects change: each runs once more, no backoff begins anew.
    if (part != 1) continue;
    const std::size_t before = outage.runs;
    outage.add_all(Reason::updated);
    outage.pass(Duration{60'000});
    CHECK(outage.runs >= before + kObjects);
    CHECK(outage.runs < before + kObjects + kObjects / 2);
  }
  // Each was tried again and again, less and less often.
  CHECK(outage.runs > 10 * kObjects);
  CHECK(outage.runs < 25 * kObjects);
  CHECK(outage.queue().parked().empty());
  const std::size_t per_window = kObjects * 10'000 / static_cast<std::size_t>(300'000);
  const TimePoint end = outage.loop.now();

  outage.broken = false;
  outage.pass(kLongestBackoff + kLongestBackoff / 5 + Duration{60'000});
  CHECK(outage.succeeded.size() == kObjects);
  CHECK(outage.succeeded_again == 0);
  CHECK(outage.busiest(end, Duration{10'000}) < 3 * per_window);
  const auto counts = outage.queue().counts(outage.loop.now());
  CHECK(counts.waiting + counts.ready + counts.held + counts.parked == 0);
  CHECK(outage.queue().entries(kObjects).empty());
  outage.pass(kHour);
  CHECK(outage.succeeded_again == 0);
  outage.check_bounds();
}

TEST_CASE("ten thousand objects whose attempts are used up are parked and all run when asked to") {
  Outage outage(5);
  outage.add_all(Reason::startup);
  outage.pass(kHour);
  outage.check_bounds();
  CHECK(outage.runs == 5 * kObjects);
  CHECK(outage.queue().parked().size() == kObjects);
  CHECK(outage.queue().counts(outage.loop.now()).waiting == 0);

  outage.broken = false;
  for (const auto& parked : outage.queue().parked()) CHECK(outage.queue().is_parked(parked));
  outage.add_all(Reason::manual);
  outage.pass(Duration{60'000});
  CHECK(outage.succeeded.size() == kObjects);
  CHECK(outage.succeeded_again == 0);
  CHECK(outage.queue().entries(kObjects).empty());
}
