// Where merge schemas come from: the built-in table and CRDs.
#include "schema/merge_schema.hpp"

#include "schema/builtin_table.hpp"
#include "schema_fixture.hpp"

using namespace schema_test;

namespace {

const MergeNode* at(const MergeNodePtr& schema, std::initializer_list<const char*> path) {
  const MergeNode* node = schema.get();
  for (const char* name : path) {
    REQUIRE(node != nullptr);
    const bool list = is_associative(node->kind) || node->kind == MergeNode::Kind::list_atomic;
    node = (list ? node->element.get() : node)->child(name);
  }
  return node;
}

MergeNodePtr crd(const char* schema) {
  return crd_merge_schema(json(schema));
}

}  // namespace

TEST_CASE("the built-in table knows the kinds of the groups that the sandbox serves") {
  const core::Gvk kinds[] = {
      {"", "v1", "Pod"},
      {"", "v1", "Secret"},
      {"", "v1", "Node"},
      {"apps", "v1", "StatefulSet"},
      {"batch", "v1", "CronJob"},
      {"rbac.authorization.k8s.io", "v1", "ClusterRole"},
      {"coordination.k8s.io", "v1", "Lease"},
      {"networking.k8s.io", "v1", "Ingress"},
      {"policy", "v1", "PodDisruptionBudget"},
      {"autoscaling", "v2", "HorizontalPodAutoscaler"},
      {"storage.k8s.io", "v1", "StorageClass"},
      {"events.k8s.io", "v1", "Event"},
      {"discovery.k8s.io", "v1", "EndpointSlice"},
      {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
      {"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration"}};
  for (const core::Gvk& gvk : kinds) {
    INFO(gvk.str());
    const MergeNodePtr schema = builtin_merge_schema(gvk);
    REQUIRE(schema);
    CHECK(schema->is_struct);
    CHECK(schema->fields.at("metadata")->is_known_field("labels"));
  }
  CHECK_FALSE(builtin_merge_schema({"apps", "v1", "Nonsense"}));
  CHECK_FALSE(builtin_merge_schema({"apps", "v9", "Deployment"}));
  CHECK_FALSE(builtin_definition("core.v1.Nonsense"));
}

TEST_CASE("lists and maps of built-in kinds merge as their Go types say") {
  const MergeNodePtr deployment = builtin_merge_schema({"apps", "v1", "Deployment"});
  const MergeNode* pod = at(deployment, {"spec", "template", "spec"});
  CHECK(pod->patch.at("containers").merge_key == "name");
  CHECK(pod->patch.at("volumes").merges());
  CHECK_FALSE(pod->patch.count("tolerations"));
  CHECK(at(deployment, {"spec"})->patch.at("strategy").strategy == "retainKeys");
  const MergeNode* ports = at(deployment, {"spec", "template", "spec", "containers", "ports"});
  CHECK(ports->kind == MergeNode::Kind::list_map);
  CHECK(ports->keys == std::vector<std::string>{"containerPort", "protocol"});
  CHECK(ports->key_defaults.at("protocol") == "TCP");
  CHECK(at(deployment, {"spec", "selector"})->kind == MergeNode::Kind::map_atomic);
  CHECK(at(deployment, {"metadata", "finalizers"})->kind == MergeNode::Kind::list_set);
  CHECK(at(deployment, {"spec", "template", "spec", "tolerations"})->kind ==
        MergeNode::Kind::list_atomic);
  CHECK(at(deployment, {"spec", "template", "spec", "containers", "resources", "limits"})->kind ==
        MergeNode::Kind::map);
}

TEST_CASE("definitions that contain themselves are one node") {
  const MergeNodePtr props = builtin_definition("apiextensions.v1.JSONSchemaProps");
  REQUIRE(props);
  CHECK(at(props, {"properties", "x"}) == props.get());
  CHECK(at(props, {"not"}) == props.get());
}

TEST_CASE("a CRD's schema decides how its fields merge") {
  using Kind = MergeNode::Kind;
  const MergeNodePtr schema =
      crd(R"({"type":"object","properties":{"spec":{"type":"object","properties":{
    "any":{"x-kubernetes-int-or-string":true},"date":{"type":"string","format":"date-time"},
    "byte":{"type":"string","format":"byte"},"open":{"type":"object"},
    "wild":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"in":{"type":"object",
      "properties":{"x":{"type":"string"}}}}},
    "closed":{"type":"object","additionalProperties":false},"free":{"type":"object","additionalProperties":true},
    "list":{"type":"array","items":{"type":"object"}},
    "keyed":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b"],
      "items":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","default":7}}}},
    "inner":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"z":{"type":"string"}}},
    "typeless":{}}}}})");
  CHECK(at(schema, {"spec", "any"})->kind == Kind::scalar);
  CHECK(at(schema, {"spec", "date"})->scalar == MergeNode::Scalar::any);
  CHECK(at(schema, {"spec", "byte"})->scalar == MergeNode::Scalar::string);
  CHECK(at(schema, {"spec", "open", "x"})->kind == Kind::deduced);
  CHECK(at(schema, {"spec", "wild", "unknown"})->kind == Kind::deduced);
  CHECK(at(schema, {"spec", "wild", "in", "unknown"})->kind == Kind::deduced);
  CHECK(at(schema, {"spec", "closed", "x"}) == nullptr);
  CHECK(at(schema, {"spec", "free", "x"})->kind == Kind::deduced);
  CHECK(at(schema, {"spec", "list"})->kind == Kind::list_atomic);
  CHECK(at(schema, {"spec", "keyed"})->key_defaults.at("b") == 7);
  CHECK(at(schema, {"spec", "inner", "metadata", "finalizers"})->kind == Kind::list_set);
  CHECK(at(schema, {"spec", "typeless"})->kind == Kind::deduced);
  CHECK(at(schema, {"spec", "unknown"}) == nullptr);
  CHECK(at(schema, {"metadata", "ownerReferences"})->kind == Kind::list_map);
}

