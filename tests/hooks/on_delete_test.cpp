// onDelete: each deletion is told once, whatever else is told of the same name, and whoever runs
// the rule by then.
#include <algorithm>
#include <filesystem>

#include "hooks/scripted_engine.hpp"
#include "hooks/state_store.hpp"
#include "loop/skipping_time.hpp"

using namespace kubewatch;
using test::list;
using test::watch_line;

namespace {

constexpr const char* kNoSuch = R"({"kind":"Status","reason":"NotFound","code":404})";

std::string site(const std::string& name, const std::string& uid, const std::string& version,
                 const std::string& spec = "{}", const std::string& more = "") {
  return R"({"apiVersion":"demo.dev/v1","kind":"Website","metadata":{"name":")" + name +
         R"(","namespace":"shop","uid":")" + uid + R"(","resourceVersion":")" + version + "\"" +
         more + R"(},"spec":)" + spec + "}";
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
  // The last one that is open, of a kind in a namespace: "shop/websites".
  test::ScriptedCall& open(const std::string& place, bool watch) {
    test::ScriptedCall* out = nullptr;
    REQUIRE(until([&] {
      for (std::size_t i = 0; i < transport.size(); ++i) {
        auto& one = transport.call(i);
        const bool watches = one.line().find("watch=true") != std::string::npos;
        if (one.open() && one.path().ends_with("/" + place) && watches == watch) out = &one;
      }
      return out != nullptr;
    }));
    return *out;
  }
  // So far, of ConfigMaps.
  std::ptrdiff_t lists_of_children() const {
    const auto lines = transport.lines();
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("/configmaps?") != std::string::npos &&
             line.find("watch=true") == std::string::npos;
    });
  }
  void give(const std::string& place, const std::string& items) {
    auto& listed = open(place, false);
    listed.head(200);
    listed.data(list(items));
    listed.end();
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
  first.data(watch_line("DELETED", a("6")));
  second.data(watch_line("DELETED", a("6")));
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
  watch.data(watch_line("DELETED", site("a", "u1", "5", R"({"on":true})")));
  REQUIRE(world.until([&] { return world.seen() == "a\na gone\n"; }));
  // Not of the rule's.
  watch.data(watch_line("ADDED", site("a", "u2", "6", R"({"on":false})")));
  watch.data(watch_line("DELETED", site("a", "u2", "7", R"({"on":false})")));
  world.folder.write("go", "");
  CHECK(world.sees("a\na gone\na gone\n"));
}

TEST_CASE("the run after a deletion is Updated, whatever had the name before and after") {
  World world("");
  world.transport.answer(200, list(site("a", "u1", "4")));
  world.start();
  auto& watch = world.watch("websites");
  watch.head(200);
  REQUIRE(world.sees("a\n"));
  SECTION("two deletions of one name, and a new object") {
    world.folder.write("go", "");
    watch.data(
        watch_line("DELETED", site("a", "u1", "5")) + watch_line("ADDED", site("a", "u2", "6")) +
        watch_line("DELETED", site("a", "u2", "7")) + watch_line("ADDED", site("a", "u3", "8")));
    REQUIRE(world.sees("a\na gone\na gone\na\n"));
    REQUIRE(world.runs.size() == 4);
    CHECK(world.runs[1].reason == "Updated");
    CHECK(world.runs[2].reason == "Updated");
    CHECK(world.runs[3].reason == "Created");
  }
  SECTION("the second one comes while the first is told") {
    watch.data(watch_line("DELETED", site("a", "u1", "5")));
    REQUIRE(world.until([&] { return world.seen() == "a\na gone\n"; }));
    watch.data(watch_line("ADDED", site("a", "u2", "6")) +
               watch_line("DELETED", site("a", "u2", "7")));
    world.folder.write("go", "");
    REQUIRE(world.sees("a\na gone\na gone\n"));
    REQUIRE(world.runs.size() == 3);
    CHECK(world.runs[1].reason == "Updated");
    CHECK(world.runs[2].reason == "Updated");
  }
}

