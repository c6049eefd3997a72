// Entries of managedFields, and what apply and update do where no recorded case reaches.
#include "schema/managed_fields.hpp"

#include "schema/managed_entries.hpp"
#include "schema_fixture.hpp"

using namespace schema_test;

namespace {

Json entry(const std::string& manager, const std::string& operation, const std::string& time,
           const std::string& fields = R"({"f:spec":{"f:n":{}}})") {
  Json out = {{"manager", manager},
              {"operation", operation},
              {"apiVersion", "x/v1"},
              {"fieldsType", "FieldsV1"},
              {"fieldsV1", json(fields)}};
  if (!time.empty()) out["time"] = time;
  return out;
}

Json with_entries(Json object, Json entries) {
  object["metadata"]["managedFields"] = std::move(entries);
  return object;
}

Result<Json> update_as(const std::string& manager, const Json* live, const Json& updated,
                       int second = 0, const std::string& subresource = "") {
  UpdateRequest request;
  request.live = live;
  request.updated = updated;
  request.manager = manager;
  request.subresource = subresource;
  request.schema = thing_schema();
  request.now = at_second(second);
  return track_update(request);
}

}  // namespace

TEST_CASE("entries are sorted by operation, time, manager, version and subresource") {
  Json entries = {entry("z", "Update", "2024-01-01T00:00:00Z"),
                  entry("b", "Apply", "2024-01-02T00:00:00Z"),
                  entry("a", "Update", "2024-01-02T00:00:00Z"),
                  entry("a", "Apply", "2024-01-02T00:00:00Z"), entry("n", "Apply", "")};
  entries.push_back(entry("a", "Update", "2024-01-02T00:00:00Z"));
  entries.back()["subresource"] = "status";
  const Result<Managed> managed = decode_managed(&entries);
  REQUIRE(managed.ok());
  std::string order;
  for (const Json& one : encode_managed(*managed)) {
    order += one["manager"].get<std::string>() + (one.contains("subresource") ? "s " : " ");
  }
  CHECK(order == "n a b z a as ");
}

TEST_CASE("an apply writes the time by what is empty as well, but not by what is there") {
  Json live = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "t"}}}};
  live["data"] = {{"a", "b"}};
  Json applied = live;
  live["metadata"]["managedFields"] = Json::array({entry("z", "Update", "2024-01-01T00:00:00Z")});
  const auto has_time = [&] {
    ApplyRequest request;
    request.live = &live;
    request.applied = applied;
    request.manager = "other";
    request.schema = builtin_merge_schema({"", "v1", "ConfigMap"});
    request.now = at_second(0);
    const Result<ApplyOutcome> done = apply(request);
    REQUIRE(done.ok());
    return done->object["metadata"]["managedFields"][0].contains("time");
  };
  CHECK_FALSE(has_time());
  applied["binaryData"] = Json::object();
  CHECK(has_time());
  applied["binaryData"] = nullptr;
  CHECK(has_time());
}

TEST_CASE("broken entries are refused with the server's words") {
  const auto broken = [](const char* field, const Json& value) {
    Json one = entry("m", "Apply", "");
    one[field] = value;
    const Json entries = Json::array({one});
    const Result<Managed> managed = decode_managed(&entries);
    return managed.ok() ? "" : managed.error().message();
  };
  CHECK(broken("operation", "Other") == "operation must be `Apply` or `Update`");
  CHECK(broken("apiVersion", "") == "apiVersion must not be empty");
  CHECK(broken("fieldsType", "") == "missing fieldsType in managed fields entry 0");
  CHECK(broken("fieldsType", "V2") == "invalid fieldsType \"V2\" in managed fields entry 0");
  CHECK_FALSE(broken("fieldsV1", json(R"({"x":{}})")).empty());
  CHECK(broken("fieldsV1", Json()).empty());
}

TEST_CASE("appliers are one manager over versions, updaters one per version") {
  ManagedEntry one{"m", true, "x/v1", "", "", {}};
  ManagedEntry two{"m", true, "x/v2", "", "", {}};
  CHECK(one.identity() == two.identity());
  one.applied = two.applied = false;
  CHECK(one.identity() != two.identity());
  two.api_version = "x/v1";
  two.subresource = "status";
  CHECK(one.identity() != two.identity());
  CHECK(one.text() == "\"m\" using x/v1");
  CHECK(two.text() == "\"m\" with subresource \"status\" using x/v1");
}