TEST_CASE("a schema of no use, or nested without end, is deduced") {
  CHECK(crd_merge_schema(Json())->child("x")->kind == MergeNode::Kind::deduced);
  CHECK(deduced_merge_schema()->child("spec")->kind == MergeNode::Kind::deduced);
  CHECK(deduced_merge_schema()->child("metadata")->is_known_field("labels"));
  Json deep = {{"type", "string"}};
  for (int i = 0; i < 1000; ++i) {
    deep = Json{{"type", "object"}, {"properties", {{"p", std::move(deep)}}}};
  }
  CHECK(crd_merge_schema(deep)->is_struct);
}

TEST_CASE("missing keys of list items are filled with defaults when items are addressed") {
  const MergeNodePtr service = builtin_merge_schema({"", "v1", "Service"});
  const MergeNode* ports = at(service, {"spec", "ports"});
  CHECK(item_element(*ports, json(R"({"port":80})"))->str() == R"([port=80,protocol="TCP"])");
  const MergeNode* spread =
      at(builtin_merge_schema({"", "v1", "Pod"}), {"spec", "topologySpreadConstraints"});
  CHECK(item_element(*spread, json(R"({"topologyKey":"z"})"))->str() ==
        R"([topologyKey="z",whenUnsatisfiable=""])");
}

TEST_CASE("what the server's types do not write is dropped from built-in kinds only") {
  Json pod = json(R"({"metadata":{"labels":{},"annotations":null,"creationTimestamp":null},
    "spec":{"containers":null,"volumes":[{"name":"v","emptyDir":{}}],"tolerations":[],"nodeSelector":{},
    "securityContext":{}},"status":{"conditions":[{"type":"t","status":"s","lastProbeTime":null}]}})");
  as_written(*builtin_merge_schema({"", "v1", "Pod"}), pod);
  CHECK(
      base::dump_json(pod) ==
      R"({"metadata":{},"spec":{"containers":null,"securityContext":{},"volumes":[{"emptyDir":{},"name":"v"}]},)"
      R"("status":{"conditions":[{"lastProbeTime":null,"status":"s","type":"t"}]}})");
  Json custom = thing(json(R"({"free":{},"n":null,"tags":[]})"));
  custom["metadata"]["labels"] = Json::object();
  as_written(*thing_schema(), custom);
  CHECK(base::dump_json(custom["spec"]) == R"({"free":{},"n":null,"tags":[]})");
  CHECK_FALSE(custom["metadata"].contains("labels"));
}
