// When a server is asked what kinds it has, and who is told.
#include "hooks/known_kinds.hpp"

#include <optional>
#include <string>

#include "client/rig.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using namespace kubewatch::test;

namespace {

constexpr const char* kEmpty =
    R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[{"version":"v1"}]}]})";
const Error kGone(ErrorKind::forbidden, "nobody may");

struct World {
  loop::EventLoop loop{loop::VirtualClock{}};
  ScriptedTransport transport{loop};
  client::Client client{loop, transport, scripted_config()};
  base::Random random{7};
  int known_times = 0;
  std::optional<Error> given_up;
  KnownKinds kinds;

  explicit World(KnownKinds::Options options = {})
      : kinds(loop, client, random, options,
              {[this] { ++known_times; }, [this](const Error& error) { given_up = error; }}) {}

  void has_answers() {
    transport.route("GET", "/api", 200, kEmpty);
    transport.route("GET", "/apis", 200, kEmpty);
  }
  void has_none() {
    transport.route("GET", "/api", 403, "{}");
    transport.route("GET", "/apis", 403, "{}");
  }
  void pass(Duration time) {
    bool passed = false;
    const auto timer = loop.after(time, [&] { passed = true; });
    loop.run_until([&] { return passed; }, time + kLimit);
  }
  std::size_t asked() const {
    std::size_t out = 0;
    for (const std::string& line : transport.lines()) out += line == "GET /api" ? 1 : 0;
    return out;
  }
};

}  // namespace

TEST_CASE("a server is asked for its kinds until it answers, and each who waits is told then") {
  World world;
  world.has_none();
  world.kinds.ask();
  world.kinds.ask();
  int told = 0;
  world.kinds.refresh([&] { ++told; });
  world.pass(Duration{100});
  CHECK(world.asked() == 1);
  CHECK(told == 1);  // that it cannot be known is an answer, too
  CHECK(world.kinds.resources() == nullptr);
  world.pass(Duration{60000});
  CHECK(world.asked() >= 4);
  CHECK(world.asked() <= 8);
  CHECK(world.known_times == 0);
  world.has_answers();
  world.pass(Duration{40000});
  CHECK(world.known_times == 1);
  CHECK(world.kinds.resources() != nullptr);
  const std::size_t before = world.asked();
  world.pass(Duration{100000});
  CHECK(world.asked() == before);
  CHECK_FALSE(world.given_up);
}

TEST_CASE("kinds that are missing are asked for again, ever less often") {
  World world({.missing = Duration{2000}});
  world.has_answers();
  world.kinds.ask();
  world.pass(Duration{10});
  world.kinds.ask_again();
  world.pass(Duration{1700});
  CHECK(world.asked() == 1);
  world.pass(Duration{600});
  CHECK(world.asked() == 2);
  for (int i = 0; i < 10; ++i) world.kinds.ask_again();
  world.pass(Duration{25000});
  CHECK(world.asked() == 2);
  world.pass(Duration{10000});
  CHECK(world.asked() == 3);
  world.kinds.none_missing();
  world.kinds.ask_again();
  world.pass(Duration{2300});
  CHECK(world.asked() == 4);
}

TEST_CASE("what was asked a moment ago is not asked again for whoever misses a kind") {
  World world({.fresh = Duration{5000}});
  world.has_answers();
  int told = 0;
  world.kinds.refresh([&] { ++told; });  // nothing is known: asked at once
  CHECK(told == 0);
  world.pass(Duration{10});
  CHECK(told == 1);
  world.kinds.refresh([&] { ++told; });
  CHECK(told == 2);
  CHECK(world.asked() == 1);
  world.pass(Duration{5000});
  world.kinds.refresh([&] { ++told; });
  CHECK(told == 2);
  world.pass(Duration{10});
  CHECK(told == 3);
  CHECK(world.asked() == 2);
}

TEST_CASE("a start that gives up asks no more, and what is known is never given up") {
  World world({.give_up_start = Duration{10000}});
  world.has_none();
  world.kinds.ask();
  world.pass(Duration{10});
  REQUIRE(world.given_up);
  CHECK(world.given_up->is_forbidden());
  world.kinds.ask();
  world.kinds.ask_again();
  bool told = false;
  world.kinds.refresh([&] { told = true; });
  CHECK(told);
  world.pass(Duration{100000});
  CHECK(world.asked() == 1);

  World later({.give_up_start = Duration{10000}});
  later.has_answers();
  later.kinds.ask();
  later.pass(Duration{10});
  later.has_none();
  later.kinds.ask();
  later.pass(Duration{100000});
  CHECK_FALSE(later.given_up);
  CHECK(later.asked() > 3);
}

TEST_CASE("who waits for kinds is told after the end, unless they were forgotten") {
  World world;
  int told = 0;
  world.kinds.refresh([&] { ++told; });
  world.pass(Duration{10});
  world.kinds.stop();
  world.transport.call(0).fail(kGone);
  world.pass(Duration{10});
  CHECK(told == 1);
  World other;
  other.kinds.refresh([&] { ++told; });
  other.pass(Duration{10});
  other.kinds.forget_waiting();
  other.transport.call(0).fail(kGone);
  other.pass(Duration{10});
  CHECK(told == 1);
}
