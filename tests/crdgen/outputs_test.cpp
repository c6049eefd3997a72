// What else is made of a CRD: C++ structs, JSON Schema, a page, samples.
#include "crdgen/cpp_structs.hpp"
#include "crdgen/json_schema.hpp"
#include "crdgen/markdown.hpp"
#include "crdgen/sample.hpp"
#include "fixture.hpp"
#include "schema/compiled_schema.hpp"
#include "schema/rule_checker.hpp"
#include "support/catch.hpp"

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

TEST_CASE("the page shows patterns, rules and defaults as they are, in its tables too") {
  Json crd = website();
  Json& root = crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"];
  root["x-kubernetes-validations"] = yaml(R"([{rule: "has(self.spec) || self.spec.a < 3"}])");
  root["properties"] = yaml(R"({spec: {type: object, properties: {
    a: {type: string, description: 'of \d | <b>', default: 'a\b<', pattern: '^\d+(a|b)$'},
    b: {type: string, pattern: '`a`', x-kubernetes-validations: [{rule: "self != '``' && self < 'z'"}]},
    c: {type: string, default: '', pattern: ' a', x-kubernetes-validations: [{rule: '', message: 'c | d'}]}}}})");
  const std::string page = markdown_of(crd);
  for (const char* line :
       {"\nrule `has(self.spec) || self.spec.a < 3`\n",
        R"(| `spec.a` | string | `"a\\b<"` | pattern `^\d+(a\|b)$` | of \\d \| \<b> |)",
        R"(| `spec.b` | string |  | pattern `` `a` ``; rule ```self != '``' && self < 'z'``` |  |)",
        R"(| `spec.c` | string | `""` | pattern `  a `; c \| d |  |)"}) {
    CHECK_THAT(page, Catch::Contains(line));
  }
}

