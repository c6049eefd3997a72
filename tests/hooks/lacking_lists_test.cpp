// Lists that may lack an object, because a filter, map or refs fails on it: no hook runs on them.
// The run waits, says for what, and starts when the object has changed or gone.
#include <ctime>

#include "hooks/evaluate.hpp"
#include "hooks/scripted_engine.hpp"
#include "loop/skipping_time.hpp"

using namespace kubewatch;
using test::event;
using test::kSite;
using test::list;
using test::object;

namespace {

const char* const kMap =
    "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, "
    "map: '{name: (.spec.site | fromjson)}'}]\n";
const char* const kFilter =
    "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: '{name: .spec.site}', "
    "filter: '.spec.use | fromjson'}]\n";
const char* const kGood = R"({"site":"\"a\""})";
const char* const kBad = R"({"site":"no JSON"})";

std::string named(std::string text, const std::string& name) {
  text.replace(text.find(R"("name":"a")"), 10, R"("name":")" + name + '"');
  return text.replace(text.find("\"uid\":\"") + 7, 0, name + "-");
}

std::string deleted(const std::string& object) {
  return R"({"type":"DELETED","object":)" + object + "}\n";
}

struct World : test::ScriptedEngine {
  explicit World(const std::string& spec, const std::string& sites, const std::string& configs,
                 const std::string& reconcile = "{exec: [./hook.sh, reconcile], output: log}")
      : ScriptedEngine(spec, "", reconcile) {
    transport.answer(200, list(sites));
    config_maps = list(configs);
  }
  void begin() {
    start();
    auto& list = asked("configmaps");
    list.head(200);
    list.data(config_maps);
    list.end();
  }
  void change(const std::string& plural, const std::string& text) {
    auto& stream = watch(plural);
    stream.head(200);
    stream.data(text);
  }
  hooks::Explanation explain(const std::string& name) {
    return hooks::explain(driver().rule(), driver().facts_of({"shop", name}));
  }
  bool waits(const std::string& name = "a") {
    return until([&] {
      const auto entry = driver().queue().look({"shop", name});
      return explain(name).state == "incomplete" && entry && !entry->held;
    });
  }
  std::size_t events() {
    std::size_t out = 0;
    for (std::size_t i = 0; i < transport.size(); ++i) {
      out += transport.request(i).body.find("\"IncompleteInput\"") != std::string::npos ? 1 : 0;
    }
    return out;
  }
  hooks::Driver& driver() { return *engine->drivers().at(0); }

  std::string config_maps;
};

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

const std::string kA = object(kSite, "Website", "4", "{}");

}  // namespace

TEST_CASE("while map fails on an object no hook runs, as it may belong to any list") {
  World world(kMap, kA, object("v1", "ConfigMap", "4", kBad));
  world.begin();
  REQUIRE(world.waits());
  CHECK(world.seen().empty());
  CHECK(world.runs.empty());
  CHECK(has(world.explained(), "rules.yaml:8: map of watches config fails on v1 ConfigMap shop/a"));
  REQUIRE(world.until([&] { return world.engine->status().idle; }));
  CHECK(world.engine->status().failing == 1);
  CHECK(has(world.driver().unreconciled().at(0), "Website shop/a waits: "));
  REQUIRE(world.until([&] { return world.told("fails on v1 ConfigMap shop/a"); }));

  world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.runs[0].attempt == 1);
  CHECK(has(world.read("input"), R"("kind":"ConfigMap","metadata":{"name":"a")"));
  CHECK(has(world.read("input"), R"("complete":true)"));
  CHECK(world.state() == "idle");
  CHECK(world.engine->status().failing == 0);

  // Its own target runs for the change, and meets it.
  world.change("configmaps", event(object("v1", "ConfigMap", "7", kBad)));
  REQUIRE(world.waits());
  CHECK(world.runs.size() == 1);
  world.change("configmaps", deleted(object("v1", "ConfigMap", "8", kBad)));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK_FALSE(has(world.read("input"), R"("kind":"ConfigMap","metadata")"));
}

