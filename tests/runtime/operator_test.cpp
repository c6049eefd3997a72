// Controllers built in C++, against a scripted server: what runs, when, and with what.
#include "runtime/operator.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/json.hpp"
#include "runtime/operator_bench.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using namespace kubewatch::test;
using Bench = OperatorBench;

TEST_CASE("a built controller runs each object at the start and at each change") {
  Bench b;
  b.start();
  b.list("websites", {object("a", 1), object("b", 2)});
  CHECK(b.taken() == Lines{"a Startup 1", "b Startup 1"});
  b.event("websites", "MODIFIED", object("a", 6));
  b.event("websites", "ADDED", object("c", 7));
  CHECK(b.taken() == Lines{"a Updated 1", "c Created 1"});
  b.event("websites", "DELETED", object("c", 8));
  CHECK(b.taken().empty());
  CHECK(b.op->controller().queue().idle());
}

TEST_CASE("nothing runs before all caches are synced") {
  Bench b;
  b.builder.owns(children());
  SECTION("by default") {
    b.start();
    b.list("websites", {object("a", 1)});
    CHECK(b.taken().empty());
    CHECK_FALSE(b.op->synced());
    b.list("children", {child("x", 2, "a")});
    CHECK(b.taken() == Lines{"a Startup 1"});
    CHECK(b.op->synced());
    CHECK(b.op->cache(children().gvk)->size() == 1);
    CHECK(b.op->cache(settings().gvk) == nullptr);
  }
  SECTION("unless told to wait for the objects alone") {
    b.builder.hold_until_synced(false);
    b.start();
    b.list("websites", {object("a", 1)});
    CHECK(b.taken() == Lines{"a Startup 1"});
    b.list("children", {child("x", 2, "a")});
    CHECK(b.taken() == Lines{"a OwnedChanged 1"});
  }
}

TEST_CASE("after the server's data went back nothing runs until all caches are synced again") {
  Bench b;
  b.builder.owns(children());
  b.start();
  b.list("websites", {object("a", 4), object("b", 4)});
  b.list("children", {child("x", 3, "a"), child("y", 3, "b")});
  b.taken();
  b.event("websites", "BOOKMARK", object("", 2));
  REQUIRE(b.until([&] { return b.request("children").line().find("watch") == std::string::npos; }));
  CHECK_FALSE(b.op->synced());
  b.list("children", {});
  CHECK(b.taken().empty());
  b.list("websites", {object("a", 4)});
  CHECK(b.taken() == Lines{"a OwnedChanged 1"});  // b is of the past that was undone
  CHECK(b.op->synced());
}

TEST_CASE("children are watched by their metadata alone, unless they are wanted whole") {
  Bench b;
  const bool whole = GENERATE(false, true);
  if (whole) {
    b.builder.owns_whole(children());
  } else {
    b.builder.owns(children());
  }
  b.start();
  const auto asks_for_metadata = [&](const std::string& plural) {
    const auto accept = b.request(plural).request().headers.get("Accept");
    return accept.find("PartialObjectMetadata") != std::string_view::npos;
  };
  CHECK(asks_for_metadata("children") == !whole);
  CHECK_FALSE(asks_for_metadata("websites"));
  b.list("websites", {object("a", 1)});
  b.list("children", {child("x", 2, "a")});
  b.taken();
  // A server that sends whole objects all the same does not fill the cache with them.
  std::string fat = child("x", 6, "a");
  fat.insert(fat.size() - 1, R"(,"spec":{"big":"text"})");
  b.event("children", "MODIFIED", fat);
  CHECK(b.taken() == Lines{"a OwnedChanged 1"});
  const auto kept = b.op->cache(children().gvk)->get({"shop", "x"});
  REQUIRE(kept);
  CHECK((kept->json.find("big") == std::string::npos) == !whole);
}

TEST_CASE(
    "the cache of a kind that is watched several times is the one that has what is asked for") {
  KindOptions here;
  here.namespaces = {"shop"};
  Bench b(here);
  KindOptions there;
  there.namespaces = {"bank"};
  const auto nobody = [](const auto&, const auto&) { return std::vector<ObjectKey>(); };
  b.builder.watches(websites(), nobody, there);
  b.builder.owns(children());
  b.builder.watches(children(), nobody);
  b.start();
  const Store* shop = b.op->cache(websites().gvk, "shop");
  const Store* bank = b.op->cache(websites().gvk, "bank");
  CHECK(shop != nullptr);
  CHECK(bank != nullptr);
  CHECK(shop != bank);
  CHECK(b.op->cache(websites().gvk, "elsewhere") == nullptr);
  // Of metadata alone, or whole: the request that was made last is of the latter.
  std::string fat = child("x", 6, "a");
  fat.insert(fat.size() - 1, R"(,"spec":{"big":"text"})");
  b.list("children", {fat});
  const Store* whole = b.op->cache(children().gvk);
  REQUIRE(whole != nullptr);
  REQUIRE(whole->get({"shop", "x"}));
  CHECK(whole->get({"shop", "x"})->json.find("big") != std::string::npos);
}

