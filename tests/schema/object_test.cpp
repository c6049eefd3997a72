// What a schema does to objects: checks, unknown fields, defaults, ratcheting.
#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "schema/compiled_schema.hpp"
#include "support/catch.hpp"

namespace kubewatch::schema {

namespace {

std::shared_ptr<const CompiledSchema> compiled(const Json& schema) {
  auto out = CompiledSchema::of(schema, nullptr);
  REQUIRE(out.ok());
  return std::move(out).value();
}

std::string told(const FieldErrors& errors) {
  std::vector<std::string> out;
  for (const auto& error : errors) out.push_back(sentence(error));
  return base::join(out, "; ");
}

std::shared_ptr<const CompiledSchema> of_value(const char* schema) {
  return compiled({{"type", "object"}, {"properties", {{"v", Json::parse(schema)}}}});
}

std::string problems(const char* schema, const char* value) {
  FieldErrors errors;
  of_value(schema)->validate({{"v", Json::parse(value)}}, nullptr, errors);
  return told(errors);
}

// What is said when `before` becomes `after`.
std::string change(const char* schema, const char* before, const char* after) {
  FieldErrors errors;
  const Json old = {{"v", Json::parse(before)}};
  of_value(schema)->validate({{"v", Json::parse(after)}}, &old, errors);
  return told(errors);
}

}  // namespace

TEST_CASE("values are checked against their schema in the API server's words") {
  const std::vector<std::tuple<const char*, const char*, std::string>> cases = {
      {R"({"type":"string"})", R"("x")", ""},
      {R"({"type":"string"})", "1",
       "v: Invalid value: \"integer\": v in body must be of type string: \"integer\""},
      {R"({"type":"integer"})", "1.5",
       "v: Invalid value: \"number\": v in body must be of type integer: \"number\"; <nil>: "
       "Invalid "
       "value: \"\": Checked value must be of type integer (default format) in v"},
      {R"({"type":"integer"})", "2.0", ""},
      {R"({"type":"number"})", "2", ""},
      {R"({"type":"string"})", "null",
       "v: Invalid value: \"null\": v in body must be of type string: \"null\""},
      {R"({"type":"string","nullable":true})", "null", ""},
      {R"({"x-kubernetes-int-or-string":true})", "true",
       "v: Invalid value: \"boolean\": v in body must be of type integer,string: \"boolean\""},
      {R"({"x-kubernetes-int-or-string":true})", R"("50%")", ""},
      {R"({"type":"string","minLength":2})", R"("A")",
       "v: Invalid value: \"A\": v in body should be at least 2 chars long"},
      {R"({"type":"string","maxLength":2})", R"("ABC")",
       "v: Too long: may not be more than 2 bytes"},
      {R"({"type":"string","maxLength":2})", R"("äö")", ""},
      {R"({"type":"string","pattern":"^a+$"})", R"("b")",
       "v: Invalid value: \"b\": v in body should match '^a+$'"},
      {R"({"type":"string","pattern":"(?i)x"})", R"("aXb")", ""},
      {R"({"type":"string","format":"date-time"})", R"("soon")",
       "v: Invalid value: \"soon\": v in body must be of type date-time: \"soon\""},
      {R"({"type":"string","enum":["a","b"]})", R"("c")",
       "v: Unsupported value: \"c\": supported values: \"a\", \"b\""},
      {R"({"type":"integer","minimum":0})", "-1",
       "v: Invalid value: -1: v in body should be greater than or equal to 0"},
      {R"({"type":"integer","maximum":3,"exclusiveMaximum":true})", "3",
       "v: Invalid value: 3: v in body should be less than 3"},
      {R"({"type":"integer","multipleOf":5})", "7",
       "v: Invalid value: 7: v in body should be a multiple of 5"},
      {R"({"type":"array","maxItems":1})", "[1,2]", "v: Too many: 2: must have at most 1 item"},
      {R"({"type":"array","minItems":1})", "[]",
       "v: Invalid value: 0: v in body should have at least 1 items"},
      {R"({"type":"array","x-kubernetes-list-type":"set"})", R"(["a","a"])",
       "v[1]: Duplicate value: \"a\""},
      {R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]})",
       R"([{"name":"x","a":1},{"name":"x"}])", "v[1]: Duplicate value: {\"name\":\"x\"}"},
      {R"({"type":"object","required":["a"]})", "{}", "v.a: Required value"},
      {R"({"type":"object","additionalProperties":{"type":"string"}})", R"({"a":1})",
       "v.a: Invalid value: \"integer\": v.a in body must be of type string: \"integer\""},
      {R"({"type":"array","items":{"type":"object","required":["a"]}})", "[{}]",
       "v[0].a: Required value"},
      {R"({"anyOf":[{"required":["a"]},{"required":["b"]}]})", "{}",
       "<nil>: Invalid value: \"\": \"v\" must validate at least one schema (anyOf); v.a: Required "
       "value"},
      {R"({"oneOf":[{"required":["a"]},{"required":["b"]}]})", R"({"a":1,"b":2})",
       "<nil>: Invalid value: \"\": \"v\" must validate one and only one schema (oneOf). Found 2 "
       "valid alternatives"},
      {R"({"not":{"required":["a"]}})", R"({"a":1})",
       "<nil>: Invalid value: \"\": \"v\" must not validate the schema (not)"},
      {R"({"allOf":[{"type":"string"},{"minLength":2}]})", R"("a")",
       "v: Invalid value: \"a\": v in body should be at least 2 chars long; <nil>: Invalid value: "
       "\"\": \"v\" must validate all the schemas (allOf)"},
  };
  for (const auto& [schema, value, wanted] : cases) {
    CAPTURE(schema, value);
    CHECK(problems(schema, value) == wanted);
  }
}

