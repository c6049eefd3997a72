// Kinds whose version, scope or plural changes under a running rule: what counts as a change, when
// the server is asked, and that the controller starts anew. In virtual time.
#include "hooks/kind_changes.hpp"

#include "client/rig.hpp"
#include "hooks/definition_watch.hpp"
#include "hooks/driver.hpp"
#include "hooks/engine.hpp"
#include "hooks/kind_families.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "hooks/shard_plan.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

core::ResourceType type(const std::string& version, bool namespaced = true,
                        const std::string& plural = "sites") {
  core::ResourceType out;
  out.gvk = {"demo.dev", version, "Site"};
  out.plural = plural;
  out.namespaced = namespaced;
  out.verbs = {"get", "list", "watch"};
  return out;
}

client::ResourceMap server(const std::vector<core::ResourceType>& types) {
  client::ResourceMap out;
  for (const auto& one : types) out.add(one);
  return out;
}

bool changed(const std::vector<core::ResourceType>& now) {
  KindChanges changes;
  const bool at_once = changes.look({type("v1")}, server(now)).has_value();
  CHECK_FALSE(at_once);
  return changes.look({type("v1")}, server(now)).has_value();
}

const std::string kV1 = "/apis/demo.dev/v1/sites";
const std::string kV2 = "/apis/demo.dev/v2/sites";
const std::string kPages = "/apis/page.dev/v1/pages";

std::string discovery_of(const std::string& group, const std::string& version,
                         const std::string& plural, const std::string& kind,
                         const std::string& scope) {
  return R"({"metadata":{"name":")" + group + R"("},"versions":[{"version":")" + version +
         R"(","resources":[{"resource":")" + plural + R"(","responseKind":{"group":")" + group +
         R"(","version":")" + version + R"(","kind":")" + kind + R"("},"scope":")" + scope +
         R"(","singularResource":"x","verbs":["get","list","watch"]}]}]})";
}

// What discovery says of Sites ("" as version: there are none), and of Pages, which never change.
std::string discovery(const std::string& version, const std::string& scope) {
  const std::string sites = discovery_of("demo.dev", version, "sites", "Site", scope) + ",";
  return R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)" +
         (version.empty() ? "" : sites) +
         discovery_of("page.dev", "v1", "pages", "Page", "Namespaced") + "]}";
}

// A rule whose filter holds all objects back, so that no hook runs. `spec` is more of it.
struct Sites {
  explicit Sites(const std::string& rule_for, const std::string& spec = "",
                 const std::string& filter = "'false'", std::optional<ShardPlan> shards = {})
      : transport(loop), client(loop, transport, config()) {
    transport.route("GET", "/api", 200, R"({"kind":"APIGroupDiscoveryList","items":[]})");
    transport.route("GET", "/version", 200, R"({"major":"1","minor":"27","gitVersion":"v1.27.0"})");
    const auto loaded = parse_rules(
        "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: web}\nspec:\n  for: {" +
            rule_for + ", filter: " + filter + "}\n  reconcile: {shell: 'true', output: log}\n" +
            spec,
        folder.file("rules.yaml"));
    for (const auto& problem : loaded.problems) FAIL(problem.str());
    serve("v1", "Namespaced");
    EngineOptions options;
    options.work_dir = folder.file("work");
    options.shards = std::move(shards);
    engine = std::make_unique<Engine>(loop, client, loaded.rules, options, EngineCallbacks{});
    engine->start();
  }
  static client::ClientConfig config() { return test::scripted_config(); }

  void serve(const std::string& version, const std::string& scope) {
    transport.route("GET", "/apis", 200, discovery(version, scope));
  }
  // From now on each of its lists and watches is answered with 404; one that is open ends.
  void refuse(const std::string& path) {
    transport.route("GET", path, 404, "404 page not found\n");
    for (std::size_t i = 0; i < transport.size(); ++i) {
      if (transport.call(i).path() != path) continue;
      transport.call(i).head(200);
      transport.call(i).end();
    }
  }
  // The open list; its answer.
  void answer(const std::string& path, const std::string& items) {
    test::ScriptedCall* found = nullptr;
    REQUIRE(until([&] { return (found = open(path)) != nullptr; }));
    found->head(200);
    found->data(R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[)" +
                items + "]}");
    found->end();
  }
  test::ScriptedCall* open(const std::string& path) {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      auto& call = transport.call(i);
      if (call.open() && call.path() == path) return &call;
    }
    return nullptr;
  }
  std::size_t discoveries() const {
    const auto lines = transport.lines();
    return static_cast<std::size_t>(std::count(lines.begin(), lines.end(), "GET /apis"));
  }
  bool until(const std::function<bool()>& holds) { return loop.run_until(holds, Duration{300000}); }
  void pass(Duration time) {
    loop.run_until([] { return false; }, time);
  }
  Driver* driver() {
    const auto all = engine->drivers();
    return all.empty() ? nullptr : all.front();
  }
  bool started() { return driver() != nullptr && driver()->status().started; }
  bool waits() { return driver() != nullptr && !driver()->resolved(); }

  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport;
  client::Client client;
  test::RuleFolder folder;
  std::unique_ptr<Engine> engine;
};

