// An object outside the selection that carries the rule's finalizer: finalized where it has left,
// never where the watch of the selection is only behind.
#include "hooks/caches.hpp"
#include "hooks/scripted_engine.hpp"
#include "loop/skipping_time.hpp"

using namespace kubewatch;
using test::list;
using test::object;

namespace {

const char* const kPath = "/apis/demo.dev/v1/namespaces/shop/websites/a";

std::string site(const std::string& tier) {
  return object(test::kSite, "Website", "7", "{}",
                R"(,"labels":{"tier":")" + tier + R"("},"finalizers":["kubewatch.dev/web"])");
}

// Both watches are open: of the selection, and of what carries the finalizer.
struct World : test::ScriptedEngine {
  explicit World(const std::string& live)
      : ScriptedEngine(
            "  whenNoLongerMatched: finalize\n"
            "  finalize: {exec: [./hook.sh, finalize], output: log}\n",
            ", labelSelector: tier=web") {
    transport.answer(200, list(""));
    transport.answer(200, list(""));
    transport.route("GET", kPath, 200, live);
    start();
    REQUIRE(until([&] { return selection() != nullptr && guard() != nullptr; }));
    selection()->head(200);
    guard()->head(200);
  }
  test::ScriptedCall* selection() { return watch_of(true); }
  test::ScriptedCall* guard() { return watch_of(false); }
  bool asked_for_it() {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      if (transport.call(i).line() == std::string("GET ") + kPath) return transport.call(i).ended();
    }
    return false;
  }

  loop::SkippingTime time{loop};

 private:
  test::ScriptedCall* watch_of(bool selecting) {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      const std::string line = transport.call(i).line();
      const bool selects = line.find("labelSelector=tier") != std::string::npos;
      if (line.find("/websites?") == std::string::npos) continue;
      if (line.find("watch=true") == std::string::npos || selects != selecting) continue;
      return &transport.call(i);
    }
    return nullptr;
  }
};

std::string added(const std::string& object) {
  return test::watch_line("ADDED", object);
}

// A rule for two namespaces, of which the one with the object is left out.
struct LeftOut : test::ScriptedEngine {
  explicit LeftOut(bool is_listed = true)
      : ScriptedEngine(
            "  owns: [{apiVersion: v1, kind: ConfigMap}]\n"
            "  apply: {ownerReference: none}\n"
            "  whenNoLongerMatched: finalize\n"
            "  finalize: {exec: [./hook.sh, finalize], output: log}\n",
            ", namespaces: [shop, other]") {
    const std::string path = "/api/v1/namespaces/shop/configmaps/a";
    transport.route("GET", kPath, 200, site("web"));
    transport.route("GET", path, 200, child());
    transport.route("DELETE", path, 200, child());
    transport.route("PATCH", "", 200, object(test::kSite, "Website", "9", "{}"));
    auto changed = rules;
    changed[0].fingerprint += 1;
    changed[0].for_.namespaces = {"other"};
    start();
    REQUIRE(until([&] {
      serve("websites", list(site("web")));
      serve("configmaps", list(child()));
      return runs.size() == 1;
    }));
    REQUIRE(engine->reload(changed).ok());
    if (!is_listed) {
      // The look for its finalizer alone.
      REQUIRE(until([&] { return asks_in_shop(); }));
      serve("websites", list(site("web")));
      return;
    }
    REQUIRE(until([&] {
      serve("websites", list(site("web")));
      return has_ended("GET", kPath);
    }));
    for (int i = 0; i < 3; ++i) loop.run_until([] { return false; }, Duration{0});
  }
  loop::SkippingTime time{loop};

