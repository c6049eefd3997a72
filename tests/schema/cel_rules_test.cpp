// Rules of structural schemas: costs and verdicts as a kube-apiserver has them, checks of
// definitions, evaluation on objects, transition rules, ratcheting.
#include "schema/cel_rules.hpp"

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/yaml.hpp"
#include "schema/cel_validator.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::schema;

namespace {

Json json(const char* text) {
  auto value = base::parse_json(text);
  REQUIRE(value.ok());
  return *value;
}

StructuralPtr structural(const Json& schema) {
  auto parsed = parse_structural(schema);
  REQUIRE(parsed.ok());
  return *parsed;
}

std::vector<std::string> sentences_of(const FieldErrors& errors) {
  std::vector<std::string> out;
  for (const auto& error : errors) out.push_back(sentence(error));
  return out;
}

std::vector<std::string> checked(const char* schema) {
  FieldErrors errors;
  rule_checker().check(structural(json(schema)), "schema", false, errors);
  return sentences_of(errors);
}

struct Judged {
  std::vector<std::string> errors;
  std::vector<std::string> tolerated;
};

Judged judged(const char* schema, const char* object, const char* old = nullptr) {
  const auto rules = make_rule_validator(structural(json(schema)), true);
  REQUIRE(rules != nullptr);
  const Json value = json(object);
  const Json before = old == nullptr ? Json() : json(old);
  FieldErrors errors;
  FieldErrors tolerated;
  rules->evaluate(value, old == nullptr ? nullptr : &before, "", errors, tolerated);
  return {sentences_of(errors), sentences_of(tolerated)};
}

std::vector<std::string> evaluated(const char* schema, const char* object,
                                   const char* old = nullptr) {
  return judged(schema, object, old).errors;
}

using Sentences = std::vector<std::string>;

}  // namespace

TEST_CASE("rules cost what a kube-apiserver estimates, and are taken where it takes them") {
  const auto text = base::read_file(SCHEMA_TABLES "/cel_rules.yaml", 4 << 20);
  REQUIRE(text.ok());
  const auto documents = base::parse_yaml_values(*text);
  REQUIRE(documents.ok());
  REQUIRE(documents->size() == 1);
  const Json& rows = documents->front();
  REQUIRE(rows.size() >= 150);
  for (const auto& row : rows) {
    Json schema = {{"type", "object"},
                   {"properties", {{"spec", {{"type", "object"}, {"properties", row["spec"]}}}}},
                   {"x-kubernetes-validations", Json::array({{{"rule", row["rule"]}}})}};
    INFO(row["rule"].get<std::string>() << " of " << row["spec"].dump());
    const auto root = structural(schema);
    const DeclaredTypes types(*root, true);
    const auto rules = compile_rules(*root, *types.find(*root)->type);
    REQUIRE(rules.size() == 1);
    if (row["cost"].get<std::string>().empty()) {
      CHECK(rules[0].program == nullptr);
    } else {
      CHECK(rules[0].error == "");
      CHECK(std::to_string(rules[0].max_cost) == row["cost"].get<std::string>());
    }
    FieldErrors errors;
    rule_checker().check(root, "schema", false, errors);
    CHECK(errors.empty() == row["accepted"].get<bool>());
  }
}

