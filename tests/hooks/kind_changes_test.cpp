// Kinds whose version, scope or plural changes under a running rule: what counts as a change, when
// the server is asked, and that the controller starts anew. In virtual time.
#include "hooks/kind_changes.hpp"

#include "base/log.hpp"
#include "client/rig.hpp"
#include "hooks/definition_watch.hpp"
#include "hooks/driver.hpp"
#include "hooks/engine.hpp"
#include "hooks/health.hpp"
#include "hooks/kind_families.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "hooks/shard_plan.hpp"
#include "hooks/state_store.hpp"
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
                 const std::string& filter = "'false'", std::optional<ShardPlan> shards = {},
                 std::shared_ptr<StateStore> state = nullptr,
                 const std::string& apis = discovery("v1", "Namespaced"))
      : transport(loop), client(loop, transport, config()) {
    transport.route("GET", "/api", 200, R"({"kind":"APIGroupDiscoveryList","items":[]})");
    transport.route("GET", "/version", 200, R"({"major":"1","minor":"27","gitVersion":"v1.27.0"})");
    rules = rules_of(rule_document("web", rule_for, filter) + spec);
    transport.route("GET", "/apis", 200, apis);
    EngineOptions options;
    options.work_dir = folder.file("work");
    options.shards = std::move(shards);
    options.state = std::move(state);
    engine = std::make_unique<Engine>(loop, client, rules, options, EngineCallbacks{});
    engine->start();
  }
  static client::ClientConfig config() { return test::scripted_config(); }
  static std::string rule_document(const std::string& name, const std::string& rule_for,
                                   const std::string& filter = "'false'") {
    return "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: " + name +
           "}\nspec:\n  for: {" + rule_for + ", filter: " + filter +
           "}\n  reconcile: {shell: 'true', output: log}\n";
  }
  std::vector<Rule> rules_of(const std::string& text) const {
    const auto loaded = parse_rules(text, folder.file("rules.yaml"));
    for (const auto& problem : loaded.problems) FAIL(problem.str());
    return loaded.rules;
  }

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
  // "web-site of web", for each controller that there is.
  std::vector<std::string> controllers() {
    std::vector<std::string> out;
    for (const Driver* one : engine->drivers()) {
      out.push_back(one->rule().name + " of " + one->rule().document);
    }
    return out;
  }
  bool waits() { return driver() != nullptr && !driver()->resolved(); }

  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport;
  client::Client client;
  test::RuleFolder folder;
  std::vector<Rule> rules;
  std::unique_ptr<Engine> engine;
};

const std::string kPlain = "apiVersion: demo.dev/v1, kind: Site";
const std::string kGroup = "group: demo.dev, kinds: '*'";
const std::string kShopA = "/apis/demo.dev/v1/namespaces/shop/sites/a";
// An object with the finalizer of the group's controller, or of a rule "web".
const std::string kHeld =
    R"({"metadata":{"name":"a","namespace":"shop","uid":"u1","resourceVersion":"4",)"
    R"("finalizers":["kubewatch.dev/web-site","kubewatch.dev/web"]}})";
const std::string kEmpty =
    R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]})";

struct Log {
  Log() { base::capture_log(&lines); }
  ~Log() { base::capture_log(nullptr); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  std::ptrdiff_t lines_with(const std::string& words) const {
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(words) != std::string::npos;
    });
  }
  std::vector<std::string> lines;
};

