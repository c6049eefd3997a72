#include "builtin/typed_form.hpp"

#include "base/json.hpp"
#include "builtin/misread.hpp"
#include "builtin/wire_types.hpp"
#include "support/catch.hpp"

namespace kubewatch::builtin {

namespace {

Json typed_pod(const char* spec) {
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"spec", Json::parse(spec)}};
  to_typed_form(pod);
  return pod["spec"];
}

}  // namespace

TEST_CASE("zeros of a type that is no pointer are nothing, of a pointer they stay") {
  CHECK(typed_pod(R"({"containers":[],"hostNetwork":false,"priority":0,"hostname":"",
                      "nodeSelector":{},"affinity":{},"terminationGracePeriodSeconds":null})") ==
        Json::parse(R"({"containers":[],"priority":0,"nodeSelector":{},"affinity":{}})"));
  CHECK(typed_pod(R"({"containers":[{"stdin":false,"resources":null}]})") ==
        Json::parse(R"({"containers":[{"name":"","resources":{}}]})"));
}

TEST_CASE("a text is no time of a template, and stays to be told of") {
  Json job = Json::parse(R"({"apiVersion":"batch/v1","kind":"Job","spec":{"template":{
      "metadata":{"creationTimestamp":"","name":""}}}})");
  to_typed_form(job);
  CHECK(job["spec"]["template"]["metadata"] == Json::parse(R"({"creationTimestamp":""})"));
  job["spec"]["template"]["metadata"]["creationTimestamp"] = nullptr;
  to_typed_form(job);
  CHECK(job["spec"]["template"]["metadata"] == Json::object());
}

TEST_CASE("nulls in lists and maps become zeros, numbers what the type holds") {
  CHECK(typed_pod(R"({"containers":[{"name":"c","args":[null,"x"]}],"nodeSelector":{"a":null},
                      "priority":2.0,"activeDeadlineSeconds":99999999999,"tolerations":[null]})") ==
        Json::parse(R"({"containers":[{"name":"c","args":["","x"],"resources":{}}],
                        "nodeSelector":{"a":""},"priority":2,
                        "activeDeadlineSeconds":99999999999,"tolerations":[{}]})"));
  CHECK(typed_pod(R"({"containers":[],"priority":99999999999})")["priority"] == 1215752191);
  CHECK(typed_pod(R"({"containers":[],"priority":1.5})")["priority"] == 1.5);
}

TEST_CASE("a definition of a kind is a type of Go like any other, the schemas in it as well") {
  Json crd = Json::parse(R"({"apiVersion":"apiextensions.k8s.io/v1",
      "kind":"CustomResourceDefinition",
      "spec":{"names":{"singular":"","kind":"A"},"preserveUnknownFields":false,
        "versions":[null,{"name":"v1","deprecated":false,"subresources":{"status":{}},
          "schema":{"openAPIV3Schema":{"type":"object","uniqueItems":false,"default":null,
            "required":[],"minLength":0,
            "properties":{"a":{"nullable":false,"maximum":1.0,
                               "items":{"format":"","enum":[null,0],"required":[],
                                        "dependencies":{}}},
                          "b":{"items":[{"title":""}]},"c":{"items":[]},"d":{"items":"x"},
                          "e":{"additionalProperties":{"exclusiveMinimum":false}},
                          "f":{"additionalProperties":false},"g":null}}}}]},
      "status":{"conditions":[{"type":"T","reason":"","observedGeneration":0},null],
                "storedVersions":[null]}})");
  to_typed_form(crd);
  CHECK(crd["spec"] == Json::parse(R"({"group":"","scope":"","names":{"plural":"","kind":"A"},
      "versions":[{"name":"","served":false,"storage":false},
        {"name":"v1","served":false,"storage":false,"subresources":{"status":{}},
          "schema":{"openAPIV3Schema":{"type":"object","required":[],"minLength":0,
            "properties":{"a":{"maximum":1,"items":{"enum":[null,0],"dependencies":{}}},
                          "b":{"items":[{}]},"c":{"items":null},"d":{"items":null},
                          "e":{"additionalProperties":{}},
                          "f":{"additionalProperties":false},"g":{}}}}}]})"));
  CHECK(crd["status"] == Json::parse(R"({"acceptedNames":{"plural":"","kind":""},
      "conditions":[{"type":"T","status":"","lastTransitionTime":null},
                    {"type":"","status":"","lastTransitionTime":null}],
      "storedVersions":[""]})"));
  crd["status"]["conditions"] = Json::array();
  hide_empty_lists(crd);
  CHECK(crd["status"]["conditions"] == Json::array());
}

