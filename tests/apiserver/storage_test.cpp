#include "apiserver/storage.hpp"

#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char* kTooOld = "The resourceVersion for the provided list is too old.";

Json object(const std::string& ns, const std::string& name, int value = 0) {
  return {{"apiVersion", "v1"},
          {"kind", "Thing"},
          {"metadata", {{"name", name}, {"namespace", ns}}},
          {"value", value}};
}

Json large(const std::string& name, std::size_t bytes) {
  Json out = object("a", name);
  out["text"] = std::string(bytes, 'x');
  return out;
}

// How many of the last changes can still be told.
std::size_t told(const Storage& storage) {
  std::size_t count = 0;
  for (std::uint64_t from = storage.version(); from > 0; --from) {
    const auto events = storage.since("things", from - 1);
    if (!events.ok()) break;
    count = events->size();
  }
  return count;
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
  Storage storage({.events = 10});
  CHECK(storage.put("things", object("a", "x"))->version() == 1);
  CHECK(storage.put("others", object("a", "y"))->version() == 2);
  CHECK(storage.remove("things", "a/x")->version() == 3);
  CHECK(storage.remove("things", "a/x") == nullptr);
  CHECK(storage.version() == 3);
}

TEST_CASE("a snapshot shows the state as it was at an older resourceVersion") {
  Storage storage({.events = 100});
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
  Storage storage({.events = 2});
  for (int i = 1; i <= 5; ++i) storage.put("things", object("a", "x", i));
  CHECK(at(storage, 3) == "a/x=3 ");
  CHECK(at(storage, 2) == kTooOld);
  REQUIRE(storage.since("things", 3).ok());
  CHECK(storage.since("things", 3)->size() == 2);
  CHECK(storage.since("things", 5)->empty());
  const auto old = storage.since("things", 2);
  REQUIRE_FALSE(old.ok());
  CHECK(old.error().is_gone());
  CHECK(old.error().message() == "too old resource version: 2 (3)");
  CHECK(storage.since("unknown", 1).ok());
}

TEST_CASE("history is bounded in the bytes that it alone keeps, of each kind by itself") {
  Storage storage({.events = 1000, .bytes = 5000});
  storage.put("others", large("x", 1000));
  // Created, and kept by the table: history has nothing of them for itself.
  for (int i = 0; i < 10; ++i) storage.put("things", large(std::to_string(i), 1000));
  CHECK(told(storage) == 10);
  std::weak_ptr<const Object> first = storage.get("things", "a/0");
  for (int i = 0; i < 5; ++i) storage.put("things", large("0", 1000));
  CHECK(told(storage) == 3);
  CHECK(first.expired());
  // A deletion keeps what it deleted in two versions.
  storage.remove("things", "a/1");
  storage.remove("things", "a/2");
  CHECK(told(storage) == 2);
  storage.put("things", large("huge", 20000));
  storage.put("things", object("a", "huge"));
  CHECK(told(storage) == 1);
  CHECK(storage.since("others", 1).ok());
  // The count begins anew with the history.
  storage.compact();
  for (int i = 0; i < 3; ++i) storage.put("things", large("0", 1000));
  CHECK(told(storage) == 3);
}

TEST_CASE("of large objects only the newest that history has stay built") {
  Storage storage({.events = 1000, .bytes = 100U << 20U});
  std::vector<ObjectPtr> all;
  for (int i = 0; i < 13; ++i) all.push_back(storage.put("things", large("x", 2U << 20U)));
  std::string built;
  for (const auto& one : all) built += one->is_shrunk() ? '-' : 'b';
  CHECK(built == "----bbbbbbbbb");  // the first event replaced nothing, the last object is there
}

TEST_CASE("a storage that begins at a version takes all before it for too old") {
  Storage storage({}, 1000);
  CHECK(storage.version() == 1000);
  CHECK(at(storage, 1000).empty());
  CHECK(storage.put("things", object("a", "x", 1))->version() == 1001);
  CHECK(at(storage, 999) == kTooOld);
  for (const char* kind : {"things", "others"}) {
    CAPTURE(kind);
    const auto old = storage.since(kind, 3);
    REQUIRE_FALSE(old.ok());
    CHECK(old.error().message() == "too old resource version: 3 (1000)");
    CHECK(storage.since(kind, 1000).ok());
  }
  CHECK(storage.since("things", 1000)->size() == 1);
}

TEST_CASE("compaction makes every older resourceVersion too old, of every resource") {
  Storage storage({.events = 100});
  storage.put("things", object("a", "x"));
  storage.put("things", object("a", "y"));
  storage.compact();
  CHECK_FALSE(storage.since("things", 1).ok());
  CHECK_FALSE(storage.since("others", 1).ok());
  CHECK(storage.since("things", 2).ok());
  CHECK(at(storage, 2) == "a/x=0 a/y=0 ");
}

TEST_CASE("what only history has is kept as text, and is the same when it is asked for") {
  Storage storage({.events = 1000});
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
  Storage storage({.events = 10});
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
  CHECK(at(storage, 2) == kTooOld);
  CHECK_FALSE(storage.since("things", 2).ok());
  REQUIRE(storage.since("things", 3).ok());
  CHECK(storage.since("things", 3)->empty());
  CHECK(storage.put("things", object("a", "next"))->version() == 4);
  CHECK(storage.since("things", 3)->size() == 1);
}

TEST_CASE("events carry the object before and after, and a deletion its last state") {
  Storage storage({.events = 10});
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
