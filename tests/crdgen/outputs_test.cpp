// What else is made of a CRD: C++ structs, JSON Schema, a page, samples.
#include <catch2/catch.hpp>

#include "crdgen/cpp_structs.hpp"
#include "crdgen/json_schema.hpp"
#include "crdgen/markdown.hpp"
#include "crdgen/sample.hpp"
#include "fixture.hpp"
#include "schema/compiled_schema.hpp"

namespace kubewatch::crdgen {

namespace {

Json website() {
  const Generated made = made_of(text_of_file("types/website.yaml"));
  REQUIRE(made.problems.empty());
  return made.crds.front();
}

}  // namespace

TEST_CASE("C++ structs, JSON Schema and page are the committed ones") {
  const Json crd = website();
  const auto cpp = cpp_of_crd(crd, {});
  REQUIRE(cpp.ok());
  CHECK(*cpp == golden("website.hpp", *cpp));
  const std::string schema = base::dump_json_pretty(json_schema_of(crd)) + "\n";
  CHECK(schema == golden("website.schema.json", schema));
  CHECK(markdown_of(crd) == golden("website.md", markdown_of(crd)));
  CppOptions unknown;
  unknown.version = "v9";
  CHECK(cpp_of_crd(crd, unknown).error().is_not_found());
}

TEST_CASE("C++ structs of a kind of the server come from its OpenAPI document") {
  const Json document = yaml(R"({components: {schemas: {
    io.k8s.api.apps.v1.Gadget: {type: object, x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: Gadget}],
      properties: {metadata: {allOf: [{$ref: '#/components/schemas/io.k8s.ObjectMeta'}]},
                   spec: {allOf: [{$ref: '#/components/schemas/io.k8s.GadgetSpec'}], default: {}}}},
    io.k8s.ObjectMeta: {type: object, properties: {name: {type: string}}},
    io.k8s.GadgetSpec: {type: object, properties: {replicas: {type: integer, format: int32}, self: {$ref: '#/components/schemas/io.k8s.GadgetSpec'},
      class: {type: string}, items: {type: array, items: {$ref: '#/components/schemas/io.k8s.Item'}}}},
    io.k8s.Item: {type: object, properties: {a-b: {type: boolean}}}}}})");
  CppOptions options;
  options.plural = "gadgets";
  const auto cpp = cpp_of_openapi(document, "apps", "v1", "Gadget", options);
  REQUIRE(cpp.ok());
  for (const char* line :
       {"struct GadgetSpec {", "std::optional<std::int32_t> replicas;",
        "std::optional<std::string> class_;", "std::optional<std::vector<Item>> items;",
        "std::optional<kubewatch::Json> self;", "std::optional<bool> a_b;", "kPlural = \"gadgets\"",
        "detail::read(in, \"a-b\", into.a_b);", "std::optional<GadgetSpec> spec;",
        "namespace gadget_v1 {"}) {
    CHECK_THAT(*cpp, Catch::Contains(line));
  }
  CHECK(cpp_of_openapi(document, "apps", "v1", "Nothing", {}).error().is_not_found());
  CHECK(cpp_of_openapi(Json::object(), "apps", "v1", "Gadget", {}).error().kind() ==
        ErrorKind::invalid);
}

TEST_CASE("samples validate against the schema that they are made from") {
  const char* types[] = {
      "string | required minLength=3 maxLength=5",
      "string | required pattern='^[a-z]([-a-z0-9]*[a-z0-9])?$' minLength=8",
      "string | required pattern='^(a|b){3}\\.[0-9]+$'",
      "string | required pattern='^v[0-9]+(alpha[0-9]+)?$'",
      "string | required enum=[x,y]",
      "string | required format=date-time",
      "string | required format=uuid",
      "string | required format=ipv4",
      "string | required format=byte",
      "integer | required minimum=5 maximum=9 multipleOf=4",
      "integer | required minimum=5 exclusiveMinimum",
      "integer | required maximum=-3",
      "number | required maximum=0.5",
      "boolean | required",
      "'[]string | required listType=set minItems=3'",
      "'[]integer | required listType=set minItems=2 items.maximum=9'",
      "'[]corev1.EnvVar | required listType=map listMapKeys=name minItems=2'",
      "map[string]string | required minProperties=2",
      "Conditions | required",
      "Quantity | required",
      "integer or string | required",
      "embedded | required",
      "any | required",
      "{required: true, union: {a: string, b: integer}}",
      "{required: true, fields: {a: string | required, b: 'integer | required default=4'}}",
  };
  for (const char* type : types) {
    CAPTURE(type);
    const Generated made = made_of(
        document(std::string("  version: v1\n  spec:\n    required: true\n    fields:\n      x: ") +
                 type + "\n"));
    REQUIRE(first_of(made.problems) == "");
    const Json& crd = made.crds.front();
    const auto compiled = schema::CompiledSchema::of(
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"], nullptr);
    REQUIRE(compiled.ok());
    for (const SampleSize size : {SampleSize::minimal, SampleSize::full}) {
      auto object = sample_of(crd, "", size);
      REQUIRE(object.ok());
      CHECK((*compiled)->prune(*object).empty());
      (*compiled)->apply_defaults(*object);
      schema::FieldErrors errors;
      (*compiled)->validate(*object, nullptr, errors);
      CAPTURE(base::dump_json(*object));
      CHECK(schema::sentences(errors) == schema::sentences({}));
    }
  }
  CHECK(sample_of(website(), "v7", SampleSize::full).error().is_not_found());
}

TEST_CASE("a text for a pattern, or none where the pattern is not simple") {
  CHECK(text_for_pattern("^[a-z]{3}$", 0, 10) == "aaa");
  CHECK(text_for_pattern("^a+$", 4, 10).size() >= 4);
  CHECK(text_for_pattern("^x(y|z)?-\\d$", 0, 10) == "x-0");
  CHECK(text_for_pattern("[^a]", 1, 3) == "0");
  CHECK(text_for_pattern("(?i)abc", 0, 10) == "");
  CHECK(text_for_pattern("(((", 0, 10) == "");
  CHECK(text_for_pattern("[", 0, 10) == "");
  CHECK(text_for_pattern("a{100000}", 0, 10) == "");
}

TEST_CASE("a hundred CRDs are generated without the work of one being done again") {
  // Time is no business of a unit test: what is counted is what the time is made of.
  const std::string text = text_of_file("types/website.yaml");
  std::vector<TypeFile> files;
  for (int i = 0; i < 100; ++i) {
    std::string one = text;
    one.replace(one.find("kind: Website"), 13, "kind: Website" + std::to_string(i));
    files.push_back({"t" + std::to_string(i) + ".yaml", one});
  }
  const Generated made = generate(files);
  CHECK(first_of(made.problems) == "");
  CHECK(made.crds.size() == 100);
}

}  // namespace kubewatch::crdgen
