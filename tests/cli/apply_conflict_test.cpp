#include "cli/apply/field_conflict.hpp"
#include "core/status.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {
namespace {

const Json kObject = R"({"spec": {"replicas": 3}})"_json;

FieldConflict conflict(const std::string& path, const std::string& owner) {
  return {path, owner, "", Json(), Json()};
}

}  // namespace

TEST_CASE("conflicts of an answer become path, owner, their value and mine") {
  const Json status = R"({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 409,
    "reason": "Conflict", "message": "Apply failed with 1 conflict",
    "details": {"causes": [
      {"reason": "FieldManagerConflict", "field": ".spec.replicas",
       "message": "conflict with \"a \\\"b\\\"\" with subresource \"scale\" using apps/v1 at 2026-01-01T00:00:00Z"},
      {"reason": "SomethingElse", "field": ".x", "message": "no conflict"}]}})"_json;
  const Error error = core::error_from_response(409, status.dump());
  const auto found = conflicts_of(error, kObject, R"({"spec": {"replicas": 5}})"_json);
  REQUIRE(found.size() == 1);
  CHECK(found[0].owner == "a \"b\"");
  CHECK(to_json(found[0]) ==
        R"({"path": ".spec.replicas", "owner": "a \"b\"", "theirs": 3, "mine": 5})"_json);
  CHECK(to_text(found[0]) == ".spec.replicas: 3 of manager \"a \"b\"\", here 5");
  CHECK(conflicts_of(Error(ErrorKind::conflict, "the object has been modified"), kObject, kObject)
            .empty());
}

TEST_CASE("force by path takes that field and what is below it, and nothing beside it") {
  const auto policy = parse_force({"spec.replicas", ".data"}, {});
  REQUIRE(policy.ok());
  CHECK(policy->takes(conflict(".spec.replicas", "x")));
  CHECK(policy->takes(conflict(".data.color", "x")));
  CHECK_FALSE(policy->takes(conflict(".spec.replicasMost", "x")));
  CHECK_FALSE(policy->takes(conflict(".spec", "x")));
  CHECK_FALSE(policy->takes_all({conflict(".data.a", "x"), conflict(".spec.b", "x")}));
  CHECK_FALSE(policy->takes_all({}));
}

TEST_CASE("force by path takes no key of which the path is the beginning") {
  const Json status = R"({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 409,
    "reason": "Conflict", "details": {"causes": [
      {"reason": "FieldManagerConflict", "field": ".data.b.c", "message": "conflict with \"x\""}]}})"_json;
  const auto takes = [error = core::error_from_response(409, status.dump())](
                         const std::string& path, const Json& manifest) {
    return parse_force({path}, {})->takes_all(conflicts_of(error, Json(), manifest));
  };
  CHECK_FALSE(takes(".data.b", R"({"data": {"b.c": "1"}})"_json));
  CHECK_FALSE(takes(".data.b", R"({"data": {"b": {"c": 1}, "b.c": "1"}})"_json));
  CHECK(takes(".data.b", R"({"data": {"b": {"c": 1}}})"_json));
  CHECK(takes(".data.b.c", R"({"data": {"b.c": "1"}})"_json));
  CHECK(takes(".data", R"({"data": {"b.c": "1"}})"_json));
  // As a line of what was configured writes keys that are no words.
  CHECK(takes(R"(.data["b.c"])", R"({"data": {"b.c": "1"}})"_json));
  CHECK(takes(R"(data["b.c"])", R"({"data": {"b.c": "1"}})"_json));
  CHECK_FALSE(takes(R"(.data["b"])", R"({"data": {"b.c": "1"}})"_json));
  CHECK_FALSE(takes(R"(.data["b.d"])", R"({"data": {"b.c": "1"}})"_json));
  // What was applied does not show the place: it is as it reads.
  CHECK(takes(".data.b", Json::object()));
}

