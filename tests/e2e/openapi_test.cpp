// What a server says of its own kinds in /openapi/v3, and of all kinds in /openapi/v2, and what
// kubectl reads in them. What v3 says of custom kinds is in definition_rules_test.cpp.
#include <fmt/format.h>

#include "base/sha256.hpp"
#include "client/client.hpp"
#include "e2e/kubectl.hpp"
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

Json get(World& w, const std::string& path) {
  std::optional<Result<http::Response>> answer;
  const auto pending = w.client().raw("GET", path, [&](auto got) { answer = std::move(got); });
  REQUIRE(w.eventually([&] { return answer.has_value(); }));
  if (!answer->ok()) FAIL(answer->error().render());
  CAPTURE(path, (*answer)->body);
  REQUIRE((*answer)->status == 200);
  auto parsed = base::parse_json((*answer)->body);
  REQUIRE(parsed.ok());
  return std::move(*parsed);
}

// Without descriptions: these are each server's own. A field may be called like that.
Json wordless(Json schema) {
  schema.erase("description");
  if (const auto fields = schema.find("properties"); fields != schema.end()) {
    for (Json& field : *fields) field = wordless(std::move(field));
  }
  for (const char* key : {"items", "additionalProperties"}) {
    if (const auto below = schema.find(key); below != schema.end()) {
      *below = wordless(std::move(*below));
    }
  }
  return schema;
}

std::string digest_of(Json schemas) {
  for (Json& schema : schemas) schema = wordless(std::move(schema));
  std::string out;
  for (const char byte : base::sha256(schemas.dump()).substr(0, 8)) {
    out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return out;
}

std::string digest(const Json& document) {
  Json schemas = document["components"]["schemas"];
  // Of watches, which the sandbox does not tell; the second is what the first refers to.
  schemas.erase("io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent");
  schemas.erase("io.k8s.apimachinery.pkg.runtime.RawExtension");
  return digest_of(std::move(schemas));
}

// Of the kinds of Kubernetes; DeleteOptions is a kind of every group that a server was built with.
Json api_definitions(const Json& document) {
  Json out = Json::object();
  for (const auto& [name, schema] : document["definitions"].items()) {
    if (name.starts_with("io.k8s.api.")) out[name] = schema;
  }
  return out;
}

// "foos.NAMESPACE.example.com"; its version v1beta1 takes anything.
Json foo_definition(const std::string& group) {
  const Json spec =
      Json::parse(R"({"type": "object", "required": ["color", "maybe"], "properties": {
      "color": {"type": "string", "enum": ["red", "blue"], "default": "red",
                "description": "The colour of it."},
      "maybe": {"type": "string", "nullable": true},
      "port": {"x-kubernetes-int-or-string": true},
      "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
              "properties": {"a": {"type": "string"}}},
      "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                   "properties": {"spec": {"type": "object"}}},
      "one": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
              "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
      "map": {"type": "object", "additionalProperties": {"type": "string", "nullable": true}},
      "keys": {"type": "array", "x-kubernetes-list-type": "map",
               "x-kubernetes-list-map-keys": ["name"],
               "items": {"type": "object", "required": ["name"],
                         "properties": {"name": {"type": "string", "maxLength": 4}}}}}})");
  const auto version = [](const char* name, bool storage, const Json& schema) {
    return Json{{"name", name},
                {"served", true},
                {"storage", storage},
                {"schema", {{"openAPIV3Schema", schema}}}};
  };
  const Json open = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  return {
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", {{"name", "foos." + group}}},
      {"spec",
       {{"group", group},
        {"scope", "Namespaced"},
        {"names", {{"plural", "foos"}, {"kind", "Foo"}}},
        {"versions",
         Json::array({version("v1", true, {{"type", "object"}, {"properties", {{"spec", spec}}}}),
                      version("v1beta1", false, open)})}}}};
}