TEST_CASE("a schema in a list is read by itself: unknown fields go untold, faults have its place") {
  Json crd = Json::parse(R"({"apiVersion":"apiextensions.k8s.io/v1",
      "kind":"CustomResourceDefinition","x":1,
      "spec":{"versions":[{"subresources":{"status":{"y":1}},"schema":{"openAPIV3Schema":{
        "z":1,"properties":{"a":{"items":{"w":1}},"b":{"additionalProperties":{"v":1}},
                            "c":{"additionalProperties":true,"default":{"u":1}}}}}}]}})");
  std::vector<std::string> unknown;
  drop_unknown(crd, unknown);
  CHECK(unknown == std::vector<std::string>{"spec.versions[0].schema.openAPIV3Schema.z",
                                            "spec.versions[0].subresources.status.y", "x"});
  CHECK(crd["spec"] == Json::parse(R"({"versions":[{"subresources":{"status":{}},
      "schema":{"openAPIV3Schema":{"properties":{"a":{"items":{}},
        "b":{"additionalProperties":{}},
        "c":{"additionalProperties":true,"default":{"u":1}}}}}}]})"));
  const auto why = [&crd](const char* a) {
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = {{"a", Json::parse(a)}};
    return why_undecoded(crd).value_or("");
  };
  const std::string start = "json: cannot unmarshal string into Go struct field JSONSchemaProps.";
  const std::string path = "spec.versions.schema.openAPIV3Schema.properties.";
  CHECK(why(R"({"maxLength":"x"})") == start + path + "maxLength of type int64");
  CHECK(why(R"({"items":{"maxLength":"x"}})") == start + path + "items.maxLength of type int64");
  CHECK(why(R"({"items":{"items":{"externalDocs":{"url":"x","description":1}}}})") ==
        "json: cannot unmarshal number into Go struct field JSONSchemaProps." + path +
            "items.items.externalDocs.description of type string");
  CHECK(why(R"({"items":["x"]})") == start + path + "items of type v1.JSONSchemaProps");
  CHECK(why(R"({"items":"x"})").empty());
  CHECK(why(R"({"dependencies":"x"})") ==
        start + path + "dependencies of type v1.JSONSchemaDependencies");
  CHECK(why(R"({"definitions":"x"})") ==
        start + path + "definitions of type v1.JSONSchemaDefinitions");
  CHECK(why(R"({"properties":"x"})") ==
        start + path + "properties of type map[string]v1.JSONSchemaProps");
  CHECK(why(R"({"additionalProperties":"x"})") == "boolean or JSON schema expected");
  // What reads itself ends the reading: neither what fits behind it nor another fault is told.
  const std::string told = start + path + "dependencies.maxLength of type int64";
  CHECK(why(R"({"dependencies":{"a":{"maxLength":"x"},"b":{"minLength":1}}})") == told);
  CHECK(why(R"({"dependencies":{"a":{"maxLength":"x"},"b":{"minLength":"y"}},"title":1})") == told);
  CHECK(why(R"({"dependencies":{"a":{"maxLength":"x"},"b":["c",1]}})") == told);
}

