// Status and conditions: carried over, merged by type, written only when they differ.
#include "hooks/status_plan.hpp"

#include "hooks/plan.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const char* const kNow = "2026-01-02T03:04:05Z";

StatusShape list_map() {
  StatusShape shape;
  shape.known = true;
  shape.list_map = true;
  shape.observed_generation = true;
  return shape;
}

Json live(Json status, Json owned_status = nullptr) {
  Json object = {{"apiVersion", "demo.kubewatch.dev/v1"},
                 {"kind", "Website"},
                 {"metadata", {{"name", "a"}, {"namespace", "shop"}, {"resourceVersion", "7"}}}};
  if (!status.is_null()) object["status"] = std::move(status);
  if (!owned_status.is_null()) {
    object["metadata"]["managedFields"] =
        Json::array({{{"manager", "kubewatch/w"},
                      {"operation", "Apply"},
                      {"subresource", "status"},
                      {"fieldsType", "FieldsV1"},
                      {"fieldsV1", {{"f:status", owned_status}}}}});
  }
  return object;
}

StatusRequest request(const Json& object) {
  return {object,
          {"demo.kubewatch.dev", "v1", "Website"},
          "kubewatch/w",
          {},
          {},
          3,
          *base::parse_rfc3339(kNow),
          list_map()};
}

Json condition(const std::string& type, const std::string& status) {
  return {{"type", type}, {"status", status}, {"reason", "R"}, {"message", ""}};
}

}  // namespace

TEST_CASE("a first status is applied as printed, under the object's name") {
  const Json object = live(nullptr);
  StatusRequest wanted = request(object);
  wanted.status = Json{{"ready", true}};
  const auto writes = plan_status_writes(wanted);
  REQUIRE(writes.ok());
  REQUIRE(writes->apply.has_value());
  CHECK(*writes->apply == Json{{"apiVersion", "demo.kubewatch.dev/v1"},
                               {"kind", "Website"},
                               {"metadata", {{"name", "a"}, {"namespace", "shop"}}},
                               {"status", {{"ready", true}}}});
  CHECK_FALSE(writes->conditions_patch.has_value());
}

TEST_CASE(
    "what the Result leaves out is carried over, null removes it, others' fields stay theirs") {
  const Json object =
      live({{"url", "u"}, {"old", 1}, {"nested", {{"x", 1}, {"y", 2}}}, {"other", 5}},
           {{"f:url", Json::object()},
            {"f:old", Json::object()},
            {"f:nested", {{"f:x", Json::object()}, {"f:y", Json::object()}}}});
  StatusRequest wanted = request(object);
  wanted.status = Json{{"old", nullptr}, {"nested", {{"x", 9}}}};
  const auto writes = plan_status_writes(wanted);
  REQUIRE(writes.ok());
  REQUIRE(writes->apply.has_value());
  CHECK((*writes->apply)["status"] == Json{{"url", "u"}, {"nested", {{"x", 9}, {"y", 2}}}});
}

TEST_CASE(
    "what others put into an empty map or list of ours stays theirs, a map of one piece is ours") {
  const Json leaf = Json::object();
  Json object = live({{"a", {{"x", 1}}}, {"items", {{{"k", "1"}, {"v", 2}}}}, {"one", {{"y", 3}}}},
                     {{"f:a", leaf}, {"f:items", leaf}, {"f:one", leaf}});
  object["metadata"]["managedFields"].push_back(
      {{"manager", "other"},
       {"operation", "Update"},
       {"subresource", "status"},
       {"fieldsType", "FieldsV1"},
       {"fieldsV1",
        {{"f:status",
          {{"f:a", {{"f:x", leaf}}},
           {"f:items", {{"k:{\"k\":\"1\"}", {{".", leaf}, {"f:k", leaf}, {"f:v", leaf}}}}}}}}}});
  StatusRequest wanted = request(object);
  wanted.status = Json{{"n", 1}};
  const auto writes = plan_status_writes(wanted);
  REQUIRE(writes.ok());
  REQUIRE(writes->apply.has_value());
  CHECK((*writes->apply)["status"] ==
        Json{{"a", leaf}, {"items", Json::array()}, {"one", {{"y", 3}}}, {"n", 1}});
  // Printed once more it is what it was.
  wanted.status = Json{{"a", leaf}};
  CHECK_FALSE(plan_status_writes(wanted)->apply.has_value());
}