TEST_CASE("whole numbers beyond 2^63 do not become negative") {
  CHECK(problems(R"({"type":"number","minimum":0})", "9223372036854775809") == "");
  CHECK(problems(R"({"type":"number","maximum":5})", "18446744073709551615") != "");
  CHECK(problems(R"({"type":"number","multipleOf":1e300})", "3") != "");
}

// What a kube-apiserver 1.36 says of each.
TEST_CASE("whole numbers are those of 64 bits with a sign, all others are doubles") {
  const std::string type =
      "v: Invalid value: \"number\": v in body must be of type integer: \"number\"";
  const std::string range =
      "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in v";
  const char* whole = R"({"type":"integer"})";
  for (const char* fits : {"9223372036854775295", "9223372036854775296", "9223372036854775807",
                           "-9223372036854775808", "1e3", "9007199254740991.0"}) {
    CAPTURE(fits);
    CHECK(problems(whole, fits) == "");
    CHECK(problems(R"({"type":"integer","format":"int64"})", fits) == "");
  }
  for (const char* wide : {"9223372036854775808", "-9223372036854775809", "18446744073709551615",
                           "18446744073709551616", "1e300", "2.5"}) {
    CAPTURE(wide);
    CHECK(problems(whole, wide) == type + "; " + range);
  }
  CHECK(problems(whole, "9007199254740992.0") == type);  // a double, and too large for a whole one
  CHECK(problems(whole, "1000000000.5") == range);       // its fraction is small beside it
  CHECK(problems(R"({"x-kubernetes-int-or-string":true})", "9223372036854775808") ==
        "v: Invalid value: \"number\": v in body must be of type integer,string: \"number\"");
  CHECK(problems(R"({"type":"integer","maximum":9223372036854774784})", "9223372036854775807") ==
        "v: Invalid value: 9223372036854775807: v in body should be less than or equal to "
        "9223372036854774784");
  CHECK(problems(R"({"type":"integer","minimum":-9223372036854775808})", "5") ==
        "<nil>: Invalid value: \"\": Minimum boundary value must be of type integer (default "
        "format) in v");
  CHECK(problems(R"({"type":"number","minimum":1e19})", "9223372036854775808") ==
        "v: Invalid value: 9.223372036854776e+18: v in body should be greater than or equal to "
        "1e+19");
}

TEST_CASE("what is a multiple, and of what") {
  const char* half = R"({"type":"number","multipleOf":0.5})";
  CHECK(problems(half, "2.5") == "");
  CHECK(problems(half, "0.0") == "");
  for (const char* huge : {"1e+20", "1e+300"}) {
    CHECK(problems(half, huge) ==
          std::string("v: Invalid value: ") + huge + ": v in body should be a multiple of 0.5");
  }
  CHECK(problems(half, "5") ==
        "v: Invalid value: 0: factor MultipleOf declared for v must be positive: 0");
  CHECK(problems(R"({"type":"number","multipleOf":0.1})", "0.30000000000000004") == "");
  CHECK(problems(R"({"type":"number","multipleOf":0.01})", "0.29") ==
        "v: Invalid value: 0.29: v in body should be a multiple of 0.01");
  CHECK(problems(R"({"type":"number","multipleOf":1e19})", "5") ==
        "v: Invalid value: -9223372036854775808: factor MultipleOf declared for v must be "
        "positive: -9223372036854775808");
  CHECK(problems(R"({"type":"integer","multipleOf":1000000})", "5") ==
        "v: Invalid value: 5: v in body should be a multiple of 1000000");
}

