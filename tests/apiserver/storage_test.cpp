#include "apiserver/storage.hpp"

#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

Json object(const std::string& ns, const std::string& name, int value = 0) {
  return {{"apiVersion", "v1"},
          {"kind", "Thing"},
          {"metadata", {{"name", name}, {"namespace", ns}}},
          {"value", value}};
}

std::string at(const Storage& storage, std::uint64_t version, const std::string& prefix = "",
               const std::string& from = "") {
  std::string out;
  const auto done = storage.each_at("things", version, prefix, from, [&](const ObjectPtr& one) {
    out += one->key() + "=" + std::to_string(one->json().at("value").get<int>()) + " ";
    return true;
  });
  return done.ok() ? out : done.error().message();
}

}  // namespace

TEST_CASE("every write gets the next resourceVersion, shared by all resources") {
  Storage storage(10);
  CHECK(storage.put("things", object("a", "x"))->version() == 1);
  CHECK(storage.put("others", object("a", "y"))->version() == 2);
  CHECK(storage.remove("things", "a/x")->version() == 3);
  CHECK(storage.remove("things", "a/x") == nullptr);
  CHECK(storage.version() == 3);
}

TEST_CASE("a snapshot shows the state as it was at an older resourceVersion") {
  Storage storage(100);
  storage.put("things", object("a", "x", 1));  // 1
  storage.put("things", object("a", "y", 1));  // 2
  storage.put("things", object("a", "x", 2));  // 3
  storage.remove("things", "a/y");             // 4
  storage.put("things", object("b", "z", 1));  // 5
  storage.put("things", object("a", "y", 9));  // 6
  CHECK(at(storage, 1) == "a/x=1 ");
  CHECK(at(storage, 2) == "a/x=1 a/y=1 ");
  CHECK(at(storage, 3) == "a/x=2 a/y=1 ");
  CHECK(at(storage, 4) == "a/x=2 ");
  CHECK(at(storage, 5) == "a/x=2 b/z=1 ");
  CHECK(at(storage, 6) == "a/x=2 a/y=9 b/z=1 ");
  CHECK(at(storage, 5, "a/") == "a/x=2 ");
  CHECK(at(storage, 6, "", "a/xx") == "a/y=9 b/z=1 ");
  CHECK(at(storage, 7) == "Timeout: Too large resource version: 7, current: 6");
}

TEST_CASE("history is bounded: what fell out of it is too old") {
  Storage storage(2);
  for (int i = 1; i <= 5; ++i) storage.put("things", object("a", "x", i));
  CHECK(at(storage, 3) == "a/x=3 ");
  CHECK(at(storage, 2) == "too old resource version: 2");
  REQUIRE(storage.since("things", 3).ok());
  CHECK(storage.since("things", 3)->size() == 2);
  CHECK(storage.since("things", 5)->empty());
  const auto old = storage.since("things", 2);
  REQUIRE_FALSE(old.ok());
  CHECK(old.error().is_gone());
  CHECK(old.error().message() == "too old resource version: 2 (3)");
  CHECK(storage.since("unknown", 1).ok());
}

TEST_CASE("compaction makes every older resourceVersion too old, of every resource") {
  Storage storage(100);
  storage.put("things", object("a", "x"));
  storage.put("things", object("a", "y"));
  storage.compact();
  CHECK_FALSE(storage.since("things", 1).ok());
  CHECK_FALSE(storage.since("others", 1).ok());
  CHECK(storage.since("things", 2).ok());
  CHECK(at(storage, 2) == "a/x=0 a/y=0 ");
}

TEST_CASE("what only history has is kept as text, and is the same when it is asked for") {
  Storage storage(1000);
  Json first = object("a", "x", 1);
  first["spec"] = {{"ratio", 0.1}, {"big", 9007199254740993}, {"text", "\u00e4 \"quoted\""}};
  const ObjectPtr then = storage.put("things", first);
  const Json before = then->json();
  const std::string metadata = then->metadata_body();
  storage.put("things", object("a", "y", 1));
  const ObjectPtr gone = storage.remove("things", "a/y");
  for (int i = 2; i <= 100; ++i) storage.put("things", object("a", "x", i));
  const ObjectPtr now = storage.get("things", "a/x");
  CHECK_FALSE(now->is_shrunk());
  REQUIRE(then->is_shrunk());
  REQUIRE(gone->is_shrunk());
  CHECK(then->body().find("apiVersion") == std::string::npos);
  CHECK(then->api_version() == "v1");
  CHECK(then->is_shrunk());
  CHECK(then->metadata_body() == metadata);
  CHECK(then->json() == before);
  CHECK(gone->json().at("kind") == "Thing");
  CHECK(at(storage, 2) == "a/x=1 a/y=1 ");
}

TEST_CASE("a restore brings back objects and versions, forgets history and tells observers only") {
  Storage storage(10);
  storage.put("things", object("a", "kept", 1));     // 1
  storage.put("things", object("a", "changed", 1));  // 2
  storage.put("things", object("a", "deleted", 1));  // 3
  const auto backup = storage.back_up();
  storage.put("things", object("a", "changed", 2));  // 4
  storage.remove("things", "a/deleted");             // 5
  storage.put("things", object("a", "extra", 2));    // 6
  storage.put("others", object("a", "extra", 2));    // 7
  std::string told;
  storage.observe([&](const std::string& id, const EventPtr& event) {
    told +=
        id + "/" + event->object->key() + (event->type == EventType::deleted ? " gone; " : "; ");
  });
  storage.restore(*backup);
  CHECK(told == "others/a/extra gone; things/a/extra gone; things/a/changed; things/a/deleted; ");
  CHECK(storage.version() == 3);
  CHECK(at(storage, 3) == "a/changed=1 a/deleted=1 a/kept=1 ");
  CHECK(storage.get("things", "a/changed")->version() == 2);
  CHECK(storage.size("others") == 0);
  CHECK(at(storage, 2) == "too old resource version: 2");
  CHECK_FALSE(storage.since("things", 2).ok());
  REQUIRE(storage.since("things", 3).ok());
  CHECK(storage.since("things", 3)->empty());
  CHECK(storage.put("things", object("a", "next"))->version() == 4);
  CHECK(storage.since("things", 3)->size() == 1);
}

TEST_CASE("events carry the object before and after, and a deletion its last state") {
  Storage storage(10);
  std::vector<EventPtr> events;
  storage.observe([&](const std::string& id, const EventPtr& event) {
    CHECK(id == "things");
    events.push_back(event);
  });
  storage.put("things", object("a", "x", 1));
  storage.put("things", object("a", "x", 2));
  storage.remove("things", "a/x");
  REQUIRE(events.size() == 3);
  CHECK(events[0]->type == EventType::added);
  CHECK(events[0]->previous == nullptr);
  CHECK(events[1]->type == EventType::modified);
  CHECK(events[1]->previous->json().at("value") == 1);
  CHECK(events[2]->type == EventType::deleted);
  CHECK(events[2]->object->json().at("value") == 2);
  CHECK(events[2]->object->version() == 3);
}

TEST_CASE("the text of an object leaves out apiVersion and kind") {
  const Object one(object("a", "x", 7));
  CHECK(one.body() == R"({"metadata":{"name":"x","namespace":"a"},"value":7})");
  CHECK(one.metadata_body() == R"({"metadata":{"name":"x","namespace":"a"}})");
}

}  // namespace kubewatch::apiserver
