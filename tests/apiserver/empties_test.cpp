#include "apiserver/empties.hpp"

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::kConfigMaps;
using test::Server;

TEST_CASE("empty lists and maps that are left out come back where what they stood in still is") {
  const Json sent = Json::parse(R"({"a":[],"b":{"c":{},"d":1,"e":"","f":null},
      "g":[{"h":[]},{"i":1}],"j":[1],"k":{"l":[]},"m":[]})");
  const Json kept = Json::parse(R"({"b":{"d":1,"e":"","n":2},"g":[{},{"i":1}],"j":[1],"k":{},
                                    "m":null})");
  const Json lost = lost_empties(sent, kept);
  CHECK(lost == Json::parse(R"({"a":[],"b":{"c":{}},"g":[{"h":[]},null],"k":{"l":[]},"m":[]})"));
  Json object = Json::parse(R"({"b":{"d":2},"g":[{"x":1},{}],"j":[1]})");
  put_empties(lost, object);
  CHECK(object == Json::parse(R"({"a":[],"b":{"c":{},"d":2},"g":[{"h":[],"x":1},{}],"j":[1],
                                  "m":[]})"));
  object = Json::parse(R"({"a":[1],"b":1,"g":[{}],"m":null})");
  put_empties(lost, object);
  CHECK(object == Json::parse(R"({"a":[1],"b":1,"g":[{}],"m":[]})"));
}

TEST_CASE("what is not lost, or in items of lists that may have moved, does not come back") {
  const Json sent = Json::parse(R"({"a":[],"b":[{"c":[]}]})");
  CHECK(lost_empties(sent, sent).is_null());
  CHECK(lost_empties(sent, Json::parse(R"({"a":[],"b":[{},{}]})")).is_null());
  CHECK(lost_empties("x", sent).is_null());
}

TEST_CASE("items of keyed lists are found among others by their keys") {
  const auto pod = schema::builtin_merge_schema({"", "v1", "Pod"});
  REQUIRE(pod);
  const Json sent = Json::parse(R"({"spec":{"volumes":[{"name":"b","projected":{"sources":[
      {"secret":{"items":[]}}]}}],"tolerations":[{"key":"x","y":[]}]}})");
  Json kept = Json::parse(R"({"spec":{"volumes":[{"name":"a"},{"name":"b","projected":{"sources":[
      {"secret":{}}]}}],"tolerations":[{"key":"u"},{"key":"x"}]}})");
  put_empties(lost_empties(sent, kept, pod.get()), kept);
  CHECK(kept["spec"]["volumes"][0] == Json::parse(R"({"name":"a"})"));
  CHECK(kept["spec"]["volumes"][1] == sent["spec"]["volumes"][0]);
  CHECK(kept["spec"]["tolerations"] == Json::parse(R"([{"key":"u"},{"key":"x"}])"));
}

TEST_CASE("what is empty in items of lists is shown as such by the rules, also after an apply") {
  Server server;
  const std::string pods = "/api/v1/namespaces/default/pods";
  Json pod = Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{
      "volumes":[{"name":"v","configMap":{"name":"c"}}],"containers":[{"name":"c","image":"i"}]}})");
  REQUIRE(server.post(pods, pod).code == 201);
  pod["spec"]["volumes"][0]["projected"] = Json::parse(R"({"sources":[{"secret":{"items":[]}}]})");
  const auto applied = server.apply(pods + "/a?fieldManager=x&force=true", pod);
  CHECK(applied.message().find("\"Items\": []") != std::string::npos);

  const std::string volumes = "/api/v1/persistentvolumes";
  REQUIRE(server
              .post(volumes, Json::parse(R"({"metadata":{"name":"v"},"spec":{
      "capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],
      "csi":{"driver":"d.x","volumeHandle":"h"}}})"))
              .code == 201);
  const auto patched =
      server.merge(volumes + "/v", Json::parse(R"({"spec":{"cephfs":{"monitors":[]}}})"));
  CHECK(patched.message().find("\"Monitors\": []") != std::string::npos);
}

TEST_CASE("a field that goes is owned by nobody any more, for it is owned as an empty map") {
  Server server;
  REQUIRE(server
              .post(kConfigMaps + "?fieldManager=a",
                    Json::parse(R"({"metadata":{"name":"m"},"immutable":false,
                                      "data":{"a":"b","c":"d"}})"))
              .code == 201);
  const auto changed = server.merge(kConfigMaps + "/m?fieldManager=a",
                                    Json::parse(R"({"immutable":null,"data":{"a":null}})"));
  REQUIRE(changed.code == 200);
  CHECK(changed.json["metadata"]["managedFields"][0]["fieldsV1"] ==
        Json::parse(R"({"f:data":{".":{},"f:c":{}}})"));
}

TEST_CASE("lists that are always shown are stored as null where they hold nothing") {
  Server server;
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
  const auto made = server.post(roles, Json::parse(R"({"metadata":{"name":"r"},"rules":[]})"));
  REQUIRE(made.code == 201);
  CHECK(made.json["rules"].is_null());
  const auto put = server.put(roles + "/r", Json::parse(R"({"metadata":{"name":"r"},"rules":[]})"));
  REQUIRE(put.code == 200);
  CHECK(put.json["rules"].is_null());
}

TEST_CASE("rules see a list that is empty, however it came, and it is not written") {
  Server server;
  const std::string scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  Json scaler = Json::parse(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler",
      "metadata":{"name":"a"},"spec":{"maxReplicas":3,
        "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}})");
  const std::string why =
      "HorizontalPodAutoscaler.autoscaling \"a\" is invalid: spec.behavior.scaleUp.policies: "
      "Required value: must specify at least one Policy";
  REQUIRE(server.post(scalers, scaler).code == 201);
  scaler["spec"]["behavior"]["scaleUp"]["policies"] = Json::array();
  const auto changed = server.merge(scalers + "/a", {{"spec", scaler["spec"]}});
  CHECK(changed.message() == why);
  CHECK(server.put(scalers + "/a", scaler).message() == why);
  CHECK(server.apply(scalers + "/a?fieldManager=x&force=true", scaler).message() == why);
  REQUIRE(server.remove(scalers + "/a").code == 200);
  CHECK(server.post(scalers, scaler).message() == why);
  CHECK(server.apply(scalers + "/a?fieldManager=x", scaler).message() == why);

  const Json map = {{"metadata", {{"name", "m"}}}, {"data", Json::object()}};
  const auto made = server.post(kConfigMaps, map);
  CHECK(made.code == 201);
  CHECK_FALSE(made.json.contains("data"));
}

TEST_CASE("an empty list is no change: neither of a generation nor of what may not change") {
  Server server;
  const std::string sets = "/apis/apps/v1/namespaces/default/statefulsets";
  Json set = Json::parse(R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"s"},
      "spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},
        "template":{"metadata":{"labels":{"a":"b"}},
                    "spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  REQUIRE(server.post(sets, set).code == 201);
  set["spec"]["volumeClaimTemplates"] = Json::array();
  set["spec"]["template"]["spec"]["containers"][0]["env"] = Json::array();
  const auto same = server.put(sets + "/s", set);
  CHECK(same.code == 200);
  CHECK(same.at({"metadata", "resourceVersion"}) ==
        server.get(sets + "/s").at({"metadata", "resourceVersion"}));
  CHECK(same.json["metadata"]["generation"] == 1);
}

}  // namespace kubewatch::apiserver