TEST_CASE("a definition's rules are checked in the server's words") {
  CHECK(
      checked(R"json({"type": "object", "properties": {"spec": {"type": "object", "properties":
            {"l": {"type": "array", "items": {"type": "string",
              "x-kubernetes-validations": [{"rule": "self.matches('^a+$')"}]}}}}}})json") ==
      Sentences{"schema.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: "
                "Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try "
                "simplifying the rule, or adding maxItems, maxProperties, and maxLength where "
                "arrays, maps, and strings are declared)",
                "schema.properties[spec].properties[l].items.x-kubernetes-validations[0].rule: "
                "Forbidden: contributed to estimated rule cost total exceeding cost limit for "
                "entire OpenAPIv3 schema",
                "schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire "
                "OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the "
                "rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and "
                "strings are declared)"});
  const auto broken = checked(R"json({"type": "object", "x-kubernetes-validations": [
      {"rule": "self.nope == 1"}, {"rule": "1 + 1"}, {"rule": "true", "messageExpression": "1"},
      {"rule": "true", "optionalOldSelf": true}]})json");
  REQUIRE(broken.size() == 4);
  CHECK(broken[0].find("compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | "
                       "self.nope == 1\n | ....^") != std::string::npos);
  CHECK(broken[0].find("schema.x-kubernetes-validations[0].rule: Invalid value: "
                       R"({"Rule":"self.nope == 1","Message":"","MessageExpression":"",)"
                       R"("Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation)") ==
        0);
  CHECK(broken[1].find("cel expression must evaluate to a bool") != std::string::npos);
  CHECK(broken[2].find("messageExpression must evaluate to a string") != std::string::npos);
  CHECK(broken[3] ==
        "schema.x-kubernetes-validations[3].optionalOldSelf: Invalid value: true: may "
        "not be set if oldSelf is not used in rule");
}

// As a kube-apiserver 1.36 answers.
TEST_CASE("a rule that is refused is shown with all that it says") {
  const auto told = checked(R"json({"type": "object", "properties": {"s": {"type": "string"}},
      "x-kubernetes-validations": [
      {"rule": "self.nope < 1 && self.s > '\u00e9\u2028' && '<&>' == \"x\"",
       "message": "a <b> & \"c\"", "reason": "FieldValueForbidden", "fieldPath": ".s"},
      {"rule": "true", "messageExpression": "self.nope", "optionalOldSelf": false}]})json");
  REQUIRE(told.size() == 3);
  CHECK(told[0].find(
            R"(Invalid value: {"Rule":"self.nope \u003c 1 \u0026\u0026 self.s \u003e 'é\u2028' )"
            R"(\u0026\u0026 '\u003c\u0026\u003e' == \"x\"","Message":"a \u003cb\u003e \u0026 )"
            R"(\"c\"","MessageExpression":"","Reason":"FieldValueForbidden","FieldPath":".s",)"
            R"("OptionalOldSelf":null}: compilation failed: )") != std::string::npos);
  CHECK(told[1].find(R"(messageExpression: Invalid value: {"Rule":"true","Message":"",)"
                     R"("MessageExpression":"self.nope","Reason":null,"FieldPath":"",)"
                     R"("OptionalOldSelf":false}: messageExpression compilation failed: )") !=
        std::string::npos);
  CHECK(told[2] ==
        "schema.x-kubernetes-validations[1].optionalOldSelf: Invalid value: false: may not be set "
        "if oldSelf is not used in rule");
}

TEST_CASE("oldSelf is refused where old and new values cannot be told to be the same") {
  const char* schema =
      R"json({"type": "object", "properties": {"l": {"type": "array", "maxItems": 5,
      "items": {"type": "string", "maxLength": 5,
      "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}}})json";
  CHECK(
      checked(schema) ==
      Sentences{"schema.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "
                "\"self == oldSelf\": oldSelf cannot be used on the uncorrelatable portion of the "
                "schema within schema.properties[l]"});
}

TEST_CASE("rules that do not hold are named with their path, value and message") {
  const char* schema = R"json({"type": "object", "properties": {
      "spec": {"type": "object", "properties": {"n": {"type": "integer",
        "x-kubernetes-validations": [{"rule": "self > 1"}]},
        "hosts": {"type": "object", "additionalProperties": {"type": "string",
          "x-kubernetes-validations": [{"rule": "self != ''", "message": "no empty host"}]}}},
      "x-kubernetes-validations": [
        {"rule": "self.n < 5", "messageExpression": "'n is ' + string(self.n)", "fieldPath": ".n",
         "reason": "FieldValueForbidden"},
        {"rule": "!has(self.hosts) || size(self.hosts) < 3"}]}}})json";
  CHECK(evaluated(schema, R"json({"spec": {"n": 3, "hosts": {"a": "b"}}})json").empty());
  CHECK(
      evaluated(schema, R"json({"spec": {"n": 7, "hosts": {"a": "", "b": "x", "c": "y"}}})json") ==
      Sentences{"spec.n: Forbidden: n is 7",
                "spec: Invalid value: failed rule: !has(self.hosts) || size(self.hosts) < 3",
                "spec.hosts[a]: Invalid value: \"\": no empty host"});
  CHECK(evaluated(schema, R"json({"spec": {"n": 0}})json") ==
        Sentences{"spec.n: Invalid value: 0: failed rule: self > 1"});
}

