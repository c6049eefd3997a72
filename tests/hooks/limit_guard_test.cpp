// Who is looked at, and from when on.
#include "hooks/limit_guard.hpp"

#include "loop/process.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

TEST_CASE("a hook that shares our memory yet is not taken for one that uses as much") {
  loop::EventLoop loop;
  LimitGuard guard(loop);
  loop::ProcessOptions options;
  options.argv = {"/bin/sh", "-c", "sleep 100"};
  const auto process = loop::Process::start(loop, options, nullptr, nullptr);
  REQUIRE(process.ok());
  HookLimits limits;
  limits.memory = 1;
  std::string why;
  int asked = 0;
  const auto watched =
      guard.watch((*process)->pid(), limits, [&](std::string text) { why = std::move(text); },
                  [&] { return ++asked > 3; });
  REQUIRE(loop.run_until([&] { return asked == 3; }, kLimit));
  CHECK(why.empty());
  REQUIRE(loop.run_until([&] { return !why.empty(); }, kLimit));
  CHECK(asked == 4);  // and not any more
  CHECK(why.find("limits.memory") != std::string::npos);
}