TEST_CASE("the page has the limits of items and values, and says which fields exclude each other") {
  const Generated made = made_of(document(R"(  version: v1
  spec:
    fields:
      host: string | maxLength=253 enum=["a","b"]
      hosts: {items: 'string | maxLength=253 enum=["a","b"]', maxItems: 16}
      labels: {values: string | maxLength=63, maxProperties: 3}
      src: {union: {git: string, image: string}}
)"));
  REQUIRE(first_of(made.problems) == "");
  const std::string page = markdown_of(made.crds.front());
  CHECK_THAT(page, Catch::EndsWith(R"(
| `spec` | object |  |  |  |
| `spec.host` | string |  | enum `["a","b"]`; maxLength `253` |  |
| `spec.hosts` | []string |  | maxItems `16` |  |
| `spec.hosts[]` | string |  | enum `["a","b"]`; maxLength `253` |  |
| `spec.labels` | map[string]string |  | maxProperties `3` |  |
| `spec.labels.*` | string |  | maxLength `63` |  |
| `spec.src` | object |  | exactly one of `git`, `image` |  |
| `spec.src.git` | string |  |  |  |
| `spec.src.image` | string |  |  |  |
)"));
}

TEST_CASE("the page has rules of items, limits of names, and other conditions at least by name") {
  Json crd = website();
  Json& root = crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"];
  root = yaml(R"({type: object, oneOf: [{required: [spec]}, {required: [status]}], properties: {
    apiVersion: {type: string, description: of any}, kind: {type: string, enum: [Website]},
    metadata: {type: object, properties: {name: {type: string, maxLength: 3}}},
    spec: {type: object, properties: {
      a: {type: object, anyOf: [{required: [b, c]}, {required: [d]}], not: {required: [e]}},
      f: {type: object, oneOf: [{required: [b]}, {properties: {c: {enum: [d]}}}]},
      g: {type: array, items: {type: object, properties: {a: {type: boolean}},
          x-kubernetes-validations: [{rule: self.a}]}},
      h: {x-kubernetes-int-or-string: true,
          allOf: [{anyOf: [{type: integer}, {type: string}]}, {pattern: z}]},
      i: {type: array, items: {type: string, description: what}},
      k: {type: object, additionalProperties: {type: array, maxItems: 2, items: {type: string,
          maxLength: 3}}},
      m: {type: object, allOf: [{oneOf: [{required: [a]}, {required: [b]}]}, {minProperties: 2}]},
      na: {type: object, allOf: [{properties: {c: {enum: [d]}}}]},
      o: {type: array, items: {type: object, properties: {a: {type: boolean}}}}}}}})");
  const std::string page = markdown_of(crd);
  CHECK_THAT(page, Catch::Contains(R"(
exactly one of `spec`, `status`

| field | type | default | limits | meaning |
|---|---|---|---|---|
| `kind` | string |  | enum `["Website"]` |  |
| `metadata` | object |  |  |  |
| `metadata.name` | string |  | maxLength `3` |  |
| `spec` | object |  |  |  |
| `spec.a` | object |  | at least one of `b` with `c`, `d`; more conditions (not) |  |
| `spec.f` | object |  | more conditions (oneOf) |  |
| `spec.g` | []object |  |  |  |
| `spec.g[]` | object |  | rule `self.a` |  |
| `spec.g[].a` | boolean |  |  |  |
| `spec.h` | integer or string |  | pattern `z` |  |
| `spec.i` | []string |  |  |  |
| `spec.i[]` | string |  |  | what |
| `spec.k` | map[string][]string |  |  |  |
| `spec.k.*` | []string |  | maxItems `2` |  |
| `spec.k.*[]` | string |  | maxLength `3` |  |
| `spec.m` | object |  | exactly one of `a`, `b`; minProperties `2` |  |
| `spec.na` | object |  | more conditions (allOf) |  |
| `spec.o` | []object |  |  |  |
| `spec.o[].a` | boolean |  |  |  |
)"));
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
        "read_field(in, \"a-b\", into.a_b);", "std::optional<GadgetSpec> spec;",
        "namespace gadget_v1 {"}) {
    CHECK_THAT(*cpp, Catch::Contains(line));
  }
  CHECK(cpp_of_openapi(document, "apps", "v1", "Nothing", {}).error().is_not_found());
  CHECK(cpp_of_openapi(Json::object(), "apps", "v1", "Gadget", {}).error().kind() ==
        ErrorKind::invalid);
}

TEST_CASE("C++ structs compile whatever fields, kinds and descriptions are called") {
  Json crd = website();
  crd["spec"]["names"]["kind"] = "Web-Site";
  Json root = {{"type", "object"}};
  root["properties"] = yaml(
      "{kKind: {type: string}, kScope: {type: string}, co_await: {type: string}, not_eq: {type: "
      "string}, static_cast: {type: string}, char8_t: {type: string}, spec: {type: object, "
      "properties: {a: {type: string, description: \"ends in \\\\ \"}}}, WebSiteSpec: {type: "
      "string}, WebSite: {type: string}}");
  for (Json& version : crd["spec"]["versions"]) version["schema"]["openAPIV3Schema"] = root;
  const auto cpp = cpp_of_crd(crd, {});
  REQUIRE(cpp.ok());
  for (const char* line :
       {"namespace web_site_v1 {", "> kKind_;", "> kScope_;", "> co_await_;", "> not_eq_;",
        "> static_cast_;", "> char8_t_;", "  // ends in\n", "struct WebSiteSpec2 {",
        "std::optional<WebSiteSpec2> spec;", "> WebSite_;"}) {
    CHECK_THAT(*cpp, Catch::Contains(line));
  }
  CppOptions options;
  options.name_space = "acme::kinds";
  CHECK(cpp_of_crd(crd, options).ok());
  for (const char* bad :
       {"a-b", "1a", "class", "a::", "::a", "a:b", "std", "a::kubewatch", "a b"}) {
    CAPTURE(bad);
    options.name_space = bad;
    CHECK_THAT(cpp_of_crd(crd, options).error().message(), Catch::Contains("no namespace of C++"));
    CHECK_THAT(cpp_of_openapi(Json::object(), "apps", "v1", "Gadget", options).error().message(),
               Catch::Contains("no namespace of C++"));
  }
}

