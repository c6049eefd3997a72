#include "base/json.hpp"
#include "cli/watch/field_changes.hpp"
#include "cli/watch/writers.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::cli::watch;

namespace {

std::vector<std::string> told(const Json& before, const Json& after) {
  std::vector<std::string> out;
  for (const auto& change : field_changes(before, after)) {
    out.push_back(change.path + ": " + (change.before ? change.before->dump() : "-") + " -> " +
                  (change.after ? change.after->dump() : "-"));
  }
  return out;
}
using Lines = std::vector<std::string>;

Json managed(const std::string& manager, const std::string& operation, const std::string& time,
             const Json& fields, const std::string& subresource = "") {
  Json out = {{"manager", manager}, {"operation", operation},   {"apiVersion", "v1"},
              {"time", time},       {"fieldsType", "FieldsV1"}, {"fieldsV1", fields}};
  if (!subresource.empty()) out["subresource"] = subresource;
  return out;
}

}  // namespace

TEST_CASE("a field change has its path and both values") {
  CHECK(told({{"spec", {{"replicas", 2}}}}, {{"spec", {{"replicas", 3}}}}) ==
        Lines{".spec.replicas: 2 -> 3"});
  CHECK(told({{"a", {{"x/y", 1}}}}, {{"a", {{"b c", 2}}}}) ==
        Lines{".a[\"b c\"]: - -> 2", ".a[\"x/y\"]: 1 -> -"});
  CHECK(told({{"a", nullptr}}, {{"a", false}}) == Lines{".a: null -> false"});
}

TEST_CASE("list items with names are compared by name, others by place, and others as a whole") {
  const Json before = {{"c", {{{"name", "a"}, {"v", 1}}, {{"name", "b"}, {"v", 1}}}}};
  const Json after = {{"c", {{{"name", "b"}, {"v", 2}}, {{"name", "n"}, {"v", 1}}}}};
  CHECK(told(before, after) == Lines{".c[name=a]: {\"name\":\"a\",\"v\":1} -> -",
                                     ".c[name=b].v: 1 -> 2",
                                     ".c[name=n]: - -> {\"name\":\"n\",\"v\":1}"});
  CHECK(told({{"l", {1, 2}}}, {{"l", {1, 3}}}) == Lines{".l[1]: 2 -> 3"});
  CHECK(told({{"l", {1, 2}}}, {{"l", {1}}}) == Lines{".l: [1,2] -> [1]"});
  const Json turned = {{"c", {{{"name", "b"}, {"v", 1}}, {{"name", "a"}, {"v", 1}}}}};
  CHECK(told(before, turned).size() == 1);  // another order is a change of the list
}

TEST_CASE("what the server counts is no change") {
  CHECK(told({{"metadata", {{"resourceVersion", "1"}, {"generation", 1}, {"managedFields", 1}}}},
             {{"metadata", {{"resourceVersion", "2"}, {"generation", 2}}}})
            .empty());
  CHECK(told({{"spec", {{"generation", 1}}}}, {{"spec", {{"generation", 2}}}}).size() == 1);
}

TEST_CASE("many changes are cut with a mark that has no field") {
  Json before = Json::object();
  Json after = Json::object();
  for (int i = 0; i < 3000; ++i) {
    before[std::to_string(i)] = 1;
    after[std::to_string(i)] = 2;
  }
  const auto changes = field_changes(before, after);
  REQUIRE(changes.size() == kMostFieldChanges + 1);
  CHECK(changes.back().path == "...");
  CHECK(changes.back().steps.empty());
}

TEST_CASE("a change is the work of the manager whose entry is newer and has the field") {
  const Json spec_fields = {{"f:spec", {{"f:replicas", Json::object()}}}};
  const Json status_fields = {{"f:status", {{"f:ready", Json::object()}}}};
  const Json before = {{"metadata",
                        {{"managedFields",
                          {managed("kubectl", "Apply", "T1", spec_fields),
                           managed("ctl", "Update", "T1", status_fields, "status")}}}},
                       {"spec", {{"replicas", 1}}},
                       {"status", {{"ready", 1}}}};
  Json after = before;
  after["spec"]["replicas"] = 2;
  after["status"]["ready"] = 2;
  after["metadata"]["managedFields"][0]["time"] = "T2";
  after["metadata"]["managedFields"][1]["time"] = "T3";
  const Writers writers(&before, after);
  const auto changes = field_changes(before, after);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].path == ".spec.replicas");
  REQUIRE(writers.of(changes[0]));
  CHECK(*writers.of(changes[0]) == Writer{"kubectl", "Apply", "", "T2"});
  REQUIRE(writers.of(changes[1]));
  CHECK(writers.of(changes[1])->text() == "ctl (Update of status)");
  REQUIRE(writers.latest().size() == 2);
  CHECK(writers.latest()[0].manager == "ctl");  // the newest first
}