const std::string kPlain = "apiVersion: demo.dev/v1, kind: Site";

}  // namespace

TEST_CASE("another scope, plural or version is a change when it was seen twice in a row") {
  CHECK(changed({type("v1", false)}));
  CHECK(changed({type("v1", true, "pages")}));
  CHECK(changed({type("v2")}));
  CHECK_FALSE(changed({type("v2"), type("v1")}));
  // Several resources of one kind.
  CHECK_FALSE(changed({type("v1", true, "pages"), type("v1")}));

  KindChanges changes;
  CHECK_FALSE(changes.look({type("v1"), type("v1")}, server({type("v2")})));
  CHECK(changes.doubts());
  CHECK_FALSE(changes.look({type("v1")}, server({type("v1")})));  // one server was behind
  CHECK_FALSE(changes.doubts());
  CHECK_FALSE(changes.look({type("v1")}, server({type("v1", false)})));
  const auto change = changes.look({type("v1")}, server({type("v1", false)}));
  REQUIRE(change);
  CHECK(describe(change->was) == "demo.dev/v1 Site (sites, namespaced)");
  CHECK(describe(change->now) == "demo.dev/v1 Site (sites, cluster-scoped)");
}

TEST_CASE("a rule that starts anew does not share the stream of one that still ends") {
  StreamSpec namespaced;
  namespaced.type = type("v1");
  StreamSpec cluster;
  cluster.type = type("v1", false);
  CHECK(namespaced.key() != cluster.key());
}

TEST_CASE("a kind that is missing, or whose group did not answer, has not changed") {
  CHECK_FALSE(changed({}));
  client::ResourceMap unsure = server({type("v2")});
  unsure.failed_groups.push_back("demo.dev/v1: 503");
  KindChanges changes;
  CHECK_FALSE(changes.look({type("v1")}, unsure));
  CHECK_FALSE(changes.look({type("v1")}, unsure));
}

TEST_CASE("a controller of a group's kind goes on in its version while that is served") {
  KindFamilies families;
  Rule group;
  group.name = "all";
  group.for_.every_kind = true;
  group.for_.gvk.group = "demo.dev";
  families.add(group, {});
  const auto start = families.look(server({type("v1alpha1")}), {}).start;
  REQUIRE(start.size() == 1);
  const Rule& made = start[0].rule;
  const std::set<std::string> running = {made.name};
  const auto version = [&](const client::ResourceMap& resources) {
    const auto change = families.look(resources, running);
    CHECK(change.start.empty());
    CHECK(change.end.empty());
    return families.served_as(made, resources).version;
  };
  CHECK(version(server({type("v1"), type("v1alpha1")})) == "v1alpha1");
  CHECK(version(server({type("v1")})) == "v1");
  // Only theirs: any other rule names its version.
  Rule plain = made;
  plain.name = "plain";
  CHECK(families.served_as(plain, server({type("v1")})).version == "v1alpha1");
  CHECK(families.served_as(made, server({})).version == "v1alpha1");
}

TEST_CASE("however often a watch is in doubt, the server is asked once in half a minute for it") {
  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport(loop);
  client::Client client(loop, transport, test::scripted_config());
  base::Random random(7);
  StreamPool pool(client, random);
  int asked = 0;
  DefinitionWatch watch(
      loop, pool, [&] { ++asked; }, [](const std::string&) { return false; });
  const auto pass = [&](int seconds, bool doubts) {
    for (int i = 0; i < seconds; ++i) {
      if (doubts) watch.doubt({"demo.dev", "v1", "Site"});
      loop.run_until([] { return false; }, Duration{1000});
    }
    return std::exchange(asked, 0);
  };
  CHECK(pass(2, true) == 1);
  // What came meanwhile is looked at once the pause is over.
  CHECK(pass(598, true) == 19);
  CHECK(pass(120, false) <= 2);
  CHECK(pass(120, false) == 0);
  watch.doubt({"demo.dev", "v1", "Site"});
  CHECK(pass(5, false) == 1);
  CHECK(pass(115, false) == 1);
}