TEST_CASE("apply refuses what it cannot track") {
  const Json live = thing({{"n", 1}});
  Json applied = thing({{"n", 1}});
  applied["metadata"]["managedFields"] = Json::array();
  CHECK(apply_as("m", nullptr, applied).error().message() == "metadata.managedFields must be nil");
  const Json broken = with_entries(live, Json::array({{{"operation", "x"}}}));
  CHECK(apply_as("m", &broken, thing({{"n", 1}})).error().render() ==
        "failed to decode managed fields: operation must be `Apply` or `Update`");
  CHECK(apply_as("m", nullptr, thing({{"tags", {"a", "a"}}})).error().render() ==
        "failed to create typed patch object (/t; x/v1, Kind=Thing): .spec.tags: duplicate entries "
        "for key "
        "[=\"a\"]");
}

TEST_CASE("ignored fields are neither owned nor contested, nor do they count as a change") {
  ApplyRequest request;
  const Json live = *update_as("u", nullptr, thing({{"n", 1}, {"name", "a"}}));
  request.live = &live;
  request.applied = thing({{"n", 2}, {"name", "a"}});
  request.manager = "m";
  request.schema = thing_schema();
  request.ignored = set(R"({"f:spec":{"f:n":{}}})");
  request.now = at_second(9);
  const Result<ApplyOutcome> once = apply(request);
  REQUIRE(once.ok());
  CHECK(once->conflicts.empty());
  CHECK(fields_of(once->object, "m") == R"({"f:spec":{"f:name":{}}})");
  Json stored = once->object;
  stored["spec"]["n"] = 1;  // the endpoint resets it
  request.live = &stored;
  request.now = at_second(20);
  const Result<ApplyOutcome> twice = apply(request);
  REQUIRE(twice.ok());
  CHECK_FALSE(twice->changed);
  CHECK(twice->object["metadata"]["managedFields"] == stored["metadata"]["managedFields"]);
}

TEST_CASE("a manager that drops all its labels leaves the name alone") {
  Json labelled = thing({{"n", 1}});
  labelled["metadata"]["labels"] = {{"a", "b"}};
  const Json live = apply_as("m", nullptr, labelled)->object;
  const Json after = apply_as("m", &live, thing({{"n", 1}}))->object;
  CHECK(after["metadata"]["name"] == "t");
  CHECK_FALSE(after["metadata"].contains("labels"));
}

TEST_CASE("an update that changes nothing leaves the times alone") {
  const Json live = *update_as("u", nullptr, thing({{"n", 1}}), 1);
  CHECK(*update_as("u", &live, live, 50) == live);
  CHECK(*update_as("other", &live, live, 50) == live);
}

TEST_CASE("what an update removes is nobody's any more, and the remover gets no entry for it") {
  const Json applied = apply_as("a", nullptr, thing({{"n", 1}, {"name", "x"}}))->object;
  Json updated = applied;
  updated["spec"].erase("n");
  const Json after = *update_as("u", &applied, updated, 5);
  CHECK(fields_of(after, "a") == R"({"f:spec":{"f:name":{}}})");
  CHECK(fields_of(after, "u").empty());
}

TEST_CASE("an update may edit managedFields, but not on a subresource") {
  const Json live = *update_as("u", nullptr, thing({{"n", 1}}), 1);
  const Json edited =
      with_entries(live, Json::array({entry("renamed", "Update", "2024-01-01T00:00:00Z")}));
  CHECK(fields_of(*update_as("e", &live, edited, 2), "renamed") == R"({"f:spec":{"f:n":{}}})");
  const Json on_status = *update_as("e", &live, edited, 2, "status");
  CHECK(fields_of(on_status, "renamed").empty());
  CHECK_FALSE(fields_of(on_status, "u").empty());
  const Json garbage = with_entries(live, Json::array({{{"operation", "x"}}}));
  CHECK_FALSE(fields_of(*update_as("e", &live, garbage, 2), "u").empty());
}

TEST_CASE("an object that does not fit its schema is stored without owners") {
  const Json live = *update_as("u", nullptr, thing({{"n", 1}}), 1);
  Json updated = live;
  updated["spec"]["items"] = Json::array({{{"v", 1}}});
  const Json after = *update_as("u", &live, updated, 2);
  CHECK_FALSE(after["metadata"].contains("managedFields"));
}

