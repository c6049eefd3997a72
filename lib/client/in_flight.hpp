// The requests that one piece of work has open. Destroying it cancels them all; a request's
// callback may destroy it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "client/client.hpp"

namespace kubewatch::client {

class InFlight {
 public:
  // `start` gets the callback to hand to the client, and returns the client's Pending.
  template <class Answer, class Start>
  void run(std::function<void(Answer)> done, Start start) {
    const std::uint64_t id = ++last_;
    open_[id] = nullptr;
    PendingPtr pending = start([this, id, done = std::move(done)](Answer answer) {
      // Copies on the stack: what follows may destroy this closure and this InFlight.
      auto callback = done;
      auto node = open_.extract(id);
      callback(std::move(answer));
    });
    if (auto it = open_.find(id); it != open_.end()) it->second = std::move(pending);
  }
  bool idle() const { return open_.empty(); }

 private:
  std::map<std::uint64_t, PendingPtr> open_;
  std::uint64_t last_ = 0;
};

}  // namespace kubewatch::client
