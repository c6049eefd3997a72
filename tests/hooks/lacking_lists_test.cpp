// Lists that may lack an object, because a filter, map or refs fails on it: no hook runs on them.
// The run waits, says for what everywhere, and starts when the object has changed or gone.
#include <algorithm>
#include <ctime>

#include "hooks/evaluate.hpp"
#include "hooks/lacking_world.hpp"
#include "jq/jq.hpp"
#include "loop/skipping_time.hpp"

using namespace kubewatch;
using namespace kubewatch::test;
using World = LackingWorld;

namespace {

const char* const kRefs =
    "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, "
    "refs: '.spec.refs | split(\",\")[] | {name: .}'}]\n";

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
  CHECK(world.runs[0].reason == "Startup");
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

TEST_CASE("what a program says when it fails on a long text is cut") {
  const Json text = "{" + std::string(1'000'000, 'x');
  const auto failed = jq::Program::compile("fromjson")->run(text);
  REQUIRE_FALSE(failed.ok());
  CHECK(hooks::shown_failure({"", "v1", "ConfigMap"}, "{}", failed.error()).size() < 5000);
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
  CHECK(world.held.size() == 1);
  world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].attempt == 1);
}

TEST_CASE("what waits stands in the queue and among the runs, with its reason and why") {
  World world(kMap, kA, object("v1", "ConfigMap", "4", kBad));
  world.begin();
  REQUIRE(world.holds(1));
  const Json queued = world.ask("queue")["controllers"][0]["objects"].at(0);
  CHECK(queued["object"] == "Website shop/a");
  CHECK(queued["state"] == "waiting");
  CHECK(has(queued["why"].get<std::string>(), kWhy));
  const Json runs = world.ask("runs", kNameA)["runs"];
  REQUIRE(runs.size() == 1);
  CHECK(runs[0]["outcome"] == "incomplete");
  CHECK(runs[0]["reason"] == "Startup");
  CHECK(has(runs[0]["message"].get<std::string>(), kWhy));
  // Nothing of it has run.
  const Json rule = world.ask("explain", kNameA)["rules"].at(0);
  CHECK(rule["state"] == "incomplete");
  CHECK_FALSE(has(rule["details"].dump(), "its last run"));

  world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  REQUIRE(world.until([&] { return world.engine->status().idle; }));
  CHECK(world.ask("queue")["controllers"][0]["objects"].empty());
}

TEST_CASE("a run tells what has woken it, and what somebody has asked for while it waited") {
  World world(kMap, kA, object("v1", "ConfigMap", "4", kGood));
  world.begin();
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  world.change("websites",
               event(object(kSite, "Website", "6", "{}", R"(,"labels":{"changed":"yes"})")));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  world.change("configmaps", event(object("v1", "ConfigMap", "7", kBad)));
  REQUIRE(world.holds(1));
  CHECK(world.held[0].reason == "RelatedChanged");
  CHECK(world.held[0].reason_object == "v1 ConfigMap shop/a");
  hooks::TriggerRequest request;
  request.all = true;
  request.reason = "because";
  REQUIRE(world.driver().trigger(request).size() == 1);
  REQUIRE(world.until([&] { return world.driver().queue().held().empty(); }));
  REQUIRE(world.waits());
  world.change("configmaps", event(object("v1", "ConfigMap", "8", kGood)));
  REQUIRE(world.until([&] { return world.runs.size() == 3; }));
  CHECK(world.runs[2].reason == "External");
  CHECK(world.runs[2].reason_object == "because");
}

TEST_CASE("what holds a cleanup outside the selection is told as of a selected object") {
  const std::string path = "/apis/demo.dev/v1/namespaces/shop/websites/a";
  const std::string left =
      object(kSite, "Website", "4", "{}", R"(,"finalizers":["kubewatch.dev/web"])");
  // Of its two lists of Websites the first is of what carries the finalizer.
  World world(std::string(kMap) +
                  "  whenNoLongerMatched: finalize\n  finalize: {exec: [./hook.sh, finalize]}\n"
                  "  retry: {initial: 500ms, max: 500ms}\n",
              left, object("v1", "ConfigMap", "4", kBad), ", labelSelector: tier=web");
  world.transport.route("GET", path, 200, left);
  world.begin();
  world.watch("websites");  // of those
  auto& selection = world.asked("websites");
  REQUIRE(has(selection.line(), "labelSelector"));
  selection.head(200);
  selection.data(list(""));
  selection.end();
  REQUIRE(world.holds(1));
  CHECK(has(world.explained(), kWhy));
  CHECK(has(world.explained(), "it left the rule's selection"));
  CHECK(has(world.ask("queue")["controllers"][0]["objects"].at(0)["why"].dump(), kWhy));
  CHECK(world.driver().unreconciled().size() == 1);
  CHECK(world.held.size() == 1);
  CHECK(world.held[0].object == "Website shop/a");

  // Let go by somebody, and the watch has not told it yet: nothing is waited for any more.
  world.transport.route("GET", path, 404, R"({"kind":"Status","code":404,"reason":"NotFound"})");
  REQUIRE(world.until([&] { return !world.driver().queue().look({"shop", "a"}); }));
  CHECK(world.driver().unreconciled().empty());
  CHECK(world.engine->status().failing == 0);
}

