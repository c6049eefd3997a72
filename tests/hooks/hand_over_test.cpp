// onDelete around a change of the lead: what went while another instance led, or was left to do by
// this one, is told by whoever leads next.
#include <algorithm>

#include "hooks/scripted_engine.hpp"
#include "runtime/shard_map.hpp"

using namespace kubewatch;
using test::kSite;
using test::list;
using test::object;
using test::ScriptedEngine;

namespace {

const char* const kSpec = "  onDelete: true\n  concurrency: 1\n";
const char* const kFinalized =
    "  onDelete: true\n  concurrency: 1\n"
    "  finalize: {exec: [./hook.sh, finalize], output: log}\n";

const char* const kFinalizer = R"(,"finalizers":["kubewatch.dev/web"])";

std::vector<std::string> sorted(const std::string& lines) {
  auto out = base::split(lines, '\n');
  std::sort(out.begin(), out.end());
  return out;
}

// Stands by in its only shard, with Website shop/a. Its hook notes what it was told of, and waits
// for the file `go` where there is one called `wait`.
struct World : ScriptedEngine {
  explicit World(const std::string& spec = kSpec, const std::string& more = "")
      : ScriptedEngine(spec), metadata(more) {
    folder.write(
        "hook.sh",
        "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nread -r input\n"
        "case $input in *'\"object\":null'*) state=gone ;; *) state=there ;; esac\n"
        "case $input in *'\"previous\":{'*) state=\"$state, with its last state\" ;; esac\n"
        "echo \"$KW_NAME $state\" >> seen\n"
        "while [ -e wait ] && [ ! -e go ]; do sleep 0.02; done\n");
    transport.answer(200, list(object(kSite, "Website", "4", "{}", metadata)));
    hooks::EngineOptions options;
    options.shards.emplace();
    start(options);
    stream = &watch("websites");
    stream->head(200);
    REQUIRE(until([&] { return engine->drivers().at(0)->status().started; }));
  }

  std::string event(const std::string& type, const std::string& version) const {
    return event(type, version, metadata);
  }
  static std::string event(const std::string& type, const std::string& version,
                           const std::string& more) {
    return R"({"type":")" + type + R"(","object":)" +
           object(kSite, "Website", version, "{}", more) + "}\n";
  }
  void tell(const std::string& text) { stream->data(text); }
  // Nothing but that is told before what comes last, one after the other.
  bool told_only(const std::string& lines) {
    tell(R"({"type":"ADDED","object":{"apiVersion":"demo.dev/v1","kind":"Website","metadata":)"
         R"({"name":"last","namespace":"shop","uid":"u-last","resourceVersion":"99")" +
         metadata + "}}}\n");
    const auto told = sorted(lines + "last there\n");
    until([&] { return sorted(seen()).size() >= told.size(); });
    INFO(seen());
    CHECK(sorted(seen()) == told);
    return sorted(seen()) == told;
  }
  void lead() { engine->lead(0); }
  void give_up(bool& ended) {
    engine->end_runs(0, [&ended] { ended = true; });
  }

  std::string metadata;
  test::ScriptedCall* stream = nullptr;
};

}  // namespace

TEST_CASE("a deletion while no other instance was left to tell it is told by who takes over") {
  World world;
  world.tell(world.event("DELETED", "6"));
  CHECK(world.seen().empty());
  world.lead();
  CHECK(world.told_only("a gone, with its last state\n"));
}

TEST_CASE("an object that left and came back while another led was not deleted") {
  World world;
  world.tell(world.event("DELETED", "6"));
  world.tell(world.event("ADDED", "7"));
  world.lead();
  CHECK(world.told_only("a there\n"));
}

TEST_CASE("what another leader was to finalize is not told as a deletion as well") {
  World world(kFinalized, kFinalizer);
  world.tell(world.event("DELETED", "6"));
  world.lead();
  CHECK(world.told_only(""));
}

TEST_CASE("what the leader before has finalized is not told by who has just taken over") {
  World world(kFinalized, kFinalizer);
  world.lead();
  // The watch tells of its work only now.
  world.tell(world.event("DELETED", "6", R"(,"deletionTimestamp":"2026-01-02T03:04:05Z")"));
  CHECK(world.told_only(""));
}

