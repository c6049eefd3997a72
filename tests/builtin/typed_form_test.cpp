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
