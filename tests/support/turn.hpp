// Turns of a loop, for what must have had its chance to happen.
#pragma once

#include "loop/event_loop.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

namespace kubewatch::test {

// What is posted now has run, and what that posted.
inline void turn(loop::EventLoop& loop) {
  bool turned = false;
  loop.post([&] { loop.post([&] { turned = true; }); });
  REQUIRE(loop.run_until([&] { return turned; }, kLimit));
}

}  // namespace kubewatch::test
