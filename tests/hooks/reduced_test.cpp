// Objects that are too deep for the cache: an engine on a scripted server, its hooks real.
#include "hooks/reduced.hpp"

#include "base/json.hpp"
#include "base/strings.hpp"
#include "client/rig.hpp"
#include "hooks/driver.hpp"
#include "hooks/engine.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

std::string kinds_of(const std::string& group, const std::string& plural, const std::string& kind) {
  const std::string metadata = group.empty() ? "{}" : R"({"name":")" + group + R"("})";
  return R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{)"
         R"("metadata":)" +
         metadata + R"(,"versions":[{"version":"v1","resources":[{"resource":")" + plural +
         R"(","responseKind":{"group":")" + group + R"(","version":"v1","kind":")" + kind +
         R"("},"scope":"Namespaced","singularResource":"x","verbs":["get","list","watch"]}]}]}]})";
}

// 300 levels.
std::string deep() {
  return std::string(300, '[') + std::string(300, ']');
}

std::string object(const std::string& api, const std::string& kind, const std::string& version,
                   const std::string& spec, const std::string& more = "") {
  return R"({"apiVersion":")" + api + R"(","kind":")" + kind +
         R"(","metadata":{"name":"a","namespace":"shop","uid":"u-)" + kind +
         R"(","resourceVersion":")" + version + "\"" + more + R"(},"spec":)" + spec + "}";
}

std::string list(const std::string& items) {
  return R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[)" +
         items + "]}";
}

std::string event(const std::string& object) {
  return R"({"type":"MODIFIED","object":)" + object + "}\n";
}

struct World {
  explicit World(const std::string& spec) : transport(loop), client(loop, transport, config()) {
    transport.route("GET", "/api", 200, kinds_of("", "configmaps", "ConfigMap"));
    transport.route("GET", "/apis", 200, kinds_of("demo.dev", "websites", "Website"));
    transport.route("POST", "/apis/events.k8s.io/v1/namespaces/shop/events", 201, "{}");
    folder.script("hook.sh");
    folder.write("hook.sh", "#!/bin/sh\necho \"$1\" >> \"$(dirname \"$0\")/seen\"\n");
    const auto loaded = load_rules({folder.write(
        "rules.yaml",
        "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: web}\nspec:\n"
        "  for: {apiVersion: demo.dev/v1, kind: Website}\n"
        "  changed: [.metadata.labels]\n"
        "  reconcile: {exec: [./hook.sh, reconcile], output: log}\n" +
            spec)});
    for (const auto& problem : loaded.problems) FAIL(problem.str());
    rules = loaded.rules;
  }

  static client::ClientConfig config() {
    client::ClientConfig out = test::scripted_config();
    return out;
  }

  void start() {
    EngineOptions options;
    options.work_dir = folder.file("work");
    EngineCallbacks callbacks;
    callbacks.on_run = [this](const RunRecord& run) { runs.push_back(run); };
    engine = std::make_unique<Engine>(loop, client, std::move(rules), options, callbacks);
    engine->start();
  }

  bool until(const std::function<bool()>& holds) {
    return loop.run_until([&] { return holds(); }, Duration{20000});
  }

  // The watch of a kind, once it is open.
  test::ScriptedCall& watch(const std::string& plural) {
    test::ScriptedCall* found = nullptr;
    REQUIRE(until([&] {
      for (std::size_t i = 0; i < transport.size(); ++i) {
        const std::string line = transport.call(i).line();
        if (line.find("/" + plural + "?") != std::string::npos &&
            line.find("watch=true") != std::string::npos) {
          found = &transport.call(i);
        }
      }
      return found != nullptr;
    }));
    return *found;
  }

  std::string seen() const {
    auto text = base::read_file(folder.file("seen"), 1U << 20U);
    return text.ok() ? *text : "";
  }

  std::string state() {
    return explain(engine->drivers().at(0)->rule(), {"shop", "a"},
                   engine->drivers().at(0)->facts_of({"shop", "a"}))
        .state;
  }

  bool told(const std::string& words) const {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      const auto& request = const_cast<test::ScriptedTransport&>(transport).request(i);
      if (request.method == "POST" && request.body.find(words) != std::string::npos) return true;
    }
    return false;
  }

  loop::EventLoop loop;
  test::ScriptedTransport transport;
  client::Client client;
  test::RuleFolder folder;
  std::vector<Rule> rules;
  std::vector<RunRecord> runs;
  std::unique_ptr<Engine> engine;
};

const std::string kSite = "demo.dev/v1";

}  // namespace

TEST_CASE("no hook runs on half an object; it runs when the object is whole again") {
  World world("");
  world.transport.answer(200, list(object(kSite, "Website", "4", deep())));
  world.start();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "permanent");
  CHECK(world.runs[0].message.find("Website shop/a") != std::string::npos);
  CHECK(world.runs[0].message.find("metadata only") != std::string::npos);
  CHECK(world.seen().empty());
  CHECK(world.state() == "reduced");
  CHECK(world.engine->status().parked == 1);
  CHECK(world.until([&] { return world.told("No hook is run on half an object"); }));

  // What `changed` names has not changed, but the object is whole.
  auto& watch = world.watch("websites");
  watch.head(200);
  watch.data(event(object(kSite, "Website", "6", R"({"title":"x"})")));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.runs[1].outcome == "done");
  CHECK(world.seen() == "reconcile\n");
  CHECK(world.state() == "idle");
}

TEST_CASE("no cleanup runs on half an object, which keeps its finalizer") {
  World world("  finalize: {exec: [./hook.sh, finalize]}\n");
  const std::string dying =
      R"(,"deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["kubewatch.dev/web"])";
  world.transport.answer(200, list(object(kSite, "Website", "4", deep(), dying)));
  world.start();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "permanent");
  CHECK(world.state() == "reduced");
  auto& watch = world.watch("websites");
  watch.head(200);
  world.transport.route("PATCH", "", 200, object(kSite, "Website", "7", "{}"));
  watch.data(event(object(kSite, "Website", "6", "{}", dying)));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.runs[1].outcome == "done");
  CHECK(world.seen() == "finalize\n");
}

TEST_CASE("a related object that is not whole holds the runs that would see it") {
  World world("  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: all}]\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.transport.answer(200, list(object("v1", "ConfigMap", "4", deep())));
  world.start();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "permanent");
  CHECK(world.runs[0].message.find("v1 ConfigMap shop/a") != std::string::npos);
  CHECK(world.seen().empty());
  auto& watch = world.watch("configmaps");
  watch.head(200);
  watch.data(event(object("v1", "ConfigMap", "6", "{}")));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.runs[1].outcome == "done");
}

TEST_CASE("a rule that asks for metadata alone needs no whole object") {
  Rule rule;
  core::ObjectMeta meta;
  CHECK(needs_whole_object(rule, meta));
  rule.for_.list.content = core::Content::metadata;
  CHECK_FALSE(needs_whole_object(rule, meta));
}
