// What of a manifest no server takes, and which names only the server can judge.
#include "hooks/output_fields.hpp"

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const core::Gvk kConfigMap{"", "v1", "ConfigMap"};
const core::Gvk kSecret{"", "v1", "Secret"};

Result<FieldsVerdict> check(const core::Gvk& gvk, const std::string& text) {
  const auto documents = base::parse_yaml_values(text);
  REQUIRE(documents.ok());
  return check_fields(gvk, documents->front());
}

Result<FieldsVerdict> check_name(const core::Gvk& gvk, const std::string& name) {
  return check_fields(gvk, {{"metadata", {{"name", name}}}});
}

}  // namespace

TEST_CASE("metadata and data that no server takes are refused with the field, without the value") {
  struct Case {
    core::Gvk gvk;
    const char* text;
    const char* says;
  };
  const std::vector<Case> cases = {
      {kConfigMap, "metadata: {name: m-bad!}", "metadata.name: a lowercase RFC 1123 subdomain"},
      {kConfigMap, "metadata: {name: a, labels: {x: no good!}}", "metadata.labels[\"x\"]: a valid"},
      {kConfigMap, "metadata: {name: a, labels: {x y: a}}", "metadata.labels[\"x y\"]: name part"},
      {kConfigMap, "metadata: {name: a, labels: {x: 5}}", "must be text, not number"},
      {kConfigMap, "metadata: {name: a, annotations: {a/b/c: x}}", "metadata.annotations[\"a/b/c"},
      {kConfigMap, "{metadata: {name: a}, data: {a b: x}}", "data[\"a b\"]: a valid config key"},
      {kConfigMap, "{metadata: {name: a}, binaryData: {a: x!}}", "binaryData[\"a\"]: illegal"},
      {kSecret, "{metadata: {name: a}, data: {a: not base64!}}", "data[\"a\"]: illegal base64"},
      {kSecret, "{metadata: {name: a}, stringData: {a/b: x}}", "stringData[\"a/b\"]: a valid"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto checked = check(c.gvk, c.text);
    REQUIRE_FALSE(checked.ok());
    INFO(checked.error().render());
    CHECK(checked.error().message().find(c.says) != std::string::npos);
    CHECK(checked.error().message().find("not base64!") == std::string::npos);
  }
  const std::string big(256U << 10U, 'x');
  CHECK_FALSE(
      check_fields(kConfigMap, {{"metadata", {{"name", "a"}, {"annotations", {{"a", big}}}}}})
          .ok());
}

TEST_CASE("what a server takes passes") {
  for (const char* text :
       {"{metadata: {name: a.b-c, labels: {x: '', app.io/y: Z_1, n: null}}, data: {A_b.c-d: '5'}}",
        "{metadata: {name: a, annotations: {App.io/Some: any thing!}}, binaryData: {a: YQ==}}"}) {
    INFO(text);
    CHECK(check(kConfigMap, text).ok());
  }
  // As in a YAML block: with line breaks.
  CHECK(check_fields(kSecret, {{"metadata", {{"name", "a"}}}, {"data", {{"a", "YWJj\nYQ==\n"}}}})
            .ok());
}

TEST_CASE("each kind has its names, and of others the server is asked") {
  const auto verdict = [](const core::Gvk& gvk, const std::string& name) -> std::string {
    const auto checked = check_name(gvk, name);
    if (!checked.ok()) return "wrong";
    return *checked == FieldsVerdict::to_ask ? "ask" : "fits";
  };
  CHECK(verdict({"rbac.authorization.k8s.io", "v1", "ClusterRole"}, "system:a/b") == "wrong");
  CHECK(verdict({"rbac.authorization.k8s.io", "v1", "ClusterRole"}, "system:aB") == "fits");
  CHECK(verdict({"", "v1", "Namespace"}, "a.b") == "wrong");
  CHECK(verdict({"", "v1", "Service"}, "a.b") == "wrong");
  CHECK(verdict({"apps", "v1", "Deployment"}, "A") == "wrong");
  CHECK(verdict({"", "v1", "Event"}, "A") == "fits");
  CHECK(verdict({"networking.k8s.io", "v1", "IPAddress"}, "2001:db8::1") == "ask");
  CHECK(verdict({"user.example.io", "v1", "User"}, "kube:admin") == "ask");
  CHECK(verdict({"user.example.io", "v1", "User"}, "kube.admin") == "fits");
}