// Of kube-apiserver 1.36. Where another one differs, tests/apiserver/openapi_builtin.py makes the
// sandbox's schemas anew.
constexpr std::pair<const char*, const char*> kDigests[] = {
    {"api/v1", "403135826af52a4c"},
    {"apis/admissionregistration.k8s.io/v1", "267b7cc044451c10"},
    {"apis/apiextensions.k8s.io/v1", "719a13e4bc62a146"},
    {"apis/apiregistration.k8s.io/v1", "0082bdaf3cb4970b"},
    {"apis/apps/v1", "8d6999af3ffe77c9"},
    {"apis/authentication.k8s.io/v1", "429cb7c3a4693bff"},
    {"apis/authorization.k8s.io/v1", "66bb7fa6bfd94ef7"},
    {"apis/autoscaling/v1", "31e76bc2cb9251c3"},
    {"apis/autoscaling/v2", "4d24eea38b74ae14"},
    {"apis/batch/v1", "b14853182c4fcacc"},
    {"apis/certificates.k8s.io/v1", "cbfdf6ecc57329c0"},
    {"apis/coordination.k8s.io/v1", "a51fc9183fd771f6"},
    {"apis/discovery.k8s.io/v1", "5941a445967f8009"},
    {"apis/events.k8s.io/v1", "e560997b3ddf8cc2"},
    {"apis/flowcontrol.apiserver.k8s.io/v1", "e1adcd03af8cec34"},
    {"apis/networking.k8s.io/v1", "7e6ce0ac4ee62211"},
    {"apis/node.k8s.io/v1", "935c3347047a14b7"},
    {"apis/policy/v1", "a26c9dd8e8e1304d"},
    {"apis/rbac.authorization.k8s.io/v1", "539d65d143eefdab"},
    {"apis/resource.k8s.io/v1", "8078ff30bb110aaa"},
    {"apis/scheduling.k8s.io/v1", "20a78d428385a044"},
    {"apis/storage.k8s.io/v1", "a872abb5969daf4e"}};

}  // namespace

E2E_CASE("OpenAPI has the same schemas of built-in kinds, but for their words") {
  World w;
  if (get(w, "/version")["minor"] != "36") {
    WARN("another version than 1.36: its schemas were not compared");
    return;
  }
  const Json index = get(w, "/openapi/v3");
  for (const auto& [path, expected] : kDigests) {
    CAPTURE(path);
    REQUIRE(index["paths"].contains(path));
    CHECK(digest(get(w, index["paths"][path]["serverRelativeURL"])) == expected);
  }
}

E2E_CASE("kubectl explains built-in kinds") {
  World w;
  Kubectl kubectl(w, w.kubeconfig());
  if (kubectl.missing()) return;
  struct Case {
    std::vector<std::string> words;
    std::vector<const char*> lines;
  };
  const Case cases[] = {
      {{"deployment.spec.replicas"},
       {"GROUP:      apps\nKIND:       Deployment\nVERSION:    v1\n\n",
        "FIELD: replicas <integer>\n"}},
      {{"deploy.spec.strategy.type"}, {"FIELD: type <string>\nENUM:\n    Recreate\n"}},
      {{"deployment.spec"},
       {"FIELD: spec <DeploymentSpec>\n", "  template\t<PodTemplateSpec> -required-\n"}},
      {{"pod", "--recursive"},
       {"  spec\t<PodSpec>\n    activeDeadlineSeconds\t<integer>\n",
        "    containers\t<[]Container> -required-\n      args\t<[]string>\n",
        "        enum: SCTP, TCP, UDP\n"}},
      {{"pod.spec.containers.resources.limits"}, {"FIELD: limits <map[string]Quantity>\n"}},
      {{"service.spec.ports.targetPort"}, {"FIELD: targetPort <IntOrString>\n"}},
      {{"secret.data"}, {"FIELD: data <map[string]string>\n"}},
      {{"lease.spec.renewTime"}, {"FIELD: renewTime <string>\n"}},
      {{"hpa.spec", "--api-version=autoscaling/v1"}, {"targetCPUUtilizationPercentage\t<integer>"}},
      {{"event", "--api-version=events.k8s.io/v1"}, {"  regarding\t<ObjectReference>\n"}},
      {{"crd.spec.versions.schema.openAPIV3Schema"},
       {"  properties\t<map[string]JSONSchemaProps>"}},
      {{"tokenreview.spec"}, {"  audiences\t<[]string>\n"}}};
  for (const Case& one : cases) {
    std::vector<std::string> words = {"explain"};
    words.insert(words.end(), one.words.begin(), one.words.end());
    const Ran answer = kubectl.run(words);
    CAPTURE(words, answer.out, answer.err);
    CHECK(answer.code == 0);
    for (const char* line : one.lines) {
      CAPTURE(line);
      CHECK(answer.out.find(line) != std::string::npos);
    }
  }
  const Ran none = kubectl.run({"explain", "deployment.spec.nothing"});
  CHECK(none.code == 1);
  CHECK(none.err.find("field \"nothing\" does not exist") != std::string::npos);
}

