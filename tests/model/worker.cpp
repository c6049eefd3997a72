#include "model/worker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kubewatch::model {

namespace {

constexpr std::uint64_t kLongestRun = 1500;
// With at most 30 keys, one slot, and runs of 1.5 s.
constexpr Duration kLate{180000};

runtime::WorkQueueOptions queue_options(std::size_t concurrency) {
  runtime::WorkQueueOptions out;
  out.concurrency = concurrency;
  out.retry = {Duration{1000}, Duration{60000}, 2.0, 0.2};
  return out;
}

}  // namespace

Worker::Worker(loop::EventLoop& loop, base::Random& random, Verdict& verdict)
    : loop_(loop),
      random_(random),
      verdict_(verdict),
      concurrency_(1 + random.below(4)),
      slot_limit_(1 + random.below(4)),
      slots_(slot_limit_) {
  controller_ = std::make_unique<runtime::Controller>(loop, *this, random, slots_,
                                                      queue_options(concurrency_));
}

void Worker::matters(const core::ObjectKey& key, bool initial) {
  Key& state = keys_[key];
  if (!state.due || *state.due > loop_.now()) state.due = loop_.now();
  state.earliest.reset();
  state.triggered = true;
  controller_->add(key, initial ? runtime::Reason::startup : runtime::Reason::updated, "",
                   Duration{0}, initial ? runtime::Priority::background : runtime::Priority::live);
}

void Worker::forget(const core::ObjectKey& key) {
  Key& state = keys_[key];
  state.due.reset();
  state.earliest.reset();
  state.failures = 0;
  state.forgotten = state.running;
  controller_->forget(key);
}

void Worker::release() {
  if (!released_) {
    verdict_.trace(loop_.now(), [] { return "controller released"; });
    released_at_ = loop_.now();
  }
  released_ = true;
  controller_->release();
}

void Worker::reconcile(const runtime::Work& work, std::function<void(runtime::RunOutcome)> done) {
  Key& state = keys_[work.key];
  verdict_.trace(loop_.now(), [&] {
    return fmt::format("run {} {} attempt {}", work.key.str(), to_string(work.reason),
                       work.attempt);
  });
  verdict_.expect(Guarantee::one_at_a_time, !state.running,
                  [&] { return work.key.str() + " runs twice at once"; });
  verdict_.expect(Guarantee::one_at_a_time, released_ && !stopping_, [&] {
    return work.key.str() + (stopping_ ? " starts while stopping" : " starts before the sync");
  });
  state.running = true;
  ++running_;
  verdict_.expect(Guarantee::one_at_a_time, running_ <= concurrency_ && running_ <= slot_limit_,
                  [&] { return fmt::format("{} runs at once", running_); });
  verdict_.expect(Guarantee::runs_after, !state.earliest || loop_.now() >= *state.earliest,
                  [&] { return work.key.str() + " runs before its time"; });
  state.due.reset();
  state.earliest.reset();
  // A trigger may have brought the run forward: then its failure is none of the backoff's series.
  state.forward = std::exchange(state.triggered, false) && state.failures > 0;
  state.started = loop_.now();
  if (random_.below(4) == 0) return finish(work.key, done);
  const std::uint64_t id = ++started_;
  runs_[id] = loop_.after(Duration(1 + random_.below(kLongestRun)),
                          [this, id, key = work.key, done = std::move(done)] {
                            const auto timer = std::move(runs_[id]);
                            runs_.erase(id);
                            finish(key, done);
                            if (random_.below(5) == 0) done({});  // once more: ignored
                          });
}

runtime::RunOutcome Worker::outcome(Key& key) {
  using Ends = runtime::RunOutcome::Verdict;
  runtime::RunOutcome out;
  const std::uint64_t roll = calm ? 99 : random_.below(100);
  Duration wait{0};
  if (roll < 15) {
    out.verdict = Ends::failed;
    if (key.forward) {
      // What was planned still stands, as far as it is certain that the run came before it.
      if (key.started < key.retry) wait = std::max(Duration{0}, key.retry - loop_.now());
    } else {
      // 1 s, doubled with each failure in a row, at most a minute, less the jitter.
      wait = Duration(static_cast<std::int64_t>(
          std::min(60000.0, 1000.0 * std::pow(2.0, key.failures)) * 0.8 - 1));
      ++key.failures;
      key.retry = loop_.now() + wait;
    }
  } else if (roll < 25) {
    out.verdict = Ends::requeue;
    wait = Duration(random_.below(20000));
    out.after = wait;
    key.failures = 0;
  } else if (roll < 30) {
    out.verdict = Ends::not_yet;
    key.triggered = true;  // its next run comes by its own time, not by that of the backoff
    wait = Duration(1 + random_.below(10000));
    out.after = wait;
  } else if (roll < 33) {
    out.verdict = Ends::parked;
    key.failures = 0;
    return out;
  } else {
    key.failures = 0;
    return out;
  }
  // What changed meanwhile, or was forgotten, has its own time.
  if (!key.due && !key.forgotten) {
    key.earliest = loop_.now() + wait;
    key.due = loop_.now() + wait + Duration(60000);
  }
  return out;
}

void Worker::finish(const core::ObjectKey& name,
                    const std::function<void(runtime::RunOutcome)>& done) {
  Key& key = keys_[name];
  key.running = false;
  --running_;
  const runtime::RunOutcome result = outcome(key);
  if (std::exchange(key.forgotten, false)) key.failures = 0;
  done(result);
}

void Worker::check() {
  if (!released_ || stopping_) return;
  for (const auto& [name, key] : keys_) {
    verdict_.expect(
        Guarantee::runs_after,
        !key.due || key.running || loop_.now() < std::max(*key.due, released_at_) + kLate,
        [&, &which = name] { return which.str() + " should have run long ago"; });
  }
}

bool Worker::settled() const {
  for (const auto& [name, key] : keys_) {
    if (key.running || (key.due && *key.due <= loop_.now())) return false;
  }
  return true;
}

std::string Worker::describe() const {
  for (const auto& [name, key] : keys_) {
    if (key.running) return name.str() + " still runs";
    if (key.due && *key.due <= loop_.now()) {
      return fmt::format("{} changed {} ms ago and no run has started since", name.str(),
                         (loop_.now() - *key.due).count());
    }
  }
  return "";
}

void Worker::shut_down() {
  stopping_ = true;
  controller_->shut_down([this] { drained_ = true; });
}

}  // namespace kubewatch::model
