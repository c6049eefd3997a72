// What is wrong with a TypeDefinitions file: every problem, each with file:line:column.
#include "fixture.hpp"
#include "support/catch.hpp"

namespace kubewatch::crdgen {

TEST_CASE("problems of a type stand where they are, inside the text too") {
  // `x: ` stands in line 9, its value begins in column 10.
  const std::pair<const char*, const char*> table[] = {
      {"strng",
       "t.yaml:9:10: spec.spec.fields.x: unknown type \"strng\", did you mean \"string\"?"},
      {"'[]strng'",
       "t.yaml:9:13: spec.spec.fields.x: unknown type \"strng\", did you mean \"string\"?"},
      {"string | maxLenght=3",
       "t.yaml:9:19: spec.spec.fields.x: unknown marker \"maxLenght\", did you mean "
       "\"maxLength\"?"},
      {"integer | maxLength=3",
       "t.yaml:9:20: spec.spec.fields.x: maxLength does not go with type integer"},
      {"string | maxLength=a",
       "t.yaml:9:19: spec.spec.fields.x: maxLength must be a whole number, not text"},
      {"string | maxLength=-1", "t.yaml:9:19: spec.spec.fields.x: maxLength must not be negative"},
      {"integer | minimum=a",
       "t.yaml:9:20: spec.spec.fields.x: minimum must be a number, not text"},
      {"'[]string | listType=sets'",
       "t.yaml:9:22: spec.spec.fields.x: listType \"sets\" is unknown, did you mean \"set\"?"},
      {"string | items.maxLength=1",
       "t.yaml:9:19: spec.spec.fields.x: items.maxLength is of lists, which this type has not"},
      {"map[integer]string",
       "t.yaml:9:10: spec.spec.fields.x: keys of maps are strings: write map[string]T"},
      {"string maxLength=1",
       "t.yaml:9:17: spec.spec.fields.x: unexpected \"maxLength=1\": markers stand after \" | \""},
      {"string | enum=[a", "t.yaml:9:24: spec.spec.fields.x: this value does not end"},
      {"string | default=",
       "t.yaml:9:27: spec.spec.fields.x: a value is missing after \"=\"; write \"\" for an empty "
       "text"},
      {"string | enum=[]",
       "t.yaml:9:19: spec.spec.fields.x: enum must be a list that is not empty"},
      {"'[]'", "t.yaml:9:13: spec.spec.fields.x: a type is missing"},
      {"(string", "t.yaml:9:17: spec.spec.fields.x: a \")\" is missing"},
      {"5",
       "t.yaml:9:10: spec.spec.fields.x: must be a type: a text like \"string | maxLength=10\" or "
       "a mapping with `type`, `fields` or `raw`, not a number"},
      {"{typ: string}", "t.yaml:9:11: spec.spec.fields.x.typ: unknown key, did you mean \"type\"?"},
      {"{}",
       "t.yaml:9:10: spec.spec.fields.x: says no type: name one with `type`, `fields`, `items`, "
       "`values` or `raw`"},
      {"{type: string, schema: off}",
       "t.yaml:9:33: spec.spec.fields.x.schema: must be text, not true or false"},
      {"{fields: {a: string}, exactlyOneOf: [b]}",
       "t.yaml:9:46: spec.spec.fields.x.exactlyOneOf: there is no field \"b\""},
      {"{fields: {a: string}, flatten: string}",
       "t.yaml:9:41: spec.spec.fields.x.flatten: only types with fields and maps can be flattened"},
      {"{type: string, validations: [{message: m}]}",
       "t.yaml:9:38: spec.spec.fields.x.validations: a rule is a CEL text or a mapping with "
       "`rule`"},
      {"{raw: string}",
       "t.yaml:9:16: spec.spec.fields.x.raw: must be a mapping: an OpenAPI v3 schema"},
      {"{fields: {1st: string, b: string}, exactlyOneOf: [1st, b]}",
       "t.yaml:9:59: spec.spec.fields.x.exactlyOneOf: rules cannot name field \"1st\", so that it "
       "cannot be counted"},
      {"{items: string | required}",
       "t.yaml:9:18: spec.spec.fields.x.items: `required` is of a field: write it where the field "
       "stands"},
      {"{items: string, values: string}",
       "t.yaml:9:26: spec.spec.fields.x.values: does not go with `items`"},
      {"{fields: {a: string}, flatten: {fields: {b: string}, minProperties: 1}}",
       "t.yaml:9:41: spec.spec.fields.x.flatten: minProperties is of an object by itself: it "
       "cannot be said of the part of one that a flattened type is"},
      {"string | required=maybe", "t.yaml:9:19: spec.spec.fields.x: required is true or false"},
      {"'number | default=.inf'",
       "t.yaml:9:28: spec.spec.fields.x: .inf is a number that JSON does not have"},
      {"'integer | maximum=-.inf'",
       "t.yaml:9:29: spec.spec.fields.x: -.inf is a number that JSON does not have"},
      {"number | multipleOf=.nan",
       "t.yaml:9:30: spec.spec.fields.x: .nan is a number that JSON does not have"},
      {"'[]string | items.required'",
       "t.yaml:9:22: spec.spec.fields.x: items.required is of a field: items and values are none"},
      {"string | maxLength=3 maxLength=4",
       "t.yaml:9:31: spec.spec.fields.x: maxLength is there twice"},
      {"'[][]string | items.items.immutable'",
       "t.yaml:9:24: spec.spec.fields.x: items.items.immutable is of a field: items and values are "
       "none"},
      {"'[][]string | items.items.minimum=1'",
       "t.yaml:9:24: spec.spec.fields.x: items.items.minimum does not go with type string"},
      {"'[]string | items.enum=[a] items.enum=[b]'",
       "t.yaml:9:37: spec.spec.fields.x: items.enum is there twice"},
      {"string | required optional",
       "t.yaml:9:28: spec.spec.fields.x: required is there, which optional contradicts"},
      {"object | structType=atomic mapType=granular",
       "t.yaml:9:37: spec.spec.fields.x: structType is there, which mapType contradicts"},
      {"'string | externalDocs={uri: a}'",
       "t.yaml:9:20: spec.spec.fields.x: externalDocs has no \"uri\", did you mean \"url\"?"},
      {"{raw: {type: string, maxlength: 3}}",
       "t.yaml:9:31: spec.spec.fields.x.raw.maxlength: no schema has this field, did you mean "
       "\"maxLength\"?"},
      {"{raw: {items: {additionalProperties: {titel: a}}}}",
       "t.yaml:9:48: spec.spec.fields.x.raw.items.additionalProperties.titel: no schema has this "
       "field, did you mean \"title\"?"},
      {"{raw: {x-kubernetes-validations: [{rule: a, mesage: b}]}}",
       "t.yaml:9:54: spec.spec.fields.x.raw.x-kubernetes-validations[0].mesage: no schema has this "
       "field, did you mean \"message\"?"},
  };
  for (const auto& [type, problem] : table) {
    CAPTURE(type);
    CHECK(problem_of(type) == problem);
  }
}

TEST_CASE("a field may be called true or false in quotes, where YAML reads no switch") {
  const auto made = [](const std::string& name) {
    return made_of(document("  version: v1\n  spec: {fields: {" + name + ": string}}\n"));
  };
  for (const char* name : {"'true'", "\"false\""}) {
    CAPTURE(name);
    CHECK(first_of(made(name).problems) == "");
  }
  for (const char* name : {"y", "off", "true"}) {
    CAPTURE(name);
    CHECK_THAT(
        first_of(made(name).problems),
        Catch::EndsWith("YAML reads names such as Y, N, ON and OFF as true and false; put it "
                        "in quotes"));
  }
}

TEST_CASE("problems of a document are found all at once") {
  const Generated made = made_of(
      "apiVersion: kubewatch.dev/v2\nkind: TypeDefinitions\nspec:\n  group: nodots\n  kind: "
      "Thing\n  scope: Global\n"
      "  colour: red\n  types: {A: B, B: A}\n  versions:\n"
      "    - {name: V1, storage: true, served: false, spec: {fields: {a: strin}}}\n"
      "    - {name: v2, storage: true, served: false, columns: [Phase, 'A: text .spec.a'], scale: "
      "{specReplicas: .a}}\n");
  std::vector<std::string> seen;
  for (const Remark& problem : made.problems) seen.push_back(problem.str());
  const std::vector<std::string> expected = {
      "t.yaml:1:13: apiVersion: must be kubewatch.dev/v1",
      "t.yaml:4:3: spec: no version is served",
      "t.yaml:4:10: spec.group: \"nodots\" is no group: it needs a domain, like apps.example.com",
      "t.yaml:6:10: spec.scope: is Namespaced or Cluster",
      "t.yaml:7:3: spec.colour: unknown key",
      "t.yaml:8:20: spec.types.B: type \"A\" contains itself, which no CRD can: make a field in "
      "between `any`",
      "t.yaml:10:14: spec.versions[0].name: is no name of a version, like v1 or v1beta1",
      "t.yaml:10:67: spec.versions[0].spec.fields.a: unknown type \"strin\", did you mean "
      "\"string\"?",
      "t.yaml:11:7: spec.versions[1]: is the second version with `storage: true`",
      "t.yaml:11:58: spec.versions[1].columns[0]: is no column: write \"NAME: TYPE .json.path | "
      "priority=1\"",
      "t.yaml:11:65: spec.versions[1].columns[1]: \"text\" is no type of a column; known: integer, "
      "number, string, boolean, date",
      "t.yaml:11:92: spec.versions[1].scale: `statusReplicas` is missing: a path like "
      ".spec.replicas",
  };
  CHECK(seen == expected);
}

TEST_CASE("a file without a document of ours, or that is no YAML, says so") {
  CHECK(first_of(made_of("apiVersion: v1\nkind: ConfigMap\n").problems) ==
        "t.yaml: holds no document of kind TypeDefinitions");
  const Generated broken = made_of("a: [");
  REQUIRE(broken.problems.size() == 1);
  CHECK(broken.problems[0].line > 0);
  CHECK(broken.problems[0].column > 0);
  CHECK_THAT(broken.problems[0].str(), !Catch::Contains(": 1:") && !Catch::Contains(": 2:"));
}

TEST_CASE("a version has to be stored") {
  const Generated made =
      made_of(document("  versions: [{name: v1, spec: {fields: {a: string}}}, {name: v2, spec: "
                       "{fields: {a: string}}}]\n"));
  CHECK_THAT(first_of(made.problems), Catch::Contains("no version has `storage: true`"));
}

TEST_CASE("a raw schema that the server could not read is a problem, and ends nothing") {
  for (const char* raw : {"{type: 5}", "{required: [1]}", "{x-kubernetes-validations: {}}",
                          "{properties: {a: 5}}", "{enum: {}}"}) {
    for (const char* use : {"A or string", "A or B", "A | immutable", "{flatten: A}"}) {
      CAPTURE(raw, use);
      const Generated made = made_of(document(
          std::string("  types: {A: {raw: ") + raw + "}, B: {fields: {b: string | required}}}\n" +
          "  version: v1\n  spec:\n    fields:\n      x: " + use + "\n"));
      CHECK_THAT(first_of(made.problems), Catch::Contains("is no OpenAPI v3 schema"));
    }
  }
  CHECK_THAT(first_of(made_of(document("  version: v1\n  raw: {type: 5}\n")).problems),
             Catch::Contains("is no OpenAPI v3 schema"));
  // Nulls are what is not there.
  CHECK(schema_of("{raw: {type: object, required: null, properties: {a: null}}}") ==
        yaml("{type: object, properties: {a: {}}}"));
}

TEST_CASE("a key about the schema does not go with a schema that is given as a whole") {
  const std::pair<const char*, const char*> keys[] = {{"spec", "{fields: {a: string}}"},
                                                      {"status", "{fields: {a: string}}"},
                                                      {"fields", "{a: string}"},
                                                      {"head", "none"},
                                                      {"description", "text"},
                                                      {"preserveUnknown", "true"},
                                                      {"validations", "[self.a > 0]"},
                                                      {"exactlyOneOf", "[a]"},
                                                      {"atMostOneOf", "[a]"},
                                                      {"atLeastOneOf", "[a]"}};
  for (const auto& [word, line] :
       {std::pair("raw", "raw: {type: object}"), {"schema: disabled", "schema: disabled"}}) {
    for (const auto& [key, value] : keys) {
      CAPTURE(word, key);
      const Generated made = made_of(
          document(std::string("  version: v1\n  ") + key + ": " + value + "\n  " + line + "\n"));
      CHECK(first_of(made.problems) ==
            std::string("t.yaml:7:3: spec.") + key + ": does not go with `" + word + "`");
      CHECK(made.problems.size() == 1);
    }
    // A switch of the subresource says nothing about the schema.
    for (const char* key : {"status", "statusSubresource"}) {
      CAPTURE(word, key);
      CHECK(first_of(made_of(document(std::string("  version: v1\n  ") + key + ": true\n  " + line +
                                      "\n"))
                         .problems) == "");
    }
  }
  CHECK(first_of(made_of(document("  version: v1\n  raw: {type: object}\n  schema: disabled\n"))
                     .problems) == "t.yaml:7:3: spec.raw: does not go with `schema: disabled`");
}

TEST_CASE("markers about a field are refused on a type that has none") {
  for (const char* marker : {"required", "immutable"}) {
    CAPTURE(marker);
    for (const char* use : {"Host", "'[]Host'", "{fields: {a: integer}, flatten: Host}"}) {
      const Generated made =
          made_of(document(std::string("  types: {Host: string | ") + marker +
                           "}\n  version: v1\n  spec:\n    fields:\n      x: " + use + "\n"));
      CHECK_THAT(first_of(made.problems),
                 Catch::Contains(std::string("`") + marker + "` is of a field"));
    }
  }
}

TEST_CASE("named types that double at each level end in a problem, not in the memory") {
  std::string types = "  types:\n    T0: string\n";
  for (int i = 1; i < 26; ++i) {
    types += "    T" + std::to_string(i) + ": {fields: {a: T" + std::to_string(i - 1) + ", b: T" +
             std::to_string(i - 1) + "}}\n";
  }
  const Generated made =
      made_of(document(types + "  version: v1\n  spec:\n    fields:\n      x: T25\n"));
  REQUIRE(made.problems.size() == 1);
  CHECK_THAT(made.problems[0].message, Catch::Contains("the schemas come to more than"));
  CHECK(made.problems[0].line > 8);
}

TEST_CASE("what the server refuses is a problem where it is written") {
  const auto refused = [](const std::string& x) {
    const std::string text = document("  version: v1\n  spec:\n    fields:\n      x: " + x + "\n");
    return first_of(generate({TypeFile{"t.yaml", text}}, ServerCheck::run).problems);
  };
  CHECK(refused("integer | default=1") == "");
  CHECK(refused("integer | uniqueItems=false") != "");
  CHECK(refused("'[]string | uniqueItems=false'") == "");
  const char* table[] = {"integer | default=x", "'[]string | uniqueItems=true'",
                         "'[]string | listType=map'", "string | pattern='('",
                         "{raw: {type: object, x-kubernetes-preserve-unknown-fields: false}}"};
  for (const char* x : table) {
    CAPTURE(x);
    CHECK_THAT(refused(x), Catch::StartsWith("t.yaml:9:10: spec.spec.fields.x: "
                                             "the server refuses this: spec.validation."));
  }
  CHECK_THAT(refused("{items: integer | default=a}"),
             Catch::StartsWith("t.yaml:9:18: spec.spec.fields.x.items: the server refuses this"));
}

TEST_CASE("a rule that the server refuses is told where it is written, whatever comes before it") {
  const std::pair<const char*, const char*> table[] = {
      {"string | validation=\"self +\"", "t.yaml:9:19: spec.spec.fields.x: "},
      {"'string | immutable validation=\"self.size() > 0\" validation={rule: \"self.a == 1\"}'",
       "t.yaml:9:59: spec.spec.fields.x: "},
      {"'[]string | items.validation=\"self.a\"'", "t.yaml:9:22: spec.spec.fields.x: "},
      {"{type: 'string | validation=\"self.a\"'}", "t.yaml:9:27: spec.spec.fields.x.type: "},
      // Rules about immutable fields and counted ones come of themselves.
      {"{fields: {p: string | immutable, q: string}, exactlyOneOf: [p, q], validations: "
       "[has(self.p), {rule: self.r}]}",
       "t.yaml:9:111: spec.spec.fields.x.validations[1].rule: "},
      {"{fields: {p: string}, immutable: true, validations: [{rule: has(self.p), fieldPath: .q}]}",
       "t.yaml:9:94: spec.spec.fields.x.validations[0].fieldPath: "},
      {"{fields: {p: string}, validations: self.r}",
       "t.yaml:9:45: spec.spec.fields.x.validations: "},
      // Said twice, it is the second of both.
      {"{fields: {p: string}, validations: [self.r, has(self.p), self.r]}",
       "t.yaml:9:46: spec.spec.fields.x.validations[0]: "},
      {"{fields: {p: string}, flatten: {fields: {q: string}, validations: [self.r]}}",
       "t.yaml:9:77: spec.spec.fields.x.flatten.validations[0]: "},
      {"{raw: {type: string, x-kubernetes-validations: [{rule: self.a}]}}",
       "t.yaml:9:65: spec.spec.fields.x.raw.x-kubernetes-validations[0].rule: "},
      // A named type has no place of its own.
      {"T", "t.yaml:9:10: spec.spec.fields.x: "},
  };
  for (const auto& [type, place] : table) {
    CAPTURE(type);
    const std::string text =
        document(std::string("  version: v1\n  spec:\n    fields:\n      x: ") + type +
                 "\n  types: {T: string | validation=\"self.a\"}\n");
    CHECK_THAT(first_of(generate({TypeFile{"t.yaml", text}}, ServerCheck::run).problems),
               Catch::StartsWith(std::string(place) + "the server refuses this: spec.validation."));
  }
}

TEST_CASE("what the server refuses beside the schema is told at its key") {
  const auto refused = [](const std::string& lines) {
    const std::string text = document(lines);
    return first_of(generate({TypeFile{"t.yaml", text}}, ServerCheck::run).problems);
  };
  const std::string spec = "  version: v1\n  spec: {fields: {a: string, c: integer}}\n";
  CHECK(refused(spec + "  selectable: [.spec.a, .spec.b]\n") ==
        "t.yaml:8:25: spec.selectable[1]: the server refuses this: "
        "spec.selectableFields[1].jsonPath: Invalid value: \".spec.b\": is an invalid path: does "
        "not refer to a valid field");
  CHECK_THAT(refused(spec + "  selectable: .spec.b\n"),
             Catch::StartsWith("t.yaml:8:15: spec.selectable: the server refuses this"));
  CHECK(refused(spec + "  scale: {specReplicas: .spec.c, statusReplicas: .spec.c}\n") ==
        "t.yaml:8:50: spec.scale.statusReplicas: the server refuses this: "
        "spec.subresources.scale.statusReplicasPath: Invalid value: \".spec.c\": should be a json "
        "path under .status");
  CHECK_THAT(refused(spec + "  columns: ['A: string .spec.a', 'B: string .spec.a | format=foo']\n"),
             Catch::StartsWith("t.yaml:8:34: spec.columns[1]: the server refuses this: "
                               "spec.additionalPrinterColumns[1].format"));
  // Of several versions with columns of their own.
  CHECK_THAT(refused("  versions:\n    - {name: v1, storage: true, spec: {fields: {a: string}}}\n"
                     "    - {name: v2, spec: {fields: {a: string}}, columns: ['B: string .spec.a | "
                     "format=foo']}\n"),
             Catch::StartsWith("t.yaml:8:57: spec.versions[1].columns[0]: "));
}

TEST_CASE("selectable fields that the server does not take for the other versions' sake say so") {
  const auto refused = [](const std::string& second, const std::string& selectable) {
    const std::string text = document(
        "  versions:\n    - {name: v1, storage: true, spec: {fields: {a: string}}, selectable: "
        "[.spec.a]}\n    - {name: v2, spec: {fields: {" +
        second + "}}, selectable: " + selectable + "}\n");
    return first_of(generate({TypeFile{"t.yaml", text}}, ServerCheck::run).problems);
  };
  CHECK(refused("a: string", "[.spec.a]") == "");
  CHECK(refused("a: string, b: string", "[.spec.b]") == "");
  CHECK(refused("a: string, b: string", "[.spec.a]") ==
        "t.yaml:7:74: spec.versions[0].selectable: the server refuses this: spec.selectableFields: "
        "Invalid value: \"\": may only be set when validations.schema is included: the server does "
        "not take the same selectable fields in versions with different schemas: write a list of "
        "its own in each");
  CHECK_THAT(refused("a: string", "[]"),
             Catch::StartsWith("t.yaml:7:74: spec.versions[0].selectable: ") &&
                 Catch::EndsWith("the server does not take different selectable fields in versions "
                                 "with the same schema: write the same list in each"));
}

TEST_CASE("what no value can meet is a problem where it is written, though the server takes it") {
  const std::pair<const char*, const char*> table[] = {
      {"string | enum=[a]", ""},
      {"'string | nullable enum=[a, null]'", ""},
      {"integer | enum=[1] minimum=1 maximum=1", ""},
      {"integer or string", ""},
      {"{raw: {type: integer, not: {minimum: 10, maximum: 5}}}", ""},
      {"{raw: {type: integer, anyOf: [{minimum: 9, maximum: 5}, {minimum: 1}], oneOf: [{minimum: "
       "9, "
       "maximum: 5}, {minimum: 1}]}}",
       ""},
      {"{raw: {type: integer, allOf: [{minimum: 9, maximum: 5}]}}",
       "t.yaml:9:10: spec.spec.fields.x: no value fits minimum=9 and maximum=5: correct one of "
       "them"},
      {"{fields: {not: integer | minimum=5 maximum=1}}",
       "t.yaml:9:25: spec.spec.fields.x.fields.not: no value fits minimum=5 and maximum=1: correct "
       "one of them"},
      {"string | enum=[1]",
       "t.yaml:9:10: spec.spec.fields.x: enum lists 1, which is no string: quote it: YAML reads it "
       "as another type"},
      {"{items: {type: string, enum: [yes]}}",
       "t.yaml:9:18: spec.spec.fields.x.items: enum lists true, which is no string: quote it: YAML "
       "reads it as another type"},
      {"integer | enum=[a]",
       "t.yaml:9:10: spec.spec.fields.x: enum lists \"a\", which is no integer: correct or remove "
       "it"},
      {"integer | minimum=5 maximum=1",
       "t.yaml:9:10: spec.spec.fields.x: no value fits minimum=5 and maximum=1: correct one of "
       "them"},
      {"number | minimum=1 maximum=1 exclusiveMaximum",
       "t.yaml:9:10: spec.spec.fields.x: no value fits minimum=1 and maximum=1: correct one of "
       "them"},
      {"'[]string | minItems=3 maxItems=2'",
       "t.yaml:9:10: spec.spec.fields.x: no value fits minItems=3 and maxItems=2: correct one of "
       "them"},
      // The server compares with no bound that type and format cannot hold.
      {"int32 | minimum=-2147483648 maximum=2147483647", ""},
      {"integer or string | maximum=1e19", ""},
      {"float | maximum=1e38", ""},
      {"int32 | minimum=0 maximum=4294967295",
       "t.yaml:9:10: spec.spec.fields.x: maximum=4294967295 is no int32: the server refuses every "
       "number: say int64, or correct it"},
      {"int32 | minimum=-9999999999",
       "t.yaml:9:10: spec.spec.fields.x: minimum=-9999999999 is no int32: the server refuses every "
       "number: say int64, or correct it"},
      {"int32 | multipleOf=4294967296",
       "t.yaml:9:10: spec.spec.fields.x: multipleOf=4294967296 is no int32: the server refuses "
       "every number: say int64, or correct it"},
      {"int64 | maximum=1e19",
       "t.yaml:9:10: spec.spec.fields.x: maximum=1e+19 is no integer: the server refuses every "
       "number: correct it"},
      {"integer | minimum=0.5",
       "t.yaml:9:10: spec.spec.fields.x: minimum=0.5 is no integer: the server refuses every "
       "number: correct it"},
      {"float | maximum=1e39",
       "t.yaml:9:10: spec.spec.fields.x: maximum=1e+39 is no float: the server refuses every "
       "number: correct it"},
  };
  for (const auto& [type, problem] : table) {
    CAPTURE(type);
    const std::string text =
        document(std::string("  version: v1\n  spec:\n    fields:\n      x: ") + type + "\n");
    CHECK(first_of(generate({TypeFile{"t.yaml", text}}, ServerCheck::run).problems) == problem);
  }
}

TEST_CASE("a limit that the server would store as another number is a problem") {
  CHECK(problem_of("integer | minimum=-9007199254740992") == "");
  CHECK_THAT(problem_of("integer | maximum=9007199254740993"),
             Catch::Contains("must be between -2^53 and 2^53"));
}

TEST_CASE("a version is named as the server wants it") {
  for (const char* name : {"'1'", "1a", "-v1", "v1-", "V1"}) {
    CAPTURE(name);
    const Generated made =
        made_of(document(std::string("  version: ") + name + "\n  spec: {fields: {a: string}}\n"));
    CHECK_THAT(first_of(made.problems), Catch::Contains("is no name of a version"));
  }
}

}  // namespace kubewatch::crdgen
