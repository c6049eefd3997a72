// The tables that both servers are held to (tests/e2e/schema), on lib/schema alone.
#include <algorithm>
#include <set>

#include "e2e/schema/table.hpp"
#include "schema/compiled_schema.hpp"
#include "schema/crd_check.hpp"
#include "support/catch.hpp"

namespace kubewatch::schema {

namespace {

std::string table_file(const char* name) {
  return std::string(SCHEMA_TABLES) + "/" + name;
}

std::string told(const FieldErrors& errors) {
  return errors.empty() ? "nothing" : sentences(errors);
}

bool names(const FieldErrors& errors, const std::string& field, const std::string& message) {
  return std::any_of(errors.begin(), errors.end(), [&](const FieldError& error) {
    return error.field == field && error.message.find(message) != std::string::npos;
  });
}

FieldErrors problems_of(Json crd) {
  crd_defaults(crd);
  return errors_of(check_crd(crd));
}

}  // namespace

TEST_CASE("definitions of the table that are valid have no findings") {
  const Json table = tables::read(table_file("crds.yaml"));
  REQUIRE(table.at("valid").size() >= 40);
  for (const auto& one : table.at("valid")) {
    CAPTURE(one.at("name").get<std::string>());
    const Json crd = tables::crd_of(table.at("base"), one);
    CHECK(check_crd_shape(crd).ok());
    CHECK(told(problems_of(crd)) == "nothing");
  }
}

TEST_CASE("definitions of the table that are not valid are refused with the field and the words") {
  const Json table = tables::read(table_file("crds.yaml"));
  REQUIRE(table.at("invalid").size() >= 120);
  for (const auto& one : table.at("invalid")) {
    const Json crd = tables::crd_of(table.at("base"), one);
    const FieldErrors errors = problems_of(crd);
    const std::string message = one.at("message").get<std::string>();
    CAPTURE(one.at("name").get<std::string>(), message, told(errors));
    CHECK(names(errors, tables::crd_field(one), message));
  }
}

TEST_CASE(
    "each id of a finding stands in the table of rules, and each of these is found somewhere") {
  std::set<std::string> known, found;
  for (const CrdRule& rule : crd_rules()) CHECK(known.insert(std::string(rule.id)).second);
  CrdCheckOptions options;
  options.rules = &rule_checker();
  const Json table = tables::read(table_file("crds.yaml"));
  for (const auto& one : table.at("invalid")) {
    Json crd = tables::crd_of(table.at("base"), one);
    if (!check_crd_shape(crd).ok()) continue;
    crd_defaults(crd);
    for (const Finding& finding : check_crd(crd, options)) found.insert(finding.id);
  }
  // Those of updates, of rules, and of what check_crd_shape catches first.
  for (const char* elsewhere : {"immutable", "stored-versions", "cel", "schema"}) {
    found.insert(elsewhere);
  }
  CHECK(found == known);
}

TEST_CASE("paths of rules are not looked for in a schema that the server cannot read") {
  Json crd = tables::read(table_file("crds.yaml")).at("base");
  Json& schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  schema["x-kubernetes-validations"] = Json::parse(R"([{"rule":"a","fieldPath":"A-b_c"}])");
  constexpr const char* field =
      "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].fieldPath";
  CHECK(names(problems_of(crd), field, "must be a valid path"));
  schema["definitions"] = Json::parse(R"({"k":{}})");
  CHECK_FALSE(names(problems_of(crd), field, "must be a valid path"));
  CHECK(names(problems_of(crd), "spec.validation.openAPIV3Schema.definitions", "not supported"));
}

TEST_CASE("formats are warned of wherever the server walks") {
  Json crd = tables::read(table_file("crds.yaml")).at("base");
  Json& schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  schema["properties"]["spec"]["properties"]["v"] =
      Json::parse(R"({"type":"string","allOf":[{"format":"x-a"}],"format":"x-b"})");
  CHECK(crd_warnings(crd, nullptr) ==
        std::vector<std::string>{"unrecognized format \"x-b\"", "unrecognized format \"x-a\""});
  CHECK(crd_warnings(crd, &crd).empty());
}

TEST_CASE("objects of the table are shaped and judged as it says") {
  const Json table = tables::read(table_file("objects.yaml"));
  REQUIRE(table.at("cases").size() >= 80);
  const Json crd = tables::subject_crd(table);
  CHECK(told(problems_of(crd)) == "nothing");
  const Json& version = crd.at("spec").at("versions").at(0);
  const auto compiled = CompiledSchema::of(version.at("schema").at("openAPIV3Schema"), nullptr,
                                           {".spec.replicas", ".status.replicas", ""});
  REQUIRE(compiled.ok());
  for (const auto& one : table.at("cases")) {
    Json object = tables::object_of(table, one);
    if (one.contains("object") && one.at("object").contains("metadata")) continue;  // the server's
    (*compiled)->apply_defaults(object);
    auto unknown = (*compiled)->prune(object);
    REQUIRE((*compiled)->coerce_embedded(object, unknown).ok());
    FieldErrors errors;
    (*compiled)->validate(object, nullptr, errors);
    CAPTURE(one.at("name").get<std::string>(), told(errors), object.dump());
    CHECK((one.contains("refused") == !errors.empty()));
    CHECK((!one.contains("malformed") || !unknown.empty()));
    if (one.contains("refused")) {
      CHECK(names(errors, tables::object_field(one), one.at("refused").get<std::string>()));
    }
    if (!one.contains("keeps")) continue;
    const std::string field = one.at("field").get<std::string>();
    CHECK(object.at("spec").value(field, Json()) == one.at("keeps"));
  }
}

}  // namespace kubewatch::schema