// A rule for every kind of demo.dev.
Rule group_rule(const std::string& name) {
  Rule out;
  out.name = name;
  out.apply.field_manager = "manager-" + name;
  out.finalizer_name = "demo.dev/" + name;
  out.for_.every_kind = true;
  out.for_.gvk.group = "demo.dev";
  return out;
}

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
  families.add(group_rule("all"), {});
  const auto start = families.look(server({type("v1alpha1")}), {}).start;
  REQUIRE(start.size() == 1);
  const Rule& made = start[0].rule;
  const std::vector<KindFamilies::Taken> taken = {{identity_of(made), {}}};
  const auto version = [&](const client::ResourceMap& resources) {
    const auto change = families.look(resources, taken);
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

TEST_CASE("a controller of a group's kind ends when two discoveries in a row lack the kind") {
  KindFamilies families;
  families.add(group_rule("all"), {});
  const auto ended = [&](const client::ResourceMap& resources, bool doubts) {
    CHECK(families.discovered(resources) == doubts);
    auto change = families.look(resources, {});
    // Looking again at the same answer says nothing new.
    CHECK(families.look(resources, {}).end.empty());
    return change.end;
  };
  client::ResourceMap unsure = server({});
  unsure.failed_groups.push_back("demo.dev/v1: 503");
  CHECK(ended(server({type("v1")}), false).empty());
  CHECK(ended(server({}), true).empty());
  CHECK(ended(server({type("v1")}), false).empty());  // one server was behind
  CHECK(ended(server({}), true).empty());
  CHECK(ended(unsure, false).empty());
  CHECK(ended(server({}), false) == std::vector<std::string>{"all-site"});
  // It begins anew, and so does the counting.
  CHECK_FALSE(families.discovered(server({type("v1")})));
  CHECK(families.look(server({type("v1")}), {}).start.size() == 1);
  CHECK(ended(server({}), true).empty());
}

TEST_CASE("a group's controller waits for who has its name, manager or finalizer in its shard") {
  const auto starts = [](KindFamilies::Taken taken) {
    KindFamilies families;
    families.add(group_rule("all"), 1);
    return families.look(server({type("v1")}), {std::move(taken)}).start.size();
  };
  CHECK(starts({{"other", 1, "m", "f"}, 1}) == 1);
  CHECK(starts({{"all-site", 1, "m", "f"}, 1}) == 0);
  CHECK(starts({{"other", 1, "manager-all-site", "f"}, 1}) == 0);
  CHECK(starts({{"other", 1, "m", "demo.dev/all-site"}, 1}) == 0);
  CHECK(starts({{"all-site", 1, "manager-all-site", "demo.dev/all-site"}, 0}) == 1);
}

TEST_CASE("a rule for a group that has never answered is unknown until it does") {
  KindFamilies families;
  families.add(group_rule("all"), {});
  CHECK(families.unknown().empty());  // nobody has looked
  client::ResourceMap unsure = server({});
  unsure.failed_groups.push_back("demo.dev/v1: 503");
  CHECK(families.look(unsure, {}).start.empty());
  REQUIRE(families.unknown().size() == 1);
  CHECK(families.unknown()[0].rule.name == "all");
  CHECK(families.unknown()[0].why ==
        "the server did not say what kinds the group demo.dev has (discovery failed: demo.dev/v1: "
        "503)");
  const auto change = families.look(server({type("v1")}), {});
  REQUIRE(change.start.size() == 1);
  CHECK(change.start[0].late);
  CHECK(families.unknown().empty());
  // What was known stays.
  CHECK(families.look(unsure, {}).end.empty());
  CHECK(families.unknown().empty());
}

TEST_CASE("a rule for a group that does not answer waits as one whose kind is missing does") {
  Log log;
  const std::string stale =
      R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)"
      R"({"metadata":{"name":"demo.dev"},"versions":[{"version":"v1","freshness":"Stale"}]}]})";
  Sites sites(kGroup, "", "'false'", {}, nullptr, stale);
  CHECK_FALSE(sites.engine->status().synced);
  CHECK(sites.engine->status().waiting_rules == 0);  // the server was not asked yet
  CHECK(sites.until([&] { return sites.engine->status().waiting_rules == 1; }));
  CHECK(sites.engine->status().synced);
  CHECK(log.lines_with("controller waits: the server did not say what kinds the group demo.dev has "
                       "(discovery failed: demo.dev/v1") == 1);
  const auto why = sites.engine->why_not_started();
  REQUIRE(why.size() == 1);
  CHECK(why[0].starts_with("web: the server did not say what kinds"));
  const HealthReport readiness = judge_readiness(sites.engine->facts(), {});
  CHECK(readiness.text().find("controller web has not started: the server did not say") == 0);
  // It is asked again soon, not with the look that comes in any case.
  const std::size_t asked = sites.discoveries();
  sites.pass(Duration{20000});
  CHECK(sites.discoveries() >= asked + 2);
  sites.serve("v1", "Namespaced");
  sites.answer(kV1, "");
  CHECK(sites.until([&] { return sites.started(); }));
  CHECK(sites.engine->status().waiting_rules == 0);
  CHECK(sites.engine->status().idle);
  CHECK(sites.engine->why_not_started().empty());
}