TEST_CASE("maps are told by the names that Go has for their keys and values") {
  const auto why = [](const char* kind, const char* rest) {
    Json object = Json::parse(rest);
    object.update({{"apiVersion", "resource.k8s.io/v1"}, {"kind", kind}});
    if (object.contains("status")) object["apiVersion"] = "v1";
    return why_undecoded(object).value_or("");
  };
  const std::string start = "json: cannot unmarshal string into Go struct field ";
  CHECK(why("ResourceSlice", R"({"spec":{"devices":[{"attributes":"x"}]}})") ==
        start + "Device.spec.devices.attributes of type map[v1.QualifiedName]v1.DeviceAttribute");
  CHECK(why("ResourceSlice", R"({"spec":{"sharedCounters":[{"counters":"x"}]}})") ==
        start + "CounterSet.spec.sharedCounters.counters of type map[string]v1.Counter");
  CHECK(why("ResourceSlice", R"({"spec":{"devices":[{"attributes":{"a":{"int":"x"}}}]}})") ==
        start + "DeviceAttribute.spec.devices.attributes.int of type int64");
  CHECK(why("ResourceClaim", R"({"spec":{"devices":{"requests":[
            {"exactly":{"capacity":{"requests":"x"}}}]}}})") ==
        start +
            "CapacityRequirements.spec.devices.requests.exactly.capacity.requests of type "
            "map[v1.QualifiedName]resource.Quantity");
  const std::string states = "PersistentVolumeClaimStatus.status.allocatedResourceStatuses";
  CHECK(why("PersistentVolumeClaim", R"({"status":{"allocatedResourceStatuses":"x"}})") ==
        start + states + " of type map[v1.ResourceName]v1.ClaimResourceStatus");
  CHECK(why("PersistentVolumeClaim", R"({"status":{"allocatedResourceStatuses":{"a":1}}})") ==
        "json: cannot unmarshal number into Go struct field " + states +
            " of type v1.ClaimResourceStatus");
}

TEST_CASE("a claim within another object may name its type") {
  Json set = Json::parse(R"({"apiVersion":"apps/v1","kind":"StatefulSet","spec":{
      "volumeClaimTemplates":[{"apiVersion":"v1","kind":"PersistentVolumeClaim","x":1}],
      "template":{"kind":"PodTemplate"}}})");
  std::vector<std::string> unknown;
  drop_unknown(set, unknown);
  CHECK(unknown ==
        std::vector<std::string>{"spec.template.kind", "spec.volumeClaimTemplates[0].x"});
}

TEST_CASE("bytes are kept in the usual form of base64, and none are nothing") {
  Json service = Json::parse(R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
                                 "spec":{"caBundle":""}})");
  to_typed_form(service);
  CHECK_FALSE(service["spec"].contains("caBundle"));
  service["spec"]["caBundle"] = "YQ=\n=";
  to_typed_form(service);
  CHECK(service["spec"]["caBundle"] == "YQ==");
}

TEST_CASE("its own metadata, what is no type and what is no object stay as they are") {
  Json custom = Json::parse(R"({"apiVersion":"kw.dev/v1","kind":"Pod","spec":{"a":""}})");
  const Json before = custom;
  to_typed_form(custom);
  CHECK(custom == before);
  Json pod = Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":""},"spec":5})");
  to_typed_form(pod);
  CHECK(pod["metadata"] == Json::parse(R"({"name":""})"));
  CHECK(pod["spec"] == 5);
  Json text = "x";
  to_typed_form(text);
  hide_empty_lists(text);
  CHECK(text == "x");
  CHECK_FALSE(why_undecoded(text));
  CHECK_FALSE(why_unconverted(custom));
}

TEST_CASE("lists that are always shown are null where they are empty") {
  Json role = Json::parse(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role",
                              "rules":[{"verbs":[],"apiGroups":["a"]}]})");
  hide_empty_lists(role);
  CHECK(role["rules"] == Json::parse(R"([{"verbs":null,"apiGroups":["a"]}])"));
  role["rules"] = Json::array();
  hide_empty_lists(role);
  CHECK(role["rules"].is_null());
}

TEST_CASE("each type that another one names is in the table") {
  const WireType* pod = wire_type("core/v1.Pod");
  REQUIRE(pod != nullptr);
  CHECK(pod->struct_name() == "Pod");
  CHECK(pod->go_name() == "v1.Pod");
  CHECK(wire_type_of("rbac.authorization.k8s.io/v1", "Role") != nullptr);
  CHECK(wire_type_of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration") !=
        nullptr);
  CHECK(wire_type_of("v1", "Nothing") == nullptr);
  CHECK(wire_type("") == nullptr);
}

}  // namespace kubewatch::builtin