TEST_CASE("an answer from before an object came back and went again settles nothing of that") {
  World world("  concurrency: 1\n", ", labelSelector: tier=web");
  const std::string path = "/apis/demo.dev/v1/namespaces/shop/websites/a";
  const auto a = [](const std::string& version) {
    return site("a", "u1", version, "{}", R"(,"labels":{"tier":"web"})");
  };
  world.folder.write("go", "");
  world.transport.answer(200, list(a("4")));
  world.start();
  auto& watch = world.watch("websites");
  watch.head(200);
  REQUIRE(world.sees("a\n"));
  const auto asked = [&]() -> test::ScriptedCall* {
    auto& last = world.transport.last();
    return last.open() && last.path() == path ? &last : nullptr;
  };
  watch.data(watch_line("DELETED", a("6")));
  REQUIRE(world.until([&] { return asked() != nullptr; }));
  auto& late = *asked();
  watch.data(watch_line("ADDED", a("7")) + watch_line("DELETED", a("8")));
  world.loop.run_until([] { return false; }, Duration{1});
  late.head(200);
  late.data(site("a", "u1", "6"));
  late.end();
  REQUIRE(world.until([&] { return asked() != nullptr; }));
  auto& next = *asked();
  next.head(404);
  next.data(kNoSuch);
  next.end();
  CHECK(world.sees("a\na gone\n"));
}

TEST_CASE("what was cleaned up before the rule was read again is not finalized once more") {
  test::ScriptedEngine world(
      "  onDelete: true\n  finalize: {shell: 'echo finalize >> seen; while [ ! -e go ]; do sleep "
      "0.02; done', output: log}\n");
  const std::string dying =
      site("a", "u1", "4", "{}",
           R"(,"deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["kubewatch.dev/web"])");
  world.transport.answer(200, list(dying));
  world.transport.route("PATCH", "/apis/demo.dev/v1/namespaces/shop/websites/a", 200,
                        site("a", "u1", "6"));
  auto changed = world.rules;
  changed[0].fingerprint += 1;
  world.start();
  world.watch("websites").head(200);
  REQUIRE(world.until([&] { return world.seen() == "finalize\n"; }));
  REQUIRE(world.engine->reload(changed).ok());
  world.folder.write("go", "");
  REQUIRE(world.until([&] {
    return world.engine->drivers().size() == 1 && world.engine->drivers()[0]->status().started &&
           world.engine->status().idle;
  }));
  CHECK(world.engine->drivers()[0]->rule().fingerprint == changed[0].fingerprint);
  CHECK(world.seen() == "finalize\n");
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
  watch.data(watch_line("DELETED", site("a", "u1", "6")) +
             watch_line("DELETED", site("b", "u2", "7")));
  REQUIRE(world.until([&] { return world.seen() == "a gone\n"; }));
  REQUIRE(world.engine->reload(changed).ok());
  // While the hook of the rule before it still runs.
  watch.data(watch_line("DELETED", site("c", "u3", "8")));
  world.transport.answer(200, list(""));
  world.folder.write("go", "");
  CHECK(world.sees(still_tells ? "a gone\nb gone\nc gone\n" : "a gone\n"));
  CHECK(world.engine->drivers().size() == 1);
}

TEST_CASE("what goes before a rule that was read again has its caches is told when it has") {
  World world("  owns: [{apiVersion: v1, kind: ConfigMap}]\n");
  world.transport.route("GET", "/apis/demo.dev/v1/namespaces/shop/websites/a", 404, kNoSuch);
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
    REQUIRE(world.until([&] { return world.lists_of_children() == 1 + i; }));
    if (i == 1) world.watch("websites").data(watch_line("DELETED", site("a", "u1", "6")));
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
  namespaces.data(watch_line("DELETED", shop("8")));
  if (!is_there) sites.data(watch_line("DELETED", site("a", "u1", "6")));
  CHECK(world.sees(is_there ? "a\n" : "a\na gone\n"));
}

