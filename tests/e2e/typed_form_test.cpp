// What becomes of an object of a built-in kind on its way through the server's own Go types: zeros
// that these cannot hold, members that they always show, nulls in lists, values that do not fit.
#include "base/json.hpp"
#include "e2e/requests.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

constexpr const char* kStrategically = "application/strategic-merge-patch+json";

std::string deployments(const World& w) {
  return "/apis/apps/v1/namespaces/" + w.ns() + "/deployments";
}

Json deployment(const std::string& name, const Json& spec = Json::object()) {
  Json out = Json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{
      "selector":{"matchLabels":{"a":"b"}},
      "template":{"metadata":{"labels":{"a":"b"}},
                  "spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  out["metadata"]["name"] = name;
  out["spec"].merge_patch(spec);
  return out;
}

// The fields that a manager owns with that operation; null where it owns nothing.
Json fields_of(const Json& object, const std::string& manager) {
  for (const Json& entry : object.at("metadata").at("managedFields")) {
    if (entry.at("manager") == manager) return entry.at("fieldsV1");
  }
  return nullptr;
}

// What the server says behind "… cannot be handled as a KIND: ".
std::string why_unread(const Answer& answer) {
  const std::string all = message(answer);
  const std::string mark = " cannot be handled as a ";
  const auto at = all.find(mark);
  return at == std::string::npos ? all : all.substr(all.find(": ", at) + 2);
}

std::string tail_after_value(const Answer& answer) {
  const std::string all = message(answer);
  return all.substr(all.rfind("\": ") + 3);
}

}  // namespace

E2E_CASE("zeros that a type of Go cannot tell from nothing are not kept, nor owned") {
  World w;
  const Json spec = Json::parse(R"({"paused":false,"minReadySeconds":0,"replicas":0,
      "template":{"spec":{"hostNetwork":false,"serviceAccountName":"",
        "containers":[{"name":"c","image":"i","stdin":false,"workingDir":"","args":[],
          "env":[{"name":"A","value":""}],"ports":[{"containerPort":80,"hostPort":0,"name":""}],
          "securityContext":{},"readinessProbe":{"exec":{"command":["x"]},"initialDelaySeconds":0},
          "volumeMounts":[{"name":"v","mountPath":"/v","readOnly":false,"subPath":""}]}],
        "volumes":[{"name":"v","emptyDir":{"medium":""}}]}}})");
  const Json object = made(w, deployments(w) + "?fieldManager=m", deployment("z", spec));
  CHECK(object["spec"]["replicas"] == 0);  // a pointer
  CHECK_FALSE(object["spec"].contains("paused"));
  CHECK_FALSE(object["spec"].contains("minReadySeconds"));
  const Json& pod = object["spec"]["template"]["spec"];
  CHECK_FALSE(pod.contains("hostNetwork"));
  CHECK_FALSE(pod.contains("serviceAccountName"));
  const Json& container = pod["containers"][0];
  for (const char* key : {"stdin", "workingDir", "args"}) CHECK_FALSE(container.contains(key));
  CHECK(container["env"] == Json::parse(R"([{"name":"A"}])"));
  CHECK(container["ports"] == Json::parse(R"([{"containerPort":80,"protocol":"TCP"}])"));
  CHECK(container["securityContext"] == Json::object());
  CHECK_FALSE(container["readinessProbe"].contains("initialDelaySeconds"));
  CHECK(container["volumeMounts"] == Json::parse(R"([{"name":"v","mountPath":"/v"}])"));
  CHECK(pod["volumes"][0]["emptyDir"] == Json::object());
  const Json owned = fields_of(object, "m")["f:spec"];
  CHECK_FALSE(owned.contains("f:paused"));
  CHECK(owned.contains("f:replicas"));

  const Json again = Json::parse(R"({"spec":{"paused":false,"minReadySeconds":0}})");
  for (const char* type : {kMerge, kStrategically}) {
    const Answer patched = patch(w, deployments(w) + "/z", again, type);
    REQUIRE(patched.code == 200);
    CHECK(patched.body["metadata"]["generation"] == 1);
    CHECK(patched.body["spec"] == object["spec"]);
  }
}

