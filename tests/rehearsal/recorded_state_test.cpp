#include "rehearsal/recorded_state.hpp"

#include "rehearsal/replay_compare.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::rehearsal;

namespace {

Json open(int stream, const char* how, const char* labels = "") {
  Json out = {{"t", "open"}, {"s", stream}, {"path", "/api/v1/configmaps"}, {"how", how}};
  if (*labels != '\0') out["labels"] = labels;
  return out;
}

Json object(const char* name, const char* version, const char* value = "v") {
  return {{"metadata",
           {{"name", name},
            {"namespace", "shop"},
            {"uid", std::string("uid-") + name},
            {"resourceVersion", version},
            {"labels", {{"copy", value}}}}},
          {"data", {{"k", value}}}};
}

Json item(int stream, const Json& object) {
  return {{"t", "item"}, {"s", stream}, {"o", object}};
}
Json event(int stream, const char* type, const Json& object) {
  return {{"t", "event"}, {"s", stream}, {"type", type}, {"o", object}};
}
Json metadata_of(Json object) {
  object["kind"] = "PartialObjectMetadata";
  object.erase("data");
  return object;
}
Json page(int stream, bool more = false) {
  return {{"t", "page"}, {"s", stream}, {"rv", "9"}, {"more", more}};
}

Json write(const char* path, const char* value) {
  return {{"verb", "apply"}, {"path", path}, {"body", {{"data", {{"k", value}}}}}};
}

}  // namespace

TEST_CASE("items and events of a recording are changes, what came before is known") {
  RecordedState state;
  CHECK(state.take(open(1, "list")).empty());
  const auto first = state.take(item(1, object("a", "3")));
  REQUIRE(first.size() == 1);
  CHECK(first[0].plural == "configmaps");
  CHECK(first[0].key == core::ObjectKey{"shop", "a"});
  CHECK_FALSE(first[0].before);
  CHECK_FALSE(state.synced(1));
  CHECK(state.take(page(1)).empty());
  CHECK(state.synced(1));
  state.take(open(1, "watch"));
  const auto second = state.take(event(1, "MODIFIED", object("a", "5", "w")));
  REQUIRE(second.size() == 1);
  REQUIRE(second[0].before);
  CHECK((*second[0].before)["data"]["k"] == "v");
  const auto gone = state.take(event(1, "DELETED", object("a", "6", "w")));
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].after.is_null());
}

TEST_CASE("metadata of a state that a later stream tells whole is told whole") {
  const std::vector<Json> entries = {open(1, "list"),
                                     item(1, metadata_of(object("a", "3"))),
                                     item(1, metadata_of(object("b", "4"))),
                                     page(1),
                                     open(2, "list", "copy=v"),
                                     item(2, object("a", "3")),
                                     item(2, object("b", "5", "w"))};
  RecordedState state;
  for (const Json& entry : entries) state.expect(entry);
  std::vector<RecordedChange> told;
  for (const Json& entry : entries) {
    for (RecordedChange& change : state.take(entry)) told.push_back(std::move(change));
  }
  REQUIRE(told.size() == 3);
  CHECK(told[0].after == object("a", "3"));
  CHECK_FALSE(told[0].metadata_only);
  // Of another state nobody knows what it was.
  CHECK(told[1].metadata_only);
  CHECK(told[2].after == object("b", "5", "w"));
}

TEST_CASE("the same state from another stream, or an older one, is no change") {
  RecordedState state;
  state.take(open(1, "list"));
  state.take(open(2, "list"));
  state.take(item(1, object("a", "5")));
  CHECK(state.take(item(2, object("a", "5"))).empty());
  CHECK(state.take(item(2, object("a", "4"))).empty());
  CHECK(state.take(event(2, "DELETED", object("a", "3"))).empty());
  CHECK(state.take(item(2, object("a", "6"))).size() == 1);
}