  static std::string child() {
    return object("v1", "ConfigMap", "4", "{}",
                  R"(,"labels":{"kubewatch.dev/controller":"web",)"
                  R"("kubewatch.dev/owner-uid":"u-Website"},)"
                  R"("managedFields":[{"manager":"kubewatch/web","operation":"Apply"}])");
  }
  // Answers the lists of one kind in shop that were asked for, and all in the other namespace.
  void serve(const std::string& plural, const std::string& items, int status = 200) {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      auto& call = transport.call(i);
      const std::string line = call.line();
      const bool in_shop = line.starts_with("GET ") && call.path().ends_with("/shop/" + plural);
      const bool in_other = line.find("/other/") != std::string::npos;
      if (!call.open() || !(in_shop || in_other)) continue;
      if (line.find("watch=true") != std::string::npos) continue;
      call.head(in_shop ? status : 200);
      call.data(in_shop ? items : list(""));
      call.end();
    }
  }
  bool asks_in_shop() {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      auto& call = transport.call(i);
      if (call.open() && call.line().starts_with("GET ") &&
          call.path().ends_with("/shop/websites")) {
        if (call.line().find("watch=true") == std::string::npos) return true;
      }
    }
    return false;
  }
  bool has_ended(const std::string& method, const std::string& path) {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      const auto& call = transport.call(i);
      if (call.request().method == method && call.path() == path && call.ended()) return true;
    }
    return false;
  }
};

core::ResourceType type_of(const core::Gvk& gvk, const std::string& plural, bool namespaced) {
  core::ResourceType out;
  out.gvk = gvk;
  out.plural = plural;
  out.namespaced = namespaced;
  return out;
}

}  // namespace

TEST_CASE("what came into the selection is not finalized because the guard told of it first") {
  World world(site("web"));
  world.guard()->data(added(site("web")));
  REQUIRE(world.until([&] { return world.asked_for_it(); }));
  for (const int seconds : {0, 6, 6}) {
    world.time.skip(Duration{seconds * 1000});
    world.loop.run_until([] { return false; }, Duration{10});
    // --once would end without its run.
    CHECK_FALSE(world.engine->status().idle);
    CHECK(world.engine->status().at_work);
  }
  world.selection()->data(added(site("web")));
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.seen() == "reconcile\n");
  CHECK(world.until([&] { return world.engine->status().idle; }));
}

TEST_CASE("what was on its way into the selection, and is gone, is waited for no more") {
  World world(site("web"));
  world.guard()->data(added(site("web")));
  REQUIRE(world.until([&] { return world.asked_for_it(); }));
  world.loop.run_until([] { return false; }, Duration{10});
  CHECK_FALSE(world.engine->status().idle);
  world.guard()->data(test::watch_line("DELETED", site("web")));
  CHECK(world.until([&] { return world.engine->status().idle; }));
  CHECK(world.runs.empty());
}

TEST_CASE("what is not in the selection, with the finalizer on it, is finalized") {
  World world(site("other"));
  world.guard()->data(added(site("other")));
  CHECK(world.until([&] { return world.seen() == "finalize\n"; }));
}

TEST_CASE("what the selection does not show, though it has come past it, is finalized") {
  World world(site("web"));
  world.selection()->data(
      R"({"type":"BOOKMARK","object":{"kind":"Website","apiVersion":"demo.dev/v1",)"
      R"("metadata":{"resourceVersion":"9"}}})"
      "\n");
  world.guard()->data(added(site("web")));
  CHECK(world.until([&] { return world.seen() == "finalize\n"; }));
}

TEST_CASE("a cleanup in a namespace that a changed rule leaves out has its children, and they go") {
  LeftOut world;
  CHECK(world.seen() == "reconcile\n");
  REQUIRE(world.until([&] {
    world.serve("configmaps", list(LeftOut::child()));
    return world.has_ended("DELETE", "/api/v1/namespaces/shop/configmaps/a");
  }));
  CHECK(world.seen() == "reconcile\nfinalize\n");
  const auto input = base::parse_json(world.read("input"));
  REQUIRE(input.ok());
  CHECK((*input)["owned"].size() == 1);
}

TEST_CASE("a cleanup in a namespace that was left out is work while its children are listed") {
  LeftOut world;
  for (const int seconds : {0, 6, 6}) {
    world.time.skip(Duration{seconds * 1000});
    world.loop.run_until([] { return false; }, Duration{10});
    CHECK_FALSE(world.engine->status().idle);
    CHECK(world.engine->status().at_work);
  }
  CHECK(world.seen() == "reconcile\n");
}