TEST_CASE("names that rules cannot write are escaped, formats become their types") {
  const char* schema = R"json({"type": "object", "properties": {"a-b": {"type": "string"},
      "namespace": {"type": "string"}, "t": {"type": "string", "format": "date-time"},
      "d": {"type": "string", "format": "duration"}, "x": {"x-kubernetes-int-or-string": true},
      "b": {"type": "string", "format": "byte"}},
      "x-kubernetes-validations": [{"rule":
        "self.a__dash__b == 'x' && self.__namespace__ == 'y' && self.t.getFullYear() == 2024 && self.d == duration('1h') && (type(self.x) == int ? self.x == 5 : self.x == '5') && self.b == b'hi'"},
      {"rule": "self.metadata.name == 'web'"}]})json";
  CHECK(evaluated(schema,
                  R"json({"a-b": "x", "namespace": "y", "t": "2024-02-01T00:00:00Z", "d": "1h",
      "x": 5, "b": "aGk=", "metadata": {"name": "web"}})json")
            .empty());
  CHECK(evaluated(schema,
                  R"json({"a-b": "x", "namespace": "y", "t": "2024-02-01T00:00:00Z", "d": "1h",
      "x": "5", "b": "aGk=", "metadata": {"name": "web"}})json")
            .empty());
}

TEST_CASE("fields named by reserved words can be written as they are, or escaped") {
  for (const std::string word :
       {"as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
        "loop", "package", "namespace", "return", "var", "void", "while"}) {
    const std::string escaped = "__" + word + "__";
    for (const auto& name : {word, escaped}) {
      CAPTURE(name);
      const std::string self = "self." + name;
      const Json schema = {
          {"type", "object"},
          {"properties", {{word, {{"type", "string"}}}}},
          {"x-kubernetes-validations",
           Json::array({{{"rule", "!has(" + self + ") || " + self + " == 'a' || self.?" + name +
                                      ".orValue('') == 'b'"}}})}};
      const auto text = schema.dump();
      CHECK(checked(text.c_str()).empty());
      CHECK(evaluated(text.c_str(), "{}").empty());
      CHECK(evaluated(text.c_str(), Json({{word, "a"}}).dump().c_str()).empty());
      CHECK(evaluated(text.c_str(), Json({{word, "b"}}).dump().c_str()).empty());
      CHECK(evaluated(text.c_str(), Json({{word, "c"}}).dump().c_str()).size() == 1);
    }
  }
  // Only escaped: what the language itself reads.
  for (const std::string word : {"true", "false", "null", "in"}) {
    CAPTURE(word);
    const auto schema_with = [&word](const std::string& name) {
      return Json({{"type", "object"},
                   {"properties", {{word, {{"type", "string"}}}}},
                   {"x-kubernetes-validations",
                    Json::array({{{"rule", "self." + name + " == 'a'"}}})}})
          .dump();
    };
    CHECK(checked(schema_with("__" + word + "__").c_str()).empty());
    CHECK(checked(schema_with(word).c_str()).size() == 1);
  }
  // No other word is read without its escapes.
  CHECK(checked(R"json({"type": "object", "properties": {"__namespace__": {"type": "string"},
      "__class__": {"type": "string"}}, "x-kubernetes-validations": [
      {"rule": "self.namespace == 'a'"}, {"rule": "self.class == 'a'"}, {"rule":
      "self.__class__ == 'a'"}]})json")
            .size() == 3);
}