TEST_CASE("while map fails on another object too, nobody is woken or told again") {
  World world(kMap, kA,
              object("v1", "ConfigMap", "4", kBad) + "," +
                  named(object("v1", "ConfigMap", "4", kBad), "z"));
  world.begin();
  REQUIRE(world.until([&] { return world.events() > 0; }));
  REQUIRE(world.waits());
  const TimePoint due = world.driver().queue().look({"shop", "a"})->due;
  world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
  REQUIRE(world.until([&] { return has(world.explained(), "shop/z"); }));
  CHECK(world.driver().queue().look({"shop", "a"})->due <= due);
  REQUIRE(world.waits());
  CHECK(world.events() == 1);
  CHECK(world.runs.empty());
  world.change("configmaps", deleted(named(object("v1", "ConfigMap", "8", kBad), "z")));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.events() == 1);
}

TEST_CASE("what a program says when it fails on a Secret is not told") {
  const Error error(ErrorKind::invalid, "tonumber: cannot parse 'hunter2'");
  const std::string json = R"({"data":{"a":"aHVudGVyMg=="}})";
  CHECK(hooks::shown_failure({"", "v1", "Secret"}, json, error).find("hunter2") ==
        std::string::npos);
  CHECK(has(hooks::shown_failure({"", "v1", "ConfigMap"}, "{}", error), "tonumber"));
}

TEST_CASE("what waits for a list is told once and never parked, however often it is tried") {
  World world(std::string(kMap) + "  retry: {initial: 1ms, max: 1ms, maxAttempts: 1}\n", kA,
              object("v1", "ConfigMap", "4", kBad));
  world.begin();
  for (int attempt = 0; attempt < 5; ++attempt) {
    REQUIRE(world.waits());
    const TimePoint due = world.driver().queue().look({"shop", "a"})->due;
    REQUIRE(world.until([&] {
      const auto entry = world.driver().queue().look({"shop", "a"});
      return entry && !entry->held && entry->due > due;
    }));
  }
  CHECK(world.engine->status().parked == 0);
  CHECK(world.engine->status().runs == 0);
  REQUIRE(world.until([&] { return world.events() > 0; }));
  CHECK(world.events() == 1);
  world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].attempt == 1);
}

TEST_CASE("an object on which the filter fails holds only the runs that it is mapped to") {
  World world(kFilter, kA + "," + named(kA, "b"),
              object("v1", "ConfigMap", "4", R"({"site":"a","use":"perhaps"})"));
  world.begin();
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].key.name == "b");
  REQUIRE(world.waits("a"));
  CHECK(world.explain("b").state == "idle");
  CHECK(has(world.explained(), "filter of watches config fails on v1 ConfigMap shop/a"));

  world.change("configmaps",
               event(object("v1", "ConfigMap", "6", R"({"site":"a","use":"false"})")));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.runs[1].key.name == "a");
  CHECK_FALSE(has(world.read("input"), R"("kind":"ConfigMap","metadata")"));
}

TEST_CASE("a child on which the filter fails holds its owner, whatever `on` says") {
  const std::string child =
      R"(,"labels":{"kubewatch.dev/controller":"web","kubewatch.dev/owner-uid":"u-Website"})";
  const bool goes = GENERATE(true, false);
  World world(std::string("  owns: [{apiVersion: v1, kind: ConfigMap, filter: '.spec.use | "
                          "fromjson', on: ") +
                  (goes ? "[apply]}]\n" : "[delete]}]\n"),
              kA, object("v1", "ConfigMap", "4", R"({"use":"perhaps"})", child));
  world.begin();
  REQUIRE(world.waits());
  CHECK(has(world.explained(), "a filter of owns fails on v1 ConfigMap shop/a"));
  world.change("configmaps",
               goes ? deleted(object("v1", "ConfigMap", "6", R"({"use":"perhaps"})", child))
                    : event(object("v1", "ConfigMap", "6", R"({"use":"true"})", child)));
  CHECK(world.until([&] { return world.runs.size() == 1; }));
}