TEST_CASE("what holds the run of a rule without `for` is told by explain, the queue and the runs") {
  World world("", object("v1", "ConfigMap", "4", R"({"use":"perhaps"})"), "");
  const auto loaded = hooks::load_rules({world.folder.write(
      "nightly.yaml",
      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: nightly}\nspec:\n"
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap,\n"
      "    filter: '.spec.use | fromjson'}]\n"
      "  reconcile: {exec: [./hook.sh, reconcile], output: log}\n")});
  for (const auto& problem : loaded.problems) FAIL(problem.str());
  world.rules = loaded.rules;
  world.start();
  REQUIRE(world.holds(1));
  const auto rule = [&] {
    return world.ask("explain", {{"controller", "nightly"}})["rules"].at(0);
  };
  CHECK(rule()["state"] == "incomplete");
  const std::string why = "nightly.yaml:6: filter of watches config fails on v1 ConfigMap shop/a: ";
  CHECK(has(rule()["details"].dump(), why));
  CHECK(has(world.ask("queue")["controllers"][0]["objects"].at(0)["why"].dump(), why));
  CHECK(has(world.ask("runs", {{"controller", "nightly"}})["runs"].at(0)["message"].dump(), why));
  CHECK(has(world.driver().unreconciled().at(0), "the run waits: "));
}

TEST_CASE("what is let go while its cleanup waits is told to onDelete, which waits as well") {
  World world(std::string(kMap) + "  onDelete: true\n  finalize: {exec: [./hook.sh, finalize]}\n",
              object(kSite, "Website", "4", "{}", kDying), object("v1", "ConfigMap", "4", kBad));
  world.transport.route("PATCH", "", 200, object(kSite, "Website", "7", "{}"));
  world.begin();
  REQUIRE(world.holds(1));
  Json release = kNameA;
  release["release"] = true;
  CHECK(world.ask("finalizers", release)["objects"].at(0)["released"] == true);
  world.change("websites", deleted(object(kSite, "Website", "8", "{}")));
  REQUIRE(world.holds(2));
  CHECK(world.seen().empty());
  const Json rule = world.ask("explain", kNameA)["rules"].at(0);
  CHECK(rule["state"] == "incomplete");
  CHECK(has(rule["details"].dump(), kWhy));
  CHECK(has(rule["details"].dump(), "an object of this name was deleted"));
  CHECK(has(world.ask("queue")["controllers"][0]["objects"].at(0)["why"].dump(), kWhy));

  world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.seen() == "reconcile\n");
  CHECK(world.runs[0].reason == "Updated");
  CHECK(world.runs[0].reason_object.empty());
}

TEST_CASE("a cleanup that was tried, and waits then, is not told as a deletion") {
  World world(std::string(kMap) +
                  "  onDelete: true\n  finalize: {exec: [./hook.sh, finalize]}\n"
                  "  retry: {initial: 1ms, max: 1ms}\n",
              object(kSite, "Website", "4", "{}", kDying), object("v1", "ConfigMap", "4", kGood));
  world.folder.write("hook.sh",
                     "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$1\" >> seen\ncat > input\n"
                     "while [ ! -e go ]; do sleep 0.02; done\nexit 1\n");
  world.begin();
  REQUIRE(world.until([&] { return world.seen() == "finalize\n"; }));
  world.change("configmaps", event(object("v1", "ConfigMap", "6", kBad)));
  REQUIRE(world.until([&] { return has(world.explained(), kWhy); }));
  world.folder.write("go", "");
  REQUIRE(world.holds(1));
  world.change("websites", deleted(object(kSite, "Website", "7", "{}")));
  REQUIRE(world.until([&] { return world.state() == "not-found"; }));
  CHECK(world.driver().queue().entries(10).empty());
  CHECK(world.seen() == "finalize\n");
}

