#include "apiserver/watch.hpp"

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::config_map;
using test::kConfigMaps;
using test::Server;

namespace {

Json labelled(const std::string& name, const std::string& tier) {
  return config_map(name, {{"metadata", {{"labels", {{"tier", tier}}}}}});
}

std::string last_bookmark(const test::FakeSink::Record& record) {
  std::string version;
  for (const auto& event : record.events()) {
    if (event["type"] == "BOOKMARK") {
      version = base::string_at(event, {"object", "metadata", "resourceVersion"});
    }
  }
  return version;
}

}  // namespace

TEST_CASE("a watch without a start shows the present state in order, then what changes") {
  Server server;
  server.post(kConfigMaps, config_map("b"));
  server.post(kConfigMaps, config_map("a"));
  const auto record = server.watch(kConfigMaps + "?watch=true");
  CHECK(record->story() == "ADDED a,ADDED b");
  server.merge(kConfigMaps + "/a", {{"data", {{"k", "v"}}}});
  server.remove(kConfigMaps + "/b");
  CHECK(record->story() == "ADDED a,ADDED b,MODIFIED a,DELETED b");
  // The state may be large and goes out as it is taken; what changes does not wait.
  CHECK(record->at_once == 2);
}

TEST_CASE("a watch from a resourceVersion shows every event after it and nothing twice") {
  Server server;
  server.post(kConfigMaps, config_map("a"));
  const std::string start = std::to_string(server.api.storage().version());
  server.post(kConfigMaps, config_map("b"));
  server.remove(kConfigMaps + "/a");
  const auto record = server.watch(kConfigMaps + "?watch=true&resourceVersion=" + start);
  server.post(kConfigMaps, config_map("c"));
  CHECK(record->story() == "ADDED b,DELETED a,ADDED c");
}

TEST_CASE("a watch from a resourceVersion of the future tells nothing until that is over") {
  Server server;
  server.post(kConfigMaps, config_map("a"));
  const std::uint64_t ahead = server.api.storage().version() + 2;
  const auto record =
      server.watch(kConfigMaps +
                   "?watch=true&allowWatchBookmarks=true&resourceVersion=" + std::to_string(ahead));
  server.post(kConfigMaps, config_map("b"));
  server.advance(60000);
  server.tick();
  CHECK(last_bookmark(*record).empty());
  server.post(kConfigMaps, config_map("c"));
  CHECK(record->story().empty());
  server.post(kConfigMaps, config_map("d"));
  CHECK(record->story() == "ADDED d");
}

TEST_CASE("a watch from a forgotten resourceVersion gets one 410 ERROR event and ends") {
  Server server;
  server.post(kConfigMaps, config_map("a"));
  const std::string old = std::to_string(server.api.storage().version());
  server.post(kConfigMaps, config_map("b"));
  server.api.storage().compact();
  const auto record = server.watch(kConfigMaps + "?watch=true&resourceVersion=" + old);
  REQUIRE(record->events().size() == 1);
  const Json event = record->events()[0];
  CHECK(event["type"] == "ERROR");
  CHECK(event["object"]["code"] == 410);
  CHECK(event["object"]["reason"] == "Expired");
  CHECK(record->ended);
}

TEST_CASE("initial events end with an annotated bookmark when bookmarks are allowed") {
  Server server;
  server.post(kConfigMaps, config_map("a"));
  const std::string streaming =
      "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  for (const auto& query : {streaming, std::string("?watch=1&allowWatchBookmarks=true")}) {
    CAPTURE(query);
    const auto events = server.watch(kConfigMaps + query)->events();
    REQUIRE(events.size() == 2);
    CHECK(events[1]["type"] == "BOOKMARK");
    CHECK(base::string_at(events[1], {"object", "metadata", "annotations",
                                      "k8s.io/initial-events-end"}) == "true");
    CHECK(base::string_at(events[1], {"object", "metadata", "resourceVersion"}) ==
          std::to_string(server.api.storage().version()));
    CHECK(events[1]["object"]["kind"] == "ConfigMap");
  }
  CHECK(server.watch(kConfigMaps + "?watch=1")->events().size() == 1);
}

