// CRDs back to TypeDefinitions: crd-gen of what import gives is the CRD again.
#include "crdgen/import.hpp"

#include "fixture.hpp"
#include "support/catch.hpp"

namespace kubewatch::crdgen {

namespace {

Json crd_with(const Json& root, const Json& more = Json::object()) {
  Json crd = yaml(
      "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
      "things.demo.example.com}, spec: {group: demo.example.com, scope: Namespaced, names: {kind: "
      "Thing, plural: things}, versions: [{name: v1, served: true, storage: true}]}}");
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = root;
  crd.merge_patch(more);
  return crd;
}

// The CRD whose field .spec.x has this schema.
Json crd_of(const std::string& x) {
  Json root = yaml(
      "{type: object, properties: {apiVersion: {type: string}, kind: {type: string}, metadata: "
      "{type: object}}}");
  root["properties"]["spec"] = {{"type", "object"}, {"properties", {{"x", yaml(x)}}}};
  return crd_with(root);
}

Imported imported_of(const Json& crd) {
  auto out = import_crd(crd);
  REQUIRE(out.ok());
  return std::move(*out);
}

// Through the text that a user would keep.
Json again(const Imported& imported) {
  const Generated made = made_of(types_yaml(imported.document));
  INFO(types_yaml(imported.document));
  REQUIRE(first_of(made.problems) == "");
  REQUIRE(made.crds.size() == 1);
  return normalised(made.crds.front());
}

}  // namespace

TEST_CASE("a CRD with values of another type is refused by import and by what reads all of it") {
  const std::pair<const char*, Json> table[] = {
      {"/spec/versions/0/additionalPrinterColumns", Json::array({"text"})},
      {"/spec/versions/0/additionalPrinterColumns", 5},
      {"/spec/versions/0/schema/openAPIV3Schema", "x"},
      {"/spec/versions/0/schema/openAPIV3Schema/properties", Json::array()},
      {"/spec/versions/0/schema/openAPIV3Schema/required", Json::array({1})},
      {"/spec/versions/0/storage", "yes"},
      {"/spec/scope", 5}};
  for (const auto& [pointer, value] : table) {
    CAPTURE(pointer);
    Json crd = crd_of("{type: string}");
    crd[Json::json_pointer(pointer)] = value;
    CHECK(import_crd(crd).error().kind() == ErrorKind::invalid);
    CHECK(readable_crd(crd).error().kind() == ErrorKind::invalid);
  }
}

TEST_CASE("null is read as absent, as the server does") {
  Json crd = crd_of("{type: object, description: null, properties: {a: null}, required: null}");
  Json& version = crd["spec"]["versions"][0];
  version["deprecated"] = nullptr;
  version["additionalPrinterColumns"] = Json::array({nullptr});
  version["subresources"] = {{"status", nullptr}};
  crd["spec"]["conversion"] = nullptr;
  const auto read = readable_crd(crd);
  REQUIRE(read.ok());
  const Json& seen = (*read)["spec"]["versions"][0];
  CHECK_FALSE(seen.contains("deprecated"));
  CHECK(seen["additionalPrinterColumns"].empty());
  CHECK(seen["subresources"].empty());
  CHECK(seen["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["x"] ==
        yaml("{type: object, properties: {a: {}}}"));
  CHECK(import_crd(crd).ok());
  // Conversions are not looked at by the shape.
  for (const char* odd : {"{strategy: Webhook, webhook: {clientConfig: 5}}",
                          "{strategy: Webhook, webhook: {clientConfig: {service: a}}}"}) {
    Json other = crd_of("{type: string}");
    other["spec"]["conversion"] = yaml(odd);
    CHECK(import_crd(other).ok());
  }
}

TEST_CASE("import and crd-gen give the CRD again, for every word of OpenAPI") {
  const char* corpus[] = {
      "{type: string}",
      "{type: string, description: short}",
      "{type: string, description: \"a long text that does not fit into one line of shorthand at "
      "all, because it is long\"}",
      "{type: string, description: \"two\\nlines\"}",
      "{type: string, maxLength: 5, minLength: 1, pattern: '^a|b \"c\" [d]$'}",
      "{type: string, enum: [a, 'b c', 'true', '1', '']}",
      "{type: string, default: ''}",
      "{type: string, default: 'on'}",
      "{type: string, default: '012'}",
      "{type: string, format: date-time}",
      "{type: string, format: byte}",
      "{type: string, format: hostname, example: a.example}",
      "{type: integer, format: int32, minimum: -5, maximum: 5, exclusiveMinimum: true}",
      "{type: integer, format: int64, default: 9007199254740993}",
      "{type: integer, multipleOf: 3}",
      "{type: number, format: double, minimum: 0.5}",
      "{type: number, default: 1.5}",
      "{type: boolean, default: false}",
      "{type: boolean, nullable: true, default: true}",
      "{type: array, items: {type: string}}",
      "{type: array, items: {type: string, maxLength: 3}, x-kubernetes-list-type: set, maxItems: "
      "4}",
      "{type: array, items: {type: array, items: {type: integer}}}",
      "{type: array, items: {type: object, properties: {name: {type: string}, v: {type: integer}}, "
      "required: [name]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]}",
      "{type: array, items: {type: object, properties: {a: {type: string, default: x}, b: {type: "
      "string, default: y}}}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b]}",
      "{type: array, items: {type: string}, default: [a, b], minItems: 1}",
      "{type: array, uniqueItems: false, items: {type: string}}",
      "{type: object, additionalProperties: {type: string}}",
      "{type: object, additionalProperties: {type: array, items: {type: string}}, maxProperties: "
      "3, minProperties: 1}",
      "{type: object, additionalProperties: {type: object, properties: {a: {type: string}}}, "
      "x-kubernetes-map-type: atomic}",
      "{type: object, additionalProperties: true}",
      "{type: object, properties: {a: {type: string}, b: {type: object, properties: {c: {type: "
      "integer}}, required: [c]}}, required: [a, b]}",
      "{type: object, properties: {a: {type: string}}, default: {a: b}}",
      "{type: object, properties: {'a-b': {type: string}, 'x.y': {type: string}, 'a/b': {type: "
      "string}, \"on\": {type: string}, required: {type: boolean}, type: {type: string}}}",
      "{type: object, properties: {a: {type: string}}, x-kubernetes-preserve-unknown-fields: true}",
      "{x-kubernetes-preserve-unknown-fields: true}",
      "{type: object, x-kubernetes-preserve-unknown-fields: true, description: d}",
      "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: "
      "true}",
      "{type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}",
      "{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}",
      "{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true, pattern: '^a', "
      "default: 5}",
      "{x-kubernetes-int-or-string: true}",
      "{type: string, x-kubernetes-validations: [{rule: \"self != ''\"}]}",
      "{type: string, x-kubernetes-validations: [{rule: \"self == oldSelf\", message: \"no\", "
      "reason: "
      "FieldValueForbidden, fieldPath: .a, optionalOldSelf: true, messageExpression: \"'x' + "
      "self\"}]}",
      "{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, "
      "{required: [b]}]}",
      "{type: object, properties: {a: {type: string}}, not: {required: [a]}, anyOf: [{properties: "
      "{a: {enum: [x]}}}]}",
      "{type: string, allOf: [{pattern: a}, {maxLength: 3}]}",
      "{type: string, externalDocs: {url: 'https://a.example', description: d}, title: T}",
      "{type: object}",
      "{type: object, properties: {}}",
      "{type: string, required: [a]}",
      "{type: string, minimum: 5}",
      "{type: object, properties: {name: {type: string, default: ''}}, x-kubernetes-map-type: "
      "atomic, description: a reference}",
      "{type: object, properties: {limits: {type: object, additionalProperties: {anyOf: [{type: "
      "integer}, {type: string}], x-kubernetes-int-or-string: true, pattern: '^x$'}}}}",
      "{type: array, items: {type: object, properties: {deep: {type: array, items: {type: object, "
      "properties: {er: {type: string, maxLength: 3}}, required: [er]}}}}}",
  };
  CHECK(std::size(corpus) >= 40);
  for (const char* x : corpus) {
    CAPTURE(x);
    const Json crd = crd_of(x);
    const Imported imported = imported_of(crd);
    CHECK(again(imported) == normalised(crd));
    CHECK(generate(imported.document, "d").problems.empty());
  }
}

TEST_CASE("import keeps what stands around the schema") {
  const Json root =
      yaml("{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}}");
  const char* more[] = {
      "{}",
      "{metadata: {annotations: {a.example/b: c}, labels: {l: m}, uid: u, resourceVersion: '5', "
      "creationTimestamp: '2026-01-01T00:00:00Z'}}",
      "{spec: {scope: Cluster, names: {singular: thingy, listKind: Things, shortNames: [t], "
      "categories: [all]}}}",
      "{spec: {names: {plural: thingies}}, metadata: {name: thingies.demo.example.com}}",
      "{spec: {preserveUnknownFields: false}, status: {storedVersions: [v1]}}",
      "{spec: {conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1, v1beta1], "
      "clientConfig: {url: 'https://a.example/', caBundle: Zm9v}}}}}",
      "{spec: {conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], "
      "clientConfig: {service: {name: nn, namespace: m, path: /p, port: 8443}}}}}}",
      "{spec: {conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], "
      "clientConfig: {service: {name: nn, namespace: m, port: 443}}}}}}",
  };
  for (const char* patch : more) {
    CAPTURE(patch);
    const Json crd = crd_with(root, yaml(patch));
    CHECK(again(imported_of(crd)) == normalised(crd));
  }
  const char* versions[] = {
      "{name: v1, served: true, storage: true, subresources: {status: {}, scale: "
      "{specReplicasPath: .spec.a, statusReplicasPath: .status.a, labelSelectorPath: .status.b}}}",
      "{name: v1, served: true, storage: true, deprecated: true, deprecationWarning: use v2}",
      "{name: v1, served: true, storage: true, deprecated: true}",
      "{name: v1, served: true, storage: true, selectableFields: [{jsonPath: .spec.a}]}",
      "{name: v1, served: true, storage: true, additionalPrinterColumns: [{name: 'A b', type: "
      "string, jsonPath: .spec.a, description: 'd | e', format: date, priority: 1}, {name: B, "
      "type: date, jsonPath: \".status.conditions[?(@.type=='Ready')].status\"}, {name: 'C: d', "
      "type: string, jsonPath: .a}]}",
      "{name: v1, served: true, storage: true, subresources: {status: {}}, schema: "
      "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}",
      "{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, title: T, "
      "properties: {spec: {type: object}, status: {type: object}}}}}",
      "{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
      "description: d, required: [spec, data], x-kubernetes-validations: [{rule: 'true'}], "
      "properties: {apiVersion: {type: string, description: a}, kind: {type: string}, metadata: "
      "{type: object, properties: {name: {type: string, maxLength: 9}}}, spec: {type: object}, "
      "data: {type: string}, status: {type: object, nullable: true}}}}}",
  };
  for (const char* version : versions) {
    CAPTURE(version);
    Json crd = crd_with(root);
    crd["spec"]["versions"][0].update(yaml(version));
    CHECK(again(imported_of(crd)) == normalised(crd));
    // The same beside a second version that is not served.
    crd["spec"]["versions"].push_back(yaml(
        "{name: v2, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}"));
    CHECK(again(imported_of(crd)) == normalised(crd));
  }
}

TEST_CASE("import of what crd-gen made gives the same CRD") {
  const Generated made = made_of(text_of_file("types/website.yaml"));
  const Imported imported = imported_of(made.crds.at(0));
  CHECK(again(imported) == normalised(made.crds.at(0)));
}

TEST_CASE("import is loud about what the shorthand has no word for") {
  const Imported imported =
      imported_of(crd_of("{type: object, properties: {a: {type: string}}, not: {required: [a]}}"));
  REQUIRE(imported.notes.size() == 1);
  CHECK(imported.notes[0] == "spec.versions[v1].spec.x: kept as raw OpenAPI: not");
  CHECK(imported.document["spec"]["spec"]["fields"]["x"] ==
        yaml("{fields: {a: string}, raw: {not: {required: [a]}}}"));
  Json crd = crd_of("{type: string}");
  crd["spec"]["inventedLater"] = 5;
  CHECK(imported_of(crd).notes == std::vector<std::string>{"not kept: /spec/inventedLater"});
  crd = crd_of("{type: string}");
  crd["spec"]["versions"][0]["subresources"] = Json::object();
  CHECK(imported_of(crd).notes ==
        std::vector<std::string>{
            "not kept: /spec/versions/0/subresources: it is empty and says nothing"});
  // crd-gen refuses such fields of a schema, so that they are not in its raw blocks.
  const Imported mistyped = imported_of(crd_of("{type: string, maxlength: 3}"));
  CHECK(mistyped.notes ==
        std::vector<std::string>{"not kept: /spec/versions/0/schema/openAPIV3Schema/properties/spec"
                                 "/properties/x/maxlength"});
  CHECK(mistyped.document["spec"]["spec"]["fields"]["x"] == "string");
  // Of very many all are dropped, and the first told.
  Json many = crd_of("{type: string}");
  for (int i = 0; i < 1000; ++i) {
    many["spec"][i % 2 == 0 ? "names" : "zzz" + std::to_string(i)]["z" + std::to_string(i)] = i;
  }
  const Imported cut = imported_of(many);
  REQUIRE(cut.notes.size() == 101);
  CHECK(cut.notes.back() == "not kept: and 900 more fields that no CRD has");
  CHECK(cut.document == imported_of(crd_of("{type: string}")).document);
}

TEST_CASE("import writes what people would write") {
  const Imported imported = imported_of(
      crd_of("{type: array, items: {type: string}, x-kubernetes-list-type: set, maxItems: 16}"));
  CHECK(types_yaml(imported.document) ==
        "apiVersion: kubewatch.dev/v1\nkind: TypeDefinitions\nspec:\n  group: demo.example.com\n  "
        "kind: Thing\n"
        "  plural: things\n  version: v1\n  spec:\n    fields:\n      x: \"[]string | listType=set "
        "maxItems=16\"\n");
  Json env = yaml("{type: array, x-kubernetes-list-type: atomic}");
  env["items"] = schema_of("corev1.EnvVar");
  CHECK(imported_of(crd_of(base::dump_json(env))).document["spec"]["spec"]["fields"]["x"] ==
        "[]corev1.EnvVar | listType=atomic");
}

TEST_CASE("what is no CRD is refused") {
  for (const char* text :
       {"{}", "{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1beta1}",
        "{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, spec: 5}",
        "{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, spec: {group: a, "
        "names: {kind: K}}}",
        "{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, spec: {group: a, "
        "names: {kind: K}, versions: [{}]}}"}) {
    CAPTURE(text);
    const auto imported = import_crd(yaml(text));
    REQUIRE_FALSE(imported.ok());
    CHECK(imported.error().kind() == ErrorKind::invalid);
  }
}

}  // namespace kubewatch::crdgen
