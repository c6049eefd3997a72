#include "runtime/stream_set.hpp"

#include <map>

#include "runtime/changes.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"
#include "support/turn.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using test::change_of;
using test::meta_named;

namespace {

// A source that the test speaks for.
struct Script {
  SourceEvents events;
  int starts = 0;
  bool gone = false;
};
class ScriptedSource : public ChangeSource {
 public:
  explicit ScriptedSource(Script& script) : script_(script) {}
  ~ScriptedSource() override { script_.gone = true; }
  void start(SourceEvents events) override {
    script_.events = std::move(events);
    ++script_.starts;
  }

 private:
  Script& script_;
};

struct Bench {
  loop::EventLoop loop;
  base::Random random{1};
  Script good, bad;
  std::vector<std::string> told;
  StreamSet set{loop, random, {Duration{2}, Duration{8}, 2.0, 0.0}};

  StreamSet::Id add(Script& script, const std::string& name, Duration debounce = Duration{0}) {
    ChangeStream stream;
    stream.debounce(debounce).to(
        [this, name](const StoreChange& change) { told.push_back(name + " " + change.meta.name); });
    return set.add(name, std::make_unique<ScriptedSource>(script), std::move(stream));
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, kLimit); }
  void turn() { test::turn(loop); }
};

const Error kForbidden(ErrorKind::forbidden, "list pods: forbidden");

}  // namespace

TEST_CASE("a stream that fails does not pause, delay or reset the others") {
  Bench b;
  b.add(b.good, "good");
  b.add(b.bad, "bad");
  REQUIRE(b.until([&] { return b.good.starts == 1 && b.bad.starts == 1; }));
  b.good.events.on_sign(StreamSign::synced);
  std::vector<std::uint32_t> failures;
  for (int i = 1; i <= 4; ++i) {
    REQUIRE(b.until([&] { return b.bad.starts == i; }));
    b.bad.events.on_sign(StreamSign::opened);
    b.bad.events.on_sign(StreamSign::init);
    b.bad.events.on_ended(kForbidden);
    // The healthy one is told at once, and its life does not reset the backoff of the bad one.
    b.good.events.on_change(change_of(meta_named("x" + std::to_string(i))));
    b.good.events.on_sign(StreamSign::alive);
    CHECK(b.told.size() == static_cast<std::size_t>(i));
    failures.push_back(b.set.health()[1].failures);
  }
  CHECK(failures == std::vector<std::uint32_t>{1, 2, 3, 4});
  CHECK(b.good.starts == 1);
  const auto health = b.set.health();
  CHECK(health[0].ready);
  CHECK_FALSE(health[0].failing_since);
  CHECK(health[0].changes == 4);
  CHECK_FALSE(health[1].ready);
  CHECK(health[1].failing_since);
  CHECK(health[1].last_error.find("forbidden") != std::string::npos);
  // 2 + 4 + 8 ms, and then no more than the maximum.
  CHECK(*health[1].retry_at - b.loop.now() <= Duration{8});
  CHECK_FALSE(b.set.ready());
}

TEST_CASE("a set is ready when each stream is, changes of health are told once") {
  Bench b;
  std::vector<std::string> healths;
  b.set.on_health([&](const StreamHealth& health) {
    healths.push_back(health.name + (health.failing_since ? " failing" : " well"));
  });
  const auto good = b.add(b.good, "good");
  b.add(b.bad, "bad");
  b.turn();
  b.good.events.on_sign(StreamSign::synced);
  CHECK(b.set.ready(good));
  CHECK_FALSE(b.set.ready());
  b.bad.events.on_failing(kForbidden, Duration{5});
  b.bad.events.on_failing(kForbidden, Duration{5});
  b.bad.events.on_sign(StreamSign::synced);
  b.good.events.on_sign(StreamSign::alive);
  CHECK(b.set.ready());
  CHECK(healths == std::vector<std::string>{"good well", "bad failing", "bad well"});
}

TEST_CASE("a removed stream tells nothing more and is not started again") {
  Bench b;
  const auto id = b.add(b.bad, "bad", Duration{1});
  b.turn();
  b.bad.events.on_change(change_of(meta_named("x")));
  b.bad.events.on_ended(kForbidden);
  const SourceEvents late = b.bad.events;
  b.set.remove(id);
  b.set.remove(id);
  late.on_change(change_of(meta_named("y")));
  b.turn();
  CHECK(b.bad.gone);
  late.on_change(change_of(meta_named("z")));
  late.on_ended(kForbidden);
  bool later = false;
  const auto timer = b.loop.after(Duration{10}, [&] { later = true; });
  REQUIRE(b.until([&] { return later; }));
  CHECK(b.told.empty());
  CHECK(b.bad.starts == 1);
  CHECK(b.set.health().empty());
}

TEST_CASE("a stream may be removed from inside its own change") {
  Bench b;
  StreamSet::Id id = 0;
  ChangeStream stream;
  stream.to([&](const StoreChange&) { b.set.remove(id); });
  id = b.set.add("once", std::make_unique<ScriptedSource>(b.good), std::move(stream));
  b.turn();
  b.good.events.on_change(change_of(meta_named("x")));
  b.turn();
  CHECK(b.good.gone);
}

TEST_CASE("a stream that goes at the first of many debounced changes is told no other") {
  Bench b;
  StreamSet::Id id = 0;
  std::vector<std::string> tapped, told;
  ChangeStream stream;
  stream.debounce(Duration{5})
      .tap([&](const StoreChange& change) {
        tapped.push_back(change.meta.name);
        b.set.remove(id);
      })
      .to([&](const StoreChange& change) { told.push_back(change.meta.name); });
  id = b.set.add("once", std::make_unique<ScriptedSource>(b.good), std::move(stream));
  b.turn();
  for (const char* name : {"x", "y", "z"}) b.good.events.on_change(change_of(meta_named(name)));
  REQUIRE(b.until([&] { return !tapped.empty() && b.good.gone; }));
  CHECK(tapped == std::vector<std::string>{"x"});
  CHECK(told.empty());
}

TEST_CASE("debounced changes of a stream come by themselves") {
  Bench b;
  b.add(b.good, "good", Duration{5});
  b.turn();
  for (int i = 0; i < 5; ++i) b.good.events.on_change(change_of(meta_named("x")));
  CHECK(b.told.empty());
  REQUIRE(b.until([&] { return b.told.size() == 1; }));
  b.good.events.on_change(change_of(meta_named("y")));
  REQUIRE(b.until([&] { return b.told.size() == 2; }));
}

TEST_CASE("of two debounces in one chain each keeps its own window") {
  Bench b;
  std::vector<std::pair<std::string, TimePoint>> first;
  ChangeStream stream;
  stream.debounce(Duration{20})
      .tap([&](const StoreChange& change) { first.emplace_back(change.meta.name, b.loop.now()); })
      .debounce(Duration{60000})
      .to([](const StoreChange&) {});
  b.set.add("good", std::make_unique<ScriptedSource>(b.good), std::move(stream));
  b.turn();
  b.good.events.on_change(change_of(meta_named("x")));
  REQUIRE(b.until([&] { return first.size() == 1; }));
  // The timer is set for the end of the long window now.
  const TimePoint pushed = b.loop.now();
  b.good.events.on_change(change_of(meta_named("y")));
  REQUIRE(b.until([&] { return first.size() == 2; }));
  CHECK(first[1].second - pushed < Duration{60000});
}
