// What crd-gen lint finds: one schema for each id, and one that has nothing wrong.
#include "crdgen/lint.hpp"

#include <algorithm>

#include "fixture.hpp"
#include "support/catch.hpp"

namespace kubewatch::crdgen {

namespace {

Json crd_of(const std::string& fields, const std::string& more = "") {
  const Generated made =
      made_of(document("  version: v1\n" + more + "  spec:\n    fields:\n      " + fields + "\n"));
  INFO(first_of(made.problems));
  REQUIRE(made.problems.empty());
  return made.crds.front();
}

std::vector<std::string> ids_of(const Json& crd) {
  std::vector<std::string> out;
  for (const LintFinding& one : lint_crd(crd)) out.push_back(one.id + " " + one.path);
  return out;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("each id of lint has a schema that it finds, and one that it does not") {
  struct Row {
    const char* bad;
    Ids found;
    const char* good;
  };
  const char* rule = " validation={rule: \"self != ''\", message: m}'";
  const std::string bad_text = std::string("x: 'string |") + rule;
  const std::string good_text = std::string("x: 'string | maxLength=5") + rule;
  const Row table[] = {
      {bad_text.c_str(), {"unbounded-string v1 .spec.x"}, good_text.c_str()},
      {"x: '[]string | listType=set items.maxLength=3 validation={rule: \"self.size() > 0\", "
       "message: m}'",
       {"unbounded-list v1 .spec.x"},
       "x: '[]string | listType=set maxItems=3 items.maxLength=3 validation={rule: \"self.size() > "
       "0\", message: m}'"},
      {"x: 'map[string]string | values.maxLength=3 validation={rule: \"self.size() > 0\", message: "
       "m}'",
       {"unbounded-map v1 .spec.x"},
       "x: 'map[string]string | maxProperties=3 values.maxLength=3 validation={rule: \"self.size() "
       "> 0\", message: m}'"},
      {"x: '[]string'", {"list-type-missing v1 .spec.x"}, "x: '[]string | listType=atomic'"},
      {"x: int32 | maximum=2147483648", {"limits v1 .spec.x"}, "x: int32 | maximum=2147483647"},
      {"x: number", {"float v1 .spec.x"}, "x: integer"},
      {"x: object", {"empty-object v1 .spec.x"}, "x: object | preserveUnknown"},
      {"x: 'integer | validation=\"self > 0\"'",
       {"rule-without-message v1 .spec.x"},
       "x: 'integer | validation={rule: \"self > 0\", message: m}'"},
  };
  for (const Row& row : table) {
    CAPTURE(row.bad);
    CHECK(ids_of(crd_of(row.bad)) == row.found);
    CHECK(ids_of(crd_of(row.good)).empty());
  }
}

TEST_CASE("a rule reads the fields that it names, not those whose name is in another word") {
  const auto found = [](const std::string& rule, const std::string& fields) {
    return ids_of(crd_of("x: {fields: {" + fields + "}, validations: [{rule: \"" + rule +
                         "\", message: m}]}"));
  };
  const std::string strings = "name: string, hostname: string | maxLength=9";
  CHECK(found("self.hostname != ''", strings).empty());
  CHECK(found("self.hostname != '' || self.name != ''", strings) ==
        Ids{"unbounded-string v1 .spec.x.name"});
  CHECK(found("has(self.name)", strings) == Ids{"unbounded-string v1 .spec.x.name"});
  const std::string others =
      "item: '[]string | listType=atomic', arg: 'map[string]string', items: integer, args: "
      "integer, "
      "_arg: integer";
  CHECK(found("self.items > self.args + self._arg", others).empty());
  CHECK(found("self.item.size() > self.arg.size()", others) ==
        Ids{"unbounded-map v1 .spec.x.arg", "unbounded-string v1 .spec.x.arg{}",
            "unbounded-list v1 .spec.x.item", "unbounded-string v1 .spec.x.item[]"});
  // As a rule has to write it.
  CHECK(found("self.host__dash__name != ''", "host-name: string") ==
        Ids{"unbounded-string v1 .spec.x.host-name"});
  CHECK(found("self.__namespace__ != ''", "namespace: string") ==
        Ids{"unbounded-string v1 .spec.x.namespace"});
  CHECK(found("self.namespace != ''", "namespace: string") ==
        Ids{"unbounded-string v1 .spec.x.namespace"});
  CHECK(found("self.name in ['a']", "in: string, name: string | maxLength=9").empty());
  CHECK(found("self.__namespace__ > 0 && self.name != ''",
              "namespace: integer, name: string | maxLength=9, a: {fields: {'1': string}}")
            .empty());
}

TEST_CASE("fields that no CRD has, and what no value can meet, are found where they stand") {
  Json crd = crd_of("x: string | maxLength=3\n      l: '[]string | listType=set'");
  Json& version = crd["spec"]["versions"][0];
  Json& fields = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
  CHECK(lint_crd(crd).empty());
  version["additionalPrinterColumn"] = Json::array();
  version["subresource"] = {{"status", Json::object()}};
  fields["x"]["maxlength"] = 3;
  fields["l"]["items"]["enum"] = {"a", 1};
  fields["l"]["minItems"] = 2;
  fields["l"]["maxItems"] = 1;
  // Which nobody writes, so that it hides nothing behind it.
  for (int i = 0; i < 200; ++i) crd["status"]["later" + std::to_string(i)] = 1;
  crd["zzz"] = 1;
  std::vector<std::string> seen;
  for (const LintFinding& one : lint_crd(crd)) {
    seen.push_back(one.pointer + " " + one.id + ": " + one.message);
  }
  const std::string schema = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
  CHECK(seen == std::vector<std::string>{
                    "/spec/versions/0/additionalPrinterColumn unknown-field: no CRD has this "
                    "field, did you mean \"additionalPrinterColumns\"?",
                    schema + "/x/maxlength unknown-field: no CRD has this field, did you mean "
                             "\"maxLength\"?",
                    "/spec/versions/0/subresource unknown-field: no CRD has this field, did you "
                    "mean \"subresources\"?",
                    "/zzz unknown-field: no CRD has this field",
                    schema + "/l limits: no value fits minItems=2 and maxItems=1",
                    schema + "/l/items enum-type: enum lists 1, which is no string",
                });
  CHECK(ids_of(crd).back() == "enum-type v1 .spec.l[]");
  // Not without end, in one object either.
  for (int i = 0; i < 200; ++i) crd["spec"]["more" + std::to_string(i)] = i;
  const Ids all = ids_of(crd);
  CHECK(std::count_if(all.begin(), all.end(), [](const std::string& one) {
          return one.starts_with("unknown-field ");
        }) == 100);
}

TEST_CASE("conditions, status and columns are looked at") {
  CHECK(ids_of(crd_of("x: string", "  status: {fields: {conditions: Conditions}}\n")).empty());
  const auto found = lint_crd(
      crd_of("x: string", "  status: {fields: {conditions: '[]string | listType=atomic'}}\n"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].id == "conditions-shape");
  CHECK_THAT(found[0].message, Catch::Contains("has no field type"));
  CHECK(ids_of(
            crd_of("x: string", "  statusSubresource: false\n  status: {fields: {a: string}}\n")) ==
        Ids{"status-subresource-missing v1 .status"});
  CHECK(ids_of(crd_of("x: string",
                      "  columns: ['A: string .spec.y', 'B: string .spec.x', 'C: date "
                      ".metadata.creationTimestamp']\n")) ==
        Ids{"column-path-unknown v1 column A"});
}

TEST_CASE("what the server refuses is an error with the place in the document") {
  Json crd = crd_of("x: string");
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["x"]
      .erase("type");
  const auto found = lint_crd(crd);
  REQUIRE(found.size() >= 1);
  CHECK(found[0].level == LintLevel::error);
  CHECK_THAT(
      found[0].pointer,
      Catch::StartsWith("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/x"));
  CHECK_THAT(found[0].message, Catch::Contains("Required value"));
}

TEST_CASE("a CRD that kubectl apply cannot remember is found") {
  const auto sized = [](std::size_t size) {
    return lint_crd(crd_of("x: string", "  description: " + std::string(size, 'a') + "\n"));
  };
  CHECK(sized(1000).empty());
  REQUIRE(sized(230000).size() == 1);
  CHECK(sized(230000)[0].level == LintLevel::warning);
  // Which the server takes, so that it is no error.
  REQUIRE(sized(300000).size() == 1);
  CHECK(sized(300000)[0].level == LintLevel::warning);
}

TEST_CASE("of a CRD with values of another type lint says that, and nothing else") {
  const std::pair<const char*, Json> table[] = {
      {"/spec/versions/0/additionalPrinterColumns", 5},
      {"/spec/versions/0/additionalPrinterColumns", Json::array({"text"})},
      {"/spec/versions/0/schema/openAPIV3Schema", "x"},
      {"/spec/versions/0/storage", "yes"}};
  for (const auto& [pointer, value] : table) {
    CAPTURE(pointer);
    Json crd = crd_of("x: string", "  columns: ['A: string .spec.x']\n");
    crd[Json::json_pointer(pointer)] = value;
    CHECK(ids_of(crd) == Ids{"shape "});
  }
}

TEST_CASE("findings can be switched off by their id") {
  LintOptions options;
  options.disabled = {"float"};
  CHECK(lint_crd(crd_of("x: number"), options).empty());
}

TEST_CASE("an id that no finding has is an error that names those near to it") {
  CHECK(check_lint_id("float").ok());
  CHECK(check_lint_id("structural-type").ok());
  CHECK(check_lint_id("flaot").error().message() ==
        "\"flaot\" is the id of no finding; did you mean float?");
  CHECK_THAT(check_lint_id("list-typ").error().message(),
             Catch::EndsWith("did you mean list-type?"));
  CHECK_THAT(check_lint_id("everything").error().message(),
             Catch::Contains("there are unbounded-string, unbounded-list"));
}

TEST_CASE("fields as the server writes them become pointers") {
  const Json crd = yaml(
      "{spec: {versions: [{schema: {openAPIV3Schema: {properties: {a.b: {type: string}}}}}]}}");
  CHECK(pointer_of_field(crd, "spec.versions[0].schema.openAPIV3Schema.properties[a.b].type") ==
        "/spec/versions/0/schema/openAPIV3Schema/properties/a.b/type");
  CHECK(pointer_of_field(crd, "spec.validation.openAPIV3Schema.properties[a.b].items") ==
        "/spec/versions/0/schema/openAPIV3Schema/properties/a.b");
  CHECK(pointer_of_field(crd, "spec.versions[7].name") == "/spec/versions");
  const Json beside = yaml(
      "{spec: {versions: [{subresources: {scale: {specReplicasPath: .a}}, selectableFields: "
      "[{jsonPath: .a}], additionalPrinterColumns: [{jsonPath: a}]}]}}");
  CHECK(pointer_of_field(beside, "spec.subresources.scale.specReplicasPath") ==
        "/spec/versions/0/subresources/scale/specReplicasPath");
  CHECK(pointer_of_field(beside, "spec.selectableFields[0].jsonPath") ==
        "/spec/versions/0/selectableFields/0/jsonPath");
  CHECK(pointer_of_field(beside, "spec.selectableFields") == "/spec/versions/0/selectableFields");
  CHECK(pointer_of_field(beside, "spec.additionalPrinterColumns[0].JSONPath") ==
        "/spec/versions/0/additionalPrinterColumns/0");
  CHECK(pointer_of_field(crd, "") == "");
}

}  // namespace kubewatch::crdgen
