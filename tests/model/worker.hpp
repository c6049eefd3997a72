// The controller under test and its reconciler, with runs of virtual length and every outcome, and
// what P7 promises of them: a run starts after the last change, never two of one key at once.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "model/verdict.hpp"
#include "runtime/controller.hpp"
#include "runtime/store.hpp"

namespace kubewatch::model {

class Worker final : public runtime::Reconciler {
 public:
  Worker(loop::EventLoop& loop, base::Random& random, Verdict& verdict);

  // A change that concerns this key: a run must start after it.
  void matters(const core::ObjectKey& key, bool initial);
  // The object is gone and nothing is to be done about it.
  void forget(const core::ObjectKey& key);
  void release();
  void check();
  // All that was due has started, and only waits for its time are left.
  bool settled() const;
  std::string describe() const;
  void shut_down();
  bool drained() const { return drained_; }

  void reconcile(const runtime::Work& work, std::function<void(runtime::RunOutcome)> done) override;
  bool calm = false;  // every run succeeds

 private:
  struct Key {
    std::optional<TimePoint> due;       // a run must start after this
    std::optional<TimePoint> earliest;  // and, without a change, not before this
    bool running = false;
    bool forgotten = false;
    std::uint32_t failures = 0;  // at least, of the backoff's series
    TimePoint retry{};           // the earliest that the backoff can have planned
    TimePoint started{};
    bool triggered = false;  // since the last start: by a change, or by a time of its own
    bool forward = false;    // the run may have been brought forward
  };
  void finish(const core::ObjectKey& key, const std::function<void(runtime::RunOutcome)>& done);
  runtime::RunOutcome outcome(Key& key);

  loop::EventLoop& loop_;
  base::Random& random_;
  Verdict& verdict_;
  const std::size_t concurrency_;
  const std::size_t slot_limit_;
  runtime::RunSlots slots_;
  std::map<core::ObjectKey, Key> keys_;
  std::map<std::uint64_t, loop::Timer> runs_;
  std::uint64_t started_ = 0;
  std::size_t running_ = 0;
  TimePoint released_at_{};
  bool released_ = false;
  bool stopping_ = false;
  bool drained_ = false;
  std::unique_ptr<runtime::Controller> controller_;
};

}  // namespace kubewatch::model