TEST_CASE("a pattern takes time in line with its text, however it is nested") {
  const std::string text(1U << 18U, 'b');
  const std::string value = "\"" + text + "\"";
  CHECK(problems(R"({"type":"string","pattern":"^(a|b)*c$"})", value.c_str()).size() > text.size());
}

TEST_CASE("what was wrong already and did not change may stay") {
  const char* schema = R"({"type":"object","properties":{
    "a":{"type":"string","maxLength":1},"b":{"type":"integer"},
    "keyed":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
             "items":{"type":"object","properties":{"k":{"type":"string"},
                      "w":{"type":"string","enum":["x"]}}}},
    "plain":{"type":"array","items":{"type":"string","maxLength":1}},
    "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}})";
  CHECK(change(schema, R"({"a":"long","b":1})", R"({"a":"long","b":2})").empty());
  CHECK(change(schema, R"({"a":"long"})", R"({"a":"longer"})") ==
        "v.a: Too long: may not be more than 1 byte");
  CHECK(change(schema, R"({"b":1})", R"({"a":"long","b":1})") ==
        "v.a: Too long: may not be more than 1 byte");
  // Items of keyed lists are found again by their keys, those of others by nothing.
  CHECK(change(schema, R"({"keyed":[{"k":"1","w":"bad"}]})",
               R"({"keyed":[{"k":"2","w":"x"},{"k":"1","w":"bad"}]})")
            .empty());
  CHECK(change(schema, R"({"plain":["long"]})", R"({"plain":["long"],"b":1})").empty());
  CHECK(change(schema, R"({"plain":["long"]})", R"({"plain":["long","x"]})") ==
        "v.plain[0]: Too long: may not be more than 1 byte");
  CHECK(change(schema, R"({"set":["a","a"]})", R"({"set":["b","b"]})").empty());
  CHECK(change(schema, R"({"set":["a"]})", R"({"set":["b","b"]})") ==
        "v.set[1]: Duplicate value: \"b\"");
}

TEST_CASE("a field that no schema knows makes its object a changed one") {
  const char* schema = R"({"type":"object","properties":{
    "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"required":["a"]},
    "embedded":{"type":"object","x-kubernetes-embedded-resource":true,"required":["spec"],
                "properties":{"spec":{"type":"object"}}},
    "map":{"type":"object","minProperties":3,"additionalProperties":{"type":"integer"}}}})";
  const auto same = [&](const char* value) { return change(schema, value, value); };
  CHECK(same(R"({"open":{}})") == "");
  CHECK(same(R"({"open":{"x":1}})") == "v.open.a: Required value");
  CHECK(same(R"({"embedded":{"apiVersion":"v1","kind":"P"}})")
            .find("v.embedded.spec: Required value") != std::string::npos);
  CHECK(same(R"({"map":{"a":1}})") == "");
  // The object itself has such a field: its metadata.
  const auto root = compiled(Json::parse(
      R"({"type":"object","required":["spec"],"properties":{"spec":{"type":"object"}}})"));
  FieldErrors errors;
  const Json object = Json::parse(R"({"kind":"K","metadata":{"name":"a"}})");
  root->validate(object, &object, errors);
  CHECK(told(errors) == "spec: Required value");
}

TEST_CASE("items of a keyed list may change places, however wrong the list is") {
  const char* schema = R"({"type":"array","maxItems":1,"x-kubernetes-list-type":"map",
    "x-kubernetes-list-map-keys":["k","l"],"items":{"type":"object","properties":{
      "k":{"type":"string"},"l":{"type":"integer"},"w":{"type":"integer","maximum":1}}}})";
  const std::string many = "v: Too many: 2: must have at most 1 item";
  const char* list = R"([{"k":"a","l":1,"w":9},{"k":"a","l":2}])";
  CHECK(change(schema, list, R"([{"k":"a","l":2},{"k":"a","l":1,"w":9}])") == "");
  CHECK(change(schema, list, R"([{"k":"a","l":2,"w":1},{"k":"a","l":1,"w":9}])") == many);
  CHECK(change(schema, list, R"([{"k":"a","l":3},{"k":"a","l":1,"w":9}])") == many);
  // Without all its keys an item is none of before, and of several with the same the first counts.
  const char* keyless = R"([{"k":"a","w":9},{"k":"b","l":null}])";
  CHECK(change(schema, keyless, keyless).find(many) != std::string::npos);
  CHECK(change(schema, R"([{"k":"a","l":1,"w":9},{"k":"a","l":1,"w":8}])",
               R"([{"k":"a","l":1,"w":9}])") == "");
}

