// The rules of admission policies and of conditions of webhooks, expressions included. Those of
// bindings are in registrations_test.cpp.
#include "builtin/objects.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kPolicy = "validatingadmissionpolicies.admissionregistration.k8s.io";
constexpr const char* kMutating = "mutatingadmissionpolicies.admissionregistration.k8s.io";
constexpr const char* kWebhooks = "validatingwebhookconfigurations.admissionregistration.k8s.io";

std::string told_of_expression(const std::string& expression, const Json& more = Json::object()) {
  Json object = right(kPolicy);
  object.merge_patch(more);
  object["spec"]["validations"] = {{{"expression", expression}}};
  return told(kPolicy, nullptr, object);
}

std::string refused(const std::string& expression, const std::string& why) {
  return "spec.validations[0].expression: Invalid value: " + Json(expression).dump() + ": " + why;
}

// What the compiler says at one place.
std::string at(int column, const std::string& expression, const std::string& why) {
  return "compilation failed: ERROR: <input>:1:" + std::to_string(column) + ": " + why + "\n | " +
         expression + "\n | " + std::string(static_cast<std::size_t>(column) - 1, '.') + "^";
}

}  // namespace

TEST_CASE("a policy says what it matches, and judges something") {
  check_all({
      {kPolicy, "{}", ""},
      {kPolicy, R"({"spec":{"failurePolicy":"Fali","matchConstraints":null}})",
       "[spec.failurePolicy: Unsupported value: \"Fali\": supported values: \"Fail\", \"Ignore\", "
       "spec.matchConstraints: Required value]"},
      {kPolicy, R"({"spec":{"matchConstraints":{"resourceRules":null,"matchPolicy":"x"},
        "validations":null}})",
       "[spec.matchConstraints.matchPolicy: Unsupported value: \"x\": supported values: "
       "\"Equivalent\", \"Exact\", spec.matchConstraints.resourceRules: Required value, "
       "spec.validations: Required value: validations or auditAnnotations must contain at least "
       "one item, spec.auditAnnotations: Required value: validations or auditAnnotations must "
       "contain at least one item]"},
      {kPolicy, R"({"spec":{"paramKind":{}}})",
       "[spec.paramKind.apiVersion: Required value, spec.paramKind.kind: Required value]"},
      {kPolicy, R"({"spec":{"paramKind":{"apiVersion":"a/b/c","kind":"ConfigMap"}}})",
       "spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: "
       "a/b/c"},
      {kPolicy, R"({"spec":{"paramKind":{"apiVersion":"a.io/","kind":"1"}}})",
       "[spec.paramKind.apiVersion: Invalid value: \"a.io/\": version must be specified, "
       "spec.paramKind.kind: Invalid value: \"1\": may have mixed case, but should otherwise "
       "match: "
       "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
       "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
       "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')]"},
      {kPolicy, R"({"spec":{"validations":[{"expression":" ","message":"a\nb","reason":"x"},
        {"expression":"true","message":" ","messageExpression":" "}]}})",
       "[spec.validations[0].expression: Required value: expression is not specified, "
       "spec.validations[0].message: Invalid value: \"a\\nb\": must not contain line breaks, "
       "spec.validations[0].reason: Unsupported value: \"x\": supported values: \"Forbidden\", "
       "\"Invalid\", \"RequestEntityTooLarge\", spec.validations[1].messageExpression: Invalid "
       "value: \" \": must be non-empty if specified, spec.validations[1].message: Invalid value: "
       "\" \": must be non-empty if specified]"},
      {kPolicy, R"({"spec":{"validations":null,"auditAnnotations":[
        {"key":"a","valueExpression":"'x'"},{"key":"a","valueExpression":" "},
        {"key":"b c","valueExpression":"null"}]}})",
       "[spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not "
       "specified, spec.auditAnnotations[1].key: Duplicate value: \"a\", "
       "spec.auditAnnotations[2].key: Invalid value: \"p/b c\": name part must consist of "
       "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
       "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]"},
  });
}