TEST_CASE("a rule for a group without any kind says so once, and waits for nothing") {
  Log log;
  Sites sites(kGroup, "", "'false'", {}, nullptr, discovery("", ""));
  CHECK(sites.until([&] { return sites.engine->status().idle; }));
  CHECK(sites.engine->status().waiting_rules == 0);
  sites.pass(Duration{200000});
  CHECK(log.lines_with("the group demo.dev has no kind that the rule could watch: it waits for "
                       "one") == 1);
}

TEST_CASE("one discovery that lacks a group's kind ends nothing, a second one follows soon") {
  Sites sites(kGroup);
  REQUIRE(sites.until([&] { return sites.driver() != nullptr; }));
  const Driver* first = sites.driver();
  sites.serve("", "");
  const std::size_t asked = sites.discoveries();
  REQUIRE(sites.until([&] { return sites.discoveries() > asked; }));
  sites.serve("v1", "Namespaced");
  sites.pass(Duration{5000});
  CHECK(sites.discoveries() == asked + 2);
  CHECK(sites.driver() == first);
  sites.serve("", "");
  CHECK(sites.until([&] { return sites.driver() == nullptr; }));
}

TEST_CASE("a rule that is added goes before a group's controller of its name, as at a start") {
  Sites sites(kGroup);
  const std::string own = Sites::rule_document("web-site", kPlain);
  using Names = std::vector<std::string>;
  REQUIRE(sites.until([&] { return sites.controllers() == Names{"web-site of web"}; }));
  const std::string both = Sites::rule_document("web", kGroup) + "---\n" + own;
  REQUIRE(sites.engine->reload(sites.rules_of(both)).ok());
  CHECK(sites.controllers().size() == 1);
  CHECK(sites.until([&] { return sites.controllers() == Names{"web-site of web-site"}; }));
  // Over some discoveries.
  sites.pass(Duration{200000});
  CHECK(sites.controllers() == Names{"web-site of web-site"});
  REQUIRE(sites.engine->reload(sites.rules).ok());
  CHECK(sites.until([&] { return sites.controllers() == Names{"web-site of web"}; }));
}

TEST_CASE("a group's controller that gives way lets its finalizer go, which nobody looks after") {
  Sites sites(kGroup, "  finalize: {shell: 'true'}\n");
  sites.answer(kV1, "");
  REQUIRE(sites.until([&] { return sites.started(); }));
  // Of its name, but of another kind.
  const std::string both = Sites::rule_document("web", kGroup) +
                           "  finalize: {shell: 'true'}\n---\n" +
                           Sites::rule_document("web-site", "apiVersion: page.dev/v1, kind: Page");
  REQUIRE(sites.engine->reload(sites.rules_of(both)).ok());
  using Names = std::vector<std::string>;
  REQUIRE(sites.until([&] { return sites.controllers() == Names{"web-site of web-site"}; }));
  sites.answer(kV1, kHeld);
  REQUIRE(sites.until([&] { return sites.open(kShopA) != nullptr; }));
  const auto& patch = sites.transport.request(sites.transport.size() - 1);
  CHECK(patch.method == "PATCH");
  CHECK(patch.body.find("remove") != std::string::npos);
}

TEST_CASE("what a removed rule for a group said last of its finalizers counts") {
  Sites sites(kGroup, "  finalize: {shell: 'true'}\n", "'true'");
  sites.answer(kV1,
               R"({"metadata":{"name":"a","namespace":"shop","uid":"u1","resourceVersion":"4"}})");
  // Its run goes on while the finalizer is not written.
  REQUIRE(sites.until([&] { return sites.open(kShopA) != nullptr; }));
  auto changed = sites.rules;
  changed[0].fingerprint += 1;
  changed[0].when_removed = WhenRemoved::keep;
  REQUIRE(sites.engine->reload(changed).ok());
  REQUIRE(sites.engine->reload({}).ok());
  sites.open(kShopA)->head(404);
  sites.open(kShopA)->end();
  sites.pass(Duration{5000});
  CHECK(sites.engine->status().idle);
  CHECK(sites.open(kV1) == nullptr);
}