TEST_CASE("what the recorded controller wrote itself is known but no change") {
  RecordedState state;
  state.note_own("/api/v1/namespaces/shop/configmaps/a/status", "5");
  state.take(open(1, "watch"));
  CHECK(state.take(event(1, "ADDED", object("a", "5"))).empty());
  const auto other = state.take(event(1, "MODIFIED", object("a", "6", "w")));
  REQUIRE(other.size() == 1);
  REQUIRE(other[0].before);
  CHECK(change_between(*other[0].before, other[0].after) ==
        Json({{"metadata", {{"labels", {{"copy", "w"}}}}}, {"data", {{"k", "w"}}}}));
}

TEST_CASE("what a second list does not name is gone, pages are one list") {
  RecordedState state;
  state.take(open(1, "list"));
  state.take(item(1, object("a", "3")));
  state.take(item(1, object("b", "4")));
  state.take(page(1));
  state.take(open(1, "list"));
  state.take(item(1, object("a", "3")));
  CHECK(state.take(page(1, true)).empty());
  state.take(open(1, "continue"));
  state.take(item(1, object("c", "7")));
  const auto gone = state.take(page(1));
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].key.name == "b");
  CHECK(gone[0].after.is_null());
}

TEST_CASE("metadata alone does not hide the rest of an object") {
  RecordedState state;
  state.take(open(1, "list"));
  state.take(open(2, "list"));
  state.take(item(1, object("a", "3")));
  const auto change = state.take(item(2, metadata_of(object("a", "4", "w"))));
  REQUIRE(change.size() == 1);
  CHECK(change[0].metadata_only);
  const auto whole = state.take(event(1, "MODIFIED", object("a", "5", "x")));
  REQUIRE(whole.size() == 1);
  CHECK((*whole[0].before)["data"]["k"] == "v");
  CHECK((*whole[0].before)["metadata"]["labels"]["copy"] == "w");
}

namespace {

// "a@5 v", "a@6 metadata", "a gone", "a gone?": what each entry changes, in order. A state without
// the label of object() is "a@5 v out".
std::vector<std::string> told(const std::vector<Json>& entries) {
  RecordedState state;
  for (const Json& entry : entries) state.expect(entry);
  std::vector<std::string> out;
  for (const Json& entry : entries) {
    for (const RecordedChange& change : state.take(entry)) {
      const std::string name = change.key.name;
      if (change.after.is_null()) {
        out.push_back(name + (change.in_doubt ? " gone?" : " gone"));
        continue;
      }
      const std::string version = change.after["metadata"]["resourceVersion"];
      out.push_back(name + "@" + version + " " +
                    (change.metadata_only ? "metadata" : std::string(change.after["data"]["k"])) +
                    (change.after["metadata"]["labels"].contains("copy") ? "" : " out"));
    }
  }
  return out;
}

using Told = std::vector<std::string>;

}  // namespace

TEST_CASE("a state that is told as metadata first and whole then is one change, the whole one") {
  const std::vector<Json> begun = {open(1, "watch"), open(2, "watch")};
  const auto after = [&](std::vector<Json> entries) {
    entries.insert(entries.begin(), begun.begin(), begun.end());
    return told(entries);
  };
  const auto whole = [](const char* version, const char* value) {
    return event(2, "MODIFIED", object("a", version, value));
  };
  const auto partial = [](const char* version, const char* value) {
    return event(1, "MODIFIED", metadata_of(object("a", version, value)));
  };
  CHECK(after({partial("5", "v"), whole("5", "v"), partial("6", "w"), whole("6", "w")}) ==
        Told{"a@5 v", "a@6 w"});
  CHECK(after({whole("5", "v"), partial("5", "v"), partial("6", "w"), partial("7", "x"),
               whole("6", "w"), whole("7", "x")}) == Told{"a@5 v", "a@6 w", "a@7 x"});
  // Of a state between that no whole event tells there is half an object only.
  CHECK(after({whole("5", "v"), partial("6", "w"), whole("7", "x")}) == Told{"a@5 v", "a@7 x"});
  // The recording ends before the rest, or the whole stream does not go on.
  CHECK(after({whole("5", "v"), partial("6", "w")}) == Told{"a@5 v", "a@6 metadata"});
  CHECK(after({whole("5", "v"), partial("6", "w"), partial("7", "x"), whole("6", "w")}) ==
        Told{"a@5 v", "a@6 w", "a@7 metadata"});
}

