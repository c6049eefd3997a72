// What OpenAPI documents say of built-in kinds and which operations they tell. That all of their
// schemas are those of a real server is tests/e2e/openapi_test.cpp's.
#include <set>

#include "apiserver/discovery.hpp"
#include "apiserver/openapi_builtin.hpp"
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

const std::string kSchemas = "#/components/schemas/";
const std::string kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

Json reference(const std::string& name) {
  return {{"$ref", kSchemas + name}};
}

Json defaulted(const std::string& name) {
  return {{"allOf", Json::array({reference(name)})}, {"default", Json::object()}};
}

Json schema_of(const std::string& name) {
  Json schemas = Json::object();
  BuiltinTypes().add(name, schemas);
  return schemas.value(name, Json());
}

Json field_of(const std::string& type, const std::string& field) {
  return schema_of(type)["properties"].value(field, Json());
}

Json document(const std::string& group, const std::string& version = "v1") {
  Registry registry;
  Json crd = test::website_crd();
  crd["spec"]["names"]["listKind"] = "WebsiteList";  // as the server completes it
  registry.set_custom("websites.demo.kubewatch.dev", resources_of_crd(crd));
  return openapi_document(registry, group, version);
}

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> out;
  for (const auto& [key, value] : object.items()) out.insert(key);
  return out;
}

void collect_references(const Json& at, std::set<std::string>& out) {
  for (const auto& [key, value] : at.items()) {
    if (key == "$ref" && value.is_string()) out.insert(value.get<std::string>());
    if (value.is_structured()) collect_references(value, out);
  }
}

// What a PATCH may be written in.
std::set<std::string> patch_types(const Json& operations) {
  return keys_of(operations["patch"]["requestBody"]["content"]);
}

}  // namespace