TEST_CASE("initial events at a resourceVersion of the future are an ERROR event") {
  Server server;
  const auto record =
      server.watch(kConfigMaps +
                   "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                   "resourceVersion=9999");
  REQUIRE(record->events().size() == 1);
  CHECK(record->events()[0]["object"]["code"] == 504);
}

TEST_CASE(
    "an object that enters or leaves a selection is ADDED or DELETED with its last matching "
    "state") {
  Server server;
  const auto record = server.watch(kConfigMaps + "?watch=1&labelSelector=tier%3Dweb");
  server.post(kConfigMaps, labelled("a", "db"));
  server.merge(kConfigMaps + "/a", labelled("a", "web"));
  server.merge(kConfigMaps + "/a", {{"data", {{"k", "v"}}}});
  server.merge(kConfigMaps + "/a", labelled("a", "db"));
  server.merge(kConfigMaps + "/a", {{"data", {{"k", "w"}}}});
  CHECK(record->story() == "ADDED a,MODIFIED a,DELETED a");
  const Json gone = record->events().back();
  CHECK(base::string_at(gone, {"object", "metadata", "labels", "tier"}) == "web");
  CHECK(base::string_at(gone, {"object", "metadata", "resourceVersion"}) ==
        std::to_string(server.api.storage().version() - 1));
}

TEST_CASE("a watch sees its namespace, its field selection and its resource only") {
  Server server;
  server.post("/api/v1/namespaces", {{"metadata", {{"name", "shop"}}}});
  const auto here = server.watch(kConfigMaps + "?watch=1");
  const auto all = server.watch("/api/v1/configmaps?watch=1");
  const auto one = server.watch("/api/v1/watch/namespaces/default/configmaps/b");
  const auto old_path = server.watch("/api/v1/watch/namespaces/default/configmaps");
  server.post(kConfigMaps, config_map("a"));
  server.post(kConfigMaps, config_map("b"));
  server.post("/api/v1/namespaces/shop/configmaps", config_map("c"));
  server.post("/api/v1/namespaces/default/secrets", {{"metadata", {{"name", "s"}}}});
  CHECK(here->story() == "ADDED a,ADDED b");
  CHECK(all->story() == "ADDED a,ADDED b,ADDED c");
  CHECK(one->story() == "ADDED b");
  CHECK(old_path->story() == "ADDED a,ADDED b");
}

TEST_CASE(
    "bookmarks come at their interval and shortly before the end, at the newest resourceVersion") {
  Server server;
  const auto record =
      server.watch(kConfigMaps + "?watch=1&allowWatchBookmarks=1&timeoutSeconds=100");
  const auto without = server.watch(kConfigMaps + "?watch=1&timeoutSeconds=100");
  server.post("/api/v1/namespaces/default/secrets", {{"metadata", {{"name", "s"}}}});
  server.advance(60000);
  server.tick();
  CHECK(last_bookmark(*record) == std::to_string(server.api.storage().version()));
  server.post(kConfigMaps, config_map("a"));
  server.advance(38100);
  server.tick();
  CHECK(last_bookmark(*record) == std::to_string(server.api.storage().version()));
  CHECK_FALSE(record->ended);
  server.advance(2000);
  server.tick();
  CHECK(record->ended);
  CHECK(without->story() == "ADDED a");
  CHECK(server.api.watches().size() == 0);
}

TEST_CASE("a slow client gets everything later, in order, one that is too slow is dropped") {
  Server server;
  const auto record = server.watch(kConfigMaps + "?watch=1");
  record->backlog = 2U << 20U;
  server.post(kConfigMaps, config_map("a"));
  server.post(kConfigMaps, config_map("b"));
  CHECK(record->text.empty());
  CHECK(server.api.watches().pump(server.now()));
  record->backlog = 0;
  CHECK_FALSE(server.api.watches().pump(server.now()));
  CHECK(record->story() == "ADDED a,ADDED b");
  record->backlog = 2U << 20U;
  for (int i = 0; i < 10001; ++i) {
    server.api.storage().put("configmaps",
                             {{"metadata", {{"name", "x"}, {"namespace", "default"}}}});
  }
  server.tick();
  CHECK(record->ended);
}

TEST_CASE("a client is dropped that lets too many bytes wait, what the table has apart") {
  Server server;
  const auto record = server.watch(kConfigMaps + "?watch=1");
  record->backlog = 2U << 20U;
  const auto put = [&](const std::string& name) {
    server.api.storage().put("configmaps",
                             {{"metadata", {{"name", name}, {"namespace", "default"}}},
                              {"data", {{"k", std::string(2U << 20U, 'x')}}}});
  };
  for (int i = 0; i < 70; ++i) put(std::to_string(i));
  server.tick();
  CHECK_FALSE(record->ended);
  for (int i = 0; i < 70; ++i) put("0");
  server.tick();
  CHECK(record->ended);
}

TEST_CASE("a client that starts with a long history is not taken for a slow one") {
  ApiOptions options;
  options.history = 30000;
  Server server(options);
  const std::string start = std::to_string(server.api.storage().version());
  for (int i = 0; i < 15000; ++i) {
    server.api.storage().put("configmaps",
                             {{"metadata", {{"name", "x"}, {"namespace", "default"}}}});
  }
  auto record = std::make_shared<test::FakeSink::Record>();
  record->backlog = 2U << 20U;
  ApiRequest request;
  request.method = "GET";
  request.path = kConfigMaps;
  request.query = "watch=1&resourceVersion=" + start;
  const Reply reply = server.api.handle(request, server.now());
  server.api.watches().attach(reply.watch, std::make_unique<test::FakeSink>(record),
                              server.steady(), server.now());
  CHECK_FALSE(record->ended);
  record->backlog = 0;
  server.tick();
  CHECK(record->events().size() == 15000);
}

TEST_CASE("watchers that see an event the same way share one line") {
  Server server;
  const auto first = server.watch(kConfigMaps + "?watch=1");
  const auto second = server.watch("/api/v1/configmaps?watch=1");
  server.post(kConfigMaps, config_map("a"));
  CHECK(first->text == second->text);
  CHECK(first->text.back() == '\n');
}

TEST_CASE("a client that went away is forgotten, dropping all watches ends them") {
  Server server;
  const auto gone = server.watch(kConfigMaps + "?watch=1");
  const auto stays = server.watch(kConfigMaps + "?watch=1");
  gone->gone = true;
  server.api.watches().sweep();
  CHECK(server.api.watches().size() == 1);
  CHECK(gone->ended);
  server.api.watches().drop_all();
  CHECK(stays->ended);
  CHECK(server.api.watches().size() == 0);
}

TEST_CASE("tables and metadata are watched too, column definitions come in the first line only") {
  Server server;
  server.post(kConfigMaps, config_map("a"));
  const auto table = server.watch(kConfigMaps + "?watch=1", test::kTableAccept);
  server.post(kConfigMaps, config_map("b"));
  const auto events = table->events();
  REQUIRE(events.size() == 2);
  CHECK(events[0]["object"]["kind"] == "Table");
  CHECK(events[0]["object"]["columnDefinitions"].size() == 3);
  CHECK(events[1]["object"]["columnDefinitions"].is_null());
  CHECK(events[1]["object"]["rows"][0]["cells"][0] == "b");
  const auto partial = server.watch(kConfigMaps + "?watch=1",
                                    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
  CHECK(partial->events()[0]["object"]["kind"] == "PartialObjectMetadata");
  CHECK_FALSE(partial->events()[0]["object"].contains("data"));
}

TEST_CASE("events are one resource served in two groups with different names for their fields") {
  Server server;
  const auto record = server.watch("/apis/events.k8s.io/v1/namespaces/default/events?watch=1");
  const auto made = server.post("/apis/events.k8s.io/v1/namespaces/default/events",
                                {{"apiVersion", "events.k8s.io/v1"},
                                 {"kind", "Event"},
                                 {"metadata", {{"name", "e"}}},
                                 {"note", "hello"},
                                 {"reason", "Made"},
                                 {"type", "Normal"},
                                 {"action", "Making"},
                                 {"eventTime", "2026-01-01T00:00:00.000000Z"},
                                 {"reportingController", "c"},
                                 {"reportingInstance", "c-0"},
                                 {"regarding", {{"kind", "Pod"}, {"name", "p"}}}});
  CHECK(made.code == 201);
  CHECK(made.json["note"] == "hello");
  const auto core = server.get("/api/v1/namespaces/default/events/e");
  CHECK(core.json["message"] == "hello");
  CHECK(core.json["involvedObject"]["name"] == "p");
  CHECK(core.json["apiVersion"] == "v1");
  CHECK(record->events()[0]["object"]["note"] == "hello");
  CHECK(record->events()[0]["object"]["apiVersion"] == "events.k8s.io/v1");
}

TEST_CASE("init events are what starting a watch cost, whatever its selector shows of it") {
  Server server;
  const auto cost = [&] { return server.api.init_events().total("", "configmaps"); };
  server.post(kConfigMaps, labelled("a", "web"));
  const std::string version = std::to_string(server.api.storage().version());
  for (const char* name : {"b", "c", "d"}) server.post(kConfigMaps, labelled(name, "db"));
  const std::string target = kConfigMaps + "?watch=1&labelSelector=tier%3Dweb&resourceVersion=";
  CHECK(server.watch(target + version)->story() == "");
  CHECK(cost() == 3);
  server.watch(target + std::to_string(server.api.storage().version()));
  CHECK(cost() == 3);
  server.watch(target + "0");
  CHECK(cost() == 7);
  const auto metrics = server.get("/metrics");
  CHECK(metrics.content_type == "text/plain; version=0.0.4; charset=utf-8");
  CHECK(metrics.text.find("# TYPE apiserver_init_events_total counter\n") != std::string::npos);
  CHECK(
      metrics.text.find("\napiserver_init_events_total{group=\"\",resource=\"configmaps\"} 7\n") !=
      std::string::npos);
}

TEST_CASE("who looks back leaves history as small as it was") {
  Server server;
  server.post(kConfigMaps, config_map("a"));
  const std::uint64_t start = server.api.storage().version();
  for (int i = 0; i < 200; ++i) {
    server.merge(kConfigMaps + "/a", {{"data", {{"n", std::to_string(i)}}}});
  }
  const auto is_small = [&] {
    const auto history = server.api.storage().since("configmaps", start);
    REQUIRE(history.ok());
    REQUIRE(history->size() == 200);
    for (std::size_t i = 0; i < 200; ++i) {
      const Event& event = *(*history)[i];
      if (!event.lines.empty()) return false;
      if (i + 65 < 200 && !event.previous->is_shrunk()) return false;
    }
    return true;
  };
  REQUIRE(is_small());
  const std::string from = "?watch=1&resourceVersion=" + std::to_string(start);
  const auto selected = server.watch(kConfigMaps + from + "&fieldSelector=metadata.name%3Da");
  CHECK(selected->events().size() == 200);
  CHECK(is_small());
  CHECK(server.watch(kConfigMaps + from)->events().size() == 200);
  CHECK(is_small());
  CHECK(server.watch(kConfigMaps + from, test::kTableAccept)->events().size() == 200);
  CHECK(is_small());
  const std::string then =
      "?resourceVersionMatch=Exact&fieldSelector=metadata.name%3Da"
      "&resourceVersion=" +
      std::to_string(start);
  CHECK(server.get(kConfigMaps + then).json["items"].size() == 1);
  CHECK(is_small());
  CHECK(server.call("GET", kConfigMaps + then, "", "", test::kTableAccept).json["rows"].size() ==
        1);
  CHECK(is_small());
}

}  // namespace kubewatch::apiserver
