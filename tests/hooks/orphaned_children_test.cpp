// kubectl delete --cascade=orphan: the garbage collector takes the owner references off before the
// object's cleanup is done, and the children stay all the same.
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::watch_line;

namespace {

const std::string kSiteA = "/apis/demo.dev/v1/namespaces/shop/websites/a";
const std::string kPage = "/api/v1/namespaces/shop/configmaps/page";

std::string site(const std::string& version, const std::string& finalizers) {
  return R"({"apiVersion":"demo.dev/v1","kind":"Website","metadata":{"name":"a","namespace":"shop",)"
         R"("uid":"u1","deletionTimestamp":"2026-01-01T00:00:00Z","resourceVersion":")" +
         version + R"(","finalizers":[)" + finalizers + R"(]},"spec":{}})";
}

const std::string kChild =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"page","namespace":"shop",)"
    R"("uid":"u-page","resourceVersion":"5","labels":{"kubewatch.dev/controller":"web",)"
    R"("kubewatch.dev/owner-uid":"u1"},"managedFields":[{"manager":"kubewatch/web",)"
    R"("operation":"Apply"}]}})";

}  // namespace

TEST_CASE("children of an object that was deleted with its children to stay are kept") {
  const bool orphan = GENERATE(true, false);
  INFO("orphan " << orphan);
  test::ScriptedEngine world(
      "  owns: [{apiVersion: v1, kind: ConfigMap}]\n"
      "  retry: {initial: 50ms, max: 50ms, jitter: 0}\n"
      "  finalize: {shell: '[ -e go ] || exit 75'}\n");
  world.transport.route("GET", kPage, 200, kChild);
  world.transport.route("DELETE", kPage, 200, kChild);
  world.transport.route("PATCH", kSiteA, 200, site("9", ""));
  world.start();
  world.give_list("configmaps", kChild);
  world.give_list("websites",
                  site("7", orphan ? R"("kubewatch.dev/web","orphan")" : R"("kubewatch.dev/web")"));
  test::ScriptedCall& sites = world.watch("websites");
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  // The garbage collector is done.
  sites.head(200);
  sites.data(watch_line("MODIFIED", site("8", R"("kubewatch.dev/web")")));
  world.folder.write("go", "");
  REQUIRE(world.until([&] { return world.runs.back().outcome == "done"; }));
  bool deleted = false;
  for (const std::string& line : world.transport.lines()) {
    deleted = deleted || line.starts_with("DELETE " + kPage);
  }
  CHECK(deleted != orphan);
}
