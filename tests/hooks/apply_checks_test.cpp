// What is checked of manifests and of refusals, around an apply.
#include "core/status.hpp"
#include "hooks/child_writer.hpp"
#include "hooks/field_warnings.hpp"
#include "hooks/forced_paths.hpp"
#include "hooks/kind_schemas.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

Error refusal(int code, const std::string& reason, const Json& causes) {
  const Json status = {{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"status", "Failure"},
                       {"message", "no"},
                       {"reason", reason},
                       {"code", code},
                       {"details", {{"causes", causes}}}};
  return core::error_from_response(code, status.dump());
}

Json conflict_at(const std::string& field) {
  return {{"reason", "FieldManagerConflict"},
          {"message", "conflict with \"kubectl\" using v1"},
          {"field", field}};
}

}  // namespace

TEST_CASE("conflicts are taken over only when all of them are at or below the named paths") {
  const std::vector<ForcedPath> paths = {{"spec", "replicas"}, {"spec", "template"}};
  const Json applied = {
      {"spec",
       {{"replicas", 1},
        {"replicasX", 1},
        {"paused", true},
        {"template", {{"spec", {{"x", 1}}}, {"list", {{{"name", "a"}, {"x", 1}}}}}}}}};
  const auto within = [&](const Json& causes) {
    return conflicts_are_within(refusal(409, "Conflict", causes), applied, paths);
  };
  CHECK(within(Json::array({conflict_at(".spec.replicas")})));
  CHECK(within(Json::array({conflict_at(".spec.replicas"), conflict_at(".spec.template.spec.x")})));
  CHECK(within(Json::array({conflict_at(".spec.template.list[name=\"a\"].x")})));
  CHECK_FALSE(within(Json::array({conflict_at(".spec.replicas"), conflict_at(".spec.paused")})));
  CHECK_FALSE(within(Json::array({conflict_at(".spec.replicasX")})));
  CHECK_FALSE(within(Json::array({conflict_at(".spec")})));
  CHECK_FALSE(within(Json::array({conflict_at("")})));
  CHECK_FALSE(within(Json::array()));
  CHECK_FALSE(conflicts_are_within(
      refusal(409, "Conflict", Json::array({conflict_at(".spec.replicas")})), applied, {}));
  CHECK_FALSE(
      is_field_conflict(refusal(422, "Invalid", Json::array({conflict_at(".spec.replicas")}))));
}

TEST_CASE("a key with a dot is not what is below the key before the dot") {
  const auto within = [](const Json& data, const std::string& field, const ForcedPath& path) {
    return conflicts_are_within(refusal(409, "Conflict", Json::array({conflict_at(field)})),
                                {{"data", data}}, {path});
  };
  CHECK_FALSE(within({{"b.c", "1"}}, ".data.b.c", {"data", "b"}));
  CHECK(within({{"b.c", "1"}}, ".data.b.c", {"data", "b.c"}));
  CHECK(within({{"b", {{"c", "1"}}}}, ".data.b.c", {"data", "b"}));
  // It may be either: nobody said that both are to be taken over.
  CHECK_FALSE(within({{"b", {{"c", "1"}}}, {"b.c", "1"}}, ".data.b.c", {"data", "b"}));
  CHECK(within({{"b", {{"c", "1"}}}, {"b.c", "1"}}, ".data.b.c", {"data"}));
}

TEST_CASE("a refusal because a field cannot be changed is told from others") {
  CHECK(is_immutable_refusal(refusal(422, "Invalid",
                                     {{{"reason", "FieldValueInvalid"},
                                       {"message", "Invalid value: \"x\": field is immutable"},
                                       {"field", "spec.selector"}}})));
  CHECK_FALSE(is_immutable_refusal(refusal(422, "Invalid",
                                           {{{"reason", "FieldValueRequired"},
                                             {"message", "Required value"},
                                             {"field", "spec.selector"}}})));
  CHECK_FALSE(is_immutable_refusal(Error(ErrorKind::invalid, "immutable")));
}

TEST_CASE("a manifest is checked against the schema of its kind") {
  const auto deployment = schema::builtin_merge_schema({"apps", "v1", "Deployment"});
  REQUIRE(deployment != nullptr);
  const Json good = {{"apiVersion", "apps/v1"},
                     {"kind", "Deployment"},
                     {"metadata", {{"name", "a"}}},
                     {"spec", {{"replicas", 1}}}};
  CHECK(*check_schema(*deployment, good, true) == SchemaVerdict::fits);
  Json wrong = good;
  wrong["spec"]["replicas"] = "one";
  const auto refused = check_schema(*deployment, wrong, true);
  REQUIRE_FALSE(refused.ok());
  INFO(refused.error().render());
  CHECK(refused.error().render().find(".spec.replicas") != std::string::npos);
  Json newer = good;
  newer["spec"]["fieldOfTomorrow"] = 1;
  CHECK(*check_schema(*deployment, newer, true) == SchemaVerdict::to_ask);
  CHECK_FALSE(check_schema(*deployment, newer, false).ok());
}

TEST_CASE("no value of a Secret gets into the message about it") {
  const auto secret = schema::builtin_merge_schema({"", "v1", "Secret"});
  REQUIRE(secret != nullptr);
  const Json wrong = {{"apiVersion", "v1"},
                      {"kind", "Secret"},
                      {"metadata", {{"name", "a"}}},
                      {"data", "hunter2\n  .data: hunter2"},
                      {"stringData", {{"password", {"hunter2"}}}}};
  const auto refused = check_schema(*secret, wrong, true);
  REQUIRE_FALSE(refused.ok());
  INFO(refused.error().render());
  CHECK(refused.error().render().find("hunter2") == std::string::npos);
}

TEST_CASE("nulls, empty lists and fields of the server are told, meaningful empties are not") {
  const Json manifest = {
      {"metadata", {{"name", "a"}, {"generation", 1}}},
      {"spec", {{"replicas", nullptr}, {"items", Json::array()}, {"podSelector", Json::object()}}}};
  CHECK(field_warnings(manifest, 9) ==
        std::vector<std::string>{"metadata.generation is the server's",
                                 "spec.items is an empty list", "spec.replicas is null"});
  CHECK(field_warnings(manifest, 1).size() == 1);
  CHECK(field_warnings({{"spec", {{"x", 1}}}}, 9).empty());
}