TEST_CASE("a status that is there already is not written again") {
  const Json object = live({{"url", "u"}, {"list", {1, 2}}},
                           {{"f:url", Json::object()}, {"f:list", Json::object()}});
  StatusRequest wanted = request(object);
  wanted.status = Json{{"url", "u"}, {"list", {1, 2}}};
  const auto writes = plan_status_writes(wanted);
  REQUIRE(writes.ok());
  CHECK_FALSE(writes->apply.has_value());
}

TEST_CASE("the same value in a field of another manager is taken over once") {
  const Json object = live({{"url", "u"}});
  StatusRequest wanted = request(object);
  wanted.status = Json{{"url", "u"}};
  CHECK(plan_status_writes(wanted)->apply.has_value());
}

TEST_CASE("lastTransitionTime moves only when the status of a condition does") {
  const Json since = "2025-01-01T00:00:00Z";
  Json before = condition("Ready", "True");
  before["lastTransitionTime"] = since;
  Json failed = condition("Synced", "False");
  failed["lastTransitionTime"] = since;
  const Json object = live({{"conditions", {before, failed}}});
  StatusRequest wanted = request(object);
  wanted.conditions = {condition("Ready", "True"), condition("Synced", "True"),
                       condition("New", "Unknown")};
  const auto complete = complete_conditions(wanted);
  CHECK(complete[0]["lastTransitionTime"] == since);
  CHECK(complete[1]["lastTransitionTime"] == kNow);
  CHECK(complete[2]["lastTransitionTime"] == kNow);
  CHECK(complete[0]["observedGeneration"] == 3);
}

TEST_CASE("fields that the schema of a condition lacks are not added") {
  const Json object = live(nullptr);
  StatusRequest wanted = request(object);
  wanted.shape.observed_generation = false;
  wanted.shape.transition_time = false;
  wanted.conditions = {condition("Ready", "True")};
  CHECK(complete_conditions(wanted)[0] == condition("Ready", "True"));
}

namespace {

// Conditions Ready, which is ours, and Other.
Json live_conditions() {
  Json ours = condition("Ready", "True");
  ours["lastTransitionTime"] = kNow;
  return live({{"conditions", {ours, condition("Other", "True")}}},
              {{"f:conditions",
                {{"k:{\"type\":\"Ready\"}",
                  {{".", Json::object()},
                   {"f:type", Json::object()},
                   {"f:status", Json::object()},
                   {"f:reason", Json::object()},
                   {"f:message", Json::object()},
                   {"f:lastTransitionTime", Json::object()}}}}}});
}

Json removal(const std::string& type) {
  return {{"type", type}, {"status", nullptr}};
}

}  // namespace

TEST_CASE("with a list-map, our other conditions are applied again and nobody else's") {
  const Json object = live_conditions();
  StatusRequest wanted = request(object);
  wanted.conditions = {condition("Synced", "False")};
  const auto writes = plan_status_writes(wanted);
  REQUIRE(writes.ok());
  REQUIRE(writes->apply.has_value());
  const Json conditions = (*writes->apply)["status"]["conditions"];
  REQUIRE(conditions.size() == 2);
  CHECK(conditions[0]["type"] == "Ready");
  CHECK(conditions[1]["type"] == "Synced");
}

