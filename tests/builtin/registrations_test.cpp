// The rules of what says whom the API server asks, or what it enforces: APIServices, CSIDrivers and
// bindings of admission policies. Not those of webhooks: those are in validation_kinds_test.cpp.
#include "builtin/objects.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kApiService = "apiservices.apiregistration.k8s.io";
constexpr const char* kDriver = "csidrivers.storage.k8s.io";
constexpr const char* kBinding = "validatingadmissionpolicybindings.admissionregistration.k8s.io";

const std::string kNoSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

}  // namespace

TEST_CASE("what the server serves itself needs no TLS") {
  check_all({
      {kApiService, R"({"spec":{"caBundle":"YQ=="}})",
       "spec.caBundle: Invalid value: \"1 bytes\": local APIServices may not have a caBundle"},
      {kApiService, R"({"spec":{"caBundle":"YWJj","insecureSkipTLSVerify":true}})",
       "[spec.caBundle: Invalid value: \"3 bytes\": local APIServices may not have a caBundle, "
       "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have "
       "insecureSkipTLSVerify]"},
      {kApiService, R"({"spec":{"caBundle":""}})", ""},
      {kApiService, R"({"spec":{"caBundle":"YQ==","service":{"name":"s","namespace":"n"}}})", ""},
  });
}

TEST_CASE("an APIService has the name of its spec, be it a good one or not") {
  const std::string group = "spec.group: Invalid value: \"Zz.io\": " + kNoSubdomain;
  const auto named = [](const char* metadata, const char* of_group) {
    Json object = right(kApiService);
    object["metadata"] = Json::parse(metadata);
    object["spec"]["group"] = of_group;
    return told(kApiService, nullptr, object);
  };
  CHECK(named(R"({"name":"v1."})", "").empty());
  CHECK(named(R"({"name":"v1.Zz.io"})", "Zz.io") == group);
  CHECK(named(R"({"generateName":"x_","name":"x_y"})", "q.io") ==
        "[metadata.generateName: Invalid value: \"x_\": must be `spec.version+\".\"+spec.group`: "
        "\"v1.q.io\", metadata.name: Invalid value: \"x_y\": must be "
        "`spec.version+\".\"+spec.group`: \"v1.q.io\"]");
  // What can stand in no URL is told alone.
  CHECK(named(R"({"name":"x/%"})", "q.io") ==
        "[metadata.name: Invalid value: \"x/%\": may not contain '/', metadata.name: Invalid "
        "value: \"x/%\": may not contain '%']");
  CHECK(named(R"({"name":".."})", "q.io") ==
        "metadata.name: Invalid value: \"..\": may not be '..'");
}

TEST_CASE("a CSIDriver that says where tokens go asks for some") {
  const char* const sentence =
      "spec.serviceAccountTokenInSecrets: Invalid value: false: serviceAccountTokenInSecrets is "
      "set but no tokenRequests are specified";
  check_all({
      {kDriver, R"({"spec":{"serviceAccountTokenInSecrets":false}})", sentence},
      {kDriver, R"({"spec":{"serviceAccountTokenInSecrets":false,"tokenRequests":[]}})", sentence},
      {kDriver, R"({"spec":{"serviceAccountTokenInSecrets":true,"tokenRequests":[{}]}})", ""},
      {kDriver, R"({"spec":{"attachRequired":false}})", ""},
  });
}

TEST_CASE("a binding of a policy says what follows") {
  for (const char* none : {R"([])", "null"}) {
    const std::string change = std::string(R"({"spec":{"validationActions":)") + none + "}}";
    CHECK(told_of(kBinding, change.c_str()) ==
          "spec.validationActions: Required value: at least one validation action is required");
  }
  check_all({
      {kBinding, "{}", ""},
      {kBinding, R"({"spec":{"validationActions":["Audit","Warn"]}})", ""},
      {kBinding, R"({"spec":{"validationActions":[null]}})",
       "spec.validationActions[0]: Unsupported value: \"\": supported values: \"Audit\", \"Deny\", "
       "\"Warn\""},
      {kBinding, R"({"spec":{"validationActions":["Deny","Deny","Warn","x"]}})",
       "[spec.validationActions[1]: Duplicate value: \"Deny\", spec.validationActions[3]: "
       "Unsupported value: \"x\": supported values: \"Audit\", \"Deny\", \"Warn\", "
       "spec.validationActions: Invalid value: [\"Deny\",\"Deny\",\"Warn\",\"x\"]: must not "
       "contain both Deny and Warn (repeating the same validation failure information in the API "
       "response and headers serves no purpose)]"},
  });
}

TEST_CASE("a binding names a policy, and parameters by name or by labels") {
  CHECK(told_of(kBinding, R"({"spec":{"policyName":"A_"}})") ==
        "spec.policyName: Invalid value: \"A_\": " + kNoSubdomain);
  check_all({
      {kBinding, R"({"spec":{"policyName":null}})", "spec.policyName: Required value"},
      {kBinding, R"({"spec":{"paramRef":{}}})",
       "[spec.paramRef: Required value: one of name or selector must be specified, "
       "spec.paramRef.parameterNotFoundAction: Required value]"},
      {kBinding, R"({"spec":{"paramRef":{"name":"a","selector":{},
        "parameterNotFoundAction":"x"}}})",
       "[spec.paramRef.name: Forbidden: name and selector are mutually exclusive, "
       "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive, "
       "spec.paramRef.parameterNotFoundAction: Unsupported value: \"x\": supported values: "
       "\"Deny\", \"Allow\"]"},
      {kBinding, R"({"spec":{"paramRef":{"name":"a/b","parameterNotFoundAction":"Allow"}}})",
       "spec.paramRef.name: Invalid value: \"a/b\": may not contain '/'"},
      {kBinding, R"({"spec":{"paramRef":{"name":"","selector":{},
        "parameterNotFoundAction":"Deny"}}})",
       ""},
      {kBinding, R"({"spec":{"paramRef":{"selector":{"matchLabels":{"a":"b c"}},
        "parameterNotFoundAction":"Deny"}}})",
       "spec.paramRef.selector.matchLabels: Invalid value: \"b c\": a valid label must be an "
       "empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
       "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex "
       "used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
  });
}

TEST_CASE("a binding matches by rules that are like those of webhooks") {
  check_all({
      {kBinding, R"({"spec":{"matchResources":{}}})", ""},
      {kBinding, R"({"spec":{"matchResources":{"matchPolicy":"x"}}})",
       "spec.matchResources.matchPolicy: Unsupported value: \"x\": supported values: "
       "\"Equivalent\", \"Exact\""},
      {kBinding, R"({"spec":{"matchResources":{"resourceRules":[{"resourceNames":
        ["","a","a","x/y"],"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],
        "resources":["pods"]}],"excludeResourceRules":[{}]}}})",
       "[spec.matchResources.resourceRules[0].resourceNames[2]: Duplicate value: \"a\", "
       "spec.matchResources.resourceRules[0].resourceNames[3]: Invalid value: \"x/y\": may not "
       "contain '/', spec.matchResources.excludeResourceRules[0].operations: Required value, "
       "spec.matchResources.excludeResourceRules[0].apiGroups: Required value, "
       "spec.matchResources.excludeResourceRules[0].apiVersions: Required value, "
       "spec.matchResources.excludeResourceRules[0].resources: Required value]"},
  });
}

}  // namespace kubewatch::builtin
