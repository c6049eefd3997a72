// The array that a hook finds in BINDING_CONTEXT_PATH.
#include "compat/binding_context.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::compat;

namespace {

const char* const kConfig = R"(
configVersion: v1
onStartup: 1
schedule:
- {name: tick, crontab: "* * * * *", includeSnapshotsFrom: [pods]}
- {name: grouped tick, crontab: "* * * * *", group: all}
kubernetes:
- {name: pods, kind: Pod, jqFilter: .spec, includeSnapshotsFrom: [settings]}
- {name: settings, kind: ConfigMap}
- {name: a, kind: Secret, group: all}
- {name: b, kind: Node, group: all, keepFullObjectsInMemory: false, jqFilter: .x}
)";

HookConfig config() {
  auto parsed = parse_hook_config(kConfig);
  REQUIRE(parsed.ok());
  return *std::move(parsed);
}

std::vector<SnapshotItem> snapshot(std::size_t binding) {
  switch (binding) {
    case 0: return {{R"({"n":1})", R"({"f":1})"}, {R"({"n":2})", "null"}};
    case 1: return {{R"({"c":1})", std::nullopt}};
    case 2: return {{R"({"s":1})", std::nullopt}};
    default: return {{"", R"("b")"}};
  }
}

Json rendered(const std::vector<Context>& contexts) {
  const auto parsed = base::parse_json(render_contexts(config(), contexts, snapshot));
  REQUIRE(parsed.ok());
  return *parsed;
}

Json json(const std::string& text) {
  return *base::parse_json(text);
}

}  // namespace

TEST_CASE("onStartup says its binding and nothing else") {
  CHECK(rendered({startup_context()}) == json(R"([{"binding":"onStartup"}])"));
}

TEST_CASE("a schedule has its type and the snapshots that it asks for") {
  CHECK(rendered({schedule_context(config(), 0)}) ==
        json(R"([{"binding":"tick","type":"Schedule","snapshots":{"pods":[
          {"object":{"n":1},"filterResult":{"f":1}},{"object":{"n":2},"filterResult":null}]}}])"));
}

TEST_CASE("Synchronization has the objects as they are now, and snapshots") {
  CHECK(rendered({synchronization_context(config(), 0)}) ==
        json(R"([{"binding":"pods","type":"Synchronization","objects":[
          {"object":{"n":1},"filterResult":{"f":1}},{"object":{"n":2},"filterResult":null}],
          "snapshots":{"settings":[{"object":{"c":1}}]}}])"));
}

TEST_CASE("an event has the object as it was then") {
  Context event = synchronization_context(config(), 1);
  event.type = ContextType::event;
  event.event = WatchEvent::deleted;
  event.object = R"({"old":true})";
  CHECK(rendered({event, event}).size() == 2);
  CHECK(rendered({event})[0] == json(R"({"binding":"settings","type":"Event","watchEvent":"Deleted",
          "object":{"old":true}})"));
  event.object = "";
  event.filtered = "[1]";
  CHECK(rendered({event})[0] == json(R"({"binding":"settings","type":"Event","watchEvent":"Deleted",
          "filterResult":[1]})"));
}

TEST_CASE("a group has the snapshots of all its bindings and no objects") {
  const Json expected = json(R"({"binding":"all","type":"Group","groupName":"all",
    "snapshots":{"a":[{"object":{"s":1}}],"b":[{"filterResult":"b"}]}})");
  CHECK(rendered({schedule_context(config(), 1)})[0] == expected);
  CHECK(rendered({synchronization_context(config(), 2)})[0] == expected);
}

TEST_CASE("names are written as JSON strings") {
  Context odd = startup_context();
  odd.name = "quote \" and \\ and\nline";
  CHECK(rendered({odd})[0]["binding"] == odd.name);
}

TEST_CASE("what a run was for is told in a line") {
  Context event = synchronization_context(config(), 1);
  event.type = ContextType::event;
  event.object_id = "ConfigMap shop/a";
  CHECK(describe({startup_context()}) == "onStartup");
  CHECK(describe({synchronization_context(config(), 0), event, event, event, event}) ==
        "Synchronization of pods, Added ConfigMap shop/a, Added ConfigMap shop/a and 2 more");
}

TEST_CASE("a run has as many contexts as snapshots fit into memory, and one at least") {
  HookConfig config;
  config.kubernetes.resize(2);
  config.kubernetes[0].name = "pods";
  config.kubernetes[1].name = "secrets";
  const auto most = [&](std::size_t mebibytes) {
    return most_contexts(config, [=](std::size_t) { return mebibytes << 20U; });
  };
  CHECK(most(1000) > 1000000);  // no context shows any
  config.kubernetes[0].snapshots_from = {"secrets"};
  CHECK(most(10) == 6);
  CHECK(most(1000) == 1);
  config.kubernetes[0].group = "g";  // its own objects too
  CHECK(most(10) == 3);
}