TEST_CASE("the JSON Schema closes no metadata, and keeps what an embedded object requires") {
  Json crd = website();
  Json root = yaml(
      "{type: object, properties: {metadata: {type: object, properties: {name: {type: string}}}, "
      "spec: {type: object, properties: {template: {type: object, "
      "x-kubernetes-embedded-resource: true, required: [spec, kind], properties: {metadata: {type: "
      "object, properties: {name: {type: string}}}, spec: {type: object, properties: {a: {type: "
      "string}}}}}}}}}");
  for (Json& version : crd["spec"]["versions"]) version["schema"]["openAPIV3Schema"] = root;
  const Json schema = json_schema_of(crd, "v1")["properties"];
  CHECK(schema["metadata"] == yaml("{type: object, properties: {name: {type: string}}}"));
  CHECK(schema["spec"]["additionalProperties"] == false);
  const Json& embedded = schema["spec"]["properties"]["template"];
  CHECK(embedded["required"] == Json({"spec", "kind", "apiVersion"}));
  CHECK_FALSE(embedded["properties"]["metadata"].contains("additionalProperties"));
  CHECK(embedded["properties"]["spec"]["additionalProperties"] == false);
}

TEST_CASE("the JSON Schema takes null where the server does, for a number or text as well") {
  Json crd = website();
  const Json root = yaml(
      "{type: object, properties: {"
      "text: {type: string, nullable: true}, "
      "port: {x-kubernetes-int-or-string: true, nullable: true, anyOf: [{type: integer}, {type: "
      "string}]}, "
      "size: {x-kubernetes-int-or-string: true, nullable: true, pattern: x, allOf: [{anyOf: "
      "[{type: "
      "integer}, {type: string}]}, {pattern: z}]}, "
      "bare: {x-kubernetes-int-or-string: true, nullable: true}, "
      "never: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}}}");
  for (Json& version : crd["spec"]["versions"]) version["schema"]["openAPIV3Schema"] = root;
  const Json schema = json_schema_of(crd, "v1")["properties"];
  const Json either = {"integer", "string", "null"};
  CHECK(schema["text"] == Json{{"type", {"string", "null"}}});
  CHECK(schema["port"] == Json{{"type", either}});
  CHECK(schema["bare"] == Json{{"type", either}});
  CHECK(schema["size"] == Json{{"type", either},
                               {"pattern", "x"},
                               {"allOf", Json::array({Json::object(), {{"pattern", "z"}}})}});
  CHECK(schema["never"] == yaml("{type: [integer, string], anyOf: [{type: integer}, {type: "
                                "string}]}"));
}