TEST_CASE("what was let go without cleanup, under this leader or before it had one, is told") {
  World world(kFinalized, kFinalizer);
  world.lead();
  SECTION("after a run of it") {
    REQUIRE(world.until([&] { return world.runs.size() == 1; }));
    world.tell(world.event("DELETED", "6", kFinalizer));
    CHECK(world.told_only("a there\na gone, with its last state\n"));
  }
  SECTION("without the finalizer") {
    world.tell(world.event("DELETED", "6", ""));
    CHECK(world.told_only("a gone, with its last state\n"));
  }
}

TEST_CASE("a deletion that waited when the lead was given up is told by who has it next") {
  World world;
  world.folder.write("wait", "");
  world.lead();
  REQUIRE(world.until([&] { return world.seen() == "a there\n"; }));
  world.tell(world.event("DELETED", "6"));
  bool ended = false;
  world.give_up(ended);
  world.folder.write("go", "");
  REQUIRE(world.until([&] { return ended; }));
  CHECK(world.seen() == "a there\n");
  world.lead();
  CHECK(world.told_only("a there\na gone, with its last state\n"));
}

TEST_CASE("a deletion that was told while the lead was given up is not told again") {
  World world;
  world.lead();
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  world.folder.write("wait", "");
  world.tell(world.event("DELETED", "6"));
  REQUIRE(world.until([&] { return world.seen() == "a there\na gone, with its last state\n"; }));
  bool ended = false;
  world.give_up(ended);
  world.folder.write("go", "");
  REQUIRE(world.until([&] { return ended; }));
  world.lead();
  CHECK(world.told_only("a there\na gone, with its last state\n"));
}

TEST_CASE("while an engine ends, a shard has ended when its own runs have") {
  const bool narrows = GENERATE(false, true);
  CAPTURE(narrows);
  ScriptedEngine world(kSpec);
  world.folder.write("hook.sh",
                     "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho begins >> seen\ncat > input\n"
                     "while [ ! -e go ]; do sleep 0.02; done\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  hooks::EngineOptions options;
  options.shards.emplace().count = 2;
  if (narrows) options.shards = *hooks::parse_shard_plan("namespace=shop;blog", std::nullopt);
  const std::size_t busy = narrows ? 0 : runtime::shard_of("demo.dev", "Website", {"shop", "a"}, 2);
  world.start(options);
  for (const std::size_t shard : {busy, 1 - busy}) {
    world.engine->lead(shard);
    if (shard == busy) REQUIRE(world.until([&] { return world.seen() == "begins\n"; }));
  }
  bool all_ended = false;
  bool ended[2] = {};
  world.engine->shut_down([&] { all_ended = true; });
  for (const std::size_t shard : {busy, 1 - busy}) {
    world.engine->end_runs(shard, [&ended, shard] { ended[shard] = true; });
  }
  REQUIRE(world.until([&] { return ended[1 - busy]; }));
  CHECK_FALSE(ended[busy]);
  CHECK_FALSE(all_ended);
  world.folder.write("go", "");
  CHECK(world.until([&] { return ended[busy] && all_ended; }));
  REQUIRE(world.runs.size() == 1);
  CHECK(world.runs[0].outcome == "done");
}

TEST_CASE("shards that are handed over when the engine is ended are told of as well") {
  ScriptedEngine world(kSpec);
  world.folder.write("hook.sh",
                     "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho begins >> seen\ncat > input\n"
                     "while [ ! -e go ]; do sleep 0.02; done\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  hooks::EngineOptions options;
  options.shards = *hooks::parse_shard_plan("namespace=shop;blog", std::nullopt);
  world.start(options);
  world.engine->lead(0);
  REQUIRE(world.until([&] { return world.seen() == "begins\n"; }));
  bool ended = false;
  bool all_ended = false;
  world.engine->end_runs(0, [&] { ended = true; });
  world.engine->shut_down([&] { all_ended = true; });
  world.folder.write("go", "");
  CHECK(world.until([&] { return ended && all_ended; }));
}

TEST_CASE("rules of several shards that narrow are read again where they are the same") {
  ScriptedEngine world(kSpec);
  hooks::EngineOptions options;
  options.shards = *hooks::parse_shard_plan("namespace=shop;blog", std::nullopt);
  auto rules = world.rules;
  world.start(options);
  const auto same = world.engine->reload(rules);
  REQUIRE(same.ok());
  CHECK(same->empty());
  rules[0].fingerprint += 1;
  const auto other = world.engine->reload(rules);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().kind() == ErrorKind::unsupported);
}

TEST_CASE("a standby of the only shard that narrows what is watched has its cache ready") {
  ScriptedEngine world(kSpec);
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  hooks::EngineOptions options;
  options.shards = *hooks::parse_shard_plan("namespace=shop", std::nullopt);
  world.start(options);
  world.watch("websites").head(200);
  CHECK(world.asked("websites").path().ends_with("/namespaces/shop/websites"));
  REQUIRE(world.until([&] { return world.engine->drivers().at(0)->status().started; }));
  CHECK(world.runs.empty());
  world.engine->lead(0);
  CHECK(world.until([&] { return world.runs.size() == 1; }));
}

namespace {

hooks::EngineOptions by_label() {
  hooks::EngineOptions options;
  options.shards = *hooks::parse_shard_plan("label=part", 1);
  return options;
}

std::string part(const std::string& number) {
  return object(kSite, "Website", "6", "{}", R"(,"labels":{"part":")" + number + "\"}");
}

// A standby of the only shard by a label, with Website shop/a.
struct LabelWorld : ScriptedEngine {
  explicit LabelWorld(const std::string& spec = kSpec) : ScriptedEngine(spec) {
    transport.answer(200, list(part("0")));
    start(by_label());
    stream = &watch("websites");
    stream->head(200);
    REQUIRE(until([&] { return engine->drivers().at(0)->status().started; }));
  }
  test::ScriptedCall* stream = nullptr;
};

}  // namespace

