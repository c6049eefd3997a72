#include "hooks/worker_end.hpp"

#include <fmt/format.h>

#include <chrono>

#include "base/signal_name.hpp"
#include "hooks/verdict.hpp"

namespace kubewatch::hooks {
namespace {

std::string how(const loop::ProcessExit& exit) {
  if (exit.code) return fmt::format("exit code {}", *exit.code);
  return "signal " + base::signal_name(exit.signal.value_or(0));
}

}  // namespace

HookExit WorkerEnd::of_run(const WorkerQueue::Ended& ended, const loop::ProcessExit& exit,
                           const std::string& begun) const {
  HookExit out;
  out.timed_out = timed_out;
  out.canceled = canceled;
  out.over_limit = over_limit;
  out.out = printed.empty() ? begun : printed;
  if (!ended.broken.empty()) {
    out.broken = broken_answer(ended);
  } else if (!timed_out && !canceled && over_limit.empty()) {
    out.pipes_held = exit.pipes_held;
    out.by_itself = exit.code.has_value() && !tells_of_signal(*exit.code);
    out.died = fmt::format(
        "the worker ended ({}) {}", how(exit),
        begun.empty() ? "before it answered" : "in the middle of a line, before it answered");
  }
  return out;
}

std::string WorkerEnd::without_run(const loop::ProcessExit& exit) const {
  return over_limit.empty() ? "the worker ended by itself: " + how(exit)
                            : "the worker was ended: used " + over_limit;
}

std::string broken_answer(const WorkerQueue::Ended& ended) {
  return "the worker printed " + ended.broken + "; it was ended";
}

std::string why_held(const WorkerQueue::Hold& hold, TimePoint now) {
  const std::string ended =
      hold.ended == 1 ? "a worker ended" : fmt::format("workers ended {} times", hold.ended);
  return fmt::format("{} without an answer; the next is started in {}", ended,
                     base::format_duration(std::chrono::ceil<Duration>(hold.until - now)));
}

}  // namespace kubewatch::hooks