TEST_CASE("metadata is told where no open stream has the object whole") {
  const Json before = event(1, "ADDED", metadata_of(object("a", "5", "w")));
  CHECK(told({open(1, "watch"), before, open(2, "list"), item(2, object("a", "6", "w"))}) ==
        Told{"a@5 metadata", "a@6 w"});
  // Out of the selection and back.
  CHECK(
      told({open(1, "watch"), open(2, "watch", "copy=v"), event(2, "ADDED", object("a", "5", "v")),
            event(1, "MODIFIED", metadata_of(object("a", "6", "w"))),
            event(2, "DELETED", object("a", "6", "v")),
            event(1, "MODIFIED", metadata_of(object("a", "7", "x"))),
            event(1, "MODIFIED", metadata_of(object("a", "8", "v"))),
            event(2, "ADDED", object("a", "8", "v"))}) ==
      Told{"a@5 v", "a@6 metadata", "a@7 metadata", "a@8 v"});
}

TEST_CASE("a deletion is told once, after every state before it") {
  CHECK(told({open(1, "watch"), open(2, "watch"), event(2, "ADDED", object("a", "5")),
              event(1, "MODIFIED", metadata_of(object("a", "6", "w"))),
              event(1, "DELETED", metadata_of(object("a", "7", "w"))),
              event(2, "MODIFIED", object("a", "6", "w")),
              event(2, "DELETED", object("a", "7", "w"))}) == Told{"a@5 v", "a@6 w", "a gone"});
  CHECK(
      told({open(1, "watch"), open(2, "watch"), event(2, "ADDED", object("a", "5")),
            event(2, "DELETED", object("a", "7")), event(1, "ADDED", metadata_of(object("a", "5"))),
            event(1, "DELETED", metadata_of(object("a", "7"))),
            event(2, "ADDED", object("a", "9"))}) == Told{"a@5 v", "a gone", "a@9 v"});
}

namespace {

// What the server said when it was asked after a DELETED of this version.
Json still(int stream, const char* version, const Json& object = nullptr) {
  Json out = {{"t", "still"},        {"s", stream}, {"rv", version},
              {"namespace", "shop"}, {"name", "a"}, {"uid", "uid-a"}};
  if (!object.is_null()) out["o"] = object;
  return out;
}
Json open_fields(int stream, const char* fields) {
  Json out = open(stream, "watch");
  out["fields"] = fields;
  return out;
}
Json with_metadata(Json object, const char* key, const Json& value) {
  object["metadata"][key] = value;
  return object;
}
const Json kFirst = event(1, "ADDED", object("a", "5"));
// As a server says of both what is deleted and what leaves: as it last matched.
const Json kDeleted = event(1, "DELETED", object("a", "6"));

}  // namespace

TEST_CASE("what leaves a selection is changed, what is deleted is gone: the server was asked") {
  const bool by_label = GENERATE(true, false);
  const Json begun = by_label ? open(1, "watch", "copy=v") : open_fields(1, "status.phase=Running");
  CHECK(told({begun, kFirst, kDeleted, still(1, "6", object("a", "6", "other"))}) ==
        Told{"a@5 v", "a@6 other"});
  CHECK(told({begun, kFirst, kDeleted, still(1, "6")}) == Told{"a@5 v", "a gone"});
  // It has changed again by then, or is back. Until then it is as little as possible.
  const auto with_guess = [&](Told rest) {
    if (by_label) rest.insert(rest.begin(), "a@5 v out");
    rest.insert(rest.begin(), "a@5 v");
    return rest;
  };
  CHECK(told({begun, kFirst, kDeleted, still(1, "6", object("a", "7", "other")),
              event(1, "ADDED", object("a", "9", "back"))}) ==
        with_guess({"a@7 other", "a@9 back"}));
  CHECK(told({begun, kFirst, kDeleted, event(1, "ADDED", object("a", "7", "v")),
              event(1, "DELETED", object("a", "8", "v")), still(1, "6", object("a", "7", "v")),
              still(1, "8")}) == with_guess({"a@7 v", "a gone"}));
}

