// Runs a Reconciler over a WorkQueue on the loop: starts what is due up to the concurrency, never
// one key twice at once, holds everything until released, drains on shutdown. The same core drives
// shell hooks and C++ reconcilers. Who adds keys (streams joined by mappers) is its owner's
// business.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "loop/event_loop.hpp"
#include "runtime/work_queue.hpp"

namespace kubewatch::runtime {

struct RunOutcome {
  enum class Verdict { done, requeue, not_yet, failed, parked, put_off } verdict = Verdict::done;
  // requeue: required; not_yet: instead of the backoff; failed: at least, or exactly.
  std::optional<Duration> after;
  bool exactly = false;
  TimePoint until{};  // put_off

  static RunOutcome done() { return {}; }
  // The same, as kube-rs calls it: nothing until something changes.
  static RunOutcome await_change() { return {}; }
  static RunOutcome requeue(Duration after) { return {Verdict::requeue, after}; }
  // Not a failure, but to be looked at again.
  static RunOutcome not_yet(std::optional<Duration> after = {}) {
    return {Verdict::not_yet, after, false};
  }
  // Tried again after the object's own backoff, which only success resets.
  static RunOutcome failed(std::optional<Duration> at_least = {}) {
    return {Verdict::failed, at_least, false};
  }
  static RunOutcome failed_for(Duration exactly) { return {Verdict::failed, exactly, true}; }
  // It was not run at all, and nothing of it is counted: it comes again then.
  static RunOutcome put_off(TimePoint until) { return {Verdict::put_off, {}, false, until}; }
  // Permanent: not tried again until something changes.
  static RunOutcome parked() { return {Verdict::parked, {}, false}; }
};

// How a run in C++ ends: with what is to come, or with an Error, which is logged, and fails it.
using ReconcileDone = std::function<void(Result<RunOutcome>)>;

class Reconciler {
 public:
  virtual ~Reconciler() = default;
  // Calls `done` exactly once, possibly from inside; further calls are ignored, of a copy too.
  virtual void reconcile(const Work& work, std::function<void(RunOutcome)> done) = 0;
};

// Caps all controllers together (--concurrency). 0 = no cap. They take turns.
class RunSlots {
 public:
  // `parent`: one of its slots is taken with each of these; must outlive this.
  explicit RunSlots(std::size_t limit, RunSlots* parent = nullptr);
  ~RunSlots();
  RunSlots(const RunSlots&) = delete;
  RunSlots& operator=(const RunSlots&) = delete;
  bool take();
  void give_back();
  std::size_t used() const { return used_; }
  std::size_t limit() const { return limit_; }
  // Called by turns when a slot becomes free. The place to give to remove_waiter().
  std::size_t add_waiter(std::function<void()> waiter);
  void remove_waiter(std::size_t place) { waiters_[place] = nullptr; }
  std::size_t waiters() const { return waiters_.size(); }

 private:
  void wake();

  std::vector<std::function<void()>> waiters_;  // empty: of one that is gone
  RunSlots* parent_ = nullptr;
  std::size_t place_ = 0;  // among the parent's waiters
  std::size_t limit_;
  std::size_t used_ = 0;
  std::size_t next_ = 0;
};

class Controller {
 public:
  // Held until the first release(). loop, reconciler, random and slots must outlive it; a run's
  // `done` may be called after it is gone.
  Controller(loop::EventLoop& loop, Reconciler& reconciler, base::Random& random, RunSlots& slots,
             WorkQueueOptions options);
  ~Controller();

  void add(const core::ObjectKey& key, Reason reason, std::string reason_object = "",
           Duration delay = Duration{0}, Priority priority = Priority::live);
  void forget(const core::ObjectKey& key);
  // Parks a key that was never added: its last run, before a restart, left it so.
  void park(const core::ObjectKey& key);
  // Holds until all caches are ready; a relist may hold again.
  void hold();
  void release();
  bool held() const;
  // Nothing new starts from now on; `drained` is called when no run is left.
  void shut_down(std::function<void()> drained);

  const WorkQueue& queue() const;
  std::size_t running() const;
  // In order.
  std::vector<core::ObjectKey> running_keys() const;
  // Called after each change of what is running or queued, never from inside add(): for --once and
  // --until-idle.
  void on_progress(std::function<void()> callback);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kubewatch::runtime