namespace {

// Reconciled is False, and `manager` has said so; with `fields` of status.conditions.
Json failed_by(const std::string& manager, const std::string& operation, const Json& fields) {
  Json object = live({{"conditions", Json::array({error_condition(kHookFailedReason, "no")})}});
  object["metadata"]["managedFields"] =
      Json::array({{{"manager", manager},
                    {"operation", operation},
                    {"subresource", "status"},
                    {"fieldsType", "FieldsV1"},
                    {"fieldsV1", {{"f:status", {{"f:conditions", fields}}}}}}});
  return object;
}

Json as_item() {
  const Json leaf = Json::object();
  return {{".", leaf},
          {R"(k:{"type":"Reconciled"})",
           {{".", leaf}, {"f:type", leaf}, {"f:status", leaf}, {"f:message", leaf}}}};
}

const std::set<std::string> kLoaded = {"kubewatch/w", "kubewatch/other"};

Json succeeded() {
  return {{"type", kErrorCondition}, {"status", "True"}, {"reason", "Succeeded"}, {"message", ""}};
}

}  // namespace

TEST_CASE("what another rule says has failed is left alone, what this one says it takes back") {
  const Json others = failed_by("kubewatch/other", "Apply", as_item());
  const Json ours = failed_by("kubewatch/w", "Apply", as_item());
  for (const Json& own : {succeeded(), error_condition(kNotYetReason, "waits")}) {
    CAPTURE(own.dump());
    StatusRequest wanted = request(others);
    wanted.rule_managers = &kLoaded;
    wanted.wrote_error = true;  // it was, until the other one took it over
    wanted.conditions = {own};
    auto writes = plan_status_writes(wanted);
    REQUIRE(writes.ok());
    CHECK(writes->own_left_out);
    CHECK_FALSE(writes->apply.has_value());
    wanted.conditions = {condition("Ready", "True"), own};
    writes = plan_status_writes(wanted);
    REQUIRE(writes.ok());
    REQUIRE(writes->apply.has_value());
    REQUIRE((*writes->apply)["status"]["conditions"].size() == 1);
    CHECK((*writes->apply)["status"]["conditions"][0]["type"] == "Ready");

    StatusRequest again = request(ours);
    again.rule_managers = &kLoaded;
    again.conditions = {own};
    const auto taken_back = plan_status_writes(again);
    REQUIRE(taken_back.ok());
    CHECK_FALSE(taken_back->own_left_out);
    REQUIRE(taken_back->apply.has_value());
    CHECK((*taken_back->apply)["status"]["conditions"][0]["reason"] == own["reason"]);
  }
  // A hook's own words are its business.
  StatusRequest printed = request(others);
  printed.rule_managers = &kLoaded;
  printed.conditions = {error_condition("WaitingForDns", "no zone")};
  CHECK(plan_status_writes(printed)->apply.has_value());
}

TEST_CASE("the newest failure is written over another rule's, which that one does not take back") {
  const Json others = failed_by("kubewatch/other", "Apply", as_item());
  for (const auto reason : {kHookFailedReason, kWriteFailedReason, kConflictReason}) {
    StatusRequest wanted = request(others);
    wanted.rule_managers = &kLoaded;
    wanted.conditions = {error_condition(reason, "no, too")};
    const auto writes = plan_status_writes(wanted);
    REQUIRE(writes.ok());
    CHECK_FALSE(writes->own_left_out);
    REQUIRE(writes->apply.has_value());
    CHECK((*writes->apply)["status"]["conditions"][0]["message"] == "no, too");
  }
  // Both hold the status then, which is the same, and the newer one what it says.
  Json both = others;
  Json older = failed_by("kubewatch/w", "Apply", as_item())["metadata"]["managedFields"][0];
  older["fieldsV1"]["f:status"]["f:conditions"][R"(k:{"type":"Reconciled"})"].erase("f:message");
  both["metadata"]["managedFields"].insert(both["metadata"]["managedFields"].begin(), older);
  StatusRequest wanted = request(both);
  wanted.rule_managers = &kLoaded;
  wanted.conditions = {succeeded()};
  CHECK(plan_status_writes(wanted)->own_left_out);
}

