// HorizontalPodAutoscalers: one object in two versions of different form, and who owns what of it.
// What a controller writes into their status meanwhile is not looked at.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr const char* kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr const char* kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr const char* kConditions = "autoscaling.alpha.kubernetes.io/conditions";

std::string path(World& w, const std::string& version, const std::string& name = "") {
  return "/apis/autoscaling/" + version + "/namespaces/" + w.ns() + "/horizontalpodautoscalers" +
         (name.empty() ? "" : "/" + name);
}

Json scaler(const std::string& version, const std::string& name, Json spec = Json::object()) {
  if (!spec.contains("maxReplicas")) spec["maxReplicas"] = 3;
  if (!spec.contains("scaleTargetRef")) {
    spec["scaleTargetRef"] = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "none"}};
  }
  return {{"apiVersion", "autoscaling/" + version},
          {"kind", "HorizontalPodAutoscaler"},
          {"metadata", {{"name", name}}},
          {"spec", std::move(spec)}};
}

Json share_of(const std::string& resource, int share) {
  return {
      {"type", "Resource"},
      {"resource",
       {{"name", resource}, {"target", {{"type", "Utilization"}, {"averageUtilization", share}}}}}};
}

Json annotated(Json object, const char* key, const std::string& value) {
  object["metadata"]["annotations"][key] = value;
  return object;
}

std::string annotation(const Json& object, const char* key) {
  return base::string_at(object, {"metadata", "annotations", key});
}

// fieldsV1 of a manager's entry, null where it has none.
Json owned(const Json& object, const std::string& manager) {
  for (const Json& entry : object["metadata"].value("managedFields", Json::array())) {
    if (entry["manager"] == manager) return entry["fieldsV1"];
  }
  return nullptr;
}

// What an apply says of the spec, and no more.
Answer apply_spec(World& w, const std::string& version, const std::string& name, const Json& spec,
                  const std::string& manager = "one") {
  Json object = scaler(version, name);
  object["spec"] = spec;
  return send_text(w, "PATCH", path(w, version, name) + "?force=true&fieldManager=" + manager,
                   base::dump_json(object), kApply);
}

}  // namespace

E2E_CASE("an autoscaler is one object in both versions") {
  World w;
  REQUIRE(send(w, "POST", path(w, "v1"), scaler("v1", "a")).code == 201);
  const Json newer = send(w, "GET", path(w, "v2", "a")).body;
  CHECK(newer["apiVersion"] == "autoscaling/v2");
  CHECK(newer["spec"]["metrics"] == Json::array({share_of("cpu", 80)}));
  CHECK(newer["status"].contains("currentMetrics"));
  Json older = send(w, "GET", path(w, "v1", "a")).body;
  CHECK(older["spec"]["targetCPUUtilizationPercentage"] == 80);
  CHECK(older["metadata"]["uid"] == newer["metadata"]["uid"]);

  // What one version gave is taken by it again, and by the other not.
  older["metadata"].erase("resourceVersion");
  older["spec"]["maxReplicas"] = 7;
  CHECK(send(w, "PUT", path(w, "v1", "a"), older).code == 200);
  CHECK(send(w, "PUT", path(w, "v2", "a"), older).code == 400);
  CHECK(send(w, "GET", path(w, "v2", "a")).body["spec"]["maxReplicas"] == 7);
  CHECK(send(w, "GET", path(w, "v1")).body["items"].size() == 1);
  CHECK(send(w, "DELETE", path(w, "v1", "a")).code == 200);
  CHECK(send(w, "GET", path(w, "v2", "a")).code == 404);
}