TEST_CASE("inside of allOf and its kin nothing is passed over that is as it was") {
  for (const char* kin : {"allOf", "anyOf", "oneOf"}) {
    CAPTURE(kin);
    const std::string schema =
        std::string(R"({"type":"object","properties":{"a":{"type":"string"},"b":{}},")") + kin +
        R"(":[{"properties":{"a":{"maxLength":1}}}]})";
    CHECK(change(schema.c_str(), R"({"a":"long"})", R"({"a":"long"})") == "");
    CHECK(change(schema.c_str(), R"({"a":"long"})", R"({"a":"long","b":1})")
              .find("v.a: Too long: may not be more than 1 byte") != std::string::npos);
  }
}

TEST_CASE("a status may stay as it was as a whole, and its embedded objects need no kind") {
  const auto schema = compiled(Json::parse(R"({"type":"object","properties":{
    "status":{"type":"object","required":["phase"],"properties":{
      "phase":{"type":"string"},"n":{"type":"integer"},
      "thing":{"type":"object","x-kubernetes-embedded-resource":true,
               "x-kubernetes-preserve-unknown-fields":true}}}}})"));
  const auto written = [&](const char* before, const char* after) {
    FieldErrors errors;
    schema->validate_status({{"metadata", {{"name", "a"}}}, {"status", Json::parse(after)}},
                            {{"metadata", {{"name", "a"}}}, {"status", Json::parse(before)}},
                            errors);
    return told(errors);
  };
  CHECK(written(R"({"n":1})", R"({"n":1})") == "");
  CHECK(written(R"({"n":1})", R"({"n":2})") == "status.phase: Required value");
  CHECK(written("{}", R"({"phase":"x","thing":{"x":1}})") == "");
}

TEST_CASE("of several failed alternatives the one that fits best is reported") {
  const std::string told_of = problems(
      R"({"anyOf":[{"type":"integer"},{"type":"object","required":["z"],
          "properties":{"a":{"type":"string"}}}]})",
      R"({"a":"x"})");
  CHECK(told_of.find("v.z: Required value") != std::string::npos);
  CHECK(told_of.find("of type integer") == std::string::npos);
}

TEST_CASE("rules are not evaluated when an error of the schema comes first, and it is said") {
  const std::string told_of = problems(
      R"({"type":"string","maxLength":1,"x-kubernetes-validations":[{"rule":"self != ''"}]})",
      R"("long")");
  CHECK(told_of.find("<nil>: Invalid value: null: some validation rules were not checked") !=
        std::string::npos);
}

TEST_CASE("a status is checked alone, whatever stands beside it") {
  const auto schema = compiled(Json::parse(R"({"type":"object","properties":{
    "spec":{"type":"object","required":["x"]},
    "status":{"type":"object","properties":{"n":{"type":"integer"}}}}})"));
  FieldErrors errors;
  schema->validate_status(Json::parse(R"({"spec":{},"status":{"n":"1"}})"),
                          Json::parse(R"({"spec":{},"status":{"n":1}})"), errors);
  CHECK(told(errors) ==
        "status.n: Invalid value: \"string\": n in body must be of type integer: \"string\"");
}

TEST_CASE("unknown fields are dropped and named, where nothing says to keep them") {
  const Json schema = Json::parse(R"({"type":"object","properties":{
    "spec":{"type":"object","properties":{
      "list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}},
      "map":{"type":"object","additionalProperties":{"type":"object","properties":{"b":{}}}},
      "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
              "properties":{"known":{"type":"object","properties":{"c":{}}}}},
      "template":{"type":"object","x-kubernetes-embedded-resource":true,
                  "x-kubernetes-preserve-unknown-fields":true}}}}})");
  Json object = Json::parse(R"({"apiVersion":"a/v1","kind":"K","metadata":{"name":"x"},
    "spec":{"x":1,"list":[{"a":"1","z":2}],"map":{"k":{"b":1,"y":2}},
            "open":{"any":1,"known":{"c":1,"w":2}},
            "template":{"apiVersion":"v1","kind":"P","metadata":{},"spec":{"q":1}}},
    "top":1})");
  const auto removed = compiled(schema)->prune(object);
  CHECK(std::set<std::string>(removed.begin(), removed.end()) ==
        std::set<std::string>{"spec.x", "spec.list[0].z", "spec.map.k.y", "spec.open.known.w",
                              "top"});
  CHECK(object["spec"]["open"]["any"] == 1);
  CHECK(object["spec"]["template"]["spec"]["q"] == 1);
  CHECK(object["metadata"]["name"] == "x");
}