TEST_CASE("a change of a child, its deletion included, runs its owner") {
  Bench b;
  b.builder.owns(children());
  b.start();
  b.list("websites", {object("a", 1), object("b", 1)});
  b.list("children", {child("x", 2, "a")});
  b.taken();
  b.event("children", "MODIFIED", child("x", 6, "a"));
  b.event("children", "ADDED", child("y", 7, "b"));
  b.event("children", "ADDED", child("z", 8, "nobody"));
  b.event("children", "DELETED", child("x", 9, "a"));
  CHECK(b.taken() == Lines{"a OwnedChanged 1", "b OwnedChanged 1", "a OwnedChanged 1"});
}

// kube-rs swaps its store after a gap in silence: an owner never hears of a child lost in it.
TEST_CASE("a child that vanished while nobody watched runs its owner after the gap") {
  Bench b;
  WatcherOptions quick;
  quick.backoff = {Duration{1}, Duration{1}, 2.0, 0.0};
  quick.short_watch = Duration{1};
  KindOptions options;
  options.list = quick;
  b.builder.owns(children(), options);
  b.start();
  b.list("websites", {object("a", 1)});
  b.list("children", {child("x", 2, "a")});
  b.taken();
  const std::size_t before = b.transport.size();
  b.event("children", "ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})");
  REQUIRE(b.until([&] { return b.transport.size() > before; }));
  b.list("children", {});
  REQUIRE(b.until_runs(1));
  CHECK(b.taken() == Lines{"a OwnedChanged 1"});
}

TEST_CASE("a mapper tells whom a related object concerns, before and after its change") {
  Bench b;
  b.builder.watches(settings(), [](const core::ObjectMeta& meta, const std::string&) {
    const std::string* target = meta.label("target");
    return target == nullptr ? std::vector<ObjectKey>{}
                             : std::vector<ObjectKey>{{meta.namespace_, *target}};
  });
  b.start();
  b.list("websites", {object("a", 1), object("b", 1)});
  b.list("settings", {setting("s", 2, "a")});
  b.taken();
  b.event("settings", "MODIFIED", setting("s", 6, "b"));
  CHECK(b.taken() == Lines{"a RelatedChanged 1", "b RelatedChanged 1"});
  b.event("settings", "MODIFIED", setting("s", 7, "nobody"));
  CHECK(b.taken() == Lines{"b RelatedChanged 1"});
  b.event("settings", "DELETED", setting("s", 8, "nobody"));
  CHECK(b.taken().empty());
}

TEST_CASE("an object that names related objects runs when they change") {
  Bench b;
  b.builder.watches_referenced(settings(), [](const core::ObjectMeta& meta, const std::string&) {
    const std::string* target = meta.label("target");
    return target == nullptr ? std::vector<ObjectKey>{}
                             : std::vector<ObjectKey>{{meta.namespace_, *target}};
  });
  b.start();
  b.list("settings", {object("s", 2), object("t", 2)});
  b.list("websites", {setting("a", 1, "s"), object("b", 1)});
  b.taken();
  b.event("settings", "MODIFIED", object("s", 6));
  CHECK(b.taken() == Lines{"a RelatedChanged 1"});
  b.event("websites", "MODIFIED", setting("a", 7, "t"));
  b.taken();
  b.event("settings", "MODIFIED", object("s", 8));
  CHECK(b.taken().empty());
  b.event("settings", "DELETED", object("t", 9));
  CHECK(b.taken() == Lines{"a RelatedChanged 1"});
}