E2E_CASE("v1 keeps in annotations what only v2 can say") {
  World w;
  Json pods = {{"type", "Pods"},
               {"pods",
                {{"metric", {{"name", "m<"}, {"selector", {{"matchLabels", {{"a", "b"}}}}}}},
                 {"target", {{"type", "AverageValue"}, {"averageValue", "1.5"}}}}}};
  const Json spec = {{"metrics", {share_of("memory", 50), share_of("cpu", 40), pods}},
                     {"behavior", {{"scaleDown", {{"stabilizationWindowSeconds", 60}}}}}};
  REQUIRE(send(w, "POST", path(w, "v2"), scaler("v2", "b", spec)).code == 201);
  Json older = send(w, "GET", path(w, "v1", "b")).body;
  CHECK(older["spec"]["targetCPUUtilizationPercentage"] == 40);
  CHECK(annotation(older, kMetrics) ==
        R"([{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":50}},)"
        R"({"type":"Pods","pods":{"metricName":"m\u003c","targetAverageValue":"1500m",)"
        R"("selector":{"matchLabels":{"a":"b"}}}}])");
  CHECK(annotation(older, kBehavior) ==
        R"({"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[)"
        R"({"Type":"Pods","Value":4,"PeriodSeconds":15},)"
        R"({"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null},)"
        R"("ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":"Max","Policies":[)"
        R"({"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null}})");

  // The CPU comes last, now that v1 has written it; what its annotation no longer says is gone.
  older["metadata"].erase("resourceVersion");
  older["metadata"]["annotations"].erase(kBehavior);
  REQUIRE(send(w, "PUT", path(w, "v1", "b"), older).code == 200);
  const Json newer = send(w, "GET", path(w, "v2", "b")).body;
  pods["pods"]["target"]["averageValue"] = "1500m";
  CHECK(newer["spec"]["metrics"] ==
        Json::array({share_of("memory", 50), pods, share_of("cpu", 40)}));
  CHECK_FALSE(newer["spec"].contains("behavior"));
  CHECK_FALSE(newer["metadata"].contains("annotations"));
}

E2E_CASE("annotations of an autoscaler that cannot be read say nothing") {
  World w;
  const Json object = annotated(scaler("v1", "c"), kMetrics,
                                R"([{"type":"Object","object":{"target":{"kind":"Pod","name":"p"},)"
                                R"("metricName":"m","targetValue":"5"}}])");
  const Json told = send(w, "POST", path(w, "v1"), object).body;
  CHECK_FALSE(told["spec"].contains("targetCPUUtilizationPercentage"));
  const Json metrics = send(w, "GET", path(w, "v2", "c")).body["spec"]["metrics"];
  REQUIRE(metrics.size() == 1);
  CHECK(metrics[0]["object"]["target"] == Json{{"type", "Value"}, {"value", "5"}});

  const std::string number = R"([{"type":"Resource","resource":{"name":5}}])";
  const Json unread =
      send(w, "POST", path(w, "v1"), annotated(scaler("v1", "d"), kMetrics, number)).body;
  CHECK(unread["spec"]["targetCPUUtilizationPercentage"] == 80);
  CHECK_FALSE(unread["metadata"].contains("annotations"));
  // v2 has fields for all of them, and drops them.
  const Json newer =
      send(w, "POST", path(w, "v2"), annotated(scaler("v2", "e"), kMetrics, "[]")).body;
  CHECK_FALSE(newer["metadata"].contains("annotations"));
}

E2E_CASE("faults of an autoscaler are told of the form that it is kept in") {
  World w;
  const Answer share =
      send(w, "POST", path(w, "v1"), scaler("v1", "f", {{"targetCPUUtilizationPercentage", 0}}));
  CHECK(share.code == 422);
  CHECK(tells(told_by_server(share.body), "spec.metrics[0].resource.target.averageUtilization",
              "must be greater than 0"));
  const std::string rules = R"({"ScaleDown":{"StabilizationWindowSeconds":60}})";
  const Answer behavior =
      send(w, "POST", path(w, "v1"), annotated(scaler("v1", "f"), kBehavior, rules));
  CHECK(tells(told_by_server(behavior.body), "spec.behavior.scaleDown.policies",
              "must specify at least one Policy"));
}

E2E_CASE("an autoscaler whose list of policies is empty is refused, although none has defaults") {
  World w;
  const Json empty = {{"behavior", {{"scaleUp", {{"policies", Json::array()}}}}}};
  const auto refuses = [](const Answer& answer) {
    return answer.code == 422 &&
           tells(told_by_server(answer.body), "spec.behavior.scaleUp.policies",
                 "must specify at least one Policy");
  };
  CHECK(refuses(send(w, "POST", path(w, "v2"), scaler("v2", "p", empty))));
  CHECK(refuses(apply_spec(w, "v2", "p", scaler("v2", "p", empty)["spec"])));
  made(w, path(w, "v2"), scaler("v2", "p", {{"behavior", {{"scaleUp", Json::object()}}}}));
  CHECK(refuses(
      send_text(w, "PATCH", path(w, "v2", "p"), base::dump_json({{"spec", empty}}), kMerge)));
}

