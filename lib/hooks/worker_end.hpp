// What the end of a worker means for the run that it had, and in words. Processes and pipes are
// worker_pool's, and which run gets another worker is worker_queue's. Pure.
#pragma once

#include <string>

#include "hooks/hook_call.hpp"
#include "hooks/worker_queue.hpp"

namespace kubewatch::hooks {

// Why one was ended, as far as it was; kept by its owner while the worker lives.
struct WorkerEnd {
  std::string over_limit{};  // "more than limits.memory 256Mi"
  std::string printed{};     // what was no answer; "" = it is ended for something else
  bool timed_out = false;    // its run was
  bool canceled = false;     // its run was

  // For the run that it had; what it used is not in it. `begun`: the line that it had not ended.
  HookExit of_run(const WorkerQueue::Ended& ended, const loop::ProcessExit& exit,
                  const std::string& begun) const;
  // For the log, where it had none and was not to end.
  std::string without_run(const loop::ProcessExit& exit) const;
};

// Of one that gave an answer that is none. It quotes that: to be masked.
std::string broken_answer(const WorkerQueue::Ended& ended);
// What the next one waits for, as part of a sentence.
std::string why_held(const WorkerQueue::Hold& hold, TimePoint now);

}  // namespace kubewatch::hooks