TEST_CASE("a rule that is removed unstarted lets go what its former self held, which has ended") {
  const std::string page_held = "/apis/page.dev/v1/namespaces/shop/pages/a";
  Sites sites(kPlain,
              "  finalize: {shell: 'true'}\n---\n" +
                  Sites::rule_document("pages", "apiVersion: page.dev/v1, kind: Page", "'true'") +
                  "  finalize: {shell: 'true'}\n");
  sites.answer(kV1, "");
  sites.answer(kPages,
               R"({"metadata":{"name":"a","namespace":"shop","uid":"u1","resourceVersion":"4"}})");
  REQUIRE(sites.until([&] { return sites.open(page_held) != nullptr; }));
  // It waits for the other rule, whose field manager it has now.
  const std::size_t pages = sites.rules[0].name == "pages" ? 0 : 1;
  Rule changed = sites.rules[1 - pages];
  changed.fingerprint += 1;
  changed.apply.field_manager = sites.rules[pages].apply.field_manager;
  REQUIRE(sites.engine->reload({changed}).ok());
  sites.pass(Duration{5000});
  REQUIRE(sites.engine->reload({}).ok());
  sites.pass(Duration{5000});
  CHECK(sites.open(kV1) == nullptr);
  sites.transport.route("GET", kPages, 200, kEmpty);
  sites.open(page_held)->head(404);
  sites.open(page_held)->end();
  sites.answer(kV1, kHeld);
  CHECK(sites.until([&] { return sites.open(kShopA) != nullptr; }));
  sites.open(kShopA)->head(404);
  sites.open(kShopA)->end();
  CHECK(sites.until([&] { return sites.engine->status().idle; }));
}

TEST_CASE("the state of a group's controllers is kept while their kinds are not known") {
  const test::RuleFolder folder;
  auto opened = StateStore::open(folder.file("state"), {"boot-1", "https://cluster:6443", ""});
  REQUIRE(opened.ok());
  const std::shared_ptr<StateStore> state = std::move(*opened);
  state->set({"web-site", {"shop", "a"}}, {"uid-a", "x", false, 0, 0, ""});
  SECTION("when the rule changes") {
    Sites sites(kGroup, "", "'false'", {}, state);
    auto changed = sites.rules;
    changed[0].fingerprint += 1;
    REQUIRE(sites.engine->reload(changed).ok());
    CHECK(state->of_controller("web-site").size() == 1);
  }
  SECTION("when each shard has its own") {
    const auto plan = parse_shard_plan("namespace=shop;blog", {});
    REQUIRE(plan.ok());
    const Sites sites(kGroup, "", "'false'", *plan, state);
    CHECK(state->of_controller("web-site").size() == 1);
  }
  SECTION("but not that of rules that are gone") {
    const Sites sites(kPlain, "", "'false'", {}, state);
    CHECK(state->of_controller("web-site").empty());
  }
}

TEST_CASE("however often a watch is in doubt, the server is asked once in half a minute for it") {
  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport(loop);
  client::Client client(loop, transport, test::scripted_config());
  base::Random random(7);
  StreamPool pool(client, random);
  int asked = 0;
  DefinitionWatch watch(
      client, pool, [&] { ++asked; }, [](const std::string&) { return false; });
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

TEST_CASE(
    "with shards of namespaces a rule for a cluster-scoped kind waits for nothing, told once") {
  Log log;
  auto shards = parse_shard_plan("namespace=shop;blog", std::nullopt);
  REQUIRE(shards.ok());
  Sites sites(kPlain, "", "'false'", *shards, nullptr, discovery("v1", "Cluster"));
  sites.engine->lead(0);
  sites.engine->lead(1);
  REQUIRE(sites.until([&] { return sites.engine->status().synced; }));
  CHECK(sites.engine->status().waiting_rules == 0);
  CHECK(sites.engine->status().idle);
  for (const auto& one : sites.engine->facts().controllers) CHECK(one.absent);
  CHECK(log.lines_with("and --shard-by namespace=... makes shards of namespaces alone") == 1);
  CHECK(log.lines_with("controller waits") == 0);
}

TEST_CASE("a rule that lists namespaces for a cluster-scoped kind waits, whatever the shards") {
  Log log;
  auto shards = parse_shard_plan("namespace=shop;blog", std::nullopt);
  REQUIRE(shards.ok());
  Sites sites(kPlain + ", namespaces: [shop]", "", "'false'", *shards, nullptr,
              discovery("v1", "Cluster"));
  sites.engine->lead(0);
  REQUIRE(sites.until([&] { return sites.engine->status().waiting_rules == 1; }));
  CHECK(log.lines_with("is cluster-scoped, but the rule lists namespaces for it") == 1);
}