TEST_CASE("a rule that is read again is not told of what was never selected") {
  World world("  owns: [{apiVersion: v1, kind: ConfigMap}]\n", ", namespaceSelector: demo=yes");
  world.transport.route("GET", "/api", 200,
                        R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",)"
                        R"("items":[{"metadata":{},"versions":[{"version":"v1","resources":[)"
                        R"({"resource":"namespaces","responseKind":{"group":"","version":"v1",)"
                        R"("kind":"Namespace"},"scope":"Cluster","singularResource":"namespace",)"
                        R"("verbs":["get","list","watch"]},{"resource":"configmaps",)"
                        R"("responseKind":{"group":"","version":"v1","kind":"ConfigMap"},)"
                        R"("scope":"Namespaced","singularResource":"configmap",)"
                        R"("verbs":["get","list","watch"]}]}]}]})");
  for (const char* const path : {"shop/websites/a", "other/websites/b"}) {
    world.transport.route("GET", std::string("/apis/demo.dev/v1/namespaces/") + path, 404, kNoSuch);
  }
  const std::string shop =
      R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","uid":"n1",)"
      R"("resourceVersion":"3","labels":{"demo":"yes"}}})";
  const auto b = [](const std::string& version) {
    std::string out = site("b", "u2", version);
    return out.replace(out.find("shop"), 4, "other");
  };
  world.folder.write("go", "");
  auto changed = world.rules;
  changed[0].fingerprint += 1;
  world.start();
  world.give_list("namespaces", shop);
  world.give_list("websites", site("a", "u1", "4") + "," + b("4"));
  world.give_list("configmaps", "");
  for (const char* const plural : {"websites", "namespaces"}) world.watch(plural).head(200);
  REQUIRE(world.sees("a\n"));
  REQUIRE(world.engine->reload(changed).ok());
  REQUIRE(world.until([&] { return world.lists_of_children() == 2; }));
  world.watch("websites")
      .data(watch_line("DELETED", b("6")) + watch_line("DELETED", site("a", "u1", "7")));
  world.give_list("namespaces", shop);
  world.give_list("configmaps", "");
  CHECK(world.sees("a\na gone\n"));
}

TEST_CASE("what goes in a namespace that a changed rule does not name is not told to it") {
  World world("  owns: [{apiVersion: v1, kind: ConfigMap}]\n", ", namespaces: [shop, other]");
  world.folder.write("go", "");
  auto changed = world.rules;
  changed[0].fingerprint += 1;
  changed[0].for_.namespaces = {"other"};
  const auto b = [](const std::string& version) {
    std::string out = site("b", "u2", version);
    return out.replace(out.find("shop"), 4, "other");
  };
  world.start();
  for (const char* const path : {"shop/websites/a", "other/websites/b"}) {
    world.transport.route("GET", std::string("/apis/demo.dev/v1/namespaces/") + path, 404, kNoSuch);
  }
  world.give("shop/websites", site("a", "u1", "4"));
  world.give("other/websites", b("4"));
  world.give("shop/configmaps", "");
  world.give("other/configmaps", "");
  for (const char* const place : {"shop/websites", "other/websites"}) {
    world.open(place, true).head(200);
  }
  REQUIRE(world.sees("a\nb\n"));
  REQUIRE(world.engine->reload(changed).ok());
  world.give("shop/websites", "");  // where finalizers may be left
  world.open("other/configmaps", false);
  world.open("shop/websites", true).data(watch_line("DELETED", site("a", "u1", "6")));
  world.open("other/websites", true).data(watch_line("DELETED", b("7")));
  world.give("other/configmaps", "");
  CHECK(world.sees("a\nb\nb gone\n"));
}