TEST_CASE("transition rules compare with the old value, found by key in lists of maps") {
  const char* schema = R"json({"type": "object", "properties": {"l": {"type": "array",
      "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object",
      "properties": {"k": {"type": "string"}, "v": {"type": "integer",
        "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "may only grow"}]}}}},
      "o": {"type": "integer", "x-kubernetes-validations": [{"rule":
        "oldSelf.hasValue() || self == 0", "optionalOldSelf": true}]}}})json";
  CHECK(evaluated(schema, R"json({"l": [{"k": "a", "v": 1}], "o": 0})json").empty());
  CHECK(evaluated(schema, R"json({"o": 1})json") ==
        Sentences{"o: Invalid value: 1: failed rule: oldSelf.hasValue() || self == 0"});
  CHECK(evaluated(schema, R"json({"l": [{"k": "b", "v": 1}, {"k": "a", "v": 2}]})json",
                  R"json({"l": [{"k": "a", "v": 3}]})json") ==
        Sentences{"l[1].v: Invalid value: 2: may only grow"});
}

TEST_CASE("what an update leaves as it was is not blamed") {
  const char* schema = R"json({"type": "object", "properties": {"spec": {"type": "object",
      "properties": {"a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]},
      "b": {"type": "integer"}}}}})json";
  CHECK(evaluated(schema, R"json({"spec": {"a": 0, "b": 2}})json",
                  R"json({"spec": {"a": 0, "b": 1}})json")
            .empty());
  CHECK(evaluated(schema, R"json({"spec": {"a": -1, "b": 2}})json",
                  R"json({"spec": {"a": 0, "b": 1}})json") ==
        Sentences{"spec.a: Invalid value: -1: failed rule: self > 1"});
}

TEST_CASE("what is not blamed is told apart, with the message that it would have had") {
  const char* schema = R"json({"type": "object", "properties": {"spec": {"type": "object",
      "properties": {"a": {"type": "integer", "x-kubernetes-validations": [
        {"rule": "self > 1", "messageExpression": "'only ' + string(self)"},
        {"rule": "self > 2 || oldSelf > 2", "message": "asks for what was"}]},
      "b": {"type": "integer"}},
      "x-kubernetes-validations": [{"rule": "self.b < 2"}]}}})json";
  const auto told = judged(schema, R"json({"spec": {"a": 0, "b": 2}})json",
                           R"json({"spec": {"a": 0, "b": 1}})json");
  CHECK(told.errors == Sentences{"spec: Invalid value: failed rule: self.b < 2",
                                 "spec.a: Invalid value: 0: asks for what was"});
  CHECK(told.tolerated == Sentences{"spec.a: Invalid value: 0: only 0"});
}

TEST_CASE("rules of apiVersion and kind of the object itself are never passed over") {
  const char* schema = R"json({"type": "object", "properties": {
      "kind": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'B'"}]},
      "apiVersion": {"type": "string"},
      "metadata": {"type": "object", "properties": {
        "name": {"type": "string"}, "generateName": {"type": "string"}}},
      "spec": {"type": "object", "properties": {
        "kind": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'B'"}]}}}}})json";
  const char* object = R"json({"kind": "A", "spec": {"kind": "A"}})json";
  const auto told = judged(schema, object, object);
  CHECK(told.errors == Sentences{R"(kind: Invalid value: "A": failed rule: self == 'B')"});
  CHECK(told.tolerated == Sentences{R"(spec.kind: Invalid value: "A": failed rule: self == 'B')"});
}

TEST_CASE("a rule of a value with a field that no schema knows is never passed over") {
  const char* schema = R"json({"type": "object", "properties": {
      "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"n": {"type": "integer"}, "list": {"type": "array", "items": {
          "type": "integer", "x-kubernetes-validations": [{"rule": "self < 0"}]}}},
        "x-kubernetes-validations": [{"rule": "self.n > 1", "message": "n"}]}},
      "x-kubernetes-validations": [{"rule": "self.open.n > 0", "message": "root"}]})json";
  const auto same = [&](const char* object) { return evaluated(schema, object, object); };
  CHECK(same(R"json({"open": {"n": 0}})json").empty());
  const Sentences both = {"<nil>: Invalid value: root", "open: Invalid value: n"};
  CHECK(same(R"json({"open": {"n": 0, "x": 1}})json") == both);
  CHECK(same(R"json({"metadata": {"name": "a"}, "open": {"n": 0}})json") == Sentences{both[0]});
  // An item that cannot be found again rests with its list.
  CHECK(same(R"json({"open": {"n": 2, "x": 1, "list": [1]}})json").empty());
}

