// onDelete: each deletion is told once, whatever else is told of the same name, and whoever runs
// the rule by then.
#include <algorithm>

#include "hooks/scripted_engine.hpp"
#include "loop/skipping_time.hpp"

using namespace kubewatch;
using test::list;

namespace {

constexpr const char* kNoSuch = R"({"kind":"Status","reason":"NotFound","code":404})";

std::string site(const std::string& name, const std::string& uid, const std::string& version,
                 const std::string& spec = "{}", const std::string& more = "") {
  return R"({"apiVersion":"demo.dev/v1","kind":"Website","metadata":{"name":")" + name +
         R"(","namespace":"shop","uid":")" + uid + R"(","resourceVersion":")" + version + "\"" +
         more + R"(},"spec":)" + spec + "}";
}

std::string told(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

// Its hook notes whom it was told of, and whether that is gone. For what is gone it waits for the
// file `go`, and fails the first time where there is one called `fail`.
struct World : test::ScriptedEngine {
  explicit World(const std::string& spec, const std::string& for_more = "")
      : ScriptedEngine("  onDelete: true\n" + spec, for_more) {
    folder.write("hook.sh",
                 "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nread -r input\n"
                 "case $input in *'\"object\":null'*) ;; *) echo \"$KW_NAME\" >> seen; exit 0 ;; "
                 "esac\necho \"$KW_NAME gone\" >> seen\n"
                 "while [ ! -e go ]; do sleep 0.02; done\n"
                 "if [ -e fail ]; then rm fail; exit 1; fi\n");
  }
  test::ScriptedCall* watch_of(const std::string& part, bool with) {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      const std::string line = transport.call(i).line();
      if (line.find("/websites?") == std::string::npos) continue;
      if (line.find("watch=true") == std::string::npos) continue;
      if ((line.find(part) != std::string::npos) == with) return &transport.call(i);
    }
    return nullptr;
  }
  // In any order.
  bool sees(const std::string& lines) {
    const auto sorted = [](const std::string& text) {
      auto out = base::split(text, '\n');
      std::sort(out.begin(), out.end());
      return out;
    };
    until([&] { return sorted(seen()) == sorted(lines) && engine->status().idle; });
    INFO(seen());
    CHECK(sorted(seen()) == sorted(lines));
    return sorted(seen()) == sorted(lines);
  }
};

}  // namespace

TEST_CASE("a deletion that the guard of the finalizer tells of as well is told") {
  World world("  apply: {ownerReference: none}\n", ", labelSelector: tier=web");
  const auto a = [](const std::string& version) {
    return site("a", "u1", version, "{}", R"(,"labels":{"tier":"web"})");
  };
  world.transport.answer(200, list(a("4")));
  world.transport.answer(200, list(a("4")));
  world.transport.route("GET", "/apis/demo.dev/v1/namespaces/shop/websites/a", 404, kNoSuch);
  world.folder.write("go", "");
  world.start();
  const auto selection = [&] { return world.watch_of("labelSelector=tier", true); };
  const auto guard = [&] { return world.watch_of("labelSelector=tier", false); };
  REQUIRE(world.until([&] { return selection() != nullptr && guard() != nullptr; }));
  selection()->head(200);
  guard()->head(200);
  REQUIRE(world.sees("a\n"));
  const bool selection_first = GENERATE(true, false);
  auto& first = selection_first ? *selection() : *guard();
  auto& second = selection_first ? *guard() : *selection();
  first.data(told("DELETED", a("6")));
  second.data(told("DELETED", a("6")));
  CHECK(world.sees("a\na gone\n"));
}

TEST_CASE("a deletion is tried again though its name has come and gone meanwhile") {
  World world("  retry: {initial: 1ms, max: 1ms}\n", ", filter: .spec.on");
  world.transport.answer(200, list(site("a", "u1", "4", R"({"on":true})")));
  world.folder.write("fail", "");
  world.start();
  auto& watch = world.watch("websites");
  watch.head(200);
  REQUIRE(world.sees("a\n"));
  watch.data(told("DELETED", site("a", "u1", "5", R"({"on":true})")));
  REQUIRE(world.until([&] { return world.seen() == "a\na gone\n"; }));
  // Not of the rule's.
  watch.data(told("ADDED", site("a", "u2", "6", R"({"on":false})")));
  watch.data(told("DELETED", site("a", "u2", "7", R"({"on":false})")));
  world.folder.write("go", "");
  CHECK(world.sees("a\na gone\na gone\n"));
}