TEST_CASE("a deletion that may not be looked for in a namespace that was left out is given up") {
  World world("", ", labelSelector: tier=web");
  const auto a = [](const std::string& version) {
    return site("a", "u1", version, "{}", R"(,"labels":{"tier":"web"})");
  };
  auto changed = world.rules;
  changed[0].fingerprint += 1;
  changed[0].for_.namespaces = {"other"};
  world.transport.answer(200, list(a("4")));
  world.start();
  auto& watch = world.watch("websites");
  watch.head(200);
  REQUIRE(world.sees("a\n"));
  watch.data(watch_line("DELETED", a("6")));
  const std::string path = "/apis/demo.dev/v1/namespaces/shop/websites/a";
  const auto asked = [&] {
    const auto lines = world.transport.lines();
    return std::count(lines.begin(), lines.end(), "GET " + path);
  };
  REQUIRE(world.until([&] { return asked() == 1; }));
  REQUIRE(world.engine->reload(changed).ok());
  world.transport.route("GET", path, 403,
                        R"({"kind":"Status","reason":"Forbidden","code":403,"message":"no"})");
  for (std::size_t i = 0; i < world.transport.size(); ++i) {
    auto& call = world.transport.call(i);
    if (call.open() && call.line() == "GET " + path) {
      call.fail(Error(ErrorKind::unreachable, "cut off"));
    }
  }
  world.give("other/websites", "");
  CHECK(world.until([&] { return world.engine->status().given_up == 1; }));
  CHECK(world.seen() == "a\n");
  CHECK(asked() == 2);
  CHECK(world.engine->status().failing == 0);
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

namespace {

// As `retry --parked` asks.
hooks::TriggerRequest by_name() {
  hooks::TriggerRequest request;
  request.key = {"shop", "a"};
  return request;
}

// Its hook fails for what is gone as long as there is the file `bad`.
struct Failing : World {
  explicit Failing(const std::string& spec, const std::string& for_more = "")
      : World(spec, for_more) {
    folder.write("go", "");
    folder.write("bad", "");
    folder.write("hook.sh",
                 "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nread -r input\n"
                 "case $input in *'\"object\":null'*) ;; *) echo \"$KW_NAME\" >> seen; exit 0 ;; "
                 "esac\necho \"$KW_NAME gone\" >> seen\n[ ! -e bad ]\n");
  }
  test::ScriptedCall& begin(const std::string& spec = "{}") {
    transport.answer(200, list(site("a", "u1", "4", spec)));
    start();
    auto& websites = watch("websites");
    websites.head(200);
    REQUIRE(sees("a\n"));
    return websites;
  }
};

constexpr const char* kTwice = "  retry: {initial: 1ms, max: 1ms, maxAttempts: 2}\n";

// A hook of kDeletesOld prints the deletion of a ConfigMap, which the server refuses.
constexpr const char* kDeletesOld =
    "  onDelete: true\n  writes: [{apiVersion: v1, kind: ConfigMap}]\n  apply: {validate: none}\n";
constexpr const char* kDeleteOld =
    "echo '{apiVersion: kubewatch.dev/v1, kind: Result, delete: [{apiVersion: v1, kind: ConfigMap, "
    "name: old}]}'\n";
constexpr const char* kOld = "/api/v1/namespaces/shop/configmaps/old";

void refuse_old(test::ScriptedEngine& world) {
  world.transport.route("GET", kOld, 403,
                        R"({"kind":"Status","reason":"Forbidden","code":403,"message":"no"})");
}

}  // namespace

TEST_CASE("what a filter has no time for is not told as deleted: it may never have matched") {
  World world("", ", filter: 'def f: f; if .spec.loop then f else .spec.on end'");
  world.folder.write("go", "");
  const std::string loop = R"({"loop":true})";
  world.transport.answer(
      200, list(site("a", "u1", "4", loop) + "," + site("b", "u2", "5", loop) + "," +
                site("c", "u3", "5", loop) + "," + site("off", "u4", "5", R"({"on":false})")));
  world.start();
  auto& watch = world.watch("websites");
  watch.head(200);
  REQUIRE(world.until([&] { return world.runs.size() >= 3; }));
  watch.data(watch_line("DELETED", site("off", "u4", "7", R"({"on":false})")));
  REQUIRE(world.until([&] {
    return std::any_of(world.runs.begin(), world.runs.end(), [](const auto& run) {
      return run.key.name == "off" && run.message.find("it was not run") != std::string::npos;
    });
  }));
  CHECK(world.seen() == "");
}

TEST_CASE("an onDelete run that fails for good is parked, and its deletion not forgotten") {
  const bool refused = GENERATE(true, false);
  INFO("by the server " << refused);
  test::ScriptedEngine world(kDeletesOld, "", "{exec: [./hook.sh]}");
  world.folder.write("hook.sh",
                     "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nread -r input\n"
                     "case $input in *'\"object\":null'*) ;; *) exit 0 ;; esac\n" +
                         std::string(kDeleteOld) + "exit \"$(cat code)\"\n");
  world.folder.write("code", refused ? "0" : "65");
  refuse_old(world);
  world.transport.answer(200, list(site("a", "u1", "4")));
  loop::SkippingTime time{world.loop};
  hooks::EngineOptions options;
  auto state = hooks::StateStore::open(world.folder.file("state"), {"boot", "server", ""});
  REQUIRE(state.ok());
  options.state = std::move(*state);
  world.start(options);
  auto& watch = world.watch("websites");
  watch.head(200);
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  watch.data(watch_line("DELETED", site("a", "u1", "6")));
  REQUIRE(world.until([&] { return world.runs.size() == 2 && world.engine->status().idle; }));
  CHECK(world.runs[1].outcome == (refused ? "write-failed" : "permanent"));
  CHECK(world.engine->status().parked == 1);
  CHECK(world.engine->status().given_up == 0);
  CHECK(world.state() == "parked");
  const hooks::HandledObject* known = options.state->find({"web", {"shop", "a"}});
  REQUIRE(known != nullptr);
  CHECK(known->uid == "u1");
  CHECK(known->hash.empty());  // the next start is to tell it
  world.transport.route("GET", kOld, 404, kNoSuch);
  world.folder.write("code", "0");
  if (refused) {
    time.skip(Duration{3601000});
  } else {
    REQUIRE(world.engine->drivers().at(0)->trigger(by_name()).size() == 1);
  }
  REQUIRE(world.until([&] { return world.runs.size() == 3 && world.engine->status().idle; }));
  CHECK(world.runs[2].outcome == "done");
  CHECK(world.engine->status().parked == 0);
  CHECK(options.state->find({"web", {"shop", "a"}}) == nullptr);
}

TEST_CASE("an onDelete run whose attempts are used up is run again by a trigger") {
  const bool name_in_use = GENERATE(false, true);
  INFO("name in use " << name_in_use);
  Failing world(kTwice, ", filter: .spec.on");
  auto& watch = world.begin(R"({"on":true})");
  watch.data(watch_line("DELETED", site("a", "u1", "5", R"({"on":true})")));
  const std::string seen = "a\na gone\na gone\n";
  REQUIRE(world.sees(seen));
  hooks::Driver& driver = *world.engine->drivers().at(0);
  if (name_in_use) {
    // Not of the rule's: nothing waits behind the deletion.
    watch.data(watch_line("ADDED", site("a", "u2", "6", R"({"on":false})")));
    REQUIRE(world.until([&] { return driver.facts_of({"shop", "a"}).cached; }));
  }
  CHECK(world.engine->status().parked == 1);
  CHECK(world.engine->status().given_up == 0);
  CHECK(world.state() == "parked");
  std::filesystem::remove(world.folder.file("bad"));
  CHECK(driver.trigger(by_name()).size() == 1);
  CHECK(world.sees(seen + "a gone\n"));
  CHECK(world.engine->status().parked == 0);
  CHECK(driver.trigger(by_name()).empty());
}

TEST_CASE("a new object does not wait for a deletion of its name that is not tried again") {
  const bool used_up = GENERATE(true, false);
  INFO("attempts used up " << used_up);
  Failing world(used_up ? kTwice : "  retry: {exits: {1: permanent}}\n");
  const std::string tries = used_up ? "a gone\na gone\n" : "a gone\n";
  auto& watch = world.begin();
  SECTION("the object is there") {
    watch.data(watch_line("DELETED", site("a", "u1", "5")) +
               watch_line("ADDED", site("a", "u2", "6")));
    CHECK(world.sees("a\n" + tries + "a\n"));
    CHECK(world.engine->status().parked == 0);
    CHECK(world.engine->status().given_up == 1);
    CHECK(base::join(world.engine->drivers().at(0)->unreconciled(), "; ") == "1 onDelete given up");
    // Not a second time, and not in an hour.
    CHECK(world.state() == "idle");
  }
  SECTION("it comes when the deletion is parked") {
    watch.data(watch_line("DELETED", site("a", "u1", "5")));
    REQUIRE(world.sees("a\n" + tries));
    CHECK(world.engine->status().parked == 1);
    watch.data(watch_line("ADDED", site("a", "u2", "6")));
    CHECK(world.sees("a\n" + tries + tries + "a\n"));
    CHECK(world.engine->status().given_up == 1);
  }
  SECTION("it has gone as well") {
    watch.data(watch_line("DELETED", site("a", "u1", "5")));
    REQUIRE(world.sees("a\n" + tries));
    watch.data(watch_line("ADDED", site("a", "u2", "6")) +
               watch_line("DELETED", site("a", "u2", "7")));
    CHECK(world.sees("a\n" + tries + tries + tries));
    CHECK(world.engine->status().parked == 1);
    CHECK(world.engine->status().given_up == 1);
  }
}

TEST_CASE("where ever more deletions fail the oldest is given up") {
  const bool name_in_use = GENERATE(false, true);
  const bool parked = GENERATE(false, true);
  INFO("name in use " << name_in_use << ", parked " << parked);
  test::ScriptedEngine world(std::string(kDeletesOld) + "  retry: {initial: 1h, max: 1h}\n",
                             ", filter: .spec.on", "{exec: [./hook.sh]}");
  world.folder.write("hook.sh", std::string("#!/bin/sh\ncd \"$(dirname \"$0\")\"\n") +
                                    "grep -q '\"object\":null' || exit 0\n"
                                    "echo \"$KW_NAME\" >> seen\n" +
                                    (parked ? kDeleteOld : "exit 1\n"));
  refuse_old(world);
  const std::string spec = R"({"on":true})";
  world.transport.answer(200, list(site("a", "u1", "4", spec) + "," + site("b", "u2", "4", spec) +
                                   "," + site("c", "u3", "4", spec)));
  loop::SkippingTime time{world.loop};
  hooks::EngineOptions options;
  options.most_failed_deletions = 2;
  auto state = hooks::StateStore::open(world.folder.file("state"), {"boot", "server", ""});
  REQUIRE(state.ok());
  options.state = std::move(*state);
  world.start(options);
  auto& watch = world.watch("websites");
  watch.head(200);
  const auto ran = [&](std::size_t runs) {
    return world.until([&] { return world.runs.size() == runs && world.engine->status().idle; });
  };
  const auto waiting = [&] {
    const hooks::EngineStatus status = world.engine->status();
    return parked ? status.parked : status.failing;
  };
  REQUIRE(ran(3));
  watch.data(watch_line("DELETED", site("a", "u1", "6", spec)));
  REQUIRE(ran(4));
  watch.data(watch_line("DELETED", site("b", "u2", "7", spec)));
  REQUIRE(ran(5));
  CHECK(waiting() == 2);
  CHECK(world.engine->status().given_up == 0);
  hooks::Driver& driver = *world.engine->drivers().at(0);
  if (name_in_use) {
    // Not of the rule's: nothing waits behind the deletion.
    watch.data(watch_line("ADDED", site("a", "u4", "8")));
    REQUIRE(world.until([&] { return driver.facts_of({"shop", "a"}).cached; }));
  }
  watch.data(watch_line("DELETED", site("c", "u3", "9", spec)));
  REQUIRE(ran(6));
  CHECK(waiting() == 2);
  CHECK(world.engine->status().given_up == 1);
  CHECK_FALSE(driver.facts_of({"shop", "a"}).deleted);
  CHECK(driver.facts_of({"shop", "b"}).deleted);
  CHECK(options.state->find({"web", {"shop", "a"}}) == nullptr);
  CHECK(options.state->find({"web", {"shop", "b"}}) != nullptr);
  CHECK((driver.queue().look({"shop", "a"}) == std::nullopt));
  // Nor in an hour. Those that are parked run when they are asked for.
  world.folder.write("seen", "");
  time.skip(Duration{3601000});
  for (const char* name : {"b", "c"}) {
    if (!parked) break;
    hooks::TriggerRequest request;
    request.key = {"shop", name};
    CHECK(driver.trigger(request).size() == 1);
  }
  REQUIRE(ran(8));
  const bool others = world.seen() == "b\nc\n" || world.seen() == "c\nb\n";
  CHECK(others);
  CHECK(waiting() == 2);
  CHECK(world.engine->status().given_up == 1);
}

namespace {

constexpr const char* kSelected = R"(,"labels":{"tier":"web"},"finalizers":["kubewatch.dev/web"])";
constexpr const char* kDying = R"(,"labels":{"tier":"web"},"finalizers":["kubewatch.dev/web"],)"
                               R"("deletionTimestamp":"2026-01-02T03:04:05Z")";
constexpr const char* kSiteA = "/apis/demo.dev/v1/namespaces/shop/websites/a";

// A rule that selects and finalizes: a second watch guards what carries the finalizer.
struct Guarded : World {
  explicit Guarded(const std::string& metadata, const std::string& spec = "")
      : World("  finalize: {exec: [./hook.sh, finalize], output: log}\n" + spec,
              ", labelSelector: tier=web") {
    for (int i = 0; i < 2; ++i) transport.answer(200, list(site("a", "u1", "4", "{}", metadata)));
    folder.write("go", "");
    auto opened = hooks::StateStore::open(folder.file("state"), {"boot", "server", ""});
    REQUIRE(opened.ok());
    options.state = std::move(*opened);
  }
  void begin() {
    start(options);
    REQUIRE(until([&] { return selection() != nullptr && guard() != nullptr; }));
    selection()->head(200);
    guard()->head(200);
    REQUIRE(sees("a\n"));
  }
  test::ScriptedCall* selection() { return watch_of("labelSelector=tier", true); }
  test::ScriptedCall* guard() { return watch_of("labelSelector=tier", false); }
  const hooks::HandledObject* known() const { return options.state->find({"web", {"shop", "a"}}); }

  hooks::EngineOptions options;
};

}  // namespace

TEST_CASE(
    "what a selecting rule lets go without a cleanup is told, whichever watch tells it first") {
  Guarded world(kSelected);
  world.transport.route("GET", kSiteA, 404, kNoSuch);
  world.begin();
  const bool selection_first = GENERATE(true, false);
  const bool at_once = GENERATE(true, false);
  INFO("selection first " << selection_first << ", at once " << at_once);
  const std::string event = watch_line("DELETED", site("a", "u1", "6", "{}", kDying));
  (selection_first ? world.selection() : world.guard())->data(event);
  if (!at_once && selection_first) {
    CHECK(world.sees("a\na gone\n"));
  } else if (!at_once) {
    CHECK(world.sees("a\n"));
  }
  (selection_first ? world.guard() : world.selection())->data(event);
  CHECK(world.sees("a\na gone\n"));
  CHECK(world.known() == nullptr);
}

TEST_CASE("a deletion that fails is not given up for what the guard still shows of its object") {
  Guarded world(kSelected, "  retry: {exits: {1: permanent}}\n");
  world.folder.write("fail", "");
  world.transport.route("GET", kSiteA, 404, kNoSuch);
  world.begin();
  const std::string event = watch_line("DELETED", site("a", "u1", "6", "{}", kDying));
  world.selection()->data(event);
  REQUIRE(world.sees("a\na gone\n"));
  CHECK(world.engine->status().given_up == 0);
  CHECK(world.engine->status().parked == 1);
  world.guard()->data(event);
  CHECK(world.sees("a\na gone\n"));
  CHECK(world.engine->status().parked == 1);
  REQUIRE(world.known() != nullptr);
  CHECK(world.engine->drivers().at(0)->trigger(by_name()).size() == 1);
  CHECK(world.sees("a\na gone\na gone\n"));
  CHECK(world.known() == nullptr);
}

TEST_CASE("what has only left a selecting rule is let go and known no more") {
  Guarded world(kSelected);
  world.transport.route("GET", kSiteA, 200,
                        site("a", "u1", "6", "{}", R"(,"finalizers":["kubewatch.dev/web"])"));
  world.transport.route("PATCH", kSiteA, 200, site("a", "u1", "7"));
  world.begin();
  CHECK(world.known() != nullptr);
  world.selection()->data(watch_line("DELETED", site("a", "u1", "6", "{}", kSelected)));
  REQUIRE(world.until([&] {
    const auto lines = world.transport.lines();
    return std::count_if(lines.begin(), lines.end(),
                         [](const std::string& line) {
                           return line.starts_with(std::string("PATCH ") + kSiteA);
                         }) == 1 &&
           world.engine->status().idle;
  }));
  CHECK(world.known() == nullptr);
  world.guard()->data(watch_line("MODIFIED", site("a", "u1", "7")));
  world.guard()->data(watch_line("DELETED", site("a", "u1", "8")));
  CHECK(world.sees("a\n"));
}

TEST_CASE("what was cleaned up is known no more, whichever watch tells first that it is gone") {
  Guarded world(kDying);
  world.transport.route("GET", kSiteA, 404, kNoSuch);
  world.transport.route("PATCH", kSiteA, 200, site("a", "u1", "6"));
  world.begin();
  // When a start came now it could not tell it from what went without its cleanup.
  CHECK(world.known() == nullptr);
  const bool selection_first = GENERATE(true, false);
  const std::string event = watch_line("DELETED", site("a", "u1", "6", "{}", kDying));
  (selection_first ? world.selection() : world.guard())->data(event);
  CHECK(world.sees("a\n"));
  (selection_first ? world.guard() : world.selection())->data(event);
  CHECK(world.sees("a\n"));
  CHECK(world.known() == nullptr);
}

TEST_CASE("what a filter holds is not known to the next start, though it was run by its name") {
  const bool finalizes = GENERATE(false, true);
  INFO("finalizes " << finalizes);
  World world(finalizes ? "  whenNoLongerMatched: finalize\n"
                          "  finalize: {exec: [./hook.sh, finalize], output: log}\n"
                        : "",
              ", filter: .spec.on");
  const std::string more = finalizes ? R"(,"finalizers":["kubewatch.dev/web"])" : "";
  hooks::EngineOptions options;
  auto opened = hooks::StateStore::open(world.folder.file("state"), {"boot", "server", ""});
  REQUIRE(opened.ok());
  options.state = std::move(*opened);
  const auto known = [&] { return options.state->find({"web", {"shop", "a"}}) != nullptr; };
  world.transport.answer(200, list(site("a", "u1", "4", R"({"on":true})", more)));
  world.transport.route("PATCH", kSiteA, 200, site("a", "u1", "7"));
  world.start(options);
  auto& watch = world.watch("websites");
  watch.head(200);
  REQUIRE(world.sees("a\n"));
  CHECK(known());
  watch.data(watch_line("MODIFIED", site("a", "u1", "6", R"({"on":false})", more)));
  REQUIRE(world.until([&] { return !known(); }));
  if (finalizes) {
    watch.data(watch_line("MODIFIED", site("a", "u1", "7", R"({"on":false})")));
    CHECK(world.sees("a\na\n"));
    CHECK_FALSE(known());
    return;
  }
  CHECK(world.sees("a\n"));
  auto request = by_name();
  request.by_person = true;
  CHECK(world.engine->drivers().at(0)->trigger(request).size() == 1);
  CHECK(world.sees("a\na\n"));
  CHECK_FALSE(known());
}

namespace {

// A start with a state that knows shop/a, of that uid and kind, as it was last handled.
struct Known : World {
  Known(const std::string& uid, const std::string& kind) : World("") {
    folder.write("go", "");
    auto opened = hooks::StateStore::open(folder.file("state"), {"boot", "server", ""});
    REQUIRE(opened.ok());
    options.state = std::move(*opened);
    options.state->set({"web", {"shop", "a"}}, hooks::to_be_handled(kind, uid));
    transport.route("GET", kSiteA, 404, kNoSuch);
  }
  void begin(const std::string& items) {
    transport.answer(200, list(items));
    start(options);
    watch("websites").head(200);
  }
  const hooks::HandledObject* known() const { return options.state->find({"web", {"shop", "a"}}); }

  hooks::EngineOptions options;
};

}  // namespace

TEST_CASE("a start tells deletions of its rule's kind, and none of another one or of none") {
  const std::string kind = GENERATE("Website.demo.dev", "Site.demo.dev", "Website.demo.io", "");
  const bool made_again = GENERATE(false, true);
  INFO(kind << ", made again " << made_again);
  Known world("u0", kind);
  world.begin(made_again ? site("a", "u1", "4") : "");
  REQUIRE(world.until([&] { return world.engine->drivers().at(0)->status().started; }));
  const std::string gone = kind == "Website.demo.dev" ? "a gone\n" : "";
  CHECK(world.sees(gone + (made_again ? "a\n" : "")));
  if (!made_again) CHECK(world.known() == nullptr);
}

TEST_CASE("an object of a state without kinds is known by its uid") {
  Known world("u1", "");
  world.begin(site("a", "u1", "4"));
  REQUIRE(world.until([&] { return world.engine->drivers().at(0)->status().started; }));
  REQUIRE(world.known() != nullptr);
  CHECK(world.known()->kind == "Website.demo.dev");
}