TEST_CASE("a message has oldSelf as it is, and only beside a rule that asks for it") {
  const auto told = [](const char* rule) {
    const std::string schema =
        std::string(R"json({"type": "object", "properties": {"v": {"type": "integer",
          "x-kubernetes-validations": [)json") +
        rule + "]}}}";
    const auto out = evaluated(schema.c_str(), R"json({"v": 4})json", R"json({"v": 5})json");
    return out.size() == 1 ? out[0] : std::to_string(out.size());
  };
  CHECK(told(R"json({"rule": "!oldSelf.hasValue() || self > oldSelf.value()", "message": "plain",
      "optionalOldSelf": true, "messageExpression": "'was ' + string(oldSelf.orValue(0))"})json") ==
        "v: Invalid value: 4: plain");
  CHECK(told(R"json({"rule": "self > oldSelf", "message": "plain",
      "messageExpression": "'was ' + string(oldSelf)"})json") == "v: Invalid value: 4: was 5");
  CHECK(told(R"json({"rule": "self > 5", "message": "plain",
      "messageExpression": "'was ' + string(oldSelf)"})json") == "v: Invalid value: 4: plain");
}

TEST_CASE("lists of sets and maps are equal whatever their order") {
  const char* schema = R"json({"type": "object", "properties": {"s": {"type": "array",
      "x-kubernetes-list-type": "set", "items": {"type": "string"}}},
      "x-kubernetes-validations": [{"rule": "self.s == oldSelf.s"}]})json";
  CHECK(evaluated(schema, R"json({"s": ["a", "b"]})json", R"json({"s": ["b", "a"]})json").empty());
  CHECK(evaluated(schema, R"json({"s": ["a", "b"]})json", R"json({"s": ["b", "c"]})json").size() ==
        1);
}

TEST_CASE("lists of maps are equal whatever their order, found by their keys") {
  const char* schema = R"json({"type": "object", "properties": {"m": {"type": "array",
      "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
      "type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}}},
      "x-kubernetes-validations": [{"rule": "self.m == oldSelf.m"}]})json";
  const char* old = R"json({"m": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]})json";
  CHECK(
      evaluated(schema, R"json({"m": [{"k": "b", "v": 2}, {"k": "a", "v": 1}]})json", old).empty());
  CHECK(
      evaluated(schema, R"json({"m": [{"k": "b", "v": 1}, {"k": "a", "v": 1}]})json", old).size() ==
      1);
  CHECK(
      evaluated(schema, R"json({"m": [{"k": "c", "v": 2}, {"k": "a", "v": 1}]})json", old).size() ==
      1);
}

TEST_CASE("evaluation of one object stops at its budget") {
  const char* schema = R"json({"type": "object", "properties": {"l": {"type": "array", "items":
      {"type": "integer"}}}, "x-kubernetes-validations": [
      {"rule": "self.l.all(x, self.l.all(y, x + y >= 0))"}]})json";
  Json object = {{"l", Json::array()}};
  for (int i = 0; i < 1000; ++i) object["l"].push_back(i);
  const auto errors = evaluated(schema, object.dump().c_str());
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].find("no further validation rules will be run due to call cost exceeds limit") !=
        std::string::npos);
}

TEST_CASE("what the rules of one object make is bounded where their cost is not") {
  const char* schema = R"json({"type": "object", "properties": {"l": {"type": "array", "items":
      {"type": "string", "x-kubernetes-validations": [
        {"rule": "self.replace('a', self).size() > 0"}]}}}})json";
  Json object = {{"l", Json::array()}};
  for (int i = 0; i < 20; ++i) object["l"].push_back(std::string(10000, 'a'));  // 100 MB each
  const auto errors = evaluated(schema, object.dump().c_str());
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].find("validation failed due to running out of cost budget") != std::string::npos);
  object["l"] = {std::string(20000, 'a')};
  const auto one = evaluated(schema, object.dump().c_str());
  REQUIRE(one.size() == 1);
  CHECK(one[0].find("call cost exceeds limit for rule") != std::string::npos);
}