TEST_CASE("deletions that wait while the rule is read again are told by the new one") {
  World world("  concurrency: 1\n");
  const bool still_tells = GENERATE(true, false);
  world.transport.answer(
      200, list(site("a", "u1", "4") + "," + site("b", "u2", "4") + "," + site("c", "u3", "4")));
  auto changed = world.rules;
  changed[0].fingerprint += 1;
  changed[0].on_delete = still_tells;
  world.start();
  auto& watch = world.watch("websites");
  watch.head(200);
  REQUIRE(world.until([&] { return world.runs.size() == 3; }));
  world.folder.write("seen", "");
  watch.data(told("DELETED", site("a", "u1", "6")) + told("DELETED", site("b", "u2", "7")));
  REQUIRE(world.until([&] { return world.seen() == "a gone\n"; }));
  REQUIRE(world.engine->reload(changed).ok());
  // While the hook of the rule before it still runs.
  watch.data(told("DELETED", site("c", "u3", "8")));
  world.transport.answer(200, list(""));
  world.folder.write("go", "");
  CHECK(world.sees(still_tells ? "a gone\nb gone\nc gone\n" : "a gone\n"));
  CHECK(world.engine->drivers().size() == 1);
}

TEST_CASE("what goes before a rule that was read again has its caches is told when it has") {
  World world("  owns: [{apiVersion: v1, kind: ConfigMap}]\n");
  world.transport.route("GET", "/apis/demo.dev/v1/namespaces/shop/websites/a", 404, kNoSuch);
  const auto listed = [&] {
    const auto lines = world.transport.lines();
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("/configmaps?") != std::string::npos &&
             line.find("watch=true") == std::string::npos;
    });
  };
  world.folder.write("go", "");
  auto changed = world.rules;
  world.start();
  for (const char* plural : {"websites", "configmaps"}) {
    world.give_list(plural, std::string(plural) == "websites" ? site("a", "u1", "4") : "");
    world.watch(plural).head(200);
  }
  REQUIRE(world.sees("a\n"));
  // The second time before the rule of the first has started.
  const int reloads = GENERATE(1, 2);
  for (int i = 1; i <= reloads; ++i) {
    changed[0].fingerprint += 1;
    REQUIRE(world.engine->reload(changed).ok());
    REQUIRE(world.until([&] { return listed() == 1 + i; }));
    if (i == 1) world.watch("websites").data(told("DELETED", site("a", "u1", "6")));
  }
  world.give_list("configmaps", "");
  CHECK(world.sees("a\na gone\n"));
}

TEST_CASE("an object of a selected namespace is told as deleted though its namespace goes first") {
  World world("", ", namespaceSelector: demo=yes");
  world.transport.route(
      "GET", "/api", 200,
      R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{)"
      R"("metadata":{},"versions":[{"version":"v1","resources":[{"resource":"namespaces",)"
      R"("responseKind":{"group":"","version":"v1","kind":"Namespace"},"scope":"Cluster",)"
      R"("singularResource":"namespace","verbs":["get","list","watch"]}]}]}]})");
  const auto shop = [](const std::string& version) {
    return R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","uid":"n1",)"
           R"("resourceVersion":")" +
           version + R"(","labels":{"demo":"yes"}}})";
  };
  const bool is_there = GENERATE(true, false);
  world.transport.route("GET", "/apis/demo.dev/v1/namespaces/shop/websites/a", is_there ? 200 : 404,
                        is_there ? site("a", "u1", "4") : kNoSuch);
  world.folder.write("go", "");
  world.start();
  for (const char* plural : {"websites", "namespaces"}) {
    world.give_list(plural, std::string(plural) == "websites" ? site("a", "u1", "4") : shop("3"));
  }
  auto& sites = world.watch("websites");
  auto& namespaces = world.watch("namespaces");
  sites.head(200);
  namespaces.head(200);
  REQUIRE(world.sees("a\n"));
  // So is one that has only lost its labels.
  namespaces.data(told("DELETED", shop("8")));
  if (!is_there) sites.data(told("DELETED", site("a", "u1", "6")));
  CHECK(world.sees(is_there ? "a\n" : "a\na gone\n"));
}

TEST_CASE("what the watch still shows long after its cleanup is not finalized once more") {
  test::ScriptedEngine world("  finalize: {exec: [./hook.sh, finalize], output: log}\n");
  loop::SkippingTime time{world.loop};
  const std::string dying =
      site("a", "u1", "4", "{}",
           R"(,"deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["kubewatch.dev/web"])");
  const std::string path = "/apis/demo.dev/v1/namespaces/shop/websites/a";
  const bool is_there = GENERATE(true, false);
  world.transport.answer(200, list(dying));
  world.transport.route("PATCH", path, 200, site("a", "u1", "6"));
  world.transport.route("GET", path, is_there ? 200 : 404, is_there ? dying : kNoSuch);
  world.start();
  world.watch("websites").head(200);
  REQUIRE(world.until([&] { return world.seen() == "finalize\n"; }));
  REQUIRE(world.until([&] { return world.engine->status().idle; }));
  time.skip(Duration{11000});
  hooks::TriggerRequest request;
  request.all = true;
  REQUIRE(world.engine->drivers().at(0)->trigger(request).size() == 1);
  REQUIRE(world.until([&] {
    const auto lines = world.transport.lines();
    return std::count(lines.begin(), lines.end(), "GET " + path) >= 1 &&
           world.engine->status().idle && (!is_there || world.runs.size() == 2);
  }));
  CHECK(world.seen() == (is_there ? "finalize\nfinalize\n" : "finalize\n"));
}
