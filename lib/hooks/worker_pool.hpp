// The workers of one hook (`mode: worker`): long-lived processes, one for each run at a time, that
// get an invocation as a line and answer with a line (worker_line.hpp). What is given to whom, and
// what an answer means, is WorkerQueue's; here are processes, pipes, deadlines and the log.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/random.hpp"
#include "hooks/hook_call.hpp"
#include "hooks/invocation.hpp"
#include "hooks/limit_guard.hpp"
#include "hooks/rule.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

// What a worker is started with. `home` is a fresh private folder, "" = it could not be made.
struct WorkerSurroundings {
  std::string controller;
  std::size_t slots = 1;
  base::BackoffPolicy restart{Duration{200}, Duration{30000}, 2.0, 0.2};  // while none answers
  std::function<Result<std::string>(const std::string& name)> new_home;
  // The environment of a worker. Errors: those of the files that `env` names.
  std::function<Result<HookEnvironment>(const std::string& home)> environment;
  // Where a worker is to run; null: in ours. May be empty. Errors: it must not be started.
  std::function<Result<std::shared_ptr<loop::Cgroup>>()> new_cgroup;
  // Before each run: brings what is in its home up to date; gives new secrets. May be empty.
  std::function<std::vector<std::string>(const std::string& home)> refresh;
  // Empty: the loop's.
  std::function<TimePoint()> now;
  // Nobody lives in its home any more: it may go. May be empty.
  std::function<void(const std::string& home)> forget;
};

class WorkerPool {
 public:
  // `loop`, `random`, `guard` and `rule` must outlive it.
  WorkerPool(loop::EventLoop& loop, base::Random& random, LimitGuard& guard, const HookRule& rule,
             WorkerSurroundings surroundings);
  // Kills what is left.
  ~WorkerPool();
  // Never fails at once: a worker that cannot be started ends the call with `died`.
  std::unique_ptr<HookCall> run(HookStart start, HookCall::OnExit on_exit);
  // What a run would only wait for, because workers end without an answer: until when, and that as
  // part of a sentence. The log is told once.
  struct Held {
    TimePoint until{};
    std::string why;
  };
  std::optional<Held> held() const;
  bool any_alive() const;
  // TERM, grace, KILL for the workers without a run; none is started in their place.
  void end_idle();
  // No run is left: TERM, grace, KILL for the workers; then `done`, from the loop.
  void shut_down(std::function<void()> done);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace kubewatch::hooks