E2E_CASE("OpenAPI v2 has the same definitions of built-in kinds, but for their words") {
  World w;
  if (get(w, "/version")["minor"] != "36") {
    WARN("another version than 1.36: its definitions were not compared");
    return;
  }
  const Json document = get(w, "/openapi/v2");
  CHECK(digest_of(api_definitions(document)) == "c2f2f0e9729161e7");
  const Json& definitions = document["definitions"];
  const Json map = wordless(definitions["io.k8s.api.core.v1.ConfigMap"]);
  CHECK(map["properties"]["metadata"] ==
        Json{{"$ref", "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}});
  CHECK(map["properties"]["data"] ==
        Json{{"type", "object"}, {"additionalProperties", {{"type", "string"}}}});
  CHECK(wordless(definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]) ==
        Json{{"type", "string"}, {"format", "int-or-string"}});
  const Json& put =
      document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["put"];
  CHECK(put["x-kubernetes-action"] == "put");
  CHECK(put["x-kubernetes-group-version-kind"]["kind"] == "Deployment");
}

E2E_CASE("OpenAPI v2 says of a custom kind what it can, and kubectl reads it") {
  World w;
  const std::string group = w.ns() + ".example.com";
  const std::string prefix = "com.example." + w.ns() + ".";
  made(w, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", foo_definition(group));
  Json definitions;
  REQUIRE(w.eventually(
      [&] {
        definitions = get(w, "/openapi/v2")["definitions"];
        return definitions.contains(prefix + "v1.Foo");
      },
      kDiscovery));
  const Json foo = wordless(definitions[prefix + "v1.Foo"]);
  const Json& spec = foo["properties"]["spec"];
  CHECK(spec["required"] == Json::array({"color"}));
  const Json& fields = spec["properties"];
  CHECK(fields["color"] == Json{{"type", "string"}, {"enum", Json::array({"red", "blue"})}});
  CHECK(fields["maybe"] == Json::object());
  CHECK(fields["port"] == Json{{"x-kubernetes-int-or-string", true}});
  CHECK(fields["raw"] == Json{{"x-kubernetes-preserve-unknown-fields", true}});
  CHECK(fields["template"]["properties"].contains("metadata"));
  CHECK_FALSE(fields["one"].contains("oneOf"));
  CHECK(fields["map"] == Json{{"type", "object"}, {"additionalProperties", Json::object()}});
  CHECK(fields["keys"] ==
        Json{{"type", "array"},
             {"x-kubernetes-list-type", "map"},
             {"x-kubernetes-list-map-keys", Json::array({"name"})},
             {"items",
              {{"type", "object"},
               {"required", Json::array({"name"})},
               {"properties", {{"name", {{"type", "string"}, {"maxLength", 4}}}}}}}});
  CHECK(definitions[prefix + "v1.FooList"]["properties"]["items"]["items"] ==
        Json{{"$ref", "#/definitions/" + prefix + "v1.Foo"}});
  const Json open = definitions[prefix + "v1beta1.Foo"];
  CHECK(open["x-kubernetes-group-version-kind"][0]["kind"] == "Foo");
  CHECK_FALSE(open.contains("properties"));

  Kubectl kubectl(w, w.kubeconfig());
  if (kubectl.there()) {
    const auto explained = [&](const std::string& what, const std::string& line) {
      const Ran answer = kubectl.run({"explain", what, "--output=plaintext-openapiv2"});
      CAPTURE(what, answer.out, answer.err);
      CHECK(answer.code == 0);
      CHECK(answer.out.find(line) != std::string::npos);
    };
    explained("foos." + group + ".spec.color", "The colour of it.");
    explained("pod.spec.containers", "RESOURCE: containers <[]Object>");
    explained("deployment.spec.replicas", "FIELD:    replicas <integer>");
  }
  w.remove_definition("foos." + group);
}

}  // namespace kubewatch::e2e
