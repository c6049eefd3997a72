// kubectl delete --cascade=orphan: the garbage collector takes the owner references off before the
// object's cleanup is done, and the children stay all the same.
#include <algorithm>

#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::watch_line;

namespace {

const std::string kSiteA = "/apis/demo.dev/v1/namespaces/shop/websites/a";
const std::string kPage = "/api/v1/namespaces/shop/configmaps/page";
const std::string kRule =
    "  owns: [{apiVersion: v1, kind: ConfigMap}]\n"
    "  retry: {initial: 50ms, max: 50ms, jitter: 0}\n"
    "  finalize: {shell: '[ -e go ] || exit 75'}\n";

std::string site(const std::string& version, const std::string& finalizers, int grace = 0) {
  return R"({"apiVersion":"demo.dev/v1","kind":"Website","metadata":{"name":"a","namespace":"shop",)"
         R"("uid":"u1","deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":)" +
         std::to_string(grace) + R"(,"resourceVersion":")" + version + R"(","finalizers":[)" +
         finalizers + R"(]},"spec":{}})";
}

const std::string kChild =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"page","namespace":"shop",)"
    R"("uid":"u-page","resourceVersion":"5","labels":{"kubewatch.dev/controller":"web",)"
    R"("kubewatch.dev/owner-uid":"u1"},"managedFields":[{"manager":"kubewatch/web",)"
    R"("operation":"Apply"}]}})";

// The child in the object's namespace, and the object once its finalizer is off.
void serve(test::ScriptedEngine& world, const std::string& child) {
  world.transport.route("GET", kPage, 200, child);
  world.transport.route("DELETE", kPage, 200, child);
  world.transport.route("PATCH", kSiteA, 200, site("9", ""));
}

}  // namespace

TEST_CASE("children of an object that was deleted with its children to stay are kept") {
  const bool orphan = GENERATE(true, false);
  INFO("orphan " << orphan);
  test::ScriptedEngine world(kRule);
  serve(world, kChild);
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

namespace {

const std::string kFar = "/api/v1/namespaces/other/configmaps/far";
const std::string kSibling = "/api/v1/namespaces/shop/configmaps/pagf";

// `more`: of metadata, with a comma before it; `written`: by the rule, the last time.
std::string page(const std::string& more, const std::string& written = "2025-12-31T23:00:00Z",
                 const std::string& operation = "Apply") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"page","namespace":"shop",)"
         R"("uid":"u-page","resourceVersion":"5","labels":{"kubewatch.dev/controller":"web",)"
         R"("kubewatch.dev/owner-uid":"u1"},"managedFields":[{"manager":"kubewatch/web",)"
         R"("operation":")" +
         operation + R"(","time":")" + written + R"("}])" + more + "}}";
}

const std::string kRefers =
    R"(,"ownerReferences":[{"apiVersion":"demo.dev/v1","kind":"Website","name":"a","uid":"u1"}])";

// Deletions of the child in another namespace, which never has an owner reference, once an object
// with these finalizers is gone. `later`: what they are before its hook is done, "" = the same;
// `sibling`: in the namespace of the first child.
std::size_t far_deleted(const std::string& finalizers, const std::string& later,
                        const std::string& child, int grace = 0, const std::string& sibling = "") {
  const std::string far =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"far","namespace":"other",)"
      R"("uid":"u-far","resourceVersion":"5","labels":{"kubewatch.dev/controller":"web",)"
      R"("kubewatch.dev/owner-uid":"u1"},"managedFields":[{"manager":"kubewatch/web",)"
      R"("operation":"Apply","time":"2025-12-31T23:00:00Z"}]}})";
  test::ScriptedEngine world(kRule);
  serve(world, child);
  world.transport.route("GET", kFar, 200, far);
  world.transport.route("DELETE", kFar, 200, far);
  if (!sibling.empty()) {
    world.transport.route("GET", kSibling, 200, sibling);
    world.transport.route("DELETE", kSibling, 200, sibling);
  }
  world.start();
  world.give_list("configmaps", child + "," + far + (sibling.empty() ? "" : "," + sibling));
  world.give_list("websites", site("7", finalizers, grace));
  test::ScriptedCall& sites = world.watch("websites");
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  sites.head(200);
  if (!later.empty()) sites.data(watch_line("MODIFIED", site("8", later)));
  world.folder.write("go", "");
  REQUIRE(world.until([&] { return world.runs.back().outcome == "done"; }));
  const auto lines = world.transport.lines();
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(),
                    [](const std::string& line) { return line.starts_with("DELETE " + kFar); }));
}

const std::string kOurs = R"("kubewatch.dev/web")";

}  // namespace