TEST_CASE("an object that is kept reduced goes on concerning those of before") {
  // By what is not in the metadata.
  const auto target = [](const core::ObjectMeta& meta, const std::string& json) {
    const Json value = *base::parse_json(json);
    const std::string name = base::string_at(value, {"target"});
    return name.empty() ? std::vector<ObjectKey>{}
                        : std::vector<ObjectKey>{{meta.namespace_, name}};
  };
  const auto naming = [](const std::string& name, int version, const std::string& whom) {
    std::string out = object(name, version);
    return out.insert(1, fmt::format(R"("target":"{}",)", whom));
  };
  const auto too_deep = [&](const std::string& name, int version) {
    std::string out = naming(name, version, "a");
    return out.insert(1, "\"deep\":" + std::string(201, '[') + std::string(201, ']') + ",");
  };
  Bench b;
  SECTION("as the one that is mapped") {
    b.builder.watches(settings(), target);
    b.start();
    b.list("websites", {object("a", 1), object("b", 1)});
    b.list("settings", {naming("s", 2, "a")});
    b.taken();
    b.event("settings", "MODIFIED", too_deep("s", 6));
    CHECK(b.taken() == Lines{"a RelatedChanged 1"});
    b.event("settings", "MODIFIED", too_deep("s", 7));
    CHECK(b.taken() == Lines{"a RelatedChanged 1"});
    b.event("settings", "MODIFIED", naming("s", 8, "b"));
    CHECK(b.taken() == Lines{"a RelatedChanged 1", "b RelatedChanged 1"});
    b.event("settings", "MODIFIED", naming("s", 9, "b"));
    CHECK(b.taken() == Lines{"b RelatedChanged 1"});
  }
  SECTION("as the one that names others") {
    b.builder.watches_referenced(settings(), target);
    b.start();
    b.list("settings", {object("a", 2)});
    b.list("websites", {naming("w", 1, "a")});
    b.taken();
    b.event("websites", "MODIFIED", too_deep("w", 6));
    b.taken();
    b.event("settings", "MODIFIED", object("a", 7));
    CHECK(b.taken() == Lines{"w RelatedChanged 1"});
  }
  const auto told = std::count_if(b.logged.begin(), b.logged.end(), [](const std::string& line) {
    return line.find("only the metadata is kept") != std::string::npos;
  });
  CHECK(told >= 1);
}

TEST_CASE("triggers from outside run one object or all, and nobody that is not there") {
  Bench b;
  const TriggerSource one, all;
  b.builder.reconcile_on(one).reconcile_all_on(all);
  b.start();
  one.trigger({"shop", "a"});  // before it is synced: kept
  b.list("websites", {object("a", 1), object("b", 1)});
  CHECK(b.taken() == Lines{"a External 1", "b Startup 1"});
  one.trigger({"shop", "b"}, "webhook");
  one.trigger({"shop", "nobody"});
  one.trigger_all();  // this source is not asked for all
  b.turn();
  CHECK(b.taken() == Lines{"b External 1"});
  all.trigger_all("nightly");
  all.trigger({"shop", "a"});
  b.turn();
  CHECK(b.taken() == Lines{"a External 1", "b External 1"});
  b.op.reset();
  one.trigger({"shop", "a"});  // nobody listens any more
}

TEST_CASE("a trigger of all objects before they are known waits for them") {
  KindOptions news;
  news.operators = [](ChangeStream& stream) { stream.live(); };
  Bench b(news);
  const TriggerSource all;
  b.builder.reconcile_all_on(all);
  SECTION("once it is started") {
    b.start();
    all.trigger_all("nightly");
  }
  SECTION("once it is built") {
    b.before_start = [&] { all.trigger_all("nightly"); };
    b.start();
  }
  b.list("websites", {object("a", 1), object("b", 1)});
  CHECK(b.taken() == Lines{"a External 1", "b External 1"});
}

TEST_CASE("predicates drop what is no news, but never deletion or finalizers") {
  Bench b;
  b.builder.predicates(predicates::generation());
  b.start();
  b.list("websites", {object("a", 1, R"(,"generation":1)")});
  b.taken();
  b.event("websites", "MODIFIED", object("a", 6, R"(,"generation":1)"));
  CHECK(b.taken().empty());
  CHECK(b.op->cache(websites().gvk)->get_meta({"shop", "a"})->resource_version == "6");
  b.event("websites", "MODIFIED", object("a", 7, R"(,"generation":2)"));
  CHECK(b.taken() == Lines{"a Updated 1"});
  b.event("websites", "MODIFIED", object("a", 8, R"(,"generation":2,"finalizers":["x.y/z"])"));
  CHECK(b.taken() == Lines{"a Updated 1"});
}

TEST_CASE("operators of a kind come before its mapping to keys") {
  Bench b;
  KindOptions options;
  options.operators = [](ChangeStream& stream) { stream.deleted(); };
  options.namespaces = {"shop"};
  options.list.label_selector = "app=x";
  options.list.strategy = ListStrategy::unpaged;
  b.builder.owns(children(), options);
  b.start();
  CHECK(b.request("children").path() == "/apis/demo.dev/v1/namespaces/shop/children");
  CHECK(b.request("children").target().find("labelSelector=app%3Dx") != std::string::npos);
  b.list("websites", {object("a", 1)});
  b.list("children", {});
  b.taken();
  b.event("children", "ADDED", child("x", 6, "a"));
  CHECK(b.taken().empty());
  b.event("children", "DELETED", child("x", 7, "a"));
  CHECK(b.taken() == Lines{"a OwnedChanged 1"});
}

