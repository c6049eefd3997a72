// Defaults and rules of FlowSchemas and PriorityLevelConfigurations.
#include "builtin/defaults.hpp"
#include "builtin/typed_objects.hpp"
#include "builtin/validation.hpp"
#include "support/catch.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kSchema = "flowschemas.flowcontrol.apiserver.k8s.io";
constexpr const char* kLevel = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io";

// "FIELD: MESSAGE" of each fault, after defaults.
std::vector<std::string> faults(const char* kind, const std::string& spec,
                                const std::string& name = "x") {
  Json object = {{"metadata", {{"name", name}}}, {"spec", Json::parse(spec)}};
  object = typed_object(kind, std::move(object));
  apply_defaults(kind, object);
  schema::FieldErrors errors;
  validate(kind, nullptr, object, "", errors);
  std::vector<std::string> out;
  for (const auto& error : errors) out.push_back(error.field + ": " + error.message);
  return out;
}

using Faults = std::vector<std::string>;

std::string rule(const std::string& parts) {
  return R"({"priorityLevelConfiguration":{"name":"p"},"rules":[{"subjects":[{"kind":"User",
      "user":{"name":"u"}}],)" +
         parts + "}]}";
}

std::string queue(const std::string& queuing) {
  return R"({"type":"Limited","limited":{"limitResponse":{"type":"Queue","queuing":)" + queuing +
         "}}}";
}

const std::string kResources = R"("resourceRules":[{"verbs":["get"],"apiGroups":["*"],
    "resources":["*"],"clusterScope":true}])";

}  // namespace

TEST_CASE("what flow control objects need is nothing to complain of") {
  CHECK(faults(kSchema, rule(kResources)).empty());
  CHECK(faults(kSchema, rule(R"("nonResourceRules":[{"verbs":["*"],
      "nonResourceURLs":["/","/a","/a/*"]}])"))
            .empty());
  CHECK(faults(kLevel, queue("{}")).empty());
  CHECK(faults(kLevel, R"({"type":"Exempt"})", "exempt").empty());
}

TEST_CASE("a FlowSchema's precedence has its bounds") {
  const auto of = [](const std::string& value, const std::string& name = "x") {
    return faults(
        kSchema,
        R"({"priorityLevelConfiguration":{"name":"p"},"matchingPrecedence":)" + value + "}", name);
  };
  CHECK(of("0").empty());
  CHECK(of("1", "exempt").empty());
  CHECK(of("1") == Faults{"spec.matchingPrecedence: Invalid value: 1: only the schema named "
                          "'exempt' may have matchingPrecedence 1"});
  CHECK(of("-1") == Faults{"spec.matchingPrecedence: Invalid value: -1: must be a positive value"});
  CHECK(of("10001") ==
        Faults{"spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"});
}

TEST_CASE("subjects say what their kind needs and nothing else") {
  const auto of = [](const std::string& subject) {
    return faults(kSchema, R"({"priorityLevelConfiguration":{"name":"p"},"rules":[{"subjects":[)" +
                               subject + "]," + kResources + "}]}");
  };
  const std::string at = "spec.rules[0].subjects[0]";
  CHECK(of(R"({"kind":"Foo"})") == Faults{at + ".kind: Unsupported value: \"Foo\": supported "
                                               "values: \"Group\", \"ServiceAccount\", \"User\""});
  CHECK(of(R"({"kind":"User"})") ==
        Faults{at + ".user: Required value: user is required when subject kind is 'User'"});
  CHECK(of(R"({"kind":"Group","group":{},"user":{}})") ==
        Faults{at + ".group.name: Required value",
               at + ".user: Forbidden: user is forbidden when subject kind is not 'User'"});
  CHECK(of(R"({"kind":"ServiceAccount","serviceAccount":{"name":"*"}})") ==
        Faults{at + ".serviceAccount.namespace: Required value: must specify namespace for "
                    "service account"});
}