TEST_CASE("what a rule has written that is not loaded any more is taken back by another") {
  const std::set<std::string> alone = {"kubewatch/w"};
  for (const bool list_map : {true, false}) {
    const Json object = list_map ? failed_by("kubewatch/other", "Apply", as_item())
                                 : failed_by("kubewatch/other", "Update", Json::object());
    for (const std::set<std::string>* loaded :
         {&alone, static_cast<const std::set<std::string>*>(nullptr)}) {
      StatusRequest wanted = request(object);
      wanted.shape.list_map = list_map;
      wanted.rule_managers = loaded;
      wanted.conditions = {succeeded()};
      const auto writes = plan_status_writes(wanted);
      REQUIRE(writes.ok());
      CHECK_FALSE(writes->own_left_out);
      CHECK((writes->apply.has_value() || writes->conditions_patch.has_value()));
    }
  }
}

TEST_CASE("where conditions are one list, who held it last tells whose failure it shows") {
  const auto left_out = [](const std::string& manager, bool wrote_error) {
    const Json object = failed_by(manager, "Update", Json::object());
    StatusRequest wanted = request(object);
    wanted.shape.list_map = false;
    wanted.rule_managers = &kLoaded;
    wanted.wrote_error = wrote_error;
    wanted.conditions = {succeeded()};
    const auto writes = plan_status_writes(wanted);
    REQUIRE(writes.ok());
    CHECK(writes->conditions_patch.has_value() != writes->own_left_out);
    return writes->own_left_out;
  };
  CHECK(left_out("kubewatch/other", false));
  CHECK_FALSE(left_out("kubewatch/other", true));  // which has written another condition
  CHECK_FALSE(left_out("kubewatch/w", false));
  CHECK_FALSE(left_out("some-controller", false));
}

TEST_CASE("with a list-map, a condition to remove is left out of what we apply") {
  const Json object = live_conditions();
  StatusRequest wanted = request(object);
  wanted.conditions = {removal("Ready"), condition("Synced", "False")};
  const auto others = plan_status_writes(wanted);
  REQUIRE(others.ok());
  REQUIRE(others->apply.has_value());
  const Json conditions = (*others->apply)["status"]["conditions"];
  REQUIRE(conditions.size() == 1);
  CHECK(conditions[0]["type"] == "Synced");
  // The last one: an empty list would be ours altogether.
  wanted.conditions = {removal("Ready")};
  const auto last = plan_status_writes(wanted);
  REQUIRE(last.ok());
  REQUIRE(last->apply.has_value());
  CHECK((*last->apply)["status"] == Json::object());
}

TEST_CASE("to remove a condition that is not there writes nothing, nor one that others applied") {
  const Json object = live_conditions();
  StatusRequest wanted = request(object);
  wanted.conditions = {removal("Gone"), removal("Other")};
  CHECK_FALSE(plan_status_writes(wanted)->apply.has_value());
  const Json bare = live({{"url", "u"}}, {{"f:url", Json::object()}});
  StatusRequest of_bare = request(bare);
  of_bare.conditions = {removal("Gone")};
  for (const bool list_map : {true, false}) {
    of_bare.shape.list_map = list_map;
    const auto writes = plan_status_writes(of_bare);
    REQUIRE(writes.ok());
    CHECK_FALSE(writes->apply.has_value());
    CHECK_FALSE(writes->conditions_patch.has_value());
  }
}

TEST_CASE("without a list-map, a condition to remove is dropped under the resourceVersion") {
  const Json object =
      live({{"conditions", {condition("Other", "True"), condition("Old", "True")}}});
  StatusRequest wanted = request(object);
  wanted.shape.list_map = false;
  wanted.conditions = {removal("Old")};
  const auto writes = plan_status_writes(wanted);
  REQUIRE(writes.ok());
  REQUIRE(writes->conditions_patch.has_value());
  CHECK((*writes->conditions_patch)["status"]["conditions"] ==
        Json::array({condition("Other", "True")}));
  CHECK((*writes->conditions_patch)["metadata"]["resourceVersion"] == "7");
}

