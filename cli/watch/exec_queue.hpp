// In which order the commands of `watch --exec` run: one event of an object after the other, so
// many objects at the same time. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kubewatch::cli::watch {

struct ExecJob {
  std::string key;                       // of the object; equal ones run one after the other
  std::string name;                      // for messages: "ADDED Pod shop/web"
  std::vector<std::string> environment;  // "KW_NAME=web"
  std::string input;
};

class ExecQueue {
 public:
  explicit ExecQueue(std::size_t parallel, std::size_t most_waiting = 10000)
      : parallel_(parallel), most_waiting_(most_waiting) {}

  // False: there are too many already, and it was not taken.
  bool push(ExecJob job);
  // The next that may start; from then on it runs.
  std::optional<ExecJob> take();
  void done(const std::string& key) { running_.erase(key); }
  // What has not started is forgotten.
  std::size_t drop();

  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return running_.size(); }

 private:
  std::size_t parallel_;
  std::size_t most_waiting_;
  std::deque<ExecJob> waiting_;
  std::set<std::string> running_;
};

}  // namespace kubewatch::cli::watch