TEST_CASE("a recording without what the server said is in doubt where nothing else tells") {
  const Json begun = open(1, "watch", "copy=v");
  CHECK(told({begun, kFirst, kDeleted}) == Told{"a@5 v", "a gone?"});
  CHECK(told({open_fields(1, "status.phase=Running"), kFirst, kDeleted}) ==
        Told{"a@5 v", "a gone?"});
  // Nothing leaves these while it lives.
  CHECK(told({open(1, "watch"), kFirst, kDeleted}) == Told{"a@5 v", "a gone"});
  CHECK(told({open_fields(1, "metadata.name=a"), kFirst, kDeleted}) == Told{"a@5 v", "a gone"});
  CHECK(told({open(1, "watch", "kubewatch.dev/controller=copier"), kFirst, kDeleted}) ==
        Told{"a@5 v", "a gone"});
  // A watch of all tells of it, or another object has the name later.
  CHECK(told({begun, open(2, "watch"), kFirst, event(2, "ADDED", object("a", "5")), kDeleted,
              event(2, "DELETED", object("a", "6"))}) == Told{"a@5 v", "a gone"});
  CHECK(told({begun, kFirst, kDeleted,
              event(1, "ADDED", with_metadata(object("a", "9"), "uid", "other"))}) ==
        Told{"a@5 v", "a gone", "a@9 v"});
  const Json dying = with_metadata(object("a", "6"), "deletionTimestamp", "2026-01-01T00:00:00Z");
  // One of a server that deletes without a new version.
  CHECK(told({begun, event(1, "ADDED", dying), event(1, "DELETED", dying)}) ==
        Told{"a@6 v", "a gone"});
  CHECK(told({open(1, "list", "copy=v"), item(1, object("a", "5")), page(1),
              open(1, "list", "copy=v"), page(1)}) == Told{"a@5 v", "a gone?"});
}

TEST_CASE("what is told of again had left its selection, whatever it was meanwhile") {
  const Json begun = open(1, "watch", "copy=v");
  CHECK(told({begun, kFirst, kDeleted, event(1, "ADDED", object("a", "9", "back"))}) ==
        Told{"a@5 v", "a@5 v out", "a@9 back"});
  const Json partial = event(2, "MODIFIED", metadata_of(object("a", "6", "w")));
  CHECK(told({begun, open(2, "watch"), kFirst, kDeleted, partial}) ==
        Told{"a@5 v", "a@6 metadata"});
  // The rest of that state.
  CHECK(told({begun, open(2, "watch"), kFirst, kDeleted, partial,
              still(1, "6", object("a", "6", "w"))}) == Told{"a@5 v", "a@6 metadata", "a@6 w"});
  CHECK(told({open(1, "list", "copy=v"), open(2, "watch"), item(1, object("a", "5")), page(1),
              event(2, "MODIFIED", object("a", "12", "w")), open(1, "list", "copy=v"), page(1)}) ==
        Told{"a@5 v", "a@12 w"});
  // What its fields had become nobody says: it goes, and comes back.
  CHECK(told({open_fields(1, "status.phase=Running"), kFirst, kDeleted,
              event(1, "ADDED", object("a", "9"))}) == Told{"a@5 v", "a gone?", "a@9 v"});
  // It would have been marked as deleted first.
  const Json held = with_metadata(object("a", "5"), "finalizers", Json::array({"demo.dev/f"}));
  CHECK(told({begun, event(1, "ADDED", held),
              event(1, "DELETED", with_metadata(held, "resourceVersion", "6"))}) ==
        Told{"a@5 v", "a@5 v out"});
  Json spaces = begun;
  spaces["path"] = "/api/v1/namespaces";
  CHECK(told({spaces, kFirst, kDeleted}) == Told{"a@5 v", "a@5 v out"});
}