TEST_CASE("without a list-map, conditions are merged here under the resourceVersion") {
  const Json object =
      live({{"conditions", {condition("Other", "True"), condition("Ready", "False")}}});
  StatusRequest wanted = request(object);
  wanted.shape.list_map = false;
  wanted.conditions = {condition("Ready", "True")};
  const auto writes = plan_status_writes(wanted);
  REQUIRE(writes.ok());
  CHECK_FALSE(writes->apply.has_value());
  REQUIRE(writes->conditions_patch.has_value());
  CHECK((*writes->conditions_patch)["metadata"]["resourceVersion"] == "7");
  const Json merged = (*writes->conditions_patch)["status"]["conditions"];
  REQUIRE(merged.size() == 2);
  CHECK(merged[0]["type"] == "Other");
  CHECK(merged[1]["status"] == "True");
}

TEST_CASE("conditions that are there already are not patched again") {
  Json there = condition("Ready", "True");
  there["lastTransitionTime"] = "2025-01-01T00:00:00Z";
  there["observedGeneration"] = 3;
  const Json object = live({{"conditions", Json::array({there})}});
  StatusRequest wanted = request(object);
  wanted.shape.list_map = false;
  wanted.conditions = {condition("Ready", "True")};
  const auto writes = plan_status_writes(wanted);
  REQUIRE(writes.ok());
  CHECK_FALSE(writes->conditions_patch.has_value());
}

TEST_CASE("conditions of a kind without status.conditions are refused in words") {
  const Json object = live(nullptr);
  StatusRequest wanted = request(object);
  wanted.shape.conditions = false;
  wanted.conditions = {condition("Ready", "True")};
  const auto writes = plan_status_writes(wanted);
  REQUIRE_FALSE(writes.ok());
  CHECK(writes.error().render().find("no status.conditions") != std::string::npos);
}

TEST_CASE("the shape of conditions is read from a CRD") {
  const auto crd = [](Json conditions) {
    Json status = {{"type", "object"}, {"properties", Json::object()}};
    if (!conditions.is_null()) status["properties"]["conditions"] = std::move(conditions);
    return Json{
        {"spec",
         {{"versions",
           Json::array({{{"name", "v1"},
                         {"schema",
                          {{"openAPIV3Schema",
                            {{"type", "object"}, {"properties", {{"status", status}}}}}}}}})}}}};
  };
  const Json item = {{"properties", {{"type", {}}, {"lastTransitionTime", {}}}}};
  const auto mapped = status_shape_of_crd(crd({{"x-kubernetes-list-type", "map"},
                                               {"x-kubernetes-list-map-keys", {"type"}},
                                               {"items", item}}),
                                          "v1");
  CHECK(mapped.known);
  CHECK(mapped.list_map);
  CHECK(mapped.transition_time);
  CHECK_FALSE(mapped.observed_generation);
  const auto plain = status_shape_of_crd(crd({{"items", item}}), "v1");
  CHECK(plain.conditions);
  CHECK_FALSE(plain.list_map);
  CHECK_FALSE(status_shape_of_crd(crd(nullptr), "v1").conditions);
  CHECK_FALSE(status_shape_of_crd(crd(nullptr), "v2").known);
}

TEST_CASE("built-in kinds say whether their conditions merge by type") {
  const auto deployment = status_shape_of_builtin({"apps", "v1", "Deployment"});
  CHECK(deployment.known);
  CHECK(deployment.conditions);
  CHECK(deployment.list_map);
  CHECK_FALSE(status_shape_of_builtin({"nobody.dev", "v1", "Thing"}).known);
}
