// `children: none`, by which a hook removes all children: of an object that stays, dies or leaves.
#include <algorithm>

#include "hooks/scripted_engine.hpp"

using namespace kubewatch;

namespace {

const std::string kSitePath = "/apis/demo.dev/v1/namespaces/shop/websites/a";
const std::string kPage = "/api/v1/namespaces/shop/configmaps/page";
const std::string kSays = "echo '{apiVersion: kubewatch.dev/v1, kind: Result, children: none}'";

// Of the object's own namespace, and referring to it: the garbage collector would remove it.
const std::string kChild =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"page","namespace":"shop",)"
    R"("uid":"u-page","resourceVersion":"5","labels":{"kubewatch.dev/controller":"web",)"
    R"("kubewatch.dev/owner-uid":"u-Website"},"ownerReferences":[{"apiVersion":"demo.dev/v1",)"
    R"("kind":"Website","name":"a","uid":"u-Website"}],"managedFields":[)"
    R"({"manager":"kubewatch/web","operation":"Apply","time":"2025-12-31T23:00:00Z"}]}})";

std::string site(const std::string& more) {
  return test::object(test::kSite, "Website", "7", "{}", more);
}
std::string dying(const std::string& finalizers) {
  return site(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":[)" + finalizers + "]");
}

struct World : test::ScriptedEngine {
  World(const std::string& rule, const std::string& for_more, const std::string& reconcile)
      : ScriptedEngine(
            "  owns: [{apiVersion: v1, kind: ConfigMap}]\n"
            "  retry: {initial: 50ms, max: 50ms, jitter: 0}\n" +
                rule,
            for_more, reconcile) {
    transport.route("GET", kPage, 200, kChild);
    transport.route("DELETE", kPage, 200, kChild);
    transport.route("PATCH", kSitePath, 200, site(""));
  }
  void begin(const std::string& object) {
    start();
    give_list("configmaps", kChild);
    give_list("websites", object);
    REQUIRE(until([&] { return !runs.empty(); }));
    INFO(runs[0].message);
  }
  bool sent(const std::string& what) const {
    const auto lines = transport.lines();
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.starts_with(what); });
  }
  bool deleted() const { return sent("DELETE " + kPage); }
  bool let_go() const { return sent("PATCH " + kSitePath); }
};

const std::string kLogs = "{exec: [./hook.sh, reconcile], output: log}";

}  // namespace

TEST_CASE(
    "children: none in finalize waits for exit 0, and removes them before the finalizer goes") {
  World world("  finalize: {shell: \"" + kSays + "; [ -e go ] || exit 75\"}\n", "", kLogs);
  world.begin(dying(R"("kubewatch.dev/web")"));
  CHECK(world.runs[0].outcome == "not-yet");
  CHECK(world.runs[0].message.find("children: none removes none") != std::string::npos);
  CHECK_FALSE(world.deleted());
  CHECK_FALSE(world.let_go());
  world.folder.write("go", "");
  REQUIRE(world.until([&] { return world.runs.back().outcome == "done"; }));
  CHECK(world.runs.back().deleted == 1);
  CHECK(world.deleted());
  CHECK(world.let_go());
}

TEST_CASE("an object that leaves its rule is let go without its children where the hook says so") {
  // The second removes what the garbage collector would leave behind, which this child is not.
  const bool says = GENERATE(true, false);
  INFO("says children: none " << says);
  World world("  whenNoLongerMatched: finalize\n  finalize: {shell: \"" +
                  std::string(says ? kSays : "true") + "\"}\n  apply: {prune: false}\n",
              ", filter: .spec.on", kLogs);
  world.begin(site(R"(,"finalizers":["kubewatch.dev/web"])"));
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.deleted() == says);
  CHECK(world.let_go());
}

TEST_CASE("children that are to stay stay, whatever the hook says, and it is told so") {
  World world("  finalize: {shell: \"" + kSays + "\"}\n", "", kLogs);
  world.begin(dying(R"("kubewatch.dev/web","orphan")"));
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.runs[0].message.find("children: none removes none") != std::string::npos);
  CHECK_FALSE(world.deleted());
  CHECK(world.let_go());
}

TEST_CASE("children: none in reconcile waits for exit 0, and the run says so") {
  World world("", "", "{shell: \"" + kSays + "; exit 75\"}");
  world.begin(site(""));
  CHECK(world.runs[0].outcome == "not-yet");
  CHECK(world.runs[0].message.find("children: none removes none") != std::string::npos);
  CHECK_FALSE(world.deleted());
}

TEST_CASE("children: none is refused in words where the rule never prunes") {
  World world("  apply: {prune: false}\n", "", "{shell: \"" + kSays + "\"}");
  world.begin(site(""));
  CHECK(world.runs[0].outcome == "invalid-output");
  CHECK(world.runs[0].message.find("apply.prune: false") != std::string::npos);
  CHECK_FALSE(world.deleted());
}