TEST_CASE("what the controller itself takes out of a selection it takes out anew") {
  RecordedState state;
  state.note_own("/api/v1/namespaces/shop/configmaps/a", "6");
  state.take(open(1, "watch", "copy=v"));
  CHECK(state.take(kFirst).size() == 1);
  CHECK(state.take(kDeleted).empty());
}

TEST_CASE("an object that has the name of one that had left is another one") {
  CHECK(told({open(1, "watch", "copy=v"), kFirst, kDeleted, still(1, "6", object("a", "6", "w")),
              event(1, "ADDED", with_metadata(object("a", "9"), "uid", "other"))}) ==
        Told{"a@5 v", "a@6 w", "a gone", "a@9 v"});
}

TEST_CASE("entries of another shape say nothing") {
  RecordedState state;
  CHECK(state.take(nullptr).empty());
  CHECK(state.take({{"t", "item"}, {"s", 9}, {"o", {{"metadata", 1}}}}).empty());
  CHECK(state.take(open(1, "list")).empty());
  CHECK(state.take(item(1, nullptr)).empty());
  CHECK(state.take(item(1, Json{{"metadata", {{"name", 5}}}})).empty());
  state.expect({{"t", "still"}, {"s", 1}, {"uid", 5}, {"o", 7}});
  CHECK(state.take({{"t", "still"}, {"s", 1}, {"o", {{"metadata", 7}}}}).empty());
}

TEST_CASE("writes that come again in order are equal, states in between do not count") {
  const char* a = "/api/v1/namespaces/shop/configmaps/a";
  const WriteEntries recorded = {write(a, "1"), write(a, "1"), write(a, "3")};
  CHECK(compare_writes(recorded, {write(a, "1"), write(a, "2"), write(a, "3")}, true).empty());
  const auto other = compare_writes(recorded, {write(a, "1"), write(a, "4")}, true);
  REQUIRE(other.size() == 1);
  CHECK(other[0].change == "changed");
  CHECK(other[0].diff.find("-  k: \"3\"") != std::string::npos);
  CHECK(other[0].diff.find("+  k: \"4\"") != std::string::npos);
  const auto more = compare_writes(recorded, {write(a, "1"), write(a, "3"), write(a, "5")}, true);
  REQUIRE(more.size() == 1);
  CHECK(compare_writes(recorded, {write(a, "1"), write(a, "3"), write(a, "5")}, false).empty());
}

TEST_CASE("writes that are missing or new are named by their object") {
  const char* a = "/api/v1/namespaces/shop/configmaps/a";
  const char* b = "/api/v1/namespaces/shop/configmaps/b";
  Json named = write(b, "1");
  named["body"]["kind"] = "ConfigMap";
  named["body"]["metadata"] = {{"name", "b"}, {"namespace", "shop"}};
  const auto out = compare_writes({write(a, "1")}, {named}, true);
  REQUIRE(out.size() == 2);
  CHECK(out[0].change == "missing");
  CHECK(out[0].object == a);
  CHECK(out[1].change == "created");
  CHECK(out[1].object == "ConfigMap shop/b");
  CHECK(compare_writes({}, {named}, false).empty());
}

TEST_CASE("what differs each time is not compared, the same words elsewhere are") {
  const auto body = [](const char* uid, const char* when) {
    return Json{
        {"metadata",
         {{"uid", uid},
          {"labels", {{"kubewatch.dev/owner-uid", uid}, {"a", "b"}}},
          {"ownerReferences", Json::array({{{"name", "o"}, {"uid", uid}}})}}},
        {"spec", {{"uid", "1000"}}},
        {"status", {{"conditions", Json::array({{{"type", "R"}, {"lastTransitionTime", when}}})}}}};
  };
  CHECK(comparable(body("1", "x")) == comparable(body("2", "y")));
  CHECK(comparable(body("1", "x"))["spec"]["uid"] == "1000");
  const Json patch = Json::array({{{"op", "test"}, {"path", "/metadata/uid"}, {"value", "1"}},
                                  {{"op", "add"}, {"path", "/data/uid"}, {"value", "1"}}});
  CHECK(comparable(patch).size() == 1);
}