E2E_CASE("a zero that is applied is owned, though the object does not show it") {
  World w;
  made(w, deployments(w) + "?fieldManager=m", deployment("z"));
  const std::string path = deployments(w) + "/z?fieldManager=";
  Json configuration = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}};
  configuration["spec"]["paused"] = false;
  const Answer first = patch(w, path + "one", configuration, kApply);
  REQUIRE(first.code == 200);
  CHECK_FALSE(first.body["spec"].contains("paused"));
  CHECK(fields_of(first.body, "one") == Json::parse(R"({"f:spec":{"f:paused":{}}})"));
  configuration["spec"]["minReadySeconds"] = 0;
  const Answer second = patch(w, path + "two", configuration, kApply);
  CHECK(second.code == 409);
  CHECK(message(second) == "Apply failed with 1 conflict: conflict with \"one\": .spec.paused");
  const Answer forced = patch(w, path + "two&force=true", configuration, kApply);
  REQUIRE(forced.code == 200);
  CHECK(fields_of(forced.body, "one").is_null());
}

E2E_CASE("what a type of Go always shows is there in lists and templates too") {
  World w;
  const Json spec = Json::parse(R"({"template":{"spec":{
      "affinity":{"nodeAffinity":{
        "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1}]}},
      "containers":[{"name":"c","image":"i",
        "lifecycle":{"preStop":{"httpGet":{"port":1,"httpHeaders":[{"name":"h"}]}}}}]}}})");
  const Json object = made(w, deployments(w) + "?dryRun=All", deployment("z", spec));
  const Json& pod = object["spec"]["template"]["spec"];
  CHECK(pod["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0] ==
        Json::parse(R"({"weight":1,"preference":{}})"));
  CHECK(pod["containers"][0]["lifecycle"]["preStop"]["httpGet"]["httpHeaders"][0] ==
        Json::parse(R"({"name":"h","value":""})"));
  made(w, deployments(w), deployment("z"));
  const Answer status =
      patch(w, deployments(w) + "/z/status",
            Json::parse(R"({"status":{"conditions":[{"type":"T","status":"U"}]}})"));
  REQUIRE(status.code == 200);
  CHECK(status.body["status"]["conditions"] ==
        Json::parse(R"([{"type":"T","status":"U","lastUpdateTime":null,
                         "lastTransitionTime":null}])"));
}

E2E_CASE("nulls in lists and maps of built-in kinds are what Go has for nothing") {
  World w;
  Json spec;
  spec["template"]["spec"]["containers"] = Json::parse("[null]");
  const Answer refused = send(w, "POST", deployments(w), deployment("z", spec));
  CHECK(refused.code == 422);
  const Told told = told_by_server(refused.body);
  CHECK(tells(told, "spec.template.spec.containers[0].name", "Required value"));
  CHECK(tells(told, "spec.template.spec.containers[0].image", "Required value"));
  spec["template"]["spec"]["containers"] =
      Json::parse(R"([{"name":"c","image":"i","args":[null,"x"]}])");
  Json object = deployment("z", spec);
  object["spec"]["template"]["metadata"]["labels"]["n"] = nullptr;
  const Json kept = made(w, deployments(w), object);
  CHECK(kept["spec"]["template"]["spec"]["containers"][0]["args"] == Json::parse(R"(["","x"])"));
  CHECK(kept["spec"]["template"]["metadata"]["labels"] == Json::parse(R"({"a":"b","n":""})"));
}