TEST_CASE("an error is retried with the object's own backoff, which success resets") {
  Bench b;
  b.at_once = false;
  b.start();
  b.list("websites", {object("a", 1), object("b", 1)});
  b.end("a", Error(ErrorKind::unreachable, "no route"));
  b.end("b", RunOutcome::await_change());
  REQUIRE(b.until_runs(3));
  CHECK(b.taken() == Lines{"a Startup 1", "b Startup 1", "a Retry 2"});
  CHECK(b.logged.size() == 1);
  CHECK(b.logged[0].find("Website shop/a") != std::string::npos);
  CHECK(b.logged[0].find("no route") != std::string::npos);
  b.end("a", RunOutcome::await_change());
  b.event("websites", "MODIFIED", object("a", 6));
  CHECK(b.taken() == Lines{"a Updated 1"});
}

TEST_CASE("a run is told once, however many copies of done are called") {
  Bench b;
  b.at_once = false;
  int results = 0;
  b.builder.on_result([&](const auto&, const auto&) { ++results; });
  b.start();
  b.list("websites", {object("a", 1)});
  const ReconcileDone of_timer = b.open.at("a");
  b.end("a", RunOutcome::await_change());
  of_timer(Error(ErrorKind::timeout, "too late"));
  CHECK(results == 1);
  CHECK(b.logged.empty());
  CHECK(b.op->controller().running() == 0);
}

TEST_CASE("an error policy sees key, error and attempt, and decides") {
  Bench b;
  b.at_once = false;
  Lines asked, results;
  b.builder.error_policy([&](const ObjectKey& key, const Error& error, std::uint32_t attempt) {
    asked.push_back(fmt::format("{} {} {}", key.name, error.message(), attempt));
    return attempt < 3 ? RunOutcome::failed_for(Duration{1}) : RunOutcome::parked();
  });
  b.builder.on_result([&](const ObjectKey& key, const Result<RunOutcome>& result) {
    results.push_back(key.name + (result.ok() ? " ok" : " error"));
  });
  b.start();
  b.list("websites", {object("a", 1)});
  for (std::size_t i = 1; i <= 3; ++i) {
    REQUIRE(b.until_runs(i));
    b.end("a", Error(ErrorKind::invalid, "bad spec"));
  }
  CHECK(asked == Lines{"a bad spec 1", "a bad spec 2", "a bad spec 3"});
  CHECK(b.op->controller().queue().is_parked({"shop", "a"}));
  CHECK(results == Lines{"a error", "a error", "a error"});
  b.event("websites", "MODIFIED", object("a", 6));  // news un-parks it
  CHECK(b.taken().back() == "a Updated 1");
}

TEST_CASE("the reconciler gets the newest object, once for many changes") {
  Bench b;
  b.at_once = false;
  b.start();
  b.list("websites", {object("a", 1)});
  for (int i = 6; i < 10; ++i) b.event("websites", "MODIFIED", object("a", i));
  CHECK(b.runs.size() == 1);
  CHECK(b.op->controller().running_keys() == std::vector<ObjectKey>{{"shop", "a"}});
  b.end("a", RunOutcome::await_change());
  b.turn();
  CHECK(b.runs.size() == 2);
  CHECK(b.op->cache(websites().gvk)->get_meta({"shop", "a"})->resource_version == "9");
}

TEST_CASE("a debounce waits from the first trigger and is not pushed out") {
  Bench b;
  b.builder.debounce(Duration{30});
  b.start();
  b.list("websites", {object("a", 1)});
  CHECK(b.taken() == Lines{"a Startup 1"});
  b.event("websites", "MODIFIED", object("a", 6));
  const TimePoint first = b.loop.now();
  int version = 7;
  while (b.runs.empty() && b.loop.now() - first < Duration{4000}) {
    b.event("websites", "MODIFIED", object("a", version++));
  }
  CHECK(b.runs.size() == 1);
  CHECK(b.loop.now() - first >= Duration{29});
}