TEST_CASE("a page of a CRD with a null property, and with text that is no text") {
  Json crd = website();
  Json root = yaml("{type: object, properties: {a: null, b: {type: array, items: [5]}}}");
  root["properties"]["c"] = {{"type", "string"}, {"description", "red \x1b[31m"}};
  for (Json& version : crd["spec"]["versions"]) version["schema"]["openAPIV3Schema"] = root;
  const std::string page = markdown_of(crd);
  CHECK_THAT(page, Catch::Contains("| `a` | any |") && Catch::Contains("| `b` | []any |"));
  CHECK(page.find('\x1b') == std::string::npos);
  Json named = crd;
  named["spec"]["versions"][0]["name"] = "v1 \x1b[31m";
  CHECK(markdown_of(named).find('\x1b') == std::string::npos);
  for (Json& version : crd["spec"]["versions"]) version["schema"]["openAPIV3Schema"] = "x";
  CHECK(json_schema_of(crd, "v1").contains("properties"));
  CHECK(cpp_of_crd(crd, {}).ok());
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
      "number | required multipleOf=0.25",
      "number | required multipleOf=0.25 maximum=1",
      "number | required minimum=1e20",
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
      "string | required pattern='(?i)^abc$'",
      "{required: true, fields: {a: string, b: string, c: string}, exactlyOneOf: [b, a]}",
      "{required: true, fields: {a: string, b: string}, atMostOneOf: [a, b]}",
      "{required: true, fields: {a: string, b: string}, atLeastOneOf: [a, b]}",
      "{required: true, fields: {a: string, b: string | required, c-d: string}, exactlyOneOf: [a, "
      "b, c-d]}",
      "{required: true, fields: {a: string, b: string | default=x}, exactlyOneOf: [a, b]}",
      "{required: true, fields: {a: string, b: string, c: string}, exactlyOneOf: [a, b], "
      "atMostOneOf: [a, c]}",
      // As controller-gen writes it.
      "{required: true, fields: {a: string, b: string}, validations: "
      "'[has(self.a),has(self.b)].filter(x,x==true).size() == 1'}",
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
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"], &schema::rule_checker());
    REQUIRE(compiled.ok());
    for (const SampleSize size : {SampleSize::minimal, SampleSize::full}) {
      auto object = sample_of(crd, "", size);
      REQUIRE(object.ok());
      // As whoever reads the print has it.
      *object = base::parse_yaml_values(base::dump_yaml(*object))->front();
      CHECK((*compiled)->prune(*object).empty());
      (*compiled)->apply_defaults(*object);
      schema::FieldErrors errors;
      (*compiled)->validate(*object, nullptr, errors);
      CAPTURE(base::dump_json(*object));
      CHECK(schema::sentences(errors) == schema::sentences({}));
    }
  }
  CHECK(sample_of(website(), "v7", SampleSize::full).error().is_not_found());
  // A default of null is none: the server does not fill the field in.
  Json crd = website();
  for (Json& version : crd["spec"]["versions"]) {
    version["schema"]["openAPIV3Schema"] =
        yaml("{type: object, required: [a], properties: {a: {type: string, default: null}}}");
  }
  CHECK((*sample_of(crd, "", SampleSize::minimal))["a"].is_string());
}

TEST_CASE("a sample stays small whatever the schema wants") {
  Json crd = website();
  Json& spec = crd["spec"]["versions"];
  Json version = spec[0];
  version["name"] = "v9";
  version["schema"]["openAPIV3Schema"] =
      base::parse_yaml_values(
          "{type: object, required: [a, b, c, d, e], properties: {a: {type: array, minItems: "
          "2000000000, items: {type: array, minItems: 2000000000, items: {type: array, minItems: "
          "2000000000, items: {type: string}}}}, b: {type: string, minLength: "
          "9000000000000000000}, c: "
          "{type: object, minProperties: 9000000000, additionalProperties: {type: integer}}, d: "
          "{type: "
          "integer, minimum: 1.0e+300}, e: null}}")
          ->front();
  spec.push_back(version);
  for (const SampleSize size : {SampleSize::minimal, SampleSize::full}) {
    const auto object = sample_of(crd, "v9", size);
    REQUIRE(object.ok());
    CHECK(base::dump_json(*object).size() < 1000000);
    CHECK((*object)["b"].get<std::string>().size() <= 4096);
    CHECK((*object)["a"].size() <= 100);
    CHECK((*object)["d"].is_number_integer());
  }
}

TEST_CASE("a text for a pattern, or none where the pattern is not simple") {
  CHECK(text_for_pattern("^[a-z]{3}$", 0, 10) == "aaa");
  CHECK(text_for_pattern("^a+$", 4, 10).size() >= 4);
  CHECK(text_for_pattern("^x(y|z)?-\\d$", 0, 10) == "x-0");
  CHECK(text_for_pattern("[^a]", 1, 3) == "0");
  CHECK(text_for_pattern("(?i)abc", 0, 10) == "abc");
  CHECK(text_for_pattern("^(?i:a|b)(?:c)$", 0, 10) == "ac");
  CHECK(text_for_pattern("(?P<n>a)", 0, 10) == "");
  CHECK(text_for_pattern("(?", 0, 10) == "");
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