TEST_CASE("a manager without a name is called unknown") {
  CHECK_FALSE(fields_of(*update_as("", nullptr, thing({{"n", 1}})), "unknown").empty());
  CHECK_FALSE(fields_of(apply_as("", nullptr, thing({{"n", 1}}))->object, "unknown").empty());
}

TEST_CASE("times come back when nothing but times changed, after defaulting too") {
  const Json live =
      with_entries(thing({{"n", 1}}), Json::array({entry("a", "Apply", "2024-01-01T00:00:00Z")}));
  Json same =
      with_entries(thing({{"n", 1}}), Json::array({entry("a", "Apply", "2024-06-01T00:00:00Z")}));
  CHECK(keep_times_of_noop(live, same));
  CHECK(same == live);
  Json other =
      with_entries(thing({{"n", 2}}), Json::array({entry("a", "Apply", "2024-06-01T00:00:00Z")}));
  const Json before = other;
  CHECK_FALSE(keep_times_of_noop(live, other));
  CHECK(other == before);
  Json owner =
      with_entries(thing({{"n", 1}}), Json::array({entry("b", "Apply", "2024-06-01T00:00:00Z")}));
  CHECK_FALSE(keep_times_of_noop(live, owner));
}

TEST_CASE("who writes a scale gets an entry without a time") {
  const Json live = with_entries(json(R"({"apiVersion":"x/v1","kind":"Thing","spec":{"n":1}})"),
                                 Json::array({entry("m", "Update", "2024-01-01T00:00:00Z")}));
  Json more = live;
  more["spec"]["n"] = 2;
  const Result<Json> updated = update_as("k", &live, more, 1, "scale");
  REQUIRE(updated.ok());
  const Json& entries = (*updated)["metadata"]["managedFields"];
  REQUIRE(entries.size() == 1);
  CHECK(entries[0]["manager"] == "k");
  CHECK_FALSE(entries[0].contains("time"));
  ApplyRequest request;
  request.live = &live;
  request.applied = json(R"({"apiVersion":"x/v1","kind":"Thing","spec":{"n":3}})");
  request.manager = "a";
  request.subresource = "scale";
  request.force = true;
  request.schema = thing_schema();
  request.now = at_second(1);
  const Result<ApplyOutcome> applied = apply(request);
  REQUIRE(applied.ok());
  CHECK_FALSE(applied->object["metadata"]["managedFields"][0].contains("time"));
}

TEST_CASE("old changes that are one too many themselves leave no entry without a name") {
  Json entries = Json::array();
  for (int i = 0; i < 9; ++i) {
    entries.push_back(entry("m" + std::to_string(i), "Update", "2024-01-02T00:00:00Z"));
  }
  entries.push_back(entry("ancient-changes", "Update", "2024-01-01T00:00:00Z"));
  // Of a scale there is no time, so that it is the oldest.
  entries.push_back(entry("kubectl", "Update", ""));
  entries.back()["subresource"] = "scale";
  Result<Managed> managed = decode_managed(&entries);
  REQUIRE(managed.ok());
  cap_updaters(*managed);
  const Json capped = encode_managed(*managed);
  CHECK(capped.size() == 10);
  for (const Json& one : capped) {
    CHECK(one["manager"] != "");
    CHECK(one["manager"] != "ancient-changes");
    CHECK(one["apiVersion"] == "x/v1");
  }
  CHECK(decode_managed(&capped).ok());
}

TEST_CASE("more than ten updaters are capped per version") {
  Json entries = Json::array();
  for (int i = 0; i < 12; ++i) {
    const std::string fields = R"({"f:spec":{"f:free":{"f:k)" + std::to_string(i) + R"(":{}}}})";
    entries.push_back(
        entry("u" + std::to_string(i), "Update", base::format_rfc3339(at_second(i)), fields));
    if (i < 2) entries.back()["apiVersion"] = "x/v0";
  }
  Result<Managed> managed = decode_managed(&entries);
  REQUIRE(managed.ok());
  cap_updaters(*managed);
  const Json capped = encode_managed(*managed);
  CHECK(capped.size() == 10);
  std::string ancient;
  for (const Json& one : capped) {
    if (one["manager"] == "ancient-changes") ancient += one["apiVersion"].get<std::string>() + " ";
  }
  CHECK(ancient == "x/v0 x/v1 ");
}