TEST_CASE("owner references of an embedded object are read as their type") {
  const auto schema = compiled(Json::parse(R"({"type":"object","properties":{"e":{"type":"object",
    "x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}})"));
  std::vector<std::string> unknown;
  Json object = Json::parse(
      R"({"e":{"metadata":{"ownerReferences":[{"name":"a","foo":5,"controller":null}]}}})");
  REQUIRE(schema->coerce_embedded(object, unknown).ok());
  CHECK(unknown == std::vector<std::string>{"e.metadata.ownerReferences[0].foo"});
  CHECK(object["e"]["metadata"]["ownerReferences"] == Json::parse(R"([{"name":"a"}])"));
  Json wrong = Json::parse(R"({"e":{"metadata":{"ownerReferences":[{"name":5}]}}})");
  const auto refused = schema->coerce_embedded(wrong, unknown);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message().find("json: cannot unmarshal number into Go struct field "
                                       "OwnerReference.ownerReferences.name of type string") !=
        std::string::npos);
}

TEST_CASE("what metadata of an embedded object cannot be is told with the type of the field") {
  const auto schema = compiled(Json::parse(R"({"type":"object","properties":{"e":{"type":"object",
    "x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}})"));
  const auto refusal = [&](const char* metadata) {
    std::vector<std::string> unknown;
    Json object = {{"e", {{"metadata", Json::parse(metadata)}}}};
    const auto refused = schema->coerce_embedded(object, unknown);
    REQUIRE_FALSE(refused.ok());
    const std::string& why = refused.error().message();
    return why.substr(std::min(why.find("json: "), why.size()));
  };
  const std::string field = " into Go struct field ObjectMeta.";
  CHECK(refusal("true") == "json: cannot unmarshal bool into Go value of type v1.ObjectMeta");
  CHECK(refusal(R"({"uid":5})") ==
        "json: cannot unmarshal number" + field + "uid of type types.UID");
  CHECK(refusal(R"({"generation":"1"})") ==
        "json: cannot unmarshal string" + field + "generation of type int64");
  CHECK(refusal(R"({"labels":[]})") ==
        "json: cannot unmarshal array" + field + "labels of type map[string]string");
  CHECK(refusal(R"({"finalizers":[true]})") ==
        "json: cannot unmarshal bool" + field + "finalizers of type string");
  CHECK(refusal(R"({"managedFields":{}})") ==
        "json: cannot unmarshal object" + field + "managedFields of type []v1.ManagedFieldsEntry");
  CHECK(refusal(R"({"ownerReferences":[1]})") ==
        "json: cannot unmarshal number" + field + "ownerReferences of type v1.OwnerReference");
}

TEST_CASE("defaults fill absent fields at every depth, and nulls that may not be null") {
  const Json schema = Json::parse(R"({"type":"object","properties":{"spec":{"type":"object",
    "default":{},"properties":{
      "n":{"type":"integer","default":3},
      "inner":{"type":"object","properties":{"m":{"default":"x"}}},
      "list":{"type":"array","items":{"type":"object","properties":{"p":{"default":"TCP"}}}},
      "maybe":{"type":"string","nullable":true,"default":"d"}}}}})");
  Json object =
      Json::parse(R"({"spec":{"inner":{},"list":[{}, {"p":"UDP"}],"n":null,"maybe":null}})");
  compiled(schema)->apply_defaults(object);
  CHECK(object == Json::parse(R"({"spec":{"n":3,"inner":{"m":"x"},
    "list":[{"p":"TCP"},{"p":"UDP"}],"maybe":null}})"));
  Json empty = Json::object();
  compiled(schema)->apply_defaults(empty);
  CHECK(empty["spec"]["n"] == 3);
  CHECK_FALSE(empty["spec"].contains("inner"));
}

}  // namespace kubewatch::schema