E2E_CASE("a value of another type is refused in the words of Go's decoder") {
  World w;
  const std::pair<const char*, const char*> cases[] = {
      {R"({"replicas":2.0})",
       "number 2.0 into Go struct field DeploymentSpec.spec.replicas of type "
       "int32"},
      {R"({"replicas":"x"})",
       "string into Go struct field DeploymentSpec.spec.replicas of type int32"},
      {R"({"replicas":99999999999})",
       "number 99999999999 into Go struct field DeploymentSpec.spec.replicas of type int32"},
      {R"({"paused":"x"})", "string into Go struct field DeploymentSpec.spec.paused of type bool"},
      {R"({"template":{"spec":{"restartPolicy":5}}})",
       "number into Go struct field PodSpec.spec.template.spec.restartPolicy of type "
       "v1.RestartPolicy"},
      {R"({"template":{"spec":{"nodeSelector":{"a":5}}}})",
       "number into Go struct field PodSpec.spec.template.spec.nodeSelector of type string"},
      {R"({"template":{"spec":{"containers":[{"args":[5]}]}}})",
       "number into Go struct field Container.spec.template.spec.containers.args of type string"},
      {R"({"template":{"spec":{"containers":[5]}}})",
       "number into Go struct field PodSpec.spec.template.spec.containers of type v1.Container"},
      {R"({"template":{"spec":{"containers":{}}}})",
       "object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container"},
      {R"({"template":{"spec":{"containers":[{"livenessProbe":{"exec":5}}]}}})",
       "number into Go struct field Probe.spec.template.spec.containers.livenessProbe."
       "ProbeHandler.exec of type v1.ExecAction"},
      // What a type reads by itself ends it, whatever came before.
      {R"({"paused":"x","template":{"spec":{"containers":[{"livenessProbe":
          {"httpGet":{"port":true}}}]}}})",
       "bool into Go struct field HTTPGetAction.spec.template.spec.containers.livenessProbe."
       "ProbeHandler.httpGet.port of type int32"},
  };
  made(w, deployments(w), deployment("z"));
  for (const auto& [spec, words] : cases) {
    INFO(spec);
    const Json changed = Json::parse(spec);
    const std::string why = std::string("json: cannot unmarshal ") + words;
    const Answer posted = send(w, "POST", deployments(w), deployment("y", changed));
    CHECK(posted.code == 400);
    CHECK(why_unread(posted) == why);
    const Answer merged = patch(w, deployments(w) + "/z", {{"spec", changed}});
    CHECK(merged.code == 422);
    CHECK(tail_after_value(merged) == why);
  }
}

E2E_CASE("a strategic patch and an apply are converted, in words and numbers of their own") {
  World w;
  made(w, deployments(w), deployment("z"));
  const std::string path = deployments(w) + "/z";
  const std::pair<const char*, const char*> cases[] = {
      {R"({"replicas":"x"})", "unrecognized type: int32"},
      {R"({"paused":1})", "unrecognized type: bool"},
      {R"({"replicas":1.5})", "cannot convert float64 to int32"},
      {R"({"template":"x"})", "cannot restore struct from: string"},
      {R"({"template":{"spec":{"restartPolicy":5}}})", "cannot convert int64 to v1.RestartPolicy"},
      {R"({"template":{"spec":{"nodeSelector":[]}}})", "cannot restore map from slice"},
      {R"({"template":{"spec":{"containers":[{"name":"c","image":true}]}}})",
       "unrecognized type: string"},
  };
  for (const auto& [spec, words] : cases) {
    INFO(spec);
    const Answer patched = patch(w, path, {{"spec", Json::parse(spec)}}, kStrategically);
    CHECK(patched.code == 422);
    CHECK(tail_after_value(patched) == words);
  }
  CHECK(patch(w, path, Json::parse(R"({"spec":{"replicas":2.0}})"), kStrategically)
            .body["spec"]["replicas"] == 2);
  Json configuration = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}};
  const auto apply = [&](const char* spec) {
    configuration["spec"] = Json::parse(spec);
    return patch(w, path + "?fieldManager=m&force=true", configuration, kApply);
  };
  CHECK(apply(R"({"replicas":3.0})").body["spec"]["replicas"] == 3);
  const Answer text = apply(R"({"template":{"spec":{"restartPolicy":5}}})");
  CHECK(text.code == 500);
  CHECK(
      message(text).ends_with(".spec.template.spec.restartPolicy: expected string, got "
                              "&value.valueUnstructured{Value:5}"));
  const Answer half = apply(R"({"replicas":1.5})");
  CHECK(half.code == 500);
  CHECK(message(half).ends_with("cannot convert float64 to int32"));
}

}  // namespace kubewatch::e2e