TEST_CASE("expressions of a policy are compiled with what they may name") {
  for (const char* expression :
       {"object.spec.replicas <= 5", "has(oldObject.metadata) && request.operation == 'UPDATE'",
        "request.userInfo.groups.exists(g, g == 'a') || request.namespace == 'b'",
        "request.resource.resource == 'x' && request.kind.kind == 'X'",
        "namespaceObject.metadata.labels['a'] == 'b' || 'f' in namespaceObject.spec.finalizers",
        "namespaceObject.status.conditions.exists(c, c.type == 'Ready')",
        "request.userInfo.extra['a'].exists(v, v == 'b')",
        "authorizer.group('').resource('pods').namespace('a').check('get').allowed()",
        "authorizer.path('/healthz').check('get').errored()",
        "authorizer.requestResource.check('x').reason() == ''", "dyn(1) == 1"}) {
    CAPTURE(expression);
    CHECK(told_of_expression(expression).empty());
  }
  const auto wrong = [](const std::string& expression, int column, const std::string& why) {
    CAPTURE(expression);
    CHECK(told_of_expression(expression) == refused(expression, at(column, expression, why)));
  };
  wrong("params.x == 1", 1, "undeclared reference to 'params' (in container '')");
  wrong("variables.x == 1", 1, "undeclared reference to 'variables' (in container '')");
  wrong("request.object == 1", 8, "undefined field 'object'");
  wrong("request.name == 1", 14,
        "found no matching overload for '_==_' applied to '(string, int)'");
  wrong("namespaceObject.status.conditions.exists(c, c.x == 'Ready')", 46, "undefined field 'x'");
  wrong("authorizer.serviceAccount('a', 'b').requestResource.x == 1 ? true : false || true", 36,
        "unexpected failed resolution of 'kubernetes.authorization.Authorizer'");
  wrong("authorizer.resource('x').check('y').allowed()", 20,
        "found no matching overload for 'resource' applied to "
        "'kubernetes.authorization.Authorizer.(string)'");
  CHECK(told_of_expression("object.spec.replicas <= ")
            .starts_with("spec.validations[0].expression: Invalid value: \"object.spec.replicas <= "
                         "\": compilation failed: ERROR: <input>:1:25: Syntax error: mismatched "
                         "input '<EOF>' expecting"));
  CHECK(told_of_expression("object.spec.x") ==
        refused("object.spec.x", "must evaluate to bool but got dyn"));
  CHECK(told_of_expression("[timestamp('2026-01-01T00:00:00Z')]") ==
        refused("[timestamp('2026-01-01T00:00:00Z')]",
                "must evaluate to bool but got list(google.protobuf.Timestamp)"));
  const Json param = {{"spec", {{"paramKind", {{"apiVersion", "v1"}, {"kind", "ConfigMap"}}}}}};
  CHECK(told_of_expression("params.data.x == '1'", param).empty());
}

TEST_CASE("variables may be named by what comes after them") {
  const auto with = [](const Json& variables, const std::string& expression) {
    return told_of_expression(expression, {{"spec", {{"variables", variables}}}});
  };
  const Json two = Json::parse(R"([{"name":"names","expression":"['a']"},
      {"name":"first","expression":"variables.names[0]"}])");
  CHECK(with(two, "variables.first == 'a' && variables.names.size() == 1").empty());
  CHECK(with(two, "variables.first").ends_with(": must evaluate to bool but got string"));
  CHECK(with(two, "variables.second == 1") ==
        refused("variables.second == 1",
                at(10, "variables.second == 1", "undefined field 'second'")));
  CHECK(with(Json::parse(R"([{"name":"in","expression":" "},{"expression":"1 +"}])"), "true")
            .starts_with("[spec.variables[0].name: Invalid value: \"in\": must be a valid CEL "
                         "identifier, spec.variables[0].expression: Required value: expression is "
                         "not specified, spec.variables[1].name: Required value: name is not "
                         "specified, spec.variables[1].expression: Invalid value: \"1 +\": "
                         "compilation failed: ERROR: <input>:1:4: Syntax error:"));
}

TEST_CASE("variables whose types double or nest take neither time nor stack") {
  // `next`: where # is the one before.
  const auto told_of_last = [](int count, const std::string& next) {
    Json variables = Json::array({{{"name", "v0"}, {"expression", "1"}}});
    for (int i = 1; i < count; ++i) {
      std::string expression;
      for (const char c : next) {
        expression += c == '#' ? "variables.v" + std::to_string(i - 1) : std::string(1, c);
      }
      variables.push_back({{"name", "v" + std::to_string(i)}, {"expression", expression}});
    }
    return told_of_expression("variables.v" + std::to_string(count - 1),
                              {{"spec", {{"variables", variables}}}});
  };
  const std::string of = ": must evaluate to bool but got ";
  CHECK(told_of_last(3, "{#: #}").ends_with(of + "map(map(int, int), map(int, int))"));
  const std::string doubled = told_of_last(40, "{#: #}");
  CHECK(doubled.find(of + "map(map(map(") != std::string::npos);
  CHECK(doubled.size() < 5000);
  CHECK(told_of_last(3, "[#]").ends_with(of + "list(list(int))"));
  const std::string nested = told_of_last(2000, "[#]");
  CHECK(nested.find(of + "list(list(list(") != std::string::npos);
  CHECK(nested.size() < 500);
}

TEST_CASE("the words of a refusal are a text, and ask for no permission") {
  const auto words = [](const std::string& expression) {
    Json object = right(kPolicy);
    object["spec"]["validations"][0]["messageExpression"] = expression;
    return told(kPolicy, nullptr, object);
  };
  const std::string of = "spec.validations[0].messageExpression: Invalid value: ";
  CHECK(words("'too many: ' + string(object.spec.replicas)").empty());
  CHECK(words("1") == of + "\"1\": must evaluate to string but got int");
  CHECK(words("authorizer.x")
            .starts_with(of + "\"authorizer.x\": compilation failed: ERROR: "
                              "<input>:1:1: undeclared reference to "
                              "'authorizer'"));
  CHECK(
      told_of(kPolicy, R"({"spec":{"auditAnnotations":[{"key":"a","valueExpression":" 1 "}]}})") ==
      "spec.auditAnnotations[0].valueExpression: Invalid value: \" 1 \": must evaluate to one of "
      "[string null_type] but got int");
}