TEST_CASE("a gone object is forgotten, or runs on_delete through the queue") {
  Bench b;
  b.at_once = false;
  Lines gone;
  ReconcileDone gone_done;
  SECTION("forgotten") {
    b.start();
    b.list("websites", {object("a", 1)});
    b.event("websites", "DELETED", object("a", 6));
    b.end("a", Error(ErrorKind::unreachable, "no route"));
    b.turn();
    CHECK(b.op->controller().queue().idle());
    CHECK_FALSE(b.op->controller().queue().is_retrying({"shop", "a"}));
  }
  SECTION("on_delete waits for the run, and is retried") {
    b.builder.on_delete([&](const ObjectKey& key, const ReconcileDone& done) {
      gone.push_back(key.str());
      gone_done = done;
    });
    b.start();
    b.list("websites", {object("a", 1)});
    b.event("websites", "DELETED", object("a", 6));
    CHECK(gone.empty());
    b.end("a", RunOutcome::await_change());
    REQUIRE(b.until([&] { return gone.size() == 1; }));
    gone_done(Error(ErrorKind::unreachable, "no route"));
    REQUIRE(b.until([&] { return gone.size() == 2; }));
    gone_done(RunOutcome::await_change());
    b.turn();
    CHECK(gone == Lines{"shop/a", "shop/a"});
    CHECK(b.op->controller().queue().idle());
    // A name that is taken again at once is an object, not a deletion.
    b.event("websites", "ADDED", object("a", 7, "", "uid-2"));
    CHECK(b.taken().back() == "a Created 1");
    CHECK(gone.size() == 2);
  }
}

TEST_CASE("a forbidden child kind holds the controller, is told with its error, and stops no one") {
  Bench b;
  b.builder.owns(children());
  b.start();
  b.list("websites", {object("a", 1)});
  auto& list = b.request("children");
  list.head(403);
  list.data(R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no children for you"})");
  list.end();
  b.turn();
  const auto health = b.op->health();
  REQUIRE(health.size() == 2);
  CHECK(health[0].ready);
  CHECK_FALSE(health[0].failing_since);
  CHECK(health[1].name == "children.demo.dev");
  CHECK(health[1].failing_since);
  CHECK(health[1].last_error.find("no children for you") != std::string::npos);
  CHECK(b.logged.size() == 1);
  b.event("websites", "MODIFIED", object("a", 6));
  CHECK(b.op->cache(websites().gvk)->get_meta({"shop", "a"})->resource_version == "6");
  CHECK(b.taken().empty());
}

TEST_CASE("a shutdown stops the intake, ends the runs, flushes, and then gives leases back") {
  Bench b;
  b.at_once = false;
  Lines order;
  b.builder.flush_on_shutdown([&](const auto& done) {
    order.push_back("flush");
    done();
  });
  b.builder.release_on_shutdown([&](const auto& done) {
    order.push_back("release");
    done();
  });
  b.start();
  b.list("websites", {object("a", 1)});
  std::optional<ShutdownReport> report;
  const auto tell = [&](const ShutdownReport& told) { report = told; };
  SECTION("in order") {
    b.op->shut_down(Duration{60000}, tell);
    b.event("websites", "ADDED", object("b", 6));
    CHECK(order.empty());
    b.end("a", RunOutcome::requeue(Duration{0}));
    REQUIRE(b.until([&] { return report.has_value(); }));
    CHECK(order == Lines{"flush", "release"});
    CHECK(report->clean);
    CHECK(b.runs == Lines{"a Startup 1"});
  }
  SECTION("the deadline tells which keys were cut off, and keeps the leases") {
    b.op->shut_down(Duration{1}, tell);
    REQUIRE(b.until([&] { return report.has_value(); }));
    CHECK_FALSE(report->clean);
    CHECK(report->unfinished_step == "runs");
    CHECK(report->cut_off == std::vector<ObjectKey>{{"shop", "a"}});
    CHECK(order.empty());
  }
  SECTION("all who ask are told") {
    int told = 0;
    const auto count = [&](const ShutdownReport&) { ++told; };
    b.op->shut_down(Duration{60000}, count);
    b.op->shut_down(Duration{60000}, count);
    b.end("a", RunOutcome::requeue(Duration{0}));
    REQUIRE(b.until([&] { return told == 2; }));
    b.op->shut_down(Duration{60000}, count);
    REQUIRE(b.until([&] { return told == 3; }));
  }
  SECTION("a second signal ends it now") {
    b.op->shut_down(Duration{60000}, tell);
    b.op->shut_down_now();
    REQUIRE(b.until([&] { return report.has_value(); }));
    CHECK(report->cut_off.size() == 1);
  }
}