TEST_CASE("rules name what they match, and a wildcard stands alone") {
  const std::string at = "spec.rules[0].resourceRules[0]";
  CHECK(faults(kSchema, rule(R"("resourceRules":[{"verbs":["*","get"],"apiGroups":["*","a"],
                                "resources":["*","b"],"namespaces":["*","c"]}])")) ==
        Faults{at + ".verbs: Invalid value: [\"*\",\"get\"]: if '*' is present, must not specify "
                    "other verbs",
               at + ".apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is present, must not specify "
                    "other api groups",
               at + ".resources: Invalid value: [\"*\",\"b\"]: if '*' is present, must not specify "
                    "other resources",
               at + ".namespaces: Invalid value: [\"*\",\"c\"]: if '*' is present, must not "
                    "specify other namespaces"});
  CHECK(faults(kSchema, rule(R"("resourceRules":[{}])")).size() == 4);
  CHECK(faults(kSchema, rule(R"("nonResourceRules":[])")) ==
        Faults{"spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules "
               "has to be non-empty"});
}

TEST_CASE("paths of FlowSchemas are looked at one by one") {
  const auto of = [](const std::string& path) {
    const auto told = faults(kSchema, rule(R"("nonResourceRules":[{"verbs":["get"],
        "nonResourceURLs":[")" + path + R"("]}])"));
    return told.empty() ? "" : told.front().substr(told.front().rfind(": ") + 2);
  };
  CHECK(of("/a/*").empty());
  CHECK(of("") == "must not be empty");
  CHECK(of("a") == "must start with slash");
  CHECK(of("/a b") == "must not contain white-space");
  CHECK(of("/a//b") == "must not contain double slash");
  CHECK(of("/a*") == "wildcard can only do suffix matching");
  CHECK(of("/*/*") == "wildcard can only do suffix matching");
}

TEST_CASE("a priority level says what its type needs") {
  CHECK(faults(kLevel, "{}") == Faults{"spec.type: Required value"});
  CHECK(faults(kLevel, R"({"type":"Limited"})") ==
        Faults{"spec.limited: Required value: must not be empty when type is Limited"});
  CHECK(faults(kLevel, R"({"type":"Limited","limited":{}})") ==
        Faults{"spec.limited.limitResponse.type: Required value"});
  CHECK(faults(kLevel, R"({"type":"Limited","limited":{"limitResponse":
                           {"type":"Reject","queuing":{}}}})") ==
        Faults{"spec.limited.limitResponse.queuing: Forbidden: must be nil if "
               "limited.limitResponse.type is not Limited"});
  CHECK(faults(kLevel, R"({"type":"Exempt","limited":{"limitResponse":{"type":"Reject"}},
                           "exempt":{"nominalConcurrencyShares":-1}})") ==
        Faults{"spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is "
               "'exempt'",
               "spec.limited: Forbidden: must be nil if the type is not Limited",
               "spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative "
               "integer"});
}

TEST_CASE("hands are dealt from queues that there are") {
  const std::string at = "spec.limited.limitResponse.queuing";
  CHECK(faults(kLevel, queue(R"({"queues":4,"handSize":8})")) ==
        Faults{at + ".handSize: Invalid value: 8: should not be greater than queues (4)"});
  CHECK(faults(kLevel, queue(R"({"queues":1000000,"handSize":30})")) ==
        Faults{at + ".handSize: Invalid value: 30: required entropy bits of deckSize 1000000 and "
                    "handSize 30 should not be greater than 60"});
  CHECK(faults(kLevel, queue(R"({"queues":-1,"handSize":-1,"queueLengthLimit":-1})")) ==
        Faults{at + ".queueLengthLimit: Invalid value: -1: must be positive",
               at + ".queues: Invalid value: -1: must be positive",
               at + ".handSize: Invalid value: -1: must be positive"});
}

TEST_CASE("conditions of a status are looked at there alone") {
  Json object = Json::parse(R"({"spec":{},"status":{"conditions":[{"type":"A"},{"type":"A"},
                                                                  {"type":""}]}})");
  schema::FieldErrors errors;
  validate(kLevel, &object, object, "status", errors);
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].field == "status.conditions[1].type");
  CHECK(errors[1].field == "status.conditions[2].type");
}

}  // namespace kubewatch::builtin