E2E_CASE("who owns what of an autoscaler is told in the version of its writer") {
  World w;
  const Json first = scaler("v1", "g", {{"targetCPUUtilizationPercentage", 30}});
  REQUIRE(send_text(w, "PATCH", path(w, "v1", "g") + "?fieldManager=one", base::dump_json(first),
                    kApply)
              .code == 201);
  const Json second =
      scaler("v2", "g", {{"minReplicas", 2}, {"metrics", Json::array({share_of("cpu", 40)})}});
  const std::string apply = path(w, "v2", "g") + "?fieldManager=two";
  const Answer refused = send_text(w, "PATCH", apply, base::dump_json(second), kApply);
  CHECK(base::string_at(refused.body, {"message"}) ==
        "Apply failed with 1 conflict: conflict with \"one\": "
        ".spec.targetCPUUtilizationPercentage");
  const Json forced =
      send_text(w, "PATCH", apply + "&force=true", base::dump_json(second), kApply).body;
  CHECK(owned(forced, "one")["f:spec"] ==
        Json{{"f:maxReplicas", Json::object()}, {"f:scaleTargetRef", Json::object()}});
  CHECK(owned(forced, "two")["f:spec"].contains("f:metrics"));

  // The same field by another name.
  const Json patched = send_text(w, "PATCH", path(w, "v1", "g") + "?fieldManager=three",
                                 R"({"spec":{"targetCPUUtilizationPercentage":50}})", kMerge)
                           .body;
  CHECK_FALSE(owned(patched, "two")["f:spec"].contains("f:metrics"));
  CHECK(owned(patched, "two")["f:spec"].contains("f:minReplicas"));
  CHECK(owned(patched, "three")["f:spec"] ==
        Json{{"f:targetCPUUtilizationPercentage", Json::object()}});

  // What it applied in the other version and does not apply any more goes.
  const Json again = scaler("v1", "g");
  const Json switched = send_text(w, "PATCH", path(w, "v1", "g") + "?fieldManager=two",
                                  base::dump_json(again), kApply)
                            .body;
  CHECK(switched["spec"]["minReplicas"] == 1);
  CHECK(owned(switched, "two")["f:spec"].contains("f:scaleTargetRef"));
}

E2E_CASE("an apply in the other version keeps what no autoscaler can lack") {
  World w;
  const Json target = scaler("v1", "i")["spec"]["scaleTargetRef"];
  const Json all = {
      {"maxReplicas", 3}, {"scaleTargetRef", target}, {"targetCPUUtilizationPercentage", 77}};
  REQUIRE(apply_spec(w, "v1", "i", all).code == 201);
  const Answer moved = apply_spec(w, "v2", "i", {{"minReplicas", 2}});
  REQUIRE(moved.code == 200);
  CHECK(moved.body["spec"]["maxReplicas"] == 3);
  CHECK(moved.body["spec"]["scaleTargetRef"] == target);
  CHECK(moved.body["spec"]["metrics"] == Json::array({share_of("cpu", 77)}));
  CHECK(owned(moved.body, "one") == Json{{"f:spec", {{"f:minReplicas", Json::object()}}}});
  const Answer back = apply_spec(w, "v1", "i", {{"maxReplicas", 8}});
  CHECK(back.body["spec"]["minReplicas"] == 1);
  const Answer again = apply_spec(w, "v2", "i", {{"minReplicas", 3}});
  CHECK(again.code == 200);
  CHECK(again.body["spec"]["maxReplicas"] == 8);
}