TEST_CASE("keys in paths to force are read, and items of lists are left as they are") {
  const auto written = [](const std::string& path) { return parse_force({path}, {})->paths[0]; };
  CHECK(written(R"(.data["k.2"])") == ".data.k.2");
  CHECK(written(R"(.metadata.annotations["a.b/c"].x["\"]"][0])") ==
        R"(.metadata.annotations.a.b/c.x."][0])");
  for (const char* path : {R"(.spec.x[k="a]b\"[c"].y)", R"(.spec.s[="x"])", ".a[0]", ".a.b-c"}) {
    CHECK(written(path) == path);
  }
}

TEST_CASE("a path to force that can be none is refused, with how they are written") {
  for (const char* path : {".data[", ".a]", "{.spec.template}", "/spec/template", ".a[b[c]]",
                           R"(.a[name="x])", ".spec."}) {
    INFO(path);
    const auto policy = parse_force({path}, {});
    REQUIRE_FALSE(policy.ok());
    CHECK(policy.error().message().find(R"(.spec.containers[name="web"].image)") !=
          std::string::npos);
  }
  for (const char* path : {".data.a.b/c", R"(.spec.x[k="a]b\"[c"].y)", ".a[0]", "spec.a",
                           R"(.metadata.finalizers["x"])"}) {
    INFO(path);
    CHECK(parse_force({path}, {}).ok());
  }
}

TEST_CASE("force by owner takes what that manager has") {
  const auto policy = parse_force({}, {"ci"});
  REQUIRE(policy.ok());
  CHECK(policy->takes_all({conflict(".a", "ci"), conflict(".b", "ci")}));
  CHECK_FALSE(policy->takes_all({conflict(".a", "ci"), conflict(".b", "cii")}));
}

TEST_CASE("force alone takes everything, false nothing, and mixtures are refused") {
  CHECK(parse_force({"true"}, {})->takes(conflict(".a", "x")));
  CHECK_FALSE(parse_force({"false"}, {})->any());
  CHECK_FALSE(parse_force({}, {})->any());
  for (const auto& words : {std::vector<std::string>{"true", ".a"}, {""}, {"."}}) {
    CHECK_FALSE(parse_force(words, {}).ok());
  }
  CHECK_FALSE(parse_force({"true"}, {"ci"}).ok());
  CHECK_FALSE(parse_force({}, {""}).ok());
}

TEST_CASE("an object of another ApplySet is a conflict that only force of its label moves") {
  const auto labelled = [](const std::string& set) {
    return Json{{"metadata", {{"labels", {{"applyset.kubernetes.io/part-of", set}}}}}};
  };
  Json live = labelled("theirs");
  live["metadata"]["managedFields"] = R"([{"manager": "x", "fieldsV1": {}}, {"manager": "ci",
    "fieldsV1": {"f:metadata": {"f:labels": {"f:applyset.kubernetes.io/part-of": {}}}}}])"_json;
  const auto found = set_conflict(live, labelled("mine"));
  REQUIRE(found);
  CHECK(is_of_set(*found));
  CHECK(to_json(*found) == R"({"path": ".metadata.labels.applyset.kubernetes.io/part-of",
    "owner": "ci", "theirs": "theirs", "mine": "mine"})"_json);
  const auto moves = [&](const std::string& path) {
    return parse_force({path}, {})->moves(*found);
  };
  CHECK(moves("true"));
  CHECK(moves(R"(.metadata.labels["applyset.kubernetes.io/part-of"])"));
  CHECK(moves(".metadata.labels"));
  CHECK_FALSE(moves(".metadata.labels.applyset"));
  CHECK_FALSE(moves(".data"));
  CHECK_FALSE(parse_force({}, {"ci"})->moves(*found));
  CHECK_FALSE(set_conflict(labelled("mine"), labelled("mine")));
  CHECK_FALSE(set_conflict(R"({"metadata": {}})"_json, labelled("mine")));
  CHECK_FALSE(set_conflict(Json(), labelled("mine")));
  // Where nobody keeps the label, nobody is named.
  CHECK(to_text(*set_conflict(labelled("a"), labelled("b"))) ==
        ".metadata.labels.applyset.kubernetes.io/part-of: \"a\", here \"b\"");
}

}  // namespace kubewatch::cli