TEST_CASE("a start learns from children without their references that they are to stay") {
  CHECK(far_deleted(kOurs, "", page("")) == 0);
  // What is written for a dying object has none, and what was left its own is the collector's.
  CHECK(far_deleted(kOurs, "", page("", "2026-01-01T00:00:05Z")) == 1);
  CHECK(far_deleted(kOurs, "", page(kRefers)) == 1);
  // What a Result lists under create may have been made without one, and is given none later: it
  // tells where no other can.
  const std::string created = page("", "2025-12-31T23:00:00Z", "Update");
  CHECK(far_deleted(kOurs, "", created) == 0);
  std::string sibling = page("", "2026-01-01T00:00:05Z");
  sibling.replace(sibling.find("\"page\""), 6, "\"pagf\"");
  CHECK(far_deleted(kOurs, "", created, 0, sibling) == 1);
}

TEST_CASE("children stay only where none of them refers to its owner any more") {
  std::string sibling = page(kRefers);
  sibling.replace(sibling.find("\"page\""), 6, "\"pagf\"");
  // A backup or somebody's tool took the reference off one of them.
  CHECK(far_deleted(kOurs, "", page(""), 0, sibling) == 1);
  CHECK(far_deleted(kOurs + R"(,"orphan")", kOurs, page(""), 0, sibling) == 1);
}

TEST_CASE("an object dies from when it was deleted on, not from the end of its grace period") {
  const std::string written = "2025-12-31T23:59:40Z";
  CHECK(far_deleted(kOurs, "", page("", written), 0) == 0);
  CHECK(far_deleted(kOurs, "", page("", written), 30) == 1);
}

TEST_CASE("a second deletion takes back that children are to stay, while they still refer") {
  const std::string orphan = kOurs + R"(,"orphan")";
  const std::string foreground = kOurs + R"(,"foregroundDeletion")";
  CHECK(far_deleted(orphan, foreground, page(kRefers)) == 1);
  CHECK(far_deleted(orphan, kOurs, page(kRefers)) == 1);  // in the background
  // The garbage collector was done before.
  CHECK(far_deleted(orphan, foreground, page("")) == 0);
  CHECK(far_deleted(orphan, kOurs, page("")) == 0);
  CHECK(far_deleted(orphan, "", page(kRefers)) == 0);
}

TEST_CASE("a deletion that was seen as it began is what it said, whatever children look like") {
  struct Row {
    const char* finalizers;
    bool relisted;  // seen after a gap, in which the garbage collector may have been at work
    bool deleted;
  };
  const Row row = GENERATE(Row{R"("kubewatch.dev/web")", false, true},
                           Row{R"("kubewatch.dev/web")", true, false},
                           Row{R"("kubewatch.dev/web","orphan")", false, false});
  INFO(row.finalizers << " relisted " << row.relisted);
  std::string alive = site("6", R"("kubewatch.dev/web")");
  const std::string dies = R"("deletionTimestamp":"2026-01-01T00:00:00Z",)"
                           R"("deletionGracePeriodSeconds":0,)";
  REQUIRE(alive.find(dies) != std::string::npos);
  alive.erase(alive.find(dies), dies.size());
  std::string far = page("");
  for (const auto& [from, to] :
       {std::pair{"\"page\"", "\"far\""}, {"\"shop\"", "\"other\""}, {"u-page", "u-far"}}) {
    far.replace(far.find(from), std::string(from).size(), to);
  }
  test::ScriptedEngine world(kRule);
  serve(world, page(""));
  world.transport.route("GET", kFar, 200, far);
  world.transport.route("DELETE", kFar, 200, far);
  world.folder.write("go", "");
  world.start();
  world.give_list("configmaps", page("") + "," + far);
  world.give_list("websites", alive);
  test::ScriptedCall& sites = world.watch("websites");
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  const std::size_t before = world.runs.size();
  sites.head(200);
  if (row.relisted) {
    sites.data(watch_line("ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})"));
    const auto is_list = [](const std::string& line) { return line.ends_with("/websites"); };
    REQUIRE(world.until([&] {
      const auto lines = world.transport.lines();
      return std::count_if(lines.begin(), lines.end(), is_list) == 2;
    }));
    world.give_list("websites", site("8", row.finalizers));
  } else {
    sites.data(watch_line("MODIFIED", site("8", row.finalizers)));
  }
  REQUIRE(world.until([&] { return world.runs.size() > before; }));
  CHECK(world.runs.back().outcome == "done");
  const auto lines = world.transport.lines();
  CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
          return line.starts_with("DELETE " + kFar);
        }) == row.deleted);
}