E2E_CASE("what is owned in one version of an autoscaler is not pruned in the other") {
  World w;
  const Json target = scaler("v1", "j")["spec"]["scaleTargetRef"];
  const Json bare = {{"maxReplicas", 3}, {"scaleTargetRef", target}};
  Json newer = bare;
  newer["metrics"] = Json::array({share_of("cpu", 50)});
  Json older = bare;
  older["targetCPUUtilizationPercentage"] = 50;
  REQUIRE(apply_spec(w, "v2", "j", newer).code == 201);
  REQUIRE(apply_spec(w, "v1", "j", older, "two").code == 200);
  const Json left = apply_spec(w, "v2", "j", bare).body;
  CHECK(left["spec"]["metrics"] == newer["metrics"]);
  CHECK_FALSE(owned(left, "one")["f:spec"].contains("f:metrics"));
  CHECK(owned(left, "two")["f:spec"].contains("f:targetCPUUtilizationPercentage"));
}

E2E_CASE("an apply of the same autoscaler in the other version keeps its time") {
  World w;
  const auto entry = [](const Json& object) {
    for (const Json& one : object["metadata"]["managedFields"]) {
      if (one["manager"] == "one") return one;
    }
    return Json();
  };
  const Json spec = {{"maxReplicas", 3},
                     {"scaleTargetRef", scaler("v1", "k")["spec"]["scaleTargetRef"]}};
  const Json first = entry(apply_spec(w, "v2", "k", spec).body);
  const Json second = entry(apply_spec(w, "v1", "k", spec).body);
  CHECK(second["apiVersion"] == "autoscaling/v1");
  CHECK(base::string_at(second, {"time"}) == first["time"]);
}

E2E_CASE("an unchanged autoscaler of v1 is kept as v1 says it, unless only owners change") {
  World w;
  const Json kept = Json::array({share_of("cpu", 4), share_of("memory", 5)});
  const auto metrics = [&] { return send(w, "GET", path(w, "v2", "l")).body["spec"]["metrics"]; };
  REQUIRE(send(w, "POST", path(w, "v2"), scaler("v2", "l", {{"metrics", kept}})).code == 201);
  REQUIRE(apply_spec(w, "v1", "l", {{"maxReplicas", 3}}).code == 200);
  CHECK(metrics() == kept);
  Json older = send(w, "GET", path(w, "v1", "l")).body;
  older["metadata"].erase("resourceVersion");
  CHECK(send(w, "PUT", path(w, "v1", "l"), older).code == 200);
  CHECK(metrics() == Json::array({share_of("memory", 5), share_of("cpu", 4)}));
}

E2E_CASE("spec and status of an autoscaler are written apart in both versions") {
  World w;
  const Json spec = {{"metrics", {share_of("cpu", 40), share_of("memory", 50)}}};
  REQUIRE(send(w, "POST", path(w, "v2"), scaler("v2", "h", spec)).code == 201);
  Json status = annotated(scaler("v1", "h", {{"maxReplicas", 9}}), kConditions,
                          R"([{"type":"Odd","status":"True"}])");
  status["metadata"]["annotations"][kMetrics] = "[]";
  status["status"] = {{"currentReplicas", 2}, {"currentCPUUtilizationPercentage", 9}};
  // A controller may be at it as well.
  REQUIRE(w.eventually(
      [&] { return send(w, "PUT", path(w, "v1", "h") + "/status", status).code == 200; }));
  const Json newer = send(w, "GET", path(w, "v2", "h")).body;
  CHECK(newer["spec"]["maxReplicas"] == 3);
  CHECK(newer["spec"]["metrics"] == Json::array({share_of("cpu", 40), share_of("memory", 50)}));

  Json bare = scaler("v2", "h", {{"maxReplicas", 9}});
  bare["status"] = {{"currentReplicas", 2}};
  const Json told = send(w, "PUT", path(w, "v2", "h") + "/status", bare).body;
  CHECK(told["status"] ==
        Json{{"currentReplicas", 2}, {"desiredReplicas", 0}, {"currentMetrics", nullptr}});
  bare = annotated(scaler("v1", "h"), kConditions, R"([{"type":"Odd","status":"True"}])");
  const Json main = send(w, "PUT", path(w, "v1", "h"), bare).body;
  CHECK(annotation(main, kConditions).find("Odd") == std::string::npos);
}

}  // namespace kubewatch::e2e