TEST_CASE("an item of a list belongs to who has its key") {
  const Json fields_a = {
      {"f:c", {{"k:{\"name\":\"a\"}", {{".", Json::object()}, {"f:image", Json::object()}}}}}};
  const Json fields_b = {
      {"f:c", {{"k:{\"name\":\"b\"}", {{".", Json::object()}, {"f:image", Json::object()}}}}}};
  const Json before = {
      {"metadata",
       {{"managedFields",
         {managed("one", "Apply", "T1", fields_a), managed("two", "Apply", "T1", fields_b)}}}},
      {"c", {{{"name", "a"}, {"image", "x"}}, {{"name", "b"}, {"image", "x"}}}}};
  Json after = before;
  after["c"][1]["image"] = "y";
  after["metadata"]["managedFields"][0]["time"] = "T2";
  after["metadata"]["managedFields"][1]["time"] = "T2";
  const auto changes = field_changes(before, after);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].path == ".c[name=b].image");
  REQUIRE(Writers(&before, after).of(changes[0]));
  CHECK(Writers(&before, after).of(changes[0])->manager == "two");
}

TEST_CASE("a field that is gone was taken away by who had it and has written since") {
  const Json had = {{"f:data", {{"f:a", Json::object()}, {"f:b", Json::object()}}}};
  const Json has = {{"f:data", {{"f:a", Json::object()}}}};
  const Json other = {{"f:data", {{"f:c", Json::object()}}}};
  const Json before = {
      {"metadata",
       {{"managedFields",
         {managed("mine", "Apply", "T1", had), managed("other", "Update", "T1", other)}}}},
      {"data", {{"a", "1"}, {"b", "1"}, {"c", "1"}}}};
  Json after = before;
  after["data"].erase("b");
  after["metadata"]["managedFields"] = {managed("mine", "Apply", "T2", has),
                                        managed("other", "Update", "T3", other)};
  const auto changes = field_changes(before, after);
  REQUIRE(changes.size() == 1);
  REQUIRE(Writers(&before, after).of(changes[0]));
  CHECK(Writers(&before, after).of(changes[0])->manager == "mine");
}

TEST_CASE("without managedFields, or with broken ones, nobody is named") {
  const Json before = {{"a", 1}};
  for (const Json& fields : {Json(), Json("x"), Json::array({Json::object()})}) {
    const Json after = {{"a", 2}, {"metadata", {{"managedFields", fields}}}};
    const Writers writers(&before, after);
    CHECK(writers.latest().empty());
    CHECK(!writers.of(FieldChange{".a", {std::string("a")}, Json(1), Json(2)}));
  }
}

TEST_CASE("who only lost a field to another has written nothing") {
  const Json both = {{"f:a", Json::object()}, {"f:b", Json::object()}};
  const Json only_b = {{"f:b", Json::object()}};
  const Json only_a = {{"f:a", Json::object()}};
  const Json before = {
      {"a", 1}, {"b", 1}, {"metadata", {{"managedFields", {managed("old", "Apply", "T1", both)}}}}};
  Json after = before;
  after["a"] = 2;
  after["metadata"]["managedFields"] = {managed("old", "Apply", "T1", only_b),
                                        managed("new", "Apply", "T2", only_a)};
  const auto latest = Writers(&before, after).latest();
  REQUIRE(latest.size() == 1);
  CHECK(latest[0].manager == "new");
}

TEST_CASE("a second write within one second is told from who has the field") {
  const Json fields = {{"f:a", Json::object()}};
  const Json before = {{"a", 1},
                       {"metadata", {{"managedFields", {managed("me", "Update", "T1", fields)}}}}};
  Json after = before;
  after["a"] = 2;
  const Writers writers(&before, after);
  CHECK(writers.latest().empty());
  REQUIRE(writers.of(field_changes(before, after).at(0)));
  CHECK(writers.of(field_changes(before, after).at(0))->manager == "me");
}