TEST_CASE("what waits in a shard that is given up is nothing that this instance waits for") {
  World world(std::string(kMap) + "  onDelete: true\n", kA, object("v1", "ConfigMap", "4", kBad));
  hooks::EngineOptions options;
  options.shards.emplace();
  world.begin(std::move(options));
  REQUIRE(world.until([&] { return world.driver().status().started; }));
  world.engine->lead(0);
  REQUIRE(world.holds(1));
  world.change("websites", deleted(object(kSite, "Website", "7", "{}")));
  REQUIRE(world.holds(2));
  REQUIRE(world.driver().unreconciled().size() == 1);
  bool ended = false;
  world.engine->end_runs(0, [&] { ended = true; });
  REQUIRE(world.until([&] { return ended; }));
  CHECK(world.driver().unreconciled().empty());
  CHECK(world.engine->status().failing == 0);
  // It has the lead again, and nobody can know whether the other has told it.
  world.engine->lead(0);
  REQUIRE(world.holds(3));
  world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.seen() == "reconcile\n");
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
  World world(kRefs, object(kSite, "Website", "4", R"({"refs":7})"), "");
  world.begin();
  REQUIRE(world.waits());
  CHECK(
      has(world.explained(), "rules.yaml:8: refs of watches config fails on demo.dev/v1 Website"));
  CHECK(world.seen().empty());
  world.change("websites", event(object(kSite, "Website", "6", R"({"refs":"x"})")));
  CHECK(world.until([&] { return world.runs.size() == 1; }));
}

TEST_CASE("a cleanup outside the selection is given what refs names, or waits") {
  const bool fails = GENERATE(true, false);
  const std::string path = "/apis/demo.dev/v1/namespaces/shop/websites/a";
  const std::string left =
      object(kSite, "Website", "4", fails ? R"({"refs":7})" : R"({"refs":"a"})",
             R"(,"finalizers":["kubewatch.dev/web"])");
  World world(std::string(kRefs) +
                  "  whenNoLongerMatched: finalize\n  finalize: {exec: [./hook.sh, finalize]}\n",
              left, object("v1", "ConfigMap", "4", "{}"), ", labelSelector: tier=web");
  world.transport.route("GET", path, 200, left);
  world.transport.route("PATCH", "", 200, object(kSite, "Website", "7", "{}"));
  world.begin();
  world.watch("websites");
  world.give_list("websites", "");
  if (fails) {
    REQUIRE(world.holds(1));
    CHECK(has(world.explained(), "refs of watches config fails on demo.dev/v1 Website"));
    CHECK(world.seen().empty());
    return;
  }
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.seen() == "finalize\n");
  CHECK(has(world.read("input"), R"("kind":"ConfigMap","metadata":{"name":"a")"));
}

TEST_CASE("onDelete is given what refs named at last, and not held by what nobody can mend") {
  const bool fails = GENERATE(true, false);
  World world(std::string(kRefs) + "  onDelete: true\n",
              object(kSite, "Website", "4", R"({"refs":"b"})"),
              object("v1", "ConfigMap", "4", "{}"));
  world.begin();
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK_FALSE(has(world.read("input"), R"("kind":"ConfigMap","metadata")"));
  world.change("websites",
               deleted(object(kSite, "Website", "6", fails ? R"({"refs":7})" : R"({"refs":"a"})")));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(has(world.read("input"), R"("object":null)"));
  CHECK(has(world.read("input"), R"("kind":"ConfigMap","metadata":{"name":"a")") != fails);
}

TEST_CASE("a cleanup waits for whole lists as well, and a deletion that is to be told") {
  World world(std::string(kMap) + "  onDelete: true\n  finalize: {exec: [./hook.sh, finalize]}\n",
              object(kSite, "Website", "4", "{}", kDying), object("v1", "ConfigMap", "4", kBad));
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

TEST_CASE("a map that gives no name holds no run: it points at nobody, and is told once") {
  World world(
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: '{names: .spec}'}]\n", kA,
      object("v1", "ConfigMap", "4", "{}") + "," +
          named(object("v1", "ConfigMap", "5", "{}"), "b"));
  std::vector<std::string> logged;
  base::capture_log(&logged);
  world.begin();
  CHECK(world.until([&] { return world.runs.size() == 1; }));
  base::capture_log(nullptr);
  CHECK(std::ranges::count_if(logged, [](const std::string& line) {
          return has(line, "mapping without name, of \"names\"") ||
                 has(line, R"(mapping without name, of \"names\")");
        }) == 1);
  CHECK(std::ranges::any_of(logged,
                            [](const std::string& line) { return has(line, "points at nobody"); }));
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