TEST_CASE("what a function of the controller throws ends the run of one object, not the process") {
  Bench b;
  Lines told;
  b.builder.error_policy([&](const ObjectKey& key, const Error& error, std::uint32_t) {
    told.push_back(key.str() + ": " + error.render());
    return RunOutcome::parked();
  });
  std::string thrower;
  const auto throws = [&](const std::string& name) {
    if (thrower == name) throw std::out_of_range("no such " + name);
  };
  const auto said = [&](const std::string& what) {
    return std::count_if(b.logged.begin(), b.logged.end(), [&](const std::string& line) {
      return line.find(what) != std::string::npos && line.find("shop/") != std::string::npos;
    });
  };
  SECTION("a reconciler: logged once, and the error policy decides") {
    auto built = b.builder.build([&](const auto& object, const auto&, const auto& done) {
      throws(object.meta.name);
      b.runs.push_back(object.meta.name);
      done(RunOutcome::await_change());
    });
    REQUIRE(built.ok());
    thrower = "a";
    b.op = std::move(*built);
    b.op->start();
    b.turn();
    b.list("websites", {object("a", 1), object("b", 1)});
    CHECK(b.taken() == Lines{"b"});
    CHECK(told == Lines{"shop/a: the reconcile function threw an exception: no such a"});
    CHECK(said("no such a") == 1);
    thrower.clear();
    b.event("websites", "MODIFIED", object("a", 6));
    CHECK(b.taken() == Lines{"a"});
  }
  SECTION("one that has said how it ended is left at that") {
    auto built = b.builder.build([&](const auto&, const auto&, const auto& done) {
      done(RunOutcome::await_change());
      throws("end");
    });
    REQUIRE(built.ok());
    thrower = "end";
    b.op = std::move(*built);
    b.op->start();
    b.turn();
    b.list("websites", {object("a", 1)});
    CHECK(told.empty());
    CHECK(said("no such end") == 1);
    CHECK(b.op->controller().queue().idle());
  }
  SECTION("on_delete") {
    b.builder.on_delete([&](const ObjectKey& key, const ReconcileDone&) { throws(key.name); });
    b.start();
    b.list("websites", {object("a", 1)});
    thrower = "a";
    b.event("websites", "DELETED", object("a", 6));
    CHECK(told == Lines{"shop/a: on_delete threw an exception: no such a"});
  }
  SECTION("a predicate: the change passes") {
    b.builder.predicates(Predicate([&](const core::ObjectMeta& meta, const std::string&) {
      throws(meta.name);
      return std::optional<std::uint64_t>(1);
    }));
    b.start();
    b.list("websites", {object("a", 1)});
    b.taken();
    thrower = "a";
    b.event("websites", "MODIFIED", object("a", 6));
    CHECK(b.taken() == Lines{"a Updated 1"});
    CHECK(said("no such a") > 0);
  }
  SECTION("a function to keys: whom the object concerned before stays") {
    b.builder.watches(settings(), [&](const core::ObjectMeta& meta, const std::string&) {
      throws(meta.name);
      return std::vector<ObjectKey>{{"shop", *meta.label("target")}};
    });
    b.start();
    b.list("websites", {object("a", 1), object("b", 1)});
    b.list("settings", {setting("s", 2, "a")});
    b.taken();
    thrower = "s";
    b.event("settings", "MODIFIED", setting("s", 6, "b"));
    CHECK(b.taken() == Lines{"a RelatedChanged 1"});
    CHECK(said("no such s") == 1);
  }
  SECTION("who sees the results, and the error policy itself") {
    b.builder.on_result([&](const ObjectKey&, const auto&) { throws("result"); });
    b.builder.error_policy([&](const ObjectKey&, const Error&, std::uint32_t) {
      throws("policy");
      return RunOutcome::parked();
    });
    b.at_once = false;
    b.start();
    b.list("websites", {object("a", 1)});
    thrower = "result";
    b.end("a", RunOutcome::await_change());
    b.turn();
    CHECK(said("no such result") == 1);
    b.event("websites", "MODIFIED", object("a", 6));
    b.taken();
    thrower = "policy";
    b.end("a", Error(ErrorKind::unreachable, "no route"));
    REQUIRE(b.until_runs(1));
    CHECK(b.taken() == Lines{"a Retry 2"});
    CHECK(said("no such policy") == 1);
  }
}

TEST_CASE("an operator that is started again opens no watch twice") {
  Bench b;
  b.start();
  b.list("websites", {object("a", 1)});
  b.taken();
  const std::size_t requests = b.transport.size();
  b.op->start();
  b.turn();
  CHECK(b.transport.size() == requests);
  b.event("websites", "MODIFIED", object("a", 6));
  CHECK(b.taken() == Lines{"a Updated 1"});
}

