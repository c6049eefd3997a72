#include "cli/watch/exec_queue.hpp"

#include <utility>

namespace kubewatch::cli::watch {

bool ExecQueue::push(ExecJob job) {
  if (waiting_.size() >= most_waiting_) return false;
  waiting_.push_back(std::move(job));
  return true;
}

std::optional<ExecJob> ExecQueue::take() {
  if (running_.size() >= parallel_) return std::nullopt;
  // An earlier event of the same object is always further in front.
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (running_.count(it->key) != 0) continue;
    ExecJob job = std::move(*it);
    waiting_.erase(it);
    running_.insert(job.key);
    return job;
  }
  return std::nullopt;
}

std::size_t ExecQueue::drop() {
  const std::size_t count = waiting_.size();
  waiting_.clear();
  return count;
}

}  // namespace kubewatch::cli::watch