TEST_CASE("conditions have names and are compiled where they change") {
  const std::string two = R"({"spec":{"matchConditions":[{"name":"a","expression":" 1 "},
      {"name":"a","expression":"true"},{}]}})";
  const std::string sentences =
      "[spec.matchConditions[0].expression: Invalid value: \"1\": must evaluate to bool but got "
      "int, spec.matchConditions[1].name: Duplicate value: \"a\", "
      "spec.matchConditions[2].expression: Required value, spec.matchConditions[2].name: Required "
      "value]";
  CHECK(told_of(kPolicy, two.c_str()) == sentences);
  CHECK(told_of_update(kPolicy, two.c_str()) == sentences);
  Json object = right(kPolicy);
  object.merge_patch(Json::parse(two));
  CHECK(told(kPolicy, &object, object).empty());

  Json hooks = right(kWebhooks);
  hooks["webhooks"][0]["matchConditions"] =
      Json::parse(R"([{"name":"a","expression":"params.x == 1"}])");
  CHECK(told(kWebhooks, &hooks, hooks).empty());
  CHECK(told(kWebhooks, nullptr, hooks) ==
        "webhooks[0].matchConditions[0].expression: Invalid value: \"params.x == 1\": " +
            at(1, "params.x == 1", "undeclared reference to 'params' (in container '')"));
}

TEST_CASE("a mutating policy patches one way, and only what is made or changed") {
  check_all({
      {kMutating, "{}", ""},
      {kMutating, R"({"spec":{"reinvocationPolicy":null,"mutations":null,"matchConstraints":{
        "resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],
        "operations":["CREATE","DELETE"]}]}}})",
       "[spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": supported "
       "values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\", spec.mutations: Required value: "
       "mutations must contain at least one item, spec.reinvocationPolicy: Required value]"},
      {kMutating, R"({"spec":{"reinvocationPolicy":"x","mutations":[{},{"patchType":"x"},
        {"patchType":"JSONPatch","applyConfiguration":{"expression":"Object{}"}},
        {"patchType":"ApplyConfiguration","applyConfiguration":{"expression":" "}},
        {"patchType":"JSONPatch","jsonPatch":{"expression":
          "[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c'), value: 1}]"}}]}})",
       "[spec.mutations[0].patchType: Required value, spec.mutations[1].patchType: Unsupported "
       "value: \"x\": supported values: \"ApplyConfiguration\", \"JSONPatch\", "
       "spec.mutations[2].jsonPatch: Required value: must be specified when patchType is "
       "JSONPatch, "
       "spec.mutations[2].applyConfiguration: Invalid value: \"{applyConfiguration}\": must not be "
       "specified when patchType is JSONPatch, spec.mutations[3].applyConfiguration.expression: "
       "Required value, spec.reinvocationPolicy: Unsupported value: \"x\": supported values: "
       "\"IfNeeded\", \"Never\"]"},
  });
  check_all({{"mutatingadmissionpolicybindings.admissionregistration.k8s.io",
              R"({"spec":{"policyName":null,"matchResources":{"resourceRules":[{"apiGroups":[""],
        "apiVersions":["v1"],"resources":["pods"],"operations":["DELETE"]}]}}})",
              "[spec.policyName: Required value, spec.matchResources.resourceRules.operations: "
              "Unsupported value: \"DELETE\": supported values: \"*\", \"CONNECT\", \"CREATE\", "
              "\"UPDATE\"]"}});
  CHECK(told_of(kMutating, R"({"spec":{"mutations":[{"patchType":"JSONPatch","jsonPatch":
            {"expression":"[JSONPatch{"}}]}})")
            .starts_with("spec.mutations[0].jsonPatch.expression: Invalid value: \"[JSONPatch{\": "
                         "compilation failed: ERROR: <input>:1:12: Syntax error:"));
  // Without a literal of what it is to give, an expression gives something else.
  check_all({
      {kMutating, R"({"spec":{"mutations":[{"patchType":"JSONPatch","jsonPatch":
        {"expression":"[object]"}}]}})",
       "spec.mutations[0].jsonPatch.expression: Invalid value: \"[object]\": must evaluate to "
       "list(JSONPatch) but got list(dyn)"},
      {kMutating, R"({"spec":{"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":
        {"expression":"object"}}]}})",
       "spec.mutations[0].applyConfiguration.expression: Invalid value: \"object\": must evaluate "
       "to Object but got dyn"},
      {kMutating, R"({"spec":{"mutations":[{"patchType":"JSONPatch","jsonPatch":
        {"expression":"v1"}}]}})",
       "spec.mutations[0].jsonPatch.expression: Invalid value: \"v1\": compilation failed: ERROR: "
       "<input>:1:1: undeclared reference to 'v1' (in container '')\n | v1\n | ^"},
  });
}

}  // namespace kubewatch::builtin