TEST_CASE("a builder refuses what cannot work, in one sentence") {
  Bench b;
  const auto refuse = [](ControllerBuilder& builder, bool with_function = true) {
    auto built = builder.build(with_function ? ReconcileFunction([](auto&&...) {}) : nullptr);
    return built.ok() ? std::string() : built.error().message();
  };
  ControllerBuilder none(b.loop, b.client, b.random);
  CHECK(refuse(none).find("exactly one kind, not for 0") != std::string::npos);
  ControllerBuilder two(b.loop, b.client, b.random);
  CHECK(refuse(two.for_(websites()).for_(children())).find("not for 2") != std::string::npos);
  CHECK(refuse(b.builder, false).find("needs a reconcile function") != std::string::npos);
  core::ResourceType reviews = type_of("Review", "reviews");
  reviews.verbs = {"create"};
  ControllerBuilder unwatchable(b.loop, b.client, b.random);
  CHECK(refuse(unwatchable.for_(reviews)) == "demo.dev/v1 Review cannot be listed and watched");
  core::ResourceType cluster = websites();
  cluster.namespaced = false;
  KindOptions options;
  options.namespaces = {"shop"};
  ControllerBuilder scoped(b.loop, b.client, b.random);
  CHECK(refuse(scoped.for_(cluster, options)).find("cluster-scoped") != std::string::npos);
  ControllerBuilder unmapped(b.loop, b.client, b.random);
  CHECK(refuse(unmapped.for_(websites()).watches(settings(), nullptr)).find("function to keys") !=
        std::string::npos);
  ControllerBuilder empty(b.loop, b.client, b.random);
  CHECK(refuse(empty.for_(core::ResourceType())).find("a kind to watch needs a version") == 0);
  const auto in = [&](std::vector<std::string> namespaces) {
    KindOptions places;
    places.namespaces = std::move(namespaces);
    ControllerBuilder out(b.loop, b.client, b.random);
    return refuse(out.for_(websites(), std::move(places)));
  };
  CHECK(in({"shop", "bank"}).empty());
  CHECK(in({"shop", "shop"}) ==
        "namespaces to watch demo.dev/v1 Website in: \"shop\" stands there twice");
  CHECK(in({"A/B"}).find("namespaces to watch demo.dev/v1 Website in: \"A/B\": ") == 0);
  CHECK(in({""}).find("one is empty") != std::string::npos);
}

TEST_CASE("a builder that has built is used up, whatever it is given") {
  Bench b;
  b.start();
  b.builder.owns(children()).debounce(Duration{5});
  auto again = b.builder.for_(websites()).build([](auto&&...) {});
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().kind() == ErrorKind::invalid);
  CHECK(again.error().message().find("is used up") != std::string::npos);
  // What was refused may be mended.
  ControllerBuilder mended(b.loop, b.client, b.random);
  CHECK_FALSE(mended.build([](auto&&...) {}).ok());
  CHECK(mended.for_(websites()).build([](auto&&...) {}).ok());
}

TEST_CASE("a standby keeps its caches and runs nothing until it leads") {
  Bench b;
  b.at_once = false;
  b.builder.standby();
  b.start();
  b.list("websites", {object("a", 1), object("b", 1)});
  CHECK(b.op->synced());
  CHECK(b.runs.empty());
  b.event("websites", "DELETED", object("b", 6));
  b.event("websites", "MODIFIED", object("a", 7));
  b.op->lead();
  b.turn();
  CHECK(b.taken() == Lines{"a Updated 1"});
  bool ended = false;
  b.op->stand_by([&] { ended = true; });
  b.event("websites", "ADDED", object("c", 8));
  CHECK(b.runs.empty());
  CHECK_FALSE(ended);
  b.end("a", RunOutcome::requeue(Duration{0}));
  b.turn();
  CHECK(ended);
  CHECK(b.runs.empty());
  b.op->lead();
  b.turn();
  CHECK(b.taken().size() == 2);
  SECTION("all who ask are told when no run is left") {
    int told = 0;
    b.op->stand_by([&] { ++told; });
    b.op->stand_by([&] { ++told; });
    b.end("a", RunOutcome::await_change());
    b.turn();
    CHECK(told == 0);
    b.end("c", RunOutcome::await_change());
    b.turn();
    CHECK(told == 2);
  }
  SECTION("one without runs says so at once") {
    b.end("a", RunOutcome::await_change());
    b.end("c", RunOutcome::await_change());
    b.turn();
    ended = false;
    b.op->stand_by([&] { ended = true; });
    b.turn();
    CHECK(ended);
  }
}

