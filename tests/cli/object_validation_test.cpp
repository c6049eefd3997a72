// Objects against CRDs without a server: what of their metadata the server would refuse or drop.
#include "cli/crd/object_validation.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "e2e/schema/table.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

ObjectValidation of_crd(const Json& crd) {
  return ObjectValidation(std::vector<Json>(1, crd));
}

ObjectValidation validation() {
  const std::vector<Json> crds(1, Json::parse(R"({
    "metadata": {"name": "sites.demo.example.com"},
    "spec": {"group": "demo.example.com", "scope": "Namespaced",
      "names": {"plural": "sites", "kind": "Site"},
      "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
        {"type": "object", "properties": {"template": {"type": "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true}}}}}]}})"));
  return ObjectValidation(crds);
}

Json site(const char* metadata) {
  return {
      {"apiVersion", "demo.example.com/v1"}, {"kind", "Site"}, {"metadata", Json::parse(metadata)}};
}

bool refused_for(const char* metadata, const std::string& field) {
  const auto problems = validation().check(site(metadata));
  return std::any_of(problems.begin(), problems.end(), [&](const std::string& problem) {
    return problem.find(field) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("objects are refused for the metadata that the server refuses") {
  CHECK(validation().check(site(R"({"name": "a", "labels": {"app": "x"}})")).empty());
  CHECK(validation().check(site(R"({"generateName": "a-"})")).empty());
  CHECK(refused_for("{}", "metadata.name"));
  CHECK(refused_for(R"({"name": "a", "labels": {"app": "not a value"}})", "metadata.labels"));
  CHECK(refused_for(R"({"name": "a", "labels": {"app": 5}})", "labels"));
  CHECK(refused_for(R"({"name": "a", "annotations": {"a b": ""}})", "metadata.annotations"));
  CHECK(refused_for(R"({"name": "a", "finalizers": ["a b/c"]})", "metadata.finalizers"));
  CHECK(refused_for(R"({"name": "a", "creationTimestamp": "yesterday"})", "cannot parse"));
  CHECK(refused_for(R"({"name": "a", "ownerReferences": [{"kind": "Site"}]})",
                    "metadata.ownerReferences"));
}

TEST_CASE("unknown fields of metadata are told, of the object and of embedded ones") {
  Json object = site(R"({"name": "a", "lables": {"app": "x"}})");
  object["template"] = {
      {"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}, {"lables", 1}}}};
  object["colour"] = "red";
  const auto unknown = validation().unknown_fields(object);
  for (const char* path : {"metadata.lables", "template.metadata.lables", "colour"}) {
    INFO(path);
    CHECK(std::count(unknown.begin(), unknown.end(), path) == 1);
  }
}

// The same table is asked of both servers by tests/e2e/crd_update_test.cpp.
TEST_CASE("updates of the table are judged as it says") {
  const Json table = tables::read(std::string(SCHEMA_TABLES) + "/updates.yaml");
  REQUIRE(table.at("cases").size() >= 50);
  const ObjectValidation judge = of_crd(tables::change_crd(table, "tight"));
  REQUIRE(judge.broken().empty());
  for (const auto& one : table.at("cases")) {
    Json old = tables::before_of(table, one, "change");
    old["metadata"].update({{"namespace", "default"},
                            {"uid", "7c2e0f4a-0000-4000-8000-000000000001"},
                            {"resourceVersion", "100"},
                            {"generation", 1},
                            {"creationTimestamp", "2024-01-01T00:00:00Z"}});
    if (one.value("dying", false)) {
      old["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:01Z";
      old["metadata"]["deletionGracePeriodSeconds"] = 0;
    }
    const auto problems = judge.check(schema::merge_patch(old, one.at("new")), &old);
    CAPTURE(one.at("name").get<std::string>(), base::join(problems, "\n"));
    CHECK(problems.empty() == !one.contains("code"));
    if (!one.contains("code")) continue;
    const std::string field =
        one.contains("field") ? one.at("field").get<std::string>() + ": " : "";
    CHECK(std::any_of(problems.begin(), problems.end(), [&](const std::string& problem) {
      return problem.starts_with(field) && problem.find(one.at("message")) != std::string::npos;
    }));
  }
}

TEST_CASE("a rule that an update may leave broken is told apart") {
  const Json table = tables::read(std::string(SCHEMA_TABLES) + "/updates.yaml");
  const ObjectValidation judge = of_crd(tables::change_crd(table, "tight"));
  const Json old =
      tables::before_of(table, {{"old", {{"ruled", {{"low", 2}, {"high", 1}}}}}}, "change");
  std::vector<std::string> tolerated;
  CHECK(judge.check(old, &old, &tolerated).empty());
  CHECK(tolerated == std::vector<std::string>{"spec.ruled.low: Invalid value: low above high"});
}

TEST_CASE("what a file leaves out of what is stored is taken for unchanged") {
  const Json bare = site(R"({"name": "a"})");
  const Json full = site(R"({"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "5"})");
  CHECK(validation().check(bare, &full).empty());
  CHECK(validation().check(full, &bare).empty());
}

TEST_CASE("a status with an endpoint of its own is judged for that endpoint alone") {
  const Json table = tables::read(std::string(SCHEMA_TABLES) + "/updates.yaml");
  const ObjectValidation judge = of_crd(tables::change_crd(table, "tight"));
  Json object = tables::before_of(table, {{"old", {{"count", 99}}}}, "change");
  object["status"] = {{"phase", 5}};
  REQUIRE(judge.check(object).size() == 1);
  CHECK(judge.check(object)[0].starts_with("spec.count: "));
  REQUIRE_FALSE(judge.check_status(object).empty());
  CHECK(judge.check_status(object)[0].starts_with("status.phase: "));
}

TEST_CASE("an old object in a version that a webhook converts cannot be compared") {
  Json crd = Json::parse(R"({
    "metadata": {"name": "sites.demo.example.com"},
    "spec": {"group": "demo.example.com", "scope": "Namespaced",
      "conversion": {"strategy": "Webhook"}, "names": {"plural": "sites", "kind": "Site"},
      "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}]}})");
  const Json now = site(R"({"name": "a"})");
  Json old = now;
  old["apiVersion"] = "demo.example.com/v1alpha1";
  const auto problems = of_crd(crd).check(now, &old);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("a webhook converts") != std::string::npos);
  crd["spec"].erase("conversion");
  CHECK(of_crd(crd).check(now, &old).empty());
}

}  // namespace kubewatch::cli