TEST_CASE("the only shard by a label selects by it, and its standby has the cache ready") {
  LabelWorld world;
  CHECK(world.stream->line().find("labelSelector=part%3D0") != std::string::npos);
  CHECK(world.asked("websites").line().find("labelSelector=part%3D0") != std::string::npos);
  CHECK(world.runs.empty());
  world.engine->lead(0);
  CHECK(world.until([&] { return world.runs.size() == 1; }));
}

TEST_CASE("what has only left the shard by its label while another led was not deleted") {
  LabelWorld world;
  const bool is_there = GENERATE(true, false);
  const std::string path = "/apis/demo.dev/v1/namespaces/shop/websites/a";
  world.transport.route(
      "GET", path, is_there ? 200 : 404,
      is_there ? part("1") : R"({"kind":"Status","reason":"NotFound","code":404})");
  world.stream->data(test::watch_line("DELETED", part("0")));
  world.engine->lead(0);
  REQUIRE(world.until([&] {
    const auto lines = world.transport.lines();
    return std::count(lines.begin(), lines.end(), "GET " + path) == 1 &&
           world.engine->status().idle;
  }));
  CHECK(world.seen() == (is_there ? "" : "reconcile\n"));
}

TEST_CASE("what another shard has finalized is not told as deleted, nor its run here as failed") {
  const auto site = [](const std::string& number) {
    return object(kSite, "Website", "7", "{}",
                  R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","labels":{"part":")" + number +
                      "\"}" + kFinalizer);
  };
  ScriptedEngine world(kFinalized);
  world.folder.write("hook.sh",
                     "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$1\" >> seen\ncat > input\n"
                     "while [ ! -e go ]; do sleep 0.02; done\n");
  const std::string path = "/apis/demo.dev/v1/namespaces/shop/websites/a";
  world.transport.answer(200, list(object(kSite, "Website", "6", "{}",
                                          R"(,"labels":{"part":"0"})" + std::string(kFinalizer))));
  world.start(by_label());
  auto& stream = world.watch("websites");
  stream.head(200);
  world.engine->lead(0);
  REQUIRE(world.until([&] { return world.seen() == "reconcile\n"; }));
  // It went there while its run was at work here.
  world.transport.route("GET", path, 200, site("1"));
  stream.data(test::watch_line("DELETED", site("0")));
  const auto looks = [&] {
    const auto lines = world.transport.lines();
    return std::count(lines.begin(), lines.end(), "GET " + path);
  };
  REQUIRE(world.until([&] { return looks() == 1; }));
  world.transport.route("GET", path, 404, R"({"kind":"Status","reason":"NotFound","code":404})");
  REQUIRE(world.until([&] { return world.runs.size() == 1 && world.engine->status().idle; }));
  CHECK(world.runs[0].outcome == "dropped");
  CHECK(world.engine->status().failed_runs == 0);
  CHECK(world.engine->status().failing == 0);
  CHECK(world.seen() == "reconcile\n");
}

