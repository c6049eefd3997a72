// Reasons to reconcile that come from outside the cluster: a webhook, a timer, a message queue. A
// handle: copies are the same source. Whoever holds one may trigger; controllers that were built
// with it listen, however many, for as long as they live. What is triggered before they are synced
// waits. From the loop's thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/resource.hpp"

namespace kubewatch::runtime {

class TriggerSource {
 public:
  TriggerSource() : shared_(std::make_shared<Shared>()) {}

  // One object; one that does not exist is ignored. `reason` goes to the reconciler, best effort.
  void trigger(const core::ObjectKey& key, const std::string& reason = "") const {
    tell(&Listener::one, key, reason);
  }
  // Every object there is, in the background.
  void trigger_all(const std::string& reason = "") const { tell(&Listener::all, reason); }

  struct Listener {
    std::function<void(const core::ObjectKey&, const std::string& reason)> one;
    std::function<void(const std::string& reason)> all;
  };
  // Listens as long as the listener lives.
  void listen(const std::shared_ptr<Listener>& listener) const {
    shared_->listeners.push_back(listener);
  }

 private:
  struct Shared {
    std::vector<std::weak_ptr<Listener>> listeners;
  };

  template <class Member, class... Arguments>
  void tell(Member member, const Arguments&... arguments) const {
    auto& listeners = shared_->listeners;
    std::erase_if(listeners, [](const auto& weak) { return weak.expired(); });
    const auto now = listeners;  // a copy: what is told may listen as well
    for (const auto& weak : now) {
      const auto listener = weak.lock();
      if (listener && (*listener).*member) ((*listener).*member)(arguments...);
    }
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace kubewatch::runtime
