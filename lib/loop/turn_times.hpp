// What a turn of the event loop took, and in which kind of callback most of it went. Time in which
// somebody else was waited for (a reader of what we print) keeps the loop, but is not its work.
// Reads no clock. Internal to lib/loop.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace kubewatch::loop {

enum class CallbackKind { timer, posted, readable, writable, signal, network };

inline const char* name_of(CallbackKind kind) {
  static constexpr std::array<const char*, 6> kNames = {
      "timer", "posted call", "readable descriptor", "writable descriptor", "signal", "network"};
  return kNames.at(static_cast<std::size_t>(kind));
}

class TurnTimes {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::steady_clock::duration;

  void begin(Time at) { *this = TurnTimes(at); }
  void begin_callback(Time at) {
    callback_began_ = at;
    waited_before_ = waited_;
  }
  void end_callback(CallbackKind kind, Time at) {
    const Span spent = at - callback_began_ - (waited_ - waited_before_);
    ours_ += spent;
    if (spent <= slowest_) return;
    slowest_ = spent;
    slowest_kind_ = kind;
  }
  void waited(Span time) { waited_ += time; }

  Time began() const { return began_; }
  Span busy(Time end) const { return std::max(Span::zero(), end - began_ - waited_); }
  // What no callback of ours accounts for ran inside libevent: the HTTP server.
  CallbackKind slowest(Time end) const {
    return ours_ * 2 < busy(end) ? CallbackKind::network : slowest_kind_;
  }

  TurnTimes() = default;
  explicit TurnTimes(Time began) : began_(began) {}

 private:
  Time began_{};
  Time callback_began_{};
  Span waited_{0};
  Span waited_before_{0};
  Span ours_{0};  // spent in callbacks of the event loop's own
  Span slowest_{0};
  CallbackKind slowest_kind_ = CallbackKind::network;
};

}  // namespace kubewatch::loop