TEST_CASE("openapi: a built-in kind has its name, its fields and its kind") {
  const BuiltinTypes types;
  CHECK(types.name_of({"apps", "v1", "Deployment"}) == "io.k8s.api.apps.v1.Deployment");
  CHECK(types.name_of({"apps", "v1", "DeploymentList"}) == "io.k8s.api.apps.v1.DeploymentList");
  CHECK(types.name_of({"", "v1", "Pod"}) == "io.k8s.api.core.v1.Pod");
  CHECK(types.name_of({"rbac.authorization.k8s.io", "v1", "Role"}) == "io.k8s.api.rbac.v1.Role");
  CHECK(types.name_of({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"}) ==
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition");
  CHECK(types.name_of({"", "v1", "PodSpec"}).empty());  // a type, but no kind
  CHECK(types.name_of({"apps", "v2", "Deployment"}).empty());
  CHECK(schema_of("io.k8s.api.none.v1.None") == Json());
  const std::string apps = "io.k8s.api.apps.v1.";
  const Json text = {{"type", "string"}};
  CHECK(schema_of(apps + "Deployment") ==
        Json{{"type", "object"},
             {"properties",
              {{"apiVersion", text},
               {"kind", text},
               {"metadata", defaulted(kMeta + "ObjectMeta")},
               {"spec", defaulted(apps + "DeploymentSpec")},
               {"status", defaulted(apps + "DeploymentStatus")}}},
             {"x-kubernetes-group-version-kind",
              Json::array({{{"group", "apps"}, {"version", "v1"}, {"kind", "Deployment"}}})}});
  const Json list = schema_of(apps + "DeploymentList");
  CHECK(list["required"] == Json::array({"items"}));
  CHECK(list["x-kubernetes-group-version-kind"][0]["kind"] == "DeploymentList");
  CHECK(list["properties"]["metadata"] == defaulted(kMeta + "ListMeta"));
  CHECK(list["properties"]["items"] ==
        Json{{"type", "array"}, {"items", defaulted(apps + "Deployment")}});
  CHECK(schema_of(apps + "DeploymentSpec")["required"] == Json::array({"selector", "template"}));
}

TEST_CASE("openapi: scalars have formats, values and defaults") {
  const std::string core = "io.k8s.api.core.v1.";
  CHECK(field_of("io.k8s.api.apps.v1.DeploymentSpec", "replicas") ==
        Json{{"type", "integer"}, {"format", "int32"}});
  CHECK(field_of("io.k8s.api.apps.v1.DeploymentSpec", "paused") == Json{{"type", "boolean"}});
  CHECK(field_of(core + "PodSpec", "activeDeadlineSeconds")["format"] == "int64");
  CHECK(field_of(core + "Container", "name") == Json{{"type", "string"}, {"default", ""}});
  CHECK(field_of(core + "ContainerPort", "containerPort")["default"] == 0);
  CHECK(field_of(core + "ContainerStatus", "ready")["default"] == false);
  CHECK(
      field_of(core + "ContainerPort", "protocol") ==
      Json{{"type", "string"}, {"default", "TCP"}, {"enum", Json::array({"SCTP", "TCP", "UDP"})}});
  CHECK(field_of(core + "ISCSIVolumeSource", "iscsiInterface")["default"] == "default");
  const Json usages =
      field_of("io.k8s.api.certificates.v1.CertificateSigningRequestSpec", "usages");
  CHECK(usages["items"]["enum"][1] == "cert sign");
  CHECK(field_of(core + "SecretList", "items")["items"] == defaulted(core + "Secret"));
  CHECK(
      field_of(core + "Secret", "data") ==
      Json{{"type", "object"}, {"additionalProperties", {{"type", "string"}, {"format", "byte"}}}});
  CHECK(schema_of(kMeta + "Time") == Json{{"type", "string"}, {"format", "date-time"}});
  CHECK(schema_of("io.k8s.apimachinery.pkg.util.intstr.IntOrString") ==
        Json{{"format", "int-or-string"},
             {"oneOf", Json::array({{{"type", "integer"}}, {{"type", "string"}}})}});
  CHECK(field_of("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
                 "maximum") == Json{{"type", "number"}, {"format", "double"}});
}

TEST_CASE("openapi: references, lists and maps are told as the server tells them") {
  const std::string core = "io.k8s.api.core.v1.";
  const std::string quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
  CHECK(field_of(core + "PodSpec", "affinity") ==
        Json{{"allOf", Json::array({reference(core + "Affinity")})}});
  CHECK(field_of(core + "ResourceRequirements", "limits")["additionalProperties"] ==
        reference(quantity));
  CHECK(field_of("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
                 "example") ==
        reference("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"));
  CHECK(field_of(core + "PodSpec", "containers") ==
        Json{{"type", "array"},
             {"items", defaulted(core + "Container")},
             {"x-kubernetes-list-type", "map"},
             {"x-kubernetes-list-map-keys", Json::array({"name"})},
             {"x-kubernetes-patch-merge-key", "name"},
             {"x-kubernetes-patch-strategy", "merge"}});
  CHECK(field_of(core + "Container", "ports")["x-kubernetes-list-map-keys"] ==
        Json::array({"containerPort", "protocol"}));
  CHECK(field_of(core + "Container", "args")["x-kubernetes-list-type"] == "atomic");
  const Json finalizers = field_of(kMeta + "ObjectMeta", "finalizers");
  CHECK(finalizers["x-kubernetes-list-type"] == "set");
  CHECK(finalizers["x-kubernetes-patch-strategy"] == "merge");
  CHECK_FALSE(finalizers.contains("x-kubernetes-patch-merge-key"));
  CHECK(field_of("io.k8s.api.apps.v1.DeploymentSpec", "strategy")["x-kubernetes-patch-strategy"] ==
        "retainKeys");
  CHECK(schema_of(kMeta + "LabelSelector")["x-kubernetes-map-type"] == "atomic");
  CHECK(field_of(core + "PodSpec", "nodeSelector")["x-kubernetes-map-type"] == "atomic");
  CHECK(field_of(core + "PersistentVolumeSpec", "claimRef")["x-kubernetes-map-type"] == "granular");
  const Json unions = schema_of(core + "SeccompProfile")["x-kubernetes-unions"];
  CHECK(unions[0]["discriminator"] == "type");
}

TEST_CASE("openapi: every document holds what it refers to, and a way to every kind") {
  Registry registry;
  std::set<core::GroupVersion> seen;
  for (const auto& resource : registry.all()) {
    const core::GroupVersion at{resource->type.gvk.group, resource->type.gvk.version};
    if (!seen.insert(at).second) continue;
    CAPTURE(at.str());
    const Json document = openapi_document(registry, at.group, at.version);
    const Json& schemas = document["components"]["schemas"];
    std::set<std::string> references;
    collect_references(document, references);
    for (const std::string& one : references) {
      CAPTURE(one);
      REQUIRE(one.starts_with(kSchemas));
      CHECK(schemas.contains(one.substr(kSchemas.size())));
    }
    for (const auto& other : registry.all()) {
      const core::Gvk& gvk = other->type.gvk;
      if (gvk.group != at.group || gvk.version != at.version) continue;
      CAPTURE(gvk.kind);
      CHECK(schemas.contains(BuiltinTypes().name_of(gvk)));
    }
    for (const auto& [name, schema] : schemas.items()) {
      CAPTURE(name);
      const Json fields = schema.value("properties", Json::object());
      for (const auto& [field, property] : fields.items()) {
        CAPTURE(field);
        CHECK(
            (property.contains("type") || property.contains("allOf") || property.contains("$ref")));
      }
    }
  }
}

TEST_CASE("openapi: operations are those that a resource has") {
  const Json core = document("");
  const Json& paths = core["paths"];
  const Json& pod = paths["/api/v1/namespaces/{namespace}/pods/{name}"];
  CHECK(keys_of(pod) == std::set<std::string>{"delete", "get", "parameters", "patch", "put"});
  CHECK(pod["get"]["x-kubernetes-group-version-kind"]["kind"] == "Pod");
  CHECK(pod["delete"]["requestBody"]["content"]["*/*"]["schema"] ==
        reference(kMeta + "DeleteOptions"));
  CHECK(keys_of(paths["/api/v1/namespaces/{namespace}/bindings"]) ==
        std::set<std::string>{"parameters", "post"});
  CHECK_FALSE(paths.contains("/api/v1/bindings"));
  CHECK_FALSE(paths["/api/v1/namespaces"].contains("delete"));
  CHECK(keys_of(paths["/api/v1/namespaces/{name}/finalize"]) ==
        std::set<std::string>{"parameters", "put"});
  CHECK(keys_of(paths["/api/v1/componentstatuses/{name}"]) ==
        std::set<std::string>{"get", "parameters"});
  const std::string in_pod = "/api/v1/namespaces/{namespace}/pods/{name}";
  CHECK(paths[in_pod + "/eviction"]["post"]["x-kubernetes-group-version-kind"]["group"] ==
        "policy");
  CHECK(
      paths[in_pod + "/log"]["get"]["responses"]["200"]["content"]["application/json"]["schema"] ==
      Json{{"type", "string"}});
  CHECK_FALSE(paths.contains(in_pod + "/exec"));
  CHECK(core["components"]["schemas"].contains("io.k8s.api.policy.v1.Eviction"));
  CHECK(paths["/api/v1/"]["get"]["responses"]["200"]["content"]["application/json"]["schema"] ==
        reference(kMeta + "APIResourceList"));
  const Json review = document("authentication.k8s.io");
  CHECK(keys_of(review["paths"]["/apis/authentication.k8s.io/v1/tokenreviews"]) ==
        std::set<std::string>{"parameters", "post"});
}

TEST_CASE("openapi: kubectl merges by the schema where the kind is built in") {
  const std::string type = "application/strategic-merge-patch+json";
  const Json apps = document("apps");
  const Json demo = document("demo.kubewatch.dev");
  const std::string place = "/v1/namespaces/{namespace}/";
  CHECK(patch_types(apps["paths"]["/apis/apps" + place + "deployments/{name}"]).contains(type));
  const auto custom =
      patch_types(demo["paths"]["/apis/demo.kubewatch.dev" + place + "websites/{name}"]);
  CHECK(custom.size() == 3);
  CHECK_FALSE(custom.contains(type));
}

TEST_CASE("openapi: shared types have words of ours, and custom kinds refer to them") {
  const Json demo = document("demo.kubewatch.dev");
  const Json& schemas = demo["components"]["schemas"];
  CHECK_FALSE(schemas[kMeta + "ObjectMeta"]["properties"]["labels"]["description"].empty());
  CHECK(schemas["dev.kubewatch.demo.v1.WebsiteList"]["properties"]["items"]["items"] ==
        reference("dev.kubewatch.demo.v1.Website"));
  CHECK(schemas.contains("io.k8s.api.autoscaling.v1.Scale"));
  CHECK_FALSE(schemas.contains("io.k8s.api.core.v1.Pod"));
  const Json apps = document("apps");
  const Json& deployment = apps["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"];
  CHECK_FALSE(deployment["properties"]["kind"]["description"].empty());
  CHECK(apps["components"]["schemas"][kMeta + "DeleteOptions"]["x-kubernetes-group-version-kind"] ==
        Json::array({{{"group", ""}, {"version", "v1"}, {"kind", "DeleteOptions"}},
                     {{"group", "apps"}, {"version", "v1"}, {"kind", "DeleteOptions"}}}));
}

}  // namespace kubewatch::apiserver