TEST_CASE("a cleanup in a namespace that was left out says so where its children's list fails") {
  LeftOut world;
  for (int i = 0; i < 40 && world.held.empty(); ++i) {
    world.serve("configmaps", R"({"kind":"Status","code":500,"reason":"InternalError"})", 500);
    world.loop.run_until([] { return false; }, Duration{5});
    world.time.skip(Duration{2000});
  }
  REQUIRE(world.held.size() == 1);
  CHECK(world.until([&] { return !world.engine->status().at_work; }));
  CHECK(world.engine->status().failing == 1);
  // It is tried on.
  for (int i = 0; i < 40 && world.seen() != "reconcile\nfinalize\n"; ++i) {
    world.serve("configmaps", list(LeftOut::child()));
    world.loop.run_until([] { return false; }, Duration{50});
    world.time.skip(Duration{2000});
  }
  CHECK(world.seen() == "reconcile\nfinalize\n");
}

TEST_CASE("a namespace that was left out and cannot be listed is told, and waited for no more") {
  LeftOut world(false);
  CHECK(world.engine->status().at_work);
  for (int i = 0; i < 40 && world.engine->status().at_work; ++i) {
    world.serve("websites", R"({"kind":"Status","code":500,"reason":"InternalError"})", 500);
    world.loop.run_until([] { return false; }, Duration{5});
    world.time.skip(Duration{2000});
  }
  CHECK_FALSE(world.engine->status().at_work);
  CHECK(world.engine->status().failing == 1);
  const auto told = base::join(world.engine->drivers().at(0)->unreconciled(), "\n");
  CHECK(told.find("what the rule left behind cannot be listed, websites.demo.dev in namespace "
                  "shop: ") != std::string::npos);
}

TEST_CASE("a cleanup in a namespace that was left out waits where its children cannot be listed") {
  LeftOut world;
  REQUIRE(world.until([&] {
    world.serve("configmaps", R"({"kind":"Status","code":403,"reason":"Forbidden"})", 403);
    return world.held.size() == 1;
  }));
  CHECK(world.held[0].message.find("the configmaps in namespace shop, which the rule does not name "
                                   "any more, cannot be listed") != std::string::npos);
  CHECK(world.seen() == "reconcile\n");
}

TEST_CASE("what loses its labels too, in a namespace that is not selected, is guarded on") {
  test::ScriptedEngine world("  finalize: {exec: [./hook.sh, finalize], output: log}\n",
                             ", labelSelector: tier=web, namespaceSelector: team=web");
  client::ResourceMap resources;
  resources.add(type_of({"demo.dev", "v1", "Website"}, "websites", true));
  resources.add(type_of({"", "v1", "Namespace"}, "namespaces", false));
  int woken = 0;
  int gone = 0;
  hooks::CacheCallbacks callbacks;
  callbacks.wake = [&](const hooks::Wake&) { ++woken; };
  callbacks.gone = [&](const runtime::StoredObject&, hooks::Gone) { ++gone; };
  callbacks.seen = [](const hooks::ChildId&, const std::string&) { return false; };
  callbacks.on_ready = [] {};
  callbacks.now = [&] { return world.loop.now(); };
  base::Random random(1);
  hooks::StreamPool pool(world.client, random);
  hooks::RuleCaches caches(world.rules.at(0), callbacks);
  REQUIRE(caches.resolve(resources).ok());
  caches.open(pool);
  world.give_list("namespaces", "");
  const auto of_websites = [&](bool watch, bool selects) {
    test::ScriptedCall* out = nullptr;
    REQUIRE(world.until([&] {
      for (std::size_t i = 0; i < world.transport.size(); ++i) {
        const std::string line = world.transport.call(i).line();
        const bool watches = line.find("watch=true") != std::string::npos;
        const bool selected = line.find("labelSelector=tier") != std::string::npos;
        if (line.find("/websites") == std::string::npos) continue;
        if (watches == watch && selected == selects) out = &world.transport.call(i);
      }
      return out != nullptr;
    }));
    return out;
  };
  for (const bool selects : {true, false}) {
    auto* listed = of_websites(false, selects);
    listed->head(200);
    listed->data(list(site("web")));
    listed->end();
  }
  REQUIRE(world.until([&] { return caches.ready(); }));
  caches.build();
  CHECK(woken == 1);
  const std::string deleted = test::watch_line("DELETED", site("other"));
  for (const bool selects : {true, false}) {
    auto* watch = of_websites(true, selects);
    watch->head(200);
    watch->data(deleted);
    CHECK(woken == 2);
    CHECK(gone == (selects ? 0 : 1));
  }
}
