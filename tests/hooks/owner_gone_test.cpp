// An object that is deleted while its hook runs: what the hook printed is written for nobody. One
// that only left the selection is still there.
#include "base/log.hpp"
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::kSite;
using test::list;
using test::object;
using test::watch_line;

namespace {

const std::string kSiteA = "/apis/demo.dev/v1/namespaces/shop/websites/a";
const std::string kPage = "/api/v1/namespaces/shop/configmaps/page";
const std::string kNoSuch = R"({"kind":"Status","reason":"NotFound","code":404})";

std::string site(const std::string& uid, const std::string& version) {
  return R"({"apiVersion":"demo.dev/v1","kind":"Website","metadata":{"name":"a","namespace":"shop",)"
         R"("uid":")" +
         uid + R"(","resourceVersion":")" + version + R"("},"spec":{}})";
}

// Its hook prints a ConfigMap, once there is a file `go`, and ends with the code in `code`.
struct World : test::ScriptedEngine {
  explicit World(const std::string& for_more = "", const std::string& code = "0",
                 const std::string& namespace_ = "shop")
      : ScriptedEngine("  owns: [{apiVersion: v1, kind: ConfigMap}]\n  apply: {validate: none}\n" +
                           (namespace_ == "shop" ? ""
                                                 : "  writes: [{apiVersion: v1, kind: ConfigMap, "
                                                   "namespaces: [" +
                                                       namespace_ + "]}]\n"),
                       for_more, "{exec: [./hook.sh]}") {
    folder.write("namespace", namespace_);
    folder.write("code", code);
    folder.write("hook.sh",
                 "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho x >> seen\n"
                 "while [ ! -e go ]; do sleep 0.02; done\n"
                 "echo \"{apiVersion: v1, kind: ConfigMap, metadata: "
                 "{name: page, namespace: $(cat namespace)}}\"\n"
                 "echo ---\necho '{apiVersion: kubewatch.dev/v1, kind: Result, requeueAfter: 1h, "
                 "events: [{type: Normal, reason: Built, note: built-it}]}'\n"
                 "exit $(cat code)\n");
    transport.route("GET", kPage, 404, kNoSuch);
    transport.route("PATCH", kPage, 201,
                    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"page",)"
                    R"("namespace":"shop","uid":"u-page","resourceVersion":"7"}})");
    transport.answer(200, list(site("u1", "4")));
    start();
    auto& children = asked("configmaps");
    children.head(200);
    children.data(list(""));
    children.end();
    REQUIRE(until([&] { return seen() == "x\n"; }));
    sites().head(200);
  }
  test::ScriptedCall& sites() { return watch("websites"); }
  // The hook ends once the cache shows that its object is not there.
  void let_go(const std::string& now) {
    hooks::Driver& driver = *engine->drivers().at(0);
    REQUIRE(until([&] { return !driver.caches().has_object({"shop", "a"}, "u1"); }));
    transport.route("GET", kSiteA, now.empty() ? 404 : 200, now.empty() ? kNoSuch : now);
    folder.write("go", "");
    REQUIRE(until([&] { return !runs.empty(); }));
  }
  bool asked_for(const std::string& path) {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      if (transport.call(i).path() == path) return true;
    }
    return false;
  }
};

}  // namespace

TEST_CASE("for an object that was deleted while its hook ran nothing is written, and none fails") {
  World world("", GENERATE(as<std::string>(), "0", "75"));
  world.sites().data(watch_line("DELETED", site("u1", "6")));
  world.let_go("");
  CHECK_FALSE(world.asked_for(kPage));
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.runs[0].message.find("the object was deleted while its hook ran") == 0);
  CHECK_FALSE(world.runs[0].requeue_after);
  REQUIRE(world.until([&] { return world.engine->status().idle; }));
  CHECK(world.runs.size() == 1);
  CHECK_FALSE(world.told("built-it"));
  CHECK_FALSE(world.told("Warning"));
}

TEST_CASE("nor where another object has its name by then: that one's run writes") {
  World world;
  world.sites().data(watch_line("DELETED", site("u1", "6")) + watch_line("ADDED", site("u2", "7")));
  world.let_go(site("u2", "7"));
  CHECK_FALSE(world.asked_for(kPage));
  CHECK(world.runs[0].message.find("the object was deleted while its hook ran") == 0);
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.asked_for(kPage));
  CHECK(world.runs[1].created == 1);
}

TEST_CASE("a child that needs the finalizer meets a deletion that no cache shows yet") {
  World world("", "0", "blog");
  world.transport.route("PATCH", kSiteA, 404, kNoSuch);
  world.folder.write("go", "");
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.runs[0].message.find("the object was deleted while its hook ran") == 0);
  CHECK_FALSE(world.told("Warning"));
  CHECK_FALSE(world.told("built-it"));
  CHECK_FALSE(world.asked_for("/api/v1/namespaces/blog/configmaps/page"));
}

TEST_CASE("for an object that left the selection while its hook ran all is written") {
  World world(", labelSelector: tier=web");
  world.sites().data(watch_line("DELETED", site("u1", "6")));
  world.let_go(site("u1", "6"));
  CHECK(world.asked_for(kPage));
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.runs[0].message.empty());
  CHECK(world.runs[0].created == 1);
}

TEST_CASE("words of output that does not count are masked only where they may be of a Secret") {
  const bool may_print = GENERATE(true, false);
  test::ScriptedEngine world(std::string("  owns: [{apiVersion: v1, kind: ConfigMap}]\n") +
                                 (may_print ? "  writes: [{apiVersion: v1, kind: Secret}]\n" : ""),
                             "",
                             "{shell: 'echo harmless-word >&2; echo \"{metadata: {name: a}, data: "
                             "{k: harmless-word}}\"'}");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  world.give_list("configmaps", "");
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "invalid-output");
  CHECK(world.runs[0].stderr_tail == (may_print ? "***\n" : "harmless-word\n"));
}
