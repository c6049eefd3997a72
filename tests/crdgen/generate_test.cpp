// TypeDefinitions to CRDs: every word of the shorthand, and whole documents.
#include "crdgen/generate.hpp"

#include "crdgen/core_types.hpp"
#include "fixture.hpp"
#include "schema/builtin_table.hpp"
#include "support/catch.hpp"

namespace kubewatch::crdgen {

TEST_CASE("each word of the shorthand gives its schema") {
  const std::pair<const char*, const char*> table[] = {
      {"string", "{type: string}"},
      {"integer", "{type: integer}"},
      {"number", "{type: number}"},
      {"boolean", "{type: boolean}"},
      {"object", "{type: object}"},
      {"int32", "{type: integer, format: int32}"},
      {"int64", "{type: integer, format: int64}"},
      {"float", "{type: number, format: float}"},
      {"double", "{type: number, format: double}"},
      {"bytes", "{type: string, format: byte}"},
      {"date", "{type: string, format: date}"},
      {"Time", "{type: string, format: date-time}"},
      {"Duration", "{type: string, format: duration}"},
      {"any", "{x-kubernetes-preserve-unknown-fields: true}"},
      {"embedded",
       "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: "
       "true}"},
      {"IntOrString",
       "{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}"},
      {"'[]string'", "{type: array, items: {type: string}}"},
      {"'[][]integer'", "{type: array, items: {type: array, items: {type: integer}}}"},
      {"map[string]boolean", "{type: object, additionalProperties: {type: boolean}}"},
      {"'map[string][]string'",
       "{type: object, additionalProperties: {type: array, items: {type: string}}}"},
      {"integer | default=1 minimum=0", "{type: integer, default: 1, minimum: 0}"},
      {"integer | maximum=9 exclusiveMaximum exclusiveMinimum=true multipleOf=3",
       "{type: integer, maximum: 9, exclusiveMaximum: true, exclusiveMinimum: true, multipleOf: "
       "3}"},
      {"string | minLength=1 maxLength=9 pattern='^[a-z ]+$'",
       "{type: string, minLength: 1, maxLength: 9, pattern: '^[a-z ]+$'}"},
      {"'[]string | listType=set minItems=1 maxItems=16'",
       "{type: array, items: {type: string}, x-kubernetes-list-type: set, minItems: 1, maxItems: "
       "16}"},
      {"'[]corev1.LocalObjectReference | listType=map listMapKey=name'",
       "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: "
       "{type: object, x-kubernetes-map-type: atomic, properties: {name: {type: string, default: "
       "''}}}}"},
      {"'[]corev1.LocalObjectReference | listMapKey=a listMapKey=b'",
       "{type: array, x-kubernetes-list-map-keys: [a, b], items: {type: object, "
       "x-kubernetes-map-type: atomic, properties: {name: {type: string, default: ''}}}}"},
      {"'[]string | items.maxLength=5 items.pattern=^a'",
       "{type: array, items: {type: string, maxLength: 5, pattern: ^a}}"},
      {"map[string]string | mapType=atomic minProperties=1 maxProperties=3 values.maxLength=5",
       "{type: object, x-kubernetes-map-type: atomic, minProperties: 1, maxProperties: 3, "
       "additionalProperties: {type: string, maxLength: 5}}"},
      {"string | enum=[a,b] default=a nullable",
       "{type: string, enum: [a, b], default: a, nullable: true}"},
      {"'string | enum=[\"True\", \"False\"]'", "{type: string, enum: ['True', 'False']}"},
      {"string | title=T description=\"two words\" example=e format=uuid",
       "{type: string, title: T, description: two words, example: e, format: uuid}"},
      {"string | default=\"\"", "{type: string, default: ''}"},
      {"'string | externalDocs={url: \"https://a.example\"}'",
       "{type: string, externalDocs: {url: 'https://a.example'}}"},
      {"object | preserveUnknown embedded",
       "{type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: "
       "true}"},
      {"string | validation=\"self != ''\"",
       "{type: string, x-kubernetes-validations: [{rule: \"self != ''\"}]}"},
      {"'string | validation={rule: \"self != oldSelf\", message: m, optionalOldSelf: true}'",
       "{type: string, x-kubernetes-validations: [{rule: 'self != oldSelf', message: m, "
       "optionalOldSelf: true}]}"},
      {"string | required immutable",
       "{type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: this field is "
       "immutable}]}"},
      {"{raw: {type: object, not: {required: [a]}}}", "{type: object, not: {required: [a]}}"},
      {"{type: string, raw: {anyOf: [{pattern: a}]}}", "{type: string, anyOf: [{pattern: a}]}"},
      {"{schema: disabled}", "{x-kubernetes-preserve-unknown-fields: true}"},
      {"{type: object, schema: disabled}",
       "{type: object, x-kubernetes-preserve-unknown-fields: true}"},
      {"{items: string | maxLength=3, maxItems: 2}",
       "{type: array, items: {type: string, maxLength: 3}, maxItems: 2}"},
      {"{values: {fields: {a: string}}}",
       "{type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}"},
      {"{fields: {a: string | required, b: integer}, description: d}",
       "{type: object, description: d, required: [a], properties: {a: {type: string}, b: {type: "
       "integer}}}"},
      {"{fields: {a: string}, flatten: '{fields: {b: string}}'}", "t.yaml"},
  };
  for (const auto& [type, schema] : table) {
    CAPTURE(type);
    if (std::string(schema) == "t.yaml") {
      CHECK(problem_of(type) != "");
    } else {
      CHECK(schema_of(type) == yaml(schema));
    }
  }
}

TEST_CASE(
    "unions become int-or-string, one enum, oneOf or anything, and a note says which and why") {
  struct Case {
    const char* type;
    const char* schema;
    const char* note;
  };
  const Case table[] = {
      {"integer or string",
       "{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}",
       "int-or-string"},
      {"string or int32",
       "{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}",
       "int-or-string"},
      {"boolean or string", "{x-kubernetes-preserve-unknown-fields: true}", "not all alternatives"},
      {"A or B",
       "{type: object, properties: {a: {type: string}, b: {type: integer}, s: {type: string}}, "
       "oneOf: "
       "[{required: [a]}, {required: [b, s]}]}",
       "oneOf"},
      {"A or C", "{x-kubernetes-preserve-unknown-fields: true}", "field \"a\" has different types"},
      {"A or D", "{x-kubernetes-preserve-unknown-fields: true}", "requires no field"},
      {"E or F", "{type: string, enum: [x, y, z]}", "one enum"},
  };
  const std::string types =
      "  types:\n    A: {fields: {a: string | required}}\n"
      "    B: {fields: {b: integer | required, s: string | required}}\n"
      "    C: {fields: {a: integer | required}}\n    D: {fields: {d: integer}}\n"
      "    E: string | enum=[x,y]\n    F: string | enum=[y,z]\n  version: v1\n  spec:\n    "
      "fields:\n      x: ";
  for (const Case& one : table) {
    CAPTURE(one.type);
    const Generated made = made_of(document(types + one.type + "\n"));
    REQUIRE(first_of(made.problems) == "");
    CHECK(made.crds[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
                   ["properties"]["x"] == yaml(one.schema));
    REQUIRE(made.notes.size() == 1);
    CHECK(made.notes[0].line == 16);
    CHECK_THAT(made.notes[0].message, Catch::Contains(one.note));
  }
}

TEST_CASE("tagged unions, flattened types and counts of fields") {
  std::vector<Remark> notes;
  CHECK(schema_of("{union: {git: string, image: {fields: {tag: string}}}}", &notes) ==
        yaml("{type: object, properties: {git: {type: string}, image: {type: object, properties: "
             "{tag: {type: string}}}}, oneOf: [{required: [git]}, {required: [image]}]}"));
  CHECK_THAT(first_of(notes), Catch::Contains("oneOf requires exactly one"));
  CHECK(schema_of("{fields: {name: string}, flatten: 'map[string]string'}", &notes) ==
        yaml("{type: object, properties: {name: {type: string}}, "
             "x-kubernetes-preserve-unknown-fields: true}"));
  CHECK_THAT(first_of(notes), Catch::Contains("a flattened map beside fields"));
  CHECK(schema_of("{fields: {a: string}, flatten: [{fields: {b: string | required}}]}") ==
        yaml("{type: object, properties: {a: {type: string}, b: {type: string}}, required: [b]}"));
  CHECK(
      schema_of("{fields: {a: string, in: string}, exactlyOneOf: [a, in]}") ==
      yaml("{type: object, properties: {a: {type: string}, in: {type: string}}, "
           "x-kubernetes-validations: [{rule: '(has(self.a) ? 1 : 0) + (has(self.__in__) ? 1 : 0) "
           "== 1', message: 'exactly one of a, in must be set'}]}"));
  for (const char* key : {"atMostOneOf", "atLeastOneOf"}) {
    const Json schema =
        schema_of(std::string("{fields: {a: string, b: string}, ") + key + ": [a, b]}");
    CHECK(schema["x-kubernetes-validations"].size() == 1);
  }
}

TEST_CASE("an immutable field that is optional cannot be removed either") {
  const Json x =
      schema_of("{fields: {class: string | immutable, name: string | immutable required}}");
  CHECK(x["x-kubernetes-validations"] ==
        yaml("[{rule: '!has(oldSelf.class) || has(self.class)', message: 'class is immutable: it "
             "cannot be removed'}]"));
  CHECK(x["properties"]["name"]["x-kubernetes-validations"][0]["rule"] == "self == oldSelf");
}

TEST_CASE("what holds an immutable field cannot be removed with it, up to the root") {
  const Generated made = made_of(document(
      "  types: {A: {fields: {a: string | required}}, B: {fields: {b: string | required immutable, "
      "c: string | immutable}}}\n  version: v1\n  spec:\n    fields:\n"
      "      one: {fields: {x: string | required immutable}}\n"
      "      two: {fields: {in: {required: true, fields: {w: string | immutable, z: string}}}}\n"
      "      either: A or B\n      none: {fields: {x: string}}\n"));
  REQUIRE(first_of(made.problems) == "");
  const Json& root = made.crds.at(0)["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  const Json& spec = root["properties"]["spec"];
  const auto rules = [](const Json& schema) {
    std::vector<std::string> out;
    for (const Json& one : schema.value("x-kubernetes-validations", Json::array())) {
      out.push_back(one["rule"].get<std::string>());
    }
    return out;
  };
  using Rules = std::vector<std::string>;
  CHECK(rules(spec["properties"]["either"]) ==
        Rules{"!has(oldSelf.b) || has(self.b)", "!has(oldSelf.c) || has(self.c)"});
  CHECK(spec["properties"]["either"]["oneOf"].size() == 2);
  CHECK(rules(spec["properties"]["one"]).empty());
  CHECK(rules(spec) ==
        Rules{"!has(oldSelf.either) || has(self.either) || !(has(oldSelf.either.b) || "
              "has(oldSelf.either.c))",
              "!has(oldSelf.one) || has(self.one)",
              "!has(oldSelf.two) || has(self.two) || !(has(oldSelf.two.__in__.w))"});
  CHECK(rules(root) == Rules{"!has(oldSelf.spec) || has(self.spec) || !(has(oldSelf.spec.either) "
                             "&& (has(oldSelf.spec.either.b) || has(oldSelf.spec.either.c)) || "
                             "has(oldSelf.spec.one) || has(oldSelf.spec.two) && "
                             "(has(oldSelf.spec.two.__in__.w)))"});
  CHECK(root["x-kubernetes-validations"][0]["message"] ==
        "spec holds immutable fields: it cannot be removed");
  CHECK(base::dump_json(root).find("x-kubewatch") == std::string::npos);
  // By another name than rules can say nothing is kept.
  CHECK_THAT(problem_of("{fields: {1st: {fields: {a: string | immutable}}}}"),
             Catch::Contains("rules cannot name this field"));
}

TEST_CASE("a null in a required nullable field is a removal, which rules tell from a value") {
  const Generated made = made_of(document(
      "  types:\n    A: {fields: {a: string | required, k: string | required nullable immutable}}\n"
      "    B: {fields: {b: string | required, k: string | required nullable immutable}}\n"
      "  version: v1\n  spec:\n    fields:\n"
      "      a: {fields: {m: {required: true, nullable: true, fields: {b: string | immutable}}}}\n"
      "      c: string | required nullable immutable\n"
      "      d: {required: true, immutable: true, raw: {type: string, nullable: true}}\n"
      "      e: string | required immutable\n"
      "      either: A or B | required\n"));
  REQUIRE(first_of(made.problems) == "");
  const Json& root = made.crds.at(0)["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  const Json& spec = root["properties"]["spec"];
  CHECK(spec["x-kubernetes-validations"] ==
        yaml("[{rule: '!has(oldSelf.a) || has(self.a) || !(has(oldSelf.a.m) && "
             "(has(oldSelf.a.m.b)))', message: 'a holds immutable fields: it cannot be removed'}, "
             "{rule: '!has(oldSelf.c) || has(self.c)', message: 'c is immutable: it cannot be "
             "removed'}, {rule: '!has(oldSelf.d) || has(self.d)', message: 'd is immutable: it "
             "cannot be removed'}]"));
  CHECK(spec["properties"]["a"]["x-kubernetes-validations"] ==
        yaml("[{rule: '!has(oldSelf.m) || has(self.m) || !(has(oldSelf.m.b))', message: 'm holds "
             "immutable fields: it cannot be removed'}]"));
  CHECK(spec["properties"]["either"]["x-kubernetes-validations"] ==
        yaml("[{rule: '!has(oldSelf.k) || has(self.k)', message: 'k is immutable: it cannot be "
             "removed'}]"));
  CHECK(base::dump_json(root).find("x-kubewatch") == std::string::npos);
}

TEST_CASE("every core type expands, and is known again") {
  CHECK(core_type_names().size() >= 30);
  for (const std::string& name : core_type_names()) {
    CAPTURE(name);
    REQUIRE(core_type(name) != nullptr);
    CHECK(schema_of(name) == *core_type(name));
  }
  CHECK(core_type_of(*core_type("metav1.Condition")) == "metav1.Condition");
  CHECK(schema_of("Conditions")["x-kubernetes-list-map-keys"] == Json::array({"type"}));
}

TEST_CASE("core types that are spelled out have the fields of the server's") {
  std::size_t compared = 0;
  for (const std::string& name : core_type_names()) {
    const Json& type = *core_type(name);
    // "corev1.EnvVar" is "core.v1.EnvVar" there.
    const auto version = name.find("v1.");
    if (version == std::string::npos || !type.contains("properties")) continue;
    CAPTURE(name);
    const auto server =
        schema::builtin_definition(name.substr(0, version) + "." + name.substr(version));
    REQUIRE(server != nullptr);
    std::vector<std::string> ours;
    std::vector<std::string> theirs;
    for (const auto& [field, schema] : type["properties"].items()) ours.push_back(field);
    for (const auto& [field, node] : server->fields) theirs.push_back(field);
    CHECK(ours == theirs);
    CHECK((type.value("x-kubernetes-map-type", "") == "atomic") ==
          (server->kind == schema::MergeNode::Kind::map_atomic));
    ++compared;
  }
  CHECK(compared >= 20);
  CHECK(*core_type("corev1.FileKeySelector") ==
        yaml("{type: object, x-kubernetes-map-type: atomic, required: [key, path, volumeName], "
             "properties: {key: {type: string}, optional: {type: boolean, default: false}, path: "
             "{type: string}, volumeName: {type: string}}}"));
}

TEST_CASE("a whole document gives the committed CRD, twice the same bytes") {
  const Generated made = made_of(text_of_file("types/website.yaml"));
  REQUIRE(first_of(made.problems) == "");
  CHECK(crd_yaml(made.crds) == golden("website.yaml", crd_yaml(made.crds)));
  CHECK(crd_yaml(made_of(text_of_file("types/website.yaml")).crds) == crd_yaml(made.crds));
  CHECK(crd_file_name(made.crds.at(0)) == "demo.example.com_websites.yaml");
}

TEST_CASE("one version is stored and served, names are derived") {
  const Generated made = made_of(document("  version: v1beta1\n  spec: {fields: {a: string}}\n"));
  REQUIRE(first_of(made.problems) == "");
  const Json& crd = made.crds.at(0);
  CHECK(crd["metadata"]["name"] == "things.demo.example.com");
  CHECK(crd["spec"]["names"] ==
        yaml("{kind: Thing, listKind: ThingList, plural: things, singular: thing}"));
  CHECK(crd["spec"]["scope"] == "Namespaced");
  CHECK(crd["spec"]["conversion"] == yaml("{strategy: None}"));
  const Json& version = crd["spec"]["versions"][0];
  CHECK(version["served"] == true);
  CHECK(version["storage"] == true);
  CHECK_FALSE(version.contains("subresources"));
  CHECK(version["schema"]["openAPIV3Schema"]["properties"]["metadata"] == yaml("{type: object}"));
}

TEST_CASE("documents of one kind are merged into one CRD, of others they are not") {
  const std::string first =
      document("  versions:\n    - {name: v1, storage: true, spec: {fields: {a: string}}}\n");
  const std::string second =
      document("  version: v2\n  storage: false\n  spec: {fields: {a: string, b: string}}\n");
  const Generated made = made_of(first + "---\n" + second);
  REQUIRE(first_of(made.problems) == "");
  REQUIRE(made.crds.size() == 1);
  CHECK(made.crds[0]["spec"]["versions"].size() == 2);
  const Generated again = made_of(first + "---\n" + first);
  REQUIRE(again.problems.size() == 1);
  CHECK(again.problems[0].str() ==
        "t.yaml:15:14: spec.versions[0].name: this version is there already, at t.yaml:7:14");
}

TEST_CASE("a version that is there already is told with the other's place, and nothing follows") {
  const std::string text = document("  version: v1\n  spec: {fields: {a: string}}\n");
  const auto problems_of = [](const std::vector<TypeFile>& files) {
    std::vector<std::string> out;
    for (const Remark& one : generate(files).problems) out.push_back(one.str());
    return out;
  };
  CHECK(problems_of({{"a.yaml", text}, {"b.yaml", text}}) ==
        std::vector<std::string>{
            "b.yaml:6:12: spec.version: this version is there already, at a.yaml:6:12"});
  CHECK(problems_of({{"a.yaml", text}, {"a.yaml", text}}) ==
        std::vector<std::string>{
            "a.yaml:6:12: spec.version: this version is there already: the file is given twice"});
  // Whichever of both says what is stored and served.
  const std::string twice = document(
      "  versions:\n    - {name: v1, served: false, storage: false, spec: {fields: {a: string}}}\n"
      "    - {name: v1, storage: true, spec: {fields: {a: string}}}\n");
  CHECK(problems_of({{"a.yaml", twice}}) ==
        std::vector<std::string>{"a.yaml:8:14: spec.versions[1].name: this version is there "
                                 "already, at a.yaml:7:14"});
}

TEST_CASE("descriptions are capped between characters, or left out") {
  const auto described = [](const std::string& limit) {
    return made_of(document("  descriptions: {maxLength: " + limit +
                            "}\n  version: v1\n  description: \"aaa\u00e9\u00e9\u00e9\u00e9 bbb\"\n"
                            "  spec: {fields: {description: string | description=short}}\n"))
        .crds.at(0)["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  };
  CHECK(described("9")["description"] == "aaa\u00e9...");
  CHECK(described("0").contains("description") == false);
  // A field of that name is no description.
  CHECK(described("0")["properties"]["spec"]["properties"]["description"] ==
        yaml("{type: string}"));
}

TEST_CASE("a schema can be switched off or written as OpenAPI as a whole") {
  const Generated off =
      made_of(document("  version: v1\n  schema: disabled\n  statusSubresource: true\n"));
  REQUIRE(first_of(off.problems) == "");
  CHECK(off.crds[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"] ==
        yaml("{type: object, x-kubernetes-preserve-unknown-fields: true}"));
  CHECK(off.crds[0]["spec"]["versions"][0]["subresources"] == yaml("{status: {}}"));
  const Generated raw = made_of(
      document("  version: v1\n  raw: {type: object, properties: {spec: {type: object}}}\n"));
  REQUIRE(first_of(raw.problems) == "");
  CHECK(raw.crds[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"] ==
        yaml("{type: object, properties: {spec: {type: object}}}"));
}

TEST_CASE("what the server drops is not written") {
  CHECK(schema_of("integer | nullable=false minimum=1 exclusiveMinimum=false") ==
        yaml("{type: integer, minimum: 1}"));
  CHECK(schema_of("'[]string | uniqueItems=false'") ==
        yaml("{type: array, items: {type: string}}"));
  CHECK(schema_of("object | preserveUnknown=false embedded=false") == yaml("{type: object}"));
  CHECK(schema_of("{raw: {type: string, description: '', pattern: '', nullable: false, minLength: "
                  "0}}") == yaml("{type: string, minLength: 0}"));
  CHECK(schema_of("{raw: {type: object, properties: {a: {type: object, properties: {}, required: "
                  "[]}}, x-kubernetes-validations: [{rule: 'true', message: ''}]}}") ==
        yaml("{type: object, properties: {a: {type: object}}, x-kubernetes-validations: [{rule: "
             "'true'}]}"));
  const Generated made = made_of(
      document("  version: v1\n  columns: ['A: string .spec.a | priority=0']\n  spec: {fields: {a: "
               "string}}\n"));
  REQUIRE(first_of(made.problems) == "");
  CHECK(made.crds[0]["spec"]["versions"][0]["additionalPrinterColumns"] ==
        yaml("[{name: A, type: string, jsonPath: .spec.a}]"));
}

TEST_CASE("a flattened type brings its conditions along") {
  std::vector<Remark> notes;
  CHECK(
      schema_of("{fields: {m: string}, flatten: {union: {a: string, b: string}, preserveUnknown: "
                "true, validations: [{rule: 'true'}]}}",
                &notes) ==
      yaml("{type: object, properties: {m: {type: string}, a: {type: string}, b: {type: string}}, "
           "oneOf: [{required: [a]}, {required: [b]}], x-kubernetes-preserve-unknown-fields: "
           "true, x-kubernetes-validations: [{rule: 'true'}]}"));
  CHECK(schema_of("{union: {c: string}, flatten: {union: {a: string}}}", &notes)["allOf"] ==
        yaml("[{oneOf: [{required: [a]}]}]"));
}

TEST_CASE("alternatives of a union keep their rules and conditions") {
  const auto x_of = [](const std::string& a) {
    const Generated made =
        made_of(document("  types:\n    A: " + a + "\n    B: {fields: {b: string | required}}\n" +
                         "  version: v1\n  spec:\n    fields:\n      x: A or B\n"));
    REQUIRE(first_of(made.problems) == "");
    return made.crds[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
                    ["properties"]["x"];
  };
  const Json x = x_of(
      "{fields: {a: integer | required, c: string}, validations: [{rule: 'self.a > 1', message: "
      "m}], raw: {not: {required: [c]}}, maxProperties: 1, preserveUnknown: true}");
  CHECK(x["oneOf"] ==
        yaml("[{required: [a], not: {required: [c]}, maxProperties: 1}, {required: [b]}]"));
  CHECK(x["x-kubernetes-validations"] ==
        yaml("[{rule: '!(has(self.a)) || (self.a > 1)', message: m}]"));
  CHECK(x["x-kubernetes-preserve-unknown-fields"] == true);
  // What cannot be kept makes it a field that nothing is checked of, and a note says so.
  const Json open = yaml("{x-kubernetes-preserve-unknown-fields: true}");
  CHECK(x_of("{fields: {a: integer | required}, nullable: true}") == open);
  CHECK(x_of("{fields: {a: integer | required}, validations: ['self == oldSelf']}") == open);
}

}  // namespace kubewatch::crdgen