TEST_CASE("a standby leaves deletions to the leader, but for those of the hand-over") {
  Bench b{loop::VirtualClock{}};
  Lines gone;
  Result<RunOutcome> how = RunOutcome::await_change();
  b.builder.standby().on_delete([&](const ObjectKey& key, const ReconcileDone& done) {
    gone.push_back(key.str());
    done(how);
  });
  const auto pass = [&](int seconds) {
    b.loop.run_until([] { return false; }, Duration{seconds * 1000});
  };
  b.start();
  b.list("websites", {object("a", 1), object("b", 1), object("c", 1), object("d", 1)});
  b.event("websites", "DELETED", object("a", 6));
  pass(40);
  b.event("websites", "DELETED", object("b", 7));
  b.event("websites", "DELETED", object("c", 8));
  b.event("websites", "ADDED", object("c", 9, "", "uid-2"));
  pass(20);
  CHECK(gone.empty());
  b.op->lead();
  b.turn();
  // The leader of then has cleaned up after a; c is there again.
  CHECK(gone == Lines{"shop/b"});
  Lines ran = b.taken();
  std::sort(ran.begin(), ran.end());
  CHECK(ran == Lines{"c Created 1", "d Startup 1"});
  CHECK(b.op->controller().queue().idle());
  // What it could not do itself before it stood by is the next leader's, too.
  how = Error(ErrorKind::unreachable, "no route");
  b.event("websites", "DELETED", object("d", 10));
  REQUIRE(gone.size() >= 2);
  b.op->stand_by(nullptr);
  gone.clear();
  how = RunOutcome::await_change();
  SECTION("who leads again soon does it") {
    pass(20);
    b.op->lead();
    b.turn();
    CHECK(gone == Lines{"shop/d"});
  }
  SECTION("who leads again later does not") {
    pass(40);
    b.op->lead();
    pass(40);
    CHECK(gone.empty());
    CHECK(b.op->controller().queue().idle());
    CHECK_FALSE(b.op->controller().queue().is_retrying({"shop", "d"}));
  }
}

TEST_CASE("how long a leader may not have got to a deletion is the length of the leases") {
  Bench b{loop::VirtualClock{}};
  Lines gone;
  b.builder.standby(Duration{120000})
      .on_delete([&](const ObjectKey& key, const ReconcileDone& done) {
        gone.push_back(key.str());
        done(RunOutcome::await_change());
      });
  const auto pass = [&](int seconds) {
    b.loop.run_until([] { return false; }, Duration{seconds * 1000});
  };
  b.start();
  b.list("websites", {object("a", 1), object("b", 1)});
  b.event("websites", "DELETED", object("a", 6));
  pass(40);
  b.event("websites", "DELETED", object("b", 7));
  pass(100);
  b.op->lead();
  b.turn();
  CHECK(gone == Lines{"shop/b"});
}

TEST_CASE("of a kind that comes and goes a standby remembers a bounded number of deletions") {
  Bench b{loop::VirtualClock{}};
  Lines gone;
  b.builder.standby().on_delete([&](const ObjectKey& key, const ReconcileDone& done) {
    gone.push_back(key.name);
    done(RunOutcome::await_change());
  });
  b.start();
  b.list("websites", {});
  const int most = static_cast<int>(ControllerBuilder::kMostHandedOver);
  std::string events;
  for (int i = 0; i < most + 50; ++i) {
    const std::string name = "o" + std::to_string(i);
    for (const char* what : {"ADDED", "DELETED"}) {
      events += fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", what,
                            object(name, 6 + 2 * i + (*what == 'D' ? 1 : 0)));
    }
  }
  b.request("websites").data(events);
  b.turn();
  const auto counts = b.op->controller().queue().counts(b.loop.now());
  CHECK(counts.ready + counts.waiting == 0);
  b.op->lead();
  REQUIRE(b.until([&] { return b.op->controller().queue().idle(); }));
  CHECK(gone.size() == ControllerBuilder::kMostHandedOver);
  CHECK(std::count(gone.begin(), gone.end(), "o49") == 0);
  CHECK(std::count(gone.begin(), gone.end(), "o50") == 1);
}

TEST_CASE("one that leads before it was started waits for all its caches like any other") {
  Bench b;
  b.builder.owns(children()).standby();
  b.before_start = [&] { b.op->lead(); };
  b.start();
  b.list("websites", {object("a", 1)});
  CHECK(b.runs.empty());
  b.list("children", {});
  CHECK(b.taken() == Lines{"a Startup 1"});
}

TEST_CASE("controllers built over the same slots share them") {
  RunSlots slots(1);
  Bench b;
  b.at_once = false;
  b.builder.slots(slots);
  b.start();
  b.list("websites", {object("a", 1), object("b", 1)});
  CHECK(b.runs.size() == 1);
  b.end("a", RunOutcome::await_change());
  b.turn();
  CHECK(b.runs.size() == 2);
}