TEST_CASE("what was finalized here is not asked for when it goes, whatever its shard") {
  ScriptedEngine world(kFinalized);
  const std::string path = "/apis/demo.dev/v1/namespaces/shop/websites/a";
  const std::string site =
      object(kSite, "Website", "6", "{}",
             R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","labels":{"part":"0"})" +
                 std::string(kFinalizer));
  world.transport.answer(200, list(site));
  world.transport.route("PATCH", path, 200, object(kSite, "Website", "7", "{}"));
  world.start(by_label());
  auto& stream = world.watch("websites");
  stream.head(200);
  world.engine->lead(0);
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  REQUIRE(world.runs[0].outcome == "done");
  const auto looks = [&] {
    const auto lines = world.transport.lines();
    return std::count(lines.begin(), lines.end(), "GET " + path);
  };
  const auto before = looks();
  stream.data(test::watch_line("DELETED", site));
  CHECK_FALSE(world.loop.run_until([&] { return looks() > before; }, Duration{100}));
  CHECK(world.seen() == "finalize\n");
}

TEST_CASE("without finalize a deletion here is told unless the object is there when it is due") {
  ScriptedEngine world(kSpec);
  world.folder.write("hook.sh",
                     "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$1\" >> seen\ncat > input\n"
                     "while [ ! -e go ]; do sleep 0.02; done\n");
  const std::string path = "/apis/demo.dev/v1/namespaces/shop/websites/a";
  world.transport.answer(200, list(part("0")));
  world.start(by_label());
  auto& stream = world.watch("websites");
  stream.head(200);
  world.engine->lead(0);
  REQUIRE(world.until([&] { return world.seen() == "reconcile\n"; }));
  world.transport.route("GET", path, 200, part("9"));  // no shard's
  stream.data(test::watch_line("DELETED", part("0")));
  REQUIRE(world.until([&] {
    const auto lines = world.transport.lines();
    return std::count(lines.begin(), lines.end(), "GET " + path) == 1;
  }));
  world.transport.route("GET", path, 404, R"({"kind":"Status","reason":"NotFound","code":404})");
  world.folder.write("go", "");
  CHECK(world.until([&] { return world.seen() == "reconcile\nreconcile\n"; }));
}

TEST_CASE("rules that are read again stay narrowed to the only shard by a label") {
  LabelWorld world;
  world.engine->lead(0);
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  auto changed = world.engine->drivers().at(0)->rule();
  changed.for_.shard_selector.clear();
  changed.fingerprint += 1;
  changed.for_.namespaces = {"shop"};  // so its list is another
  world.transport.answer(200, list(part("0")));
  REQUIRE(world.engine->reload({changed}).ok());
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  REQUIRE(world.asked("websites").path().ends_with("/namespaces/shop/websites"));
  CHECK(world.asked("websites").line().find("labelSelector=part%3D0") != std::string::npos);
}

TEST_CASE("a cleanup finds the child that the leader before has made a moment ago") {
  ScriptedEngine world(
      "  owns: [{apiVersion: v1, kind: ConfigMap, namespaces: [other]}]\n"
      "  finalize: {exec: [./hook.sh, finalize], output: log}\n");
  const std::string site =
      object(kSite, "Website", "4", "{}",
             R"(,"deletionTimestamp":"2026-01-02T03:04:05Z")" + std::string(kFinalizer));
  const std::string child =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"page","namespace":"other",)"
      R"("uid":"u2","resourceVersion":"7","labels":{"kubewatch.dev/controller":"web",)"
      R"("kubewatch.dev/owner-uid":"u-Website"},"managedFields":[{"manager":"kubewatch/web",)"
      R"("operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]}})";
  const std::string others = "/api/v1/namespaces/other/configmaps";
  world.transport.route("GET", others, 200, list(child));
  world.transport.route("GET", others + "/page", 200, child);
  world.transport.route("DELETE", others + "/page", 200, R"({"kind":"Status"})");
  world.transport.route("PATCH", "/apis/demo.dev/v1/namespaces/shop/websites/a", 200,
                        object(kSite, "Website", "8", "{}"));
  const bool elected = GENERATE(true, false);
  hooks::EngineOptions options;
  if (elected) options.shards.emplace();
  world.start(options);
  for (const char* plural : {"websites", "configmaps"}) {
    auto& listed = world.asked(plural);
    listed.head(200);
    // The child's event is still on its way.
    listed.data(list(std::string(plural) == "websites" ? site : ""));
    listed.end();
    world.watch(plural).head(200);
  }
  if (elected) world.engine->lead(0);
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == "done");
  const auto lines = world.transport.lines();
  // Of one that runs alone everything is in its caches since its start.
  CHECK(std::count(lines.begin(), lines.end(), "DELETE " + others + "/page") == (elected ? 1 : 0));
}