TEST_CASE("a plain rule whose version is served no more waits for it, and starts when it is back") {
  Sites sites(kPlain);
  sites.answer(kV1, "");
  REQUIRE(sites.until([&] { return sites.started(); }));
  sites.serve("v2", "Namespaced");
  sites.refuse(kV1);
  REQUIRE(sites.until([&] { return sites.waits(); }));
  CHECK(sites.engine->status().waiting_rules == 1);
  CHECK(sites.driver()->why_not_started() ==
        std::vector<std::string>{"the server has no kind demo.dev/v1 Site; it serves demo.dev/v2"});
  sites.serve("v1", "Namespaced");
  CHECK(sites.until([&] { return !sites.waits(); }));
}

TEST_CASE("a rule for every kind of a group goes on in the version that is served now") {
  Sites sites("group: demo.dev, kinds: '*'");
  sites.answer(kV1, "");
  REQUIRE(sites.until([&] { return sites.started(); }));
  sites.serve("v2", "Namespaced");
  sites.refuse(kV1);
  sites.answer(kV2, "");
  CHECK(sites.until([&] { return sites.started(); }));
  CHECK(sites.driver()->rule().name == "web-site");
  CHECK(sites.driver()->owner_type().gvk.version == "v2");
}

TEST_CASE("an object of another scope than its kind's makes the rule start anew with that") {
  Sites sites(kPlain);
  REQUIRE(sites.until([&] { return sites.open(kV1) != nullptr; }));
  CHECK(sites.driver()->owner_type().namespaced);
  sites.serve("v1", "Cluster");
  sites.answer(kV1, R"({"metadata":{"name":"cl","uid":"u1","resourceVersion":"4"}})");
  REQUIRE(sites.until([&] {
    return sites.driver() != nullptr && sites.driver()->resolved() &&
           !sites.driver()->owner_type().namespaced;
  }));
  sites.answer(kV1, "");
  CHECK(sites.until([&] { return sites.started(); }));
}

TEST_CASE("a shard that is given away while its controller starts anew does not stop the others") {
  const std::string all = "/apis/demo.dev/v1/namespaces/";
  auto shards = parse_shard_plan("namespace=shop;blog", std::nullopt);
  REQUIRE(shards.ok());
  Sites sites(kPlain, "  finalize: {shell: 'true'}\n", "'true'", *shards);
  sites.engine->lead(0);
  sites.engine->lead(1);
  sites.answer(all + "shop/sites",
               R"({"metadata":{"name":"a","namespace":"shop","uid":"u1","resourceVersion":"4"}})");
  sites.answer(all + "blog/sites", "");
  // Its run goes on while the finalizer is not written.
  REQUIRE(sites.until([&] { return sites.open(all + "shop/sites/a") != nullptr; }));
  const auto leads = [&] {
    std::vector<std::size_t> out;
    for (const Driver* driver : sites.engine->drivers()) out.push_back(*driver->scope().only);
    return out;
  };
  bool ended = false;
  const auto give_away = [&] { sites.engine->end_runs(0, [&] { ended = true; }); };
  SECTION("after the kind changed") {
    sites.serve("v2", "Namespaced");
    sites.refuse(all + "blog/sites");
    REQUIRE(sites.until([&] { return leads().back() == 0; }));
    give_away();
  }
  SECTION("before it") {
    give_away();
    sites.serve("v2", "Namespaced");
    sites.refuse(all + "blog/sites");
    sites.pass(Duration{120000});
  }
  CHECK_FALSE(ended);
  sites.open(all + "shop/sites/a")->head(404);
  sites.open(all + "shop/sites/a")->end();
  CHECK(sites.until([&] { return ended; }));
  REQUIRE(sites.until([&] { return leads() == std::vector<std::size_t>{1}; }));
  CHECK(sites.waits());
}

TEST_CASE("a kind that a rule only reads has changed: the rule starts anew as well") {
  Sites sites("apiVersion: page.dev/v1, kind: Page",
              "  watches: [{name: sites, apiVersion: demo.dev/v1, kind: Site, map: all}]\n");
  sites.answer(kPages, "");
  sites.answer(kV1, "");
  REQUIRE(sites.until([&] { return sites.started(); }));
  sites.serve("v2", "Namespaced");
  sites.refuse(kV1);
  CHECK(sites.until([&] { return sites.waits(); }));
}

TEST_CASE(
    "a kind that goes and comes back as it was restarts nothing, and is not asked for often") {
  Sites sites(kPlain);
  sites.answer(kV1, "");
  REQUIRE(sites.until([&] { return sites.started(); }));
  Driver* const before = sites.driver();
  const std::size_t asked = sites.discoveries();
  sites.serve("", "");
  sites.refuse(kV1);
  sites.pass(Duration{600000});
  CHECK(sites.discoveries() > asked);
  CHECK(sites.discoveries() <= asked + 21);
  sites.serve("v1", "Namespaced");
  sites.pass(Duration{120000});
  CHECK(sites.driver() == before);
}
