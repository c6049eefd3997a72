// One watch for many controllers and streams: what each is told, and when the watch ends.
#include "runtime/shared_watch.hpp"

#include <algorithm>

#include "runtime/operator_bench.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using namespace kubewatch::test;

namespace {

// Controllers of websites, all on one watch.
struct SharedBench : OperatorBench {
  std::shared_ptr<SharedWatch> shared = SharedWatch::open(client, random, websites());

  struct Owner {
    std::unique_ptr<Operator> op;
    Lines runs;
  };
  std::unique_ptr<Owner> add(const std::function<void(ControllerBuilder&)>& more = {}) {
    auto out = std::make_unique<Owner>();
    ControllerBuilder one(loop, client, random);
    KindOptions options;
    options.shared = {shared};
    one.for_(websites(), std::move(options));
    if (more) more(one);
    auto built = one.build([owner = out.get()](const StoredObject& object, const Work& work,
                                               const ReconcileDone& done) {
      owner->runs.push_back(object.meta.name + " " + std::string(to_string(work.reason)));
      done(RunOutcome::await_change());
    });
    REQUIRE(built.ok());
    out->op = std::move(*built);
    out->op->start();
    turn();
    return out;
  }
  std::size_t requests(const std::string& part) {
    const Lines lines = transport.lines();
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const auto& one) {
      return one.find(part) != std::string::npos;
    }));
  }
};

}  // namespace

TEST_CASE("controllers share one watch, and each runs every object") {
  SharedBench b;
  const auto first = b.add();
  const auto second = b.add();
  b.list("websites", {object("a", 1), object("b", 2)});
  CHECK(first->runs == Lines{"a Startup", "b Startup"});
  CHECK(second->runs == first->runs);
  b.event("websites", "MODIFIED", object("a", 6));
  b.event("websites", "DELETED", object("b", 7));
  CHECK(first->runs.back() == "a Updated");
  CHECK(second->runs == first->runs);
  CHECK(b.requests("/websites") == 2);  // one list, one watch
  CHECK(first->op->cache(websites().gvk) == second->op->cache(websites().gvk));
  CHECK(first->op->cache(websites().gvk)->size() == 1);
}

TEST_CASE("a controller that comes late is told what is there, then what changes") {
  SharedBench b;
  const auto first = b.add();
  b.list("websites", {object("a", 1), object("b", 1)});
  b.event("websites", "DELETED", object("b", 6));
  const auto late = b.add();
  CHECK(late->op->synced());
  CHECK(late->runs == Lines{"a Startup"});
  b.event("websites", "ADDED", object("c", 7));
  b.event("websites", "MODIFIED", object("a", 8));
  CHECK(late->runs == Lines{"a Startup", "c Created", "a Updated"});
  CHECK(b.requests("/websites") == 2);
}

TEST_CASE("one that comes in the middle of what others are told hears of each object once") {
  SharedBench b;
  std::vector<std::string> told;
  StreamSet late(b.loop, b.random);
  bool added = false;
  const auto first = b.add([&](ControllerBuilder& builder) {
    builder.predicates(Predicate([&](const core::ObjectMeta&, const std::string& json) {
      if (!std::exchange(added, true)) {
        late.add("late", b.shared->source(), std::move(ChangeStream().to([&](const auto& one) {
                   told.push_back(one.meta.name + (one.initial ? " initial" : " later"));
                 })));
      }
      return std::optional<std::uint64_t>(std::hash<std::string>()(json));
    }));
  });
  b.list("websites", {object("a", 1), object("b", 1)});
  b.turn();
  CHECK(told == Lines{"a initial", "b initial"});
  b.event("websites", "MODIFIED", object("b", 6));
  CHECK(told == Lines{"a initial", "b initial", "b later"});
}

TEST_CASE("the watch lives as long as one of its controllers, or who else holds it") {
  SharedBench b;
  auto first = b.add();
  auto second = b.add();
  b.list("websites", {object("a", 1)});
  b.shared.reset();
  first.reset();
  b.turn();
  CHECK(b.request("websites").open());
  b.event("websites", "MODIFIED", object("a", 6));
  CHECK(second->runs.back() == "a Updated");
  second.reset();
  b.turn();
  CHECK(b.request("websites").canceled());
}

TEST_CASE("a controller that comes while the watch fails says so in its health") {
  SharedBench b;
  const auto first = b.add();
  b.request("websites").head(403);
  b.request("websites").end();
  b.turn();
  REQUIRE(first->op->health().front().failing_since);
  const auto late = b.add();
  const StreamHealth health = late->op->health().front();
  CHECK(health.name == "websites.demo.dev");
  CHECK(health.failing_since);
  CHECK_FALSE(late->op->synced());
  // Their own backoff is the watch's: it is asked once, not by each of them.
  CHECK(b.requests("/websites") == 1);
}

TEST_CASE("a watch that works again without telling anything ends the failure in the health") {
  SharedBench b;
  const auto one = b.add();
  b.list("websites", {object("a", 1)});
  b.request("websites").fail(Error(ErrorKind::unreachable, "connection lost"));
  b.turn();
  REQUIRE(one->op->health().front().failing_since);
  const std::size_t before = b.transport.size();
  REQUIRE(b.until([&] { return b.transport.size() > before; }));
  b.list("websites", {object("a", 1)});  // its version is asked for
  REQUIRE(b.until([&] { return b.transport.size() > before + 1; }));
  b.request("websites").head(200);
  REQUIRE(b.until([&] { return !one->op->health().front().failing_since; }));
  CHECK(std::any_of(b.logged.begin(), b.logged.end(), [](const std::string& line) {
    return line.find("watching websites.demo.dev works again") != std::string::npos;
  }));
}

TEST_CASE("children can be watched by a shared watch as well") {
  SharedBench b;
  auto watch = SharedWatch::open(b.client, b.random, children());
  KindOptions theirs;
  theirs.shared = {watch};
  const auto one = b.add([&](ControllerBuilder& builder) { builder.owns(children(), theirs); });
  const auto two = b.add([&](ControllerBuilder& builder) { builder.owns(children(), theirs); });
  b.list("websites", {object("a", 1)});
  b.list("children", {child("x", 2, "a")});
  CHECK(one->runs == Lines{"a Startup"});
  b.event("children", "DELETED", child("x", 6, "a"));
  CHECK(one->runs == Lines{"a Startup", "a OwnedChanged"});
  CHECK(two->runs == one->runs);
  CHECK(b.requests("/children") == 2);
}

TEST_CASE("a builder refuses shared watches that do not fit") {
  SharedBench b;
  const auto refused = [&](std::vector<std::shared_ptr<SharedWatch>> watches) {
    KindOptions options;
    options.shared = std::move(watches);
    ControllerBuilder builder(b.loop, b.client, b.random);
    builder.for_(websites(), std::move(options));
    auto built = builder.build([](auto&&...) {});
    return built.ok() ? std::string() : built.error().message();
  };
  const auto in = [&](const std::string& name) {
    return SharedWatch::open(b.client, b.random, websites(), name);
  };
  CHECK(refused({SharedWatch::open(b.client, b.random, settings())}) ==
        "demo.dev/v1 Website is to be watched by a shared watch of demo.dev/v1 Setting");
  CHECK(refused({nullptr}).find("is null") != std::string::npos);
  CHECK(refused({in("shop"), in("shop")}).find("overlap") != std::string::npos);
  CHECK(refused({in(""), in("shop")}).find("overlap") != std::string::npos);
  CHECK(refused({in("blog"), in("shop")}).empty());
}
