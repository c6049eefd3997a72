// Which run goes to which worker, when workers are started, and what their lines and ends mean for
// the run they were given. Processes, pipes and timers are worker_pool's. Pure: time and randomness
// come in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/time.hpp"
#include "hooks/worker_line.hpp"

namespace kubewatch::hooks {

class WorkerQueue {
 public:
  WorkerQueue(std::size_t slots, base::BackoffPolicy policy);

  void submit(const std::string& id) { waiting_.push_back({id}); }
  // Takes back a run that waits; false: a worker has it, or nobody knows it.
  bool withdraw(const std::string& id);

  struct Step {
    enum class Kind { start, send } kind = Kind::start;
    std::size_t slot = 0;
    std::string id;  // send
  };
  // What to do now; the queue takes it as done. Until nothing is left to do.
  std::optional<Step> next(TimePoint now);
  // Runs wait for a worker that may not be started before.
  std::optional<TimePoint> due() const;
  struct Hold {
    TimePoint until{};
    std::uint32_t ended = 0;  // how many starts ended so, one after another, with no answer between
    std::size_t runs = 0;     // that wait
  };
  // What due() is for, unless that is over.
  std::optional<Hold> hold(TimePoint now) const;
  bool waits(const std::string& id) const;
  // The same for a run that would be submitted now: no worker is free, and none may be started.
  std::optional<Hold> would_hold(TimePoint now) const;

  // The worker that next() named could not be started: the run that must fail for it, "" = none.
  std::string on_start_failed(std::size_t slot, TimePoint now, base::Random& random);

  // The worker that next() gave the run to has ended: another one gets the run. But one that ends
  // before it did anything is as likely as not to have taken the run: its run fails either way.
  void on_not_sent(std::size_t slot);
  // The worker that next() gave the run to is of a program that has changed, and is being ended:
  // another one gets the run, and no start waits for that.
  void on_outdated(std::size_t slot);

  // A line of the worker, without its newline. True: it answers the slot's run, which is over and
  // the worker free. False: the worker must be ended; on_ended() says what becomes of its run.
  // `more`: bytes follow the line.
  bool on_line(std::size_t slot, const Result<WorkerAnswer>& answer, bool more);
  // The line that on_line() refused was the answer to the worker's run before, once more, of which
  // this is the id; "" = it was not. That says nothing of the run that the worker has by then:
  // another worker gets it, once for each run, as a worker that always does so must fail some.
  // The first worker may have begun it: hooks are run at least once, not exactly once. But one that
  // may be answered (keep_run) fails, as its answer cannot be told from what else is wrong.
  const std::string& repeats(std::size_t slot) const { return slots_[slot].repeats; }
  // Whatever the worker did, its run ends with it: it is not wanted any more.
  void keep_run(std::size_t slot) { slots_[slot].gives_back = false; }
  // Bytes of the worker, whatever they are.
  void on_bytes(std::size_t slot) {
    if (slots_[slot].state == State::ending) keep_run(slot);
  }
  // Bytes that can be no line any more: too long.
  void on_overflow(std::size_t slot, std::size_t limit);
  // The worker is being ended: its run's timeout, a limit, a shutdown.
  void on_stopped(std::size_t slot);

  struct Ended {
    std::string id;      // the run it had and that ends with it; "" = none
    std::string given;   // the run it had and that another worker gets, as it answered twice
    std::string broken;  // the answer that was none; "" = it gave none
    // It was not asked to end, or gave no valid answer: worth a warning where no run tells it.
    bool fault = false;
  };
  // The worker is gone; the next start waits for the backoff. Those that were started together and
  // end together are one failure: eight slots at once are no reason to wait for half a minute.
  Ended on_ended(std::size_t slot, TimePoint now, base::Random& random);

  // "" = no run.
  const std::string& run_of(std::size_t slot) const { return slots_[slot].run; }
  std::optional<std::size_t> slot_of(const std::string& id) const;

 private:
  enum class State { none, idle, busy, ending };
  struct Waiting {
    std::string id;
    bool anew = false;  // it was given back for an answer that came twice
  };
  struct Slot {
    State state = State::none;
    std::uint64_t attempt = 0;  // attempt_ when it was started
    std::string run;
    bool anew = false;     // the run is
    std::string answered;  // the run before
    std::string broken;
    std::string repeats{};    // `answered`, where that came twice
    bool gives_back = false;  // its run, at its end
    bool stopped = false;
    bool outdated = false;
  };
  std::string judge(const Slot& slot, const Result<WorkerAnswer>& answer, bool more) const;
  std::deque<Waiting>::const_iterator place_of(const std::string& id) const;
  static bool is_again(const Slot& slot, const Result<WorkerAnswer>& answer);
  void put_back(Slot& slot);

  void failed(std::uint64_t attempt, TimePoint now, base::Random& random);

  std::vector<Slot> slots_;
  std::deque<Waiting> waiting_;
  base::Backoff backoff_;
  TimePoint not_before_{};
  std::uint64_t attempt_ = 0;  // ends with a failure, which the backoff counts once
};

}  // namespace kubewatch::hooks
