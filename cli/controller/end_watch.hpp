// Decides when --once and --until-idle are over: all is synced and nothing is due or running for a
// while. It asks how things stand whenever something has moved; what ends then is its caller's.
#pragma once

#include <cstdint>
#include <functional>

#include "base/time.hpp"
#include "hooks/engine.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::cli {

// What --once waits for after the last thing that happened.
inline constexpr Duration kOnceQuiet{300};

class EndWatch {
 public:
  // `loop` must outlive it. `until_finished`: objects whose hook said "not yet" are waited for.
  EndWatch(loop::EventLoop& loop, std::function<hooks::EngineStatus()> status, Duration quiet,
           bool until_finished, std::function<void()> end);

  // Something has moved.
  void look();

 private:
  loop::EventLoop& loop_;
  std::function<hooks::EngineStatus()> status_;
  Duration quiet_;
  bool until_finished_;
  std::uint64_t good_ = 0;
  std::function<void()> end_;
  loop::Timer timer_;
};

}  // namespace kubewatch::cli
