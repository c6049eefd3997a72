#include "client/rewinds.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/log.hpp"

namespace kubewatch::client {

std::shared_ptr<Rewinds::Listener> Rewinds::listen(std::string source, std::function<void()> told) {
  std::erase_if(listeners_, [](const auto& weak) { return weak.expired(); });
  auto listener = std::make_shared<Listener>(Listener{std::move(source), std::move(told)});
  listeners_.push_back(listener);
  return listener;
}

void Rewinds::seen(const std::shared_ptr<Listener>& by) {
  if (telling_) return;  // two that see it in one turn saw the same
  const TimePoint now = loop_.now();
  Seen& seen = seen_.try_emplace(by->source, Seen{now}).first->second;
  if (now - seen.since >= kAgain) seen = {now};
  if (++seen.count > kMost) return;
  telling_ = true;
  // Before all that is posted from now on: what follows from the state that `by` reads next.
  loop_.post([this, by, there = std::weak_ptr<char>(alive_)] {
    if (there.expired()) return;
    telling_ = false;
    tell(*by);
  });
}

void Rewinds::tell(const Listener& by) {
  base::log_warn(
      fmt::format("the watch of {} saw the server's data go back, as after a restore from a "
                  "backup: all that is "
                  "watched is listed anew",
                  by.source));
  const auto listeners = listeners_;
  for (const auto& weak : listeners) {
    // Held: it may be given up inside.
    if (const auto listener = weak.lock(); listener != nullptr && listener.get() != &by) {
      listener->told();
    }
  }
}

}  // namespace kubewatch::client
