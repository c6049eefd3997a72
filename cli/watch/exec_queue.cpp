#include "cli/watch/exec_queue.hpp"

#include <utility>

namespace kubewatch::cli::watch {

bool ExecQueue::push(ExecJob job) {
  const bool full =
      counted_ >= limits_.waiting || counted_bytes_ + job.content.size() > limits_.bytes;
  if (full && !job.listed) return false;
  count(job, true);
  waiting_.push_back(std::move(job));
  return true;
}

void ExecQueue::count(const ExecJob& job, bool comes) {
  if (job.listed) return;
  comes ? ++counted_ : --counted_;
  comes ? counted_bytes_ += job.content.size() : counted_bytes_ -= job.content.size();
}

std::optional<ExecJob> ExecQueue::take() {
  if (running_.size() >= parallel_) return std::nullopt;
  // An earlier event of the same object is always further in front.
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (running_.count(it->key) != 0) continue;
    ExecJob job = std::move(*it);
    waiting_.erase(it);
    count(job, false);
    running_.insert(job.key);
    return job;
  }
  return std::nullopt;
}

std::size_t ExecQueue::drop() {
  const std::size_t count = waiting_.size();
  waiting_.clear();
  counted_ = counted_bytes_ = 0;
  return count;
}

}  // namespace kubewatch::cli::watch