TEST_CASE("an object on which refs fails waits, whatever of it is changed then") {
  World world(
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, "
      "refs: '.spec.refs | split(\",\")[] | {name: .}'}]\n",
      object(kSite, "Website", "4", R"({"refs":7})"), "");
  world.begin();
  REQUIRE(world.waits());
  CHECK(
      has(world.explained(), "rules.yaml:8: refs of watches config fails on demo.dev/v1 Website"));
  CHECK(world.seen().empty());
  world.change("websites", event(object(kSite, "Website", "6", R"({"refs":"x"})")));
  CHECK(world.until([&] { return world.runs.size() == 1; }));
}

TEST_CASE("a cleanup waits for whole lists as well, and a deletion that is to be told") {
  World world(std::string(kMap) + "  onDelete: true\n  finalize: {exec: [./hook.sh, finalize]}\n",
              object(kSite, "Website", "4", "{}",
                     R"(,"deletionTimestamp":"2026-01-02T03:04:05Z",)"
                     R"("finalizers":["kubewatch.dev/web"])"),
              object("v1", "ConfigMap", "4", kBad));
  world.begin();
  REQUIRE(world.waits());
  CHECK(world.seen().empty());
  SECTION("finalized once it is whole") {
    world.transport.route("PATCH", "", 200, object(kSite, "Website", "7", "{}"));
    world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
    REQUIRE(world.until([&] { return world.runs.size() == 1; }));
    CHECK(world.seen() == "finalize\n");
  }
  SECTION("released by a person: nothing has cleaned up, so it is told") {
    world.change("websites", deleted(object(kSite, "Website", "7", "{}")));
    REQUIRE(world.until([&] {
      return world.driver().status().failing == 1 && world.driver().queue().held().empty();
    }));
    CHECK(world.seen().empty());
    world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
    REQUIRE(world.until([&] { return world.runs.size() == 1; }));
    CHECK(world.seen() == "reconcile\n");
  }
}

TEST_CASE("what waits is told in a condition, where its kind has conditions") {
  World world(kMap, object(kSite, "Website", "4", R"({},"status":{"conditions":[]})"),
              object("v1", "ConfigMap", "4", kBad));
  std::string kinds = test::kinds_of("demo.dev", "websites", "Website");
  const std::string verbs = R"("verbs":["get","list","watch"]})";
  kinds.replace(kinds.find(verbs), verbs.size(),
                R"("verbs":["get","list","watch"],"subresources":[{"subresource":"status",)"
                R"("verbs":["get","patch"]}]})");
  world.transport.route("GET", "/apis", 200, kinds);
  world.transport.route("GET", "/apis/demo.dev/v1/namespaces/shop/websites/a", 200,
                        object(kSite, "Website", "4", R"({},"status":{"conditions":[]})"));
  world.begin();
  REQUIRE(world.until([&] {
    for (std::size_t i = 0; i < world.transport.size(); ++i) {
      const auto& request = world.transport.request(i);
      if (request.method == "PATCH" && has(request.body, "IncompleteInput")) return true;
    }
    return false;
  }));
}

TEST_CASE(
    "an expression that fails for a while, as for want of time, needs no change to be right") {
  const bool maps = GENERATE(true, false);
  const double whole_at = static_cast<double>(std::time(nullptr)) + 1.5;
  const std::string program =
      "'if now < " + std::to_string(whole_at) + " then error(\"late\") else {name: \"a\"} end'";
  World world("  watches: [{name: config, apiVersion: v1, kind: ConfigMap, " +
                  std::string(maps ? "map: " : "refs: ") + program +
                  "}]\n  retry: {initial: 1ms, max: 1ms}\n",
              kA, object("v1", "ConfigMap", "4", "{}"));
  loop::SkippingTime time{world.loop};
  world.begin();
  REQUIRE(world.waits());
  REQUIRE(world.until([&] { return static_cast<double>(std::time(nullptr)) > whole_at; }));
  if (maps) CHECK(world.runs.empty());
  time.skip(Duration{10000});
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(has(world.read("input"), R"("kind":"ConfigMap","metadata":{"name":"a")"));
}
