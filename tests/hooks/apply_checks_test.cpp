// What is checked of manifests and of refusals, around an apply.
#include "core/status.hpp"
#include "hooks/child_writer.hpp"
#include "hooks/field_warnings.hpp"
#include "hooks/forced_paths.hpp"
#include "hooks/immutable_refusal.hpp"
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

Json cause(const std::string& message) {
  return {{"reason", "FieldValueInvalid"}, {"message", message}};
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

TEST_CASE("the advice on conflicts names none that the rule takes over, unless there is no other") {
  const Json applied = {{"spec", {{"replicas", 1}, {"paused", true}}}};
  const Error both = refusal(
      409, "Conflict", Json::array({conflict_at(".spec.replicas"), conflict_at(".spec.paused")}));
  const auto names = [&](const std::vector<ForcedPath>& forced, const char* field) {
    return explain_conflict(both, applied, forced).message().find(field) != std::string::npos;
  };
  const ForcedPath replicas = {"spec", "replicas"};
  CHECK(names({}, ".spec.replicas"));
  CHECK_FALSE(names({replicas}, ".spec.replicas"));
  CHECK(names({replicas}, "conflict with \"kubectl\" using v1: .spec.paused"));
  CHECK(names({replicas}, "apply.force"));
  CHECK(names({{"spec"}}, ".spec.replicas"));
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

TEST_CASE("each way in which the server says that something cannot be changed is known") {
  // ConfigMap, PersistentVolumeClaim, StatefulSet, Service, PriorityClass, RoleBinding, Pod, ...
  for (const char* message :
       {"Forbidden: field is immutable when `immutable` is set",
        "Forbidden: spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims\n  core.PersistentVolumeClaimSpec{\n...",
        "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', "
        "'template' are forbidden",
        "Invalid value: [\"10.0.0.1\"]: may not change once set",
        "Forbidden: may not be changed in an update.",
        "Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":"
        "\"b\"}: cannot change roleRef",
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`\n",
        "Forbidden: pod updates may not add or remove containers",
        "Forbidden: existing toleration can not be modified except its tolerationSeconds",
        "Forbidden: only deletion is allowed, but found new scheduling gate 'x'",
        "Invalid value: {\"a\":\"b\"}: only additions to spec.nodeSelector are allowed (no "
        "mutations or deletions)",
        "Forbidden: updates to parameters are forbidden.",
        "Forbidden: updates to provisioner are forbidden.",
        "Forbidden: updates to driverName are forbidden.",
        "Invalid value: null: field cannot be modified once set",
        "Invalid value: null: field cannot be set once created",
        "Invalid value: \"object\": failed rule: self == oldSelf",
        "Invalid value: \"string\": Value is Immutable"}) {
    INFO(message);
    CHECK(is_immutable_refusal(refusal(422, "Invalid", Json::array({cause(message)}))));
  }
}

TEST_CASE("what the object says itself is no word of the server about it") {
  const auto refused = [](const std::string& message, const Json& causes) {
    const Json status = {{"kind", "Status"},   {"status", "Failure"},
                         {"message", message}, {"reason", "Invalid"},
                         {"code", 422},        {"details", {{"causes", causes}}}};
    return is_immutable_refusal(core::error_from_response(422, status.dump()));
  };
  const Json none = Json::array();
  CHECK_FALSE(refused("no", Json::array({cause("Invalid value: {\"a\":\"\\\"immutable\"}: "
                                               "`selector` does not match template `labels`")})));
  CHECK_FALSE(refused("Site \"a\" is invalid: spec.immutable: Required value",
                      Json::array({cause("Required value")})));
  // A webhook gives no causes.
  CHECK(refused("admission webhook \"a.b\" denied the request: spec.x is immutable", none));
  CHECK_FALSE(refused("admission webhook \"immutable\" denied the request", none));
  const std::string policy =
      "ValidatingAdmissionPolicy 'require-immutable-tags' with binding 'b' denied request: ";
  CHECK_FALSE(refused("no", Json::array({cause(policy + "tag latest")})));
  CHECK_FALSE(refused("no", Json::array({cause(policy + "failed expression: !object.immutable")})));
  CHECK(refused("no", Json::array({cause(policy + "spec.x is immutable")})));
  CHECK_FALSE(refused("no", Json::array({cause("Invalid value: \"object\": failed rule: "
                                               "!self.immutable || self.size < 5")})));
  // The new one would be refused as well.
  CHECK_FALSE(refused("no", Json::array({cause("Invalid value: 1: field is immutable"),
                                         cause("Invalid value: -1: must be greater than 0")})));
  CHECK(refused("no", Json::array({cause("Invalid value: 1: field is immutable"),
                                   cause("Invalid value: 2: field is immutable")})));
  // Nothing that anybody would delete the claim for.
  CHECK_FALSE(
      refused("no", Json::array({cause("Forbidden: field can not be less than status.capacity")})));
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

TEST_CASE("a time that the server could not read is refused before anything is written, unshown") {
  const core::Gvk gvk{"apps", "v1", "Deployment"};
  const KindSchema deployment{schema::builtin_merge_schema(gvk), status_shape_of_builtin(gvk),
                              true};
  const auto with_time = [&](const char* time) {
    return check_status(deployment, gvk, std::nullopt,
                        {{{"type", "A"}, {"status", "True"}, {"lastTransitionTime", time}}});
  };
  CHECK(with_time("2026-01-01T00:00:00.5+01:00").ok());
  const auto refused = with_time("hunter2");
  REQUIRE_FALSE(refused.ok());
  INFO(refused.error().render());
  CHECK(refused.error().render().find("expected an RFC 3339 time") != std::string::npos);
  CHECK(refused.error().render().find("hunter2") == std::string::npos);
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

namespace {

const core::Gvk kSite{"demo.dev", "v1", "Site"};

// As read from a definition whose status has these properties.
KindSchema site_schema(const Json& properties, const Json& more = Json::object()) {
  Json status = {{"type", "object"}, {"properties", properties}};
  status.update(more);
  const Json schema = {{"type", "object"}, {"properties", {{"status", status}}}};
  const Json crd = {
      {"spec",
       {{"versions", Json::array({{{"name", "v1"}, {"schema", {{"openAPIV3Schema", schema}}}}})}}}};
  return {schema::crd_merge_schema(schema), status_shape_of_crd(crd, "v1")};
}

Json conditions_with(const Json& properties, bool list_map) {
  Json out = {{"type", "array"}, {"items", {{"type", "object"}, {"properties", properties}}}};
  if (list_map) {
    out["x-kubernetes-list-type"] = "map";
    out["x-kubernetes-list-map-keys"] = Json::array({"type"});
  }
  return out;
}

// "" when it fits.
std::string problem_of(const KindSchema& kind, const std::optional<Json>& status,
                       const std::vector<Json>& conditions = {}) {
  const auto checked = check_status(kind, kSite, status, conditions);
  if (!checked.ok()) return checked.error().render();
  return *checked == SchemaVerdict::fits ? "" : "to ask";
}

const Json kReady = {{"type", "Ready"}, {"status", "True"}, {"reason", "Up"}, {"message", ""}};
const Json kText = {{"type", "string"}};

}  // namespace

TEST_CASE("a status is checked against the schema of its kind, without what its nulls remove") {
  const KindSchema site =
      site_schema({{"replicas", {{"type", "integer"}}},
                   {"pages", {{"type", "object"}, {"properties", {{"a", kText}}}}}});
  CHECK(problem_of(site, std::nullopt).empty());
  CHECK(problem_of(site, Json{{"replicas", 1}, {"pages", {{"a", "x"}}}}).empty());
  CHECK(problem_of(site, Json{{"replicas", "two-hunter2"}}) ==
        ".status.replicas: expected numeric (int or float), got string");
  CHECK(problem_of(site, Json{{"pages", {{"b", "x"}}}}) ==
        ".status.pages.b: field not declared in schema");
  CHECK(problem_of(site, Json{{"old", nullptr}, {"pages", {{"b", nullptr}}}}).empty());
  const KindSchema conditioned =
      site_schema({{"conditions", conditions_with({{"type", kText}}, true)}});
  CHECK(problem_of(conditioned, std::nullopt, {{{"type", "Old"}, {"status", nullptr}}}).empty());
  // Nothing would be written.
  const KindSchema without{schema::crd_merge_schema(
      {{"type", "object"}, {"properties", {{"spec", {{"type", "object"}}}}}})};
  CHECK(problem_of(without, Json::object()).empty());
  CHECK(problem_of(without, Json{{"a", nullptr}}).empty());
  CHECK(problem_of(without, Json{{"a", 1}}) == ".status: field not declared in schema");
}

TEST_CASE("a status of which no schema tells is not checked") {
  CHECK(problem_of({}, Json{{"a", 1}}, {kReady}).empty());
  const KindSchema open =
      site_schema(Json::object(), {{"x-kubernetes-preserve-unknown-fields", true}});
  CHECK(problem_of(open, Json{{"a", 1}}, {kReady}).empty());
}

TEST_CASE("no value of a status gets into the message about it") {
  const KindSchema site = site_schema(
      {{"url", kText},
       {"names", {{"type", "array"}, {"x-kubernetes-list-type", "set"}, {"items", kText}}},
       {"map", {{"type", "object"}, {"properties", {{"a", kText}}}}}});
  for (const Json& status :
       {Json{{"url", Json::array({"hunter2"})}}, Json{{"names", {"hunter2", "hunter2"}}},
        Json{{"url", {{"a", "x\n  .b: hunter2"}}}}, Json{{"map", "x\n  .status.b: hunter2"}}}) {
    const std::string problem = problem_of(site, status);
    INFO(problem);
    CHECK(problem.starts_with(".status."));
    CHECK(problem.find("hunter2") == std::string::npos);
  }
  CHECK(problem_of(site, Json{{"names", {"hunter2", "hunter2"}}}) ==
        ".status.names: an item is there twice, or has the wrong type");
  const KindSchema deployment{schema::builtin_merge_schema({"apps", "v1", "Deployment"}), {}, true};
  CHECK(problem_of(deployment, Json{{"replicas", 7.25}}) ==
        ".status.replicas: json: cannot unmarshal number into Go value of type int32");
}

TEST_CASE("conditions are checked as they are written") {
  Json all = {{"type", kText}, {"status", kText}, {"reason", kText}, {"message", kText}};
  CHECK(
      problem_of(site_schema({{"conditions", conditions_with(all, true)}}), {}, {kReady}).empty());
  all["reason"] = {{"type", "object"}, {"properties", {{"a", kText}}}};
  for (const bool list_map : {true, false}) {
    const auto problem =
        problem_of(site_schema({{"conditions", conditions_with(all, list_map)}}), {}, {kReady});
    INFO(problem);
    CHECK(problem.find("].reason: expected map") != std::string::npos);
  }
  // The server refuses to apply what it does not know, and drops it from a merge patch.
  all.erase("reason");
  CHECK(problem_of(site_schema({{"conditions", conditions_with(all, true)}}), {}, {kReady}) ==
        ".status.conditions[type=\"Ready\"].reason: field not declared in schema");
  CHECK(
      problem_of(site_schema({{"conditions", conditions_with(all, false)}}), {}, {kReady}).empty());
  CHECK(problem_of(site_schema({{"ready", kText}}), {}, {kReady}) ==
        "conditions cannot be written: the schema of demo.dev/v1 Site has no status.conditions");
  CHECK(problem_of(site_schema({{"ready", kText}}), Json{{"ready", "x"}}).empty());
}

TEST_CASE("what the table of built-in kinds lacks in a status is for the server to say") {
  const core::Gvk gvk{"apps", "v1", "Deployment"};
  const KindSchema kind{schema::builtin_merge_schema(gvk), status_shape_of_builtin(gvk), true};
  CHECK(problem_of(kind, Json{{"replicas", 1}}, {kReady}).empty());
  CHECK(problem_of(kind, Json{{"fieldOfTomorrow", 1}}) == "to ask");
  const std::string wrong = problem_of(kind, Json{{"conditions", "none"}, {"fieldOfTomorrow", 1}});
  INFO(wrong);
  CHECK(wrong.find("none") == std::string::npos);
  CHECK(wrong.starts_with(".status.conditions: "));
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
