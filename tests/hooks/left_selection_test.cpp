// An object outside the selection that carries the rule's finalizer: finalized where it has left,
// never where the watch of the selection is only behind.
#include "hooks/scripted_engine.hpp"

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
  return R"({"type":"ADDED","object":)" + object + "}\n";
}

}  // namespace

TEST_CASE("what came into the selection is not finalized because the guard told of it first") {
  World world(site("web"));
  world.guard()->data(added(site("web")));
  REQUIRE(world.until([&] { return world.asked_for_it(); }));
  world.loop.run_until([] { return false; }, Duration{0});
  world.selection()->data(added(site("web")));
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.seen() == "reconcile\n");
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
