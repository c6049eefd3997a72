// In which order the commands of `watch --exec` run: one event of an object after the other, so
// many objects at the same time. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>

namespace kubewatch::cli::watch {

struct ExecJob {
  std::string key;       // of the object; equal ones run one after the other
  std::string name;      // for messages: "ADDED Pod shop/web"
  std::string content;   // what its command is given, compressed: whole lists may wait
  std::size_t size = 0;  // of it, before
  bool listed = false;   // found by reading a list, which tells all of its objects at once
};

// The events that wait besides those of lists, which no command could be fast enough for.
struct ExecLimits {
  std::size_t waiting = 10000;
  std::size_t bytes = 256U << 20U;  // of their contents, as they are kept
};

class ExecQueue {
 public:
  explicit ExecQueue(std::size_t parallel, ExecLimits limits = {})
      : parallel_(parallel), limits_(limits) {}

  // False: too many wait already, and it was not taken.
  bool push(ExecJob job);
  // The next that may start; from then on it runs.
  std::optional<ExecJob> take();
  void done(const std::string& key) { running_.erase(key); }
  // What has not started is forgotten.
  std::size_t drop();

  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return running_.size(); }

 private:
  void count(const ExecJob& job, bool comes);

  std::size_t parallel_;
  ExecLimits limits_;
  std::deque<ExecJob> waiting_;
  std::size_t counted_ = 0;  // of those that wait, the ones that are limited
  std::size_t counted_bytes_ = 0;
  std::set<std::string> running_;
};

}  // namespace kubewatch::cli::watch
