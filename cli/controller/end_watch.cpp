#include "cli/controller/end_watch.hpp"

#include <utility>

namespace kubewatch::cli {

EndWatch::EndWatch(loop::EventLoop& loop, std::function<hooks::EngineStatus()> status,
                   Duration quiet, bool until_finished, std::function<void()> end)
    : loop_(loop),
      status_(std::move(status)),
      quiet_(quiet),
      until_finished_(until_finished),
      end_(std::move(end)) {}

// Retries of what keeps failing are no progress; anything else that runs, whatever else has failed,
// starts the wait anew.
void EndWatch::look() {
  const auto status = status_();
  const auto good = status.runs - status.failed_runs;
  const bool unfinished = until_finished_ && status.unfinished > 0;
  if (good != good_ || status.at_work || unfinished) timer_.reset();
  good_ = good;
  if (!status.idle || unfinished) return;
  if (!timer_) timer_ = loop_.after(quiet_, [this] { end_(); });
}

}  // namespace kubewatch::cli
