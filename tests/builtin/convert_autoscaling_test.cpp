// Autoscalers between the fields of their two versions.
#include "builtin/convert_autoscaling.hpp"

#include "support/catch.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr const char* kCurrent = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr const char* kConditions = "autoscaling.alpha.kubernetes.io/conditions";
constexpr const char* kBehavior = "autoscaling.alpha.kubernetes.io/behavior";

// An autoscaler of v2 with that spec and status.
Json newer(const char* spec, const char* status = "{}") {
  return {{"apiVersion", "autoscaling/v2"},
          {"metadata", {{"name", "a"}}},
          {"spec", Json::parse(spec)},
          {"status", Json::parse(status)}};
}

Json older(const char* annotation, const std::string& text, const char* spec = "{}") {
  return {{"apiVersion", "autoscaling/v1"},
          {"metadata", {{"name", "a"}, {"annotations", {{annotation, text}}}}},
          {"spec", Json::parse(spec)}};
}

std::string annotation(const Json& object, const char* key) {
  return base::string_at(object, {"metadata", "annotations", key});
}

const char* const kCpu80 =
    R"([{"type":"Resource","resource":{"name":"cpu",
        "target":{"type":"Utilization","averageUtilization":80}}}])";

}  // namespace

TEST_CASE("the CPU's share is a field of v1, its first where there are more") {
  const Json out = autoscaler_to_v1(newer(R"({"metrics":[
      {"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":1}}},
      {"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":2}}}]})"));
  CHECK(out["apiVersion"] == "autoscaling/v1");
  CHECK(out["spec"] == Json{{"targetCPUUtilizationPercentage", 1}});
  CHECK(out["status"] == Json{{"currentReplicas", 0}, {"desiredReplicas", 0}});
  CHECK_FALSE(out["metadata"].contains("annotations"));
  const Json back = autoscaler_to_v2(out);
  CHECK(back["spec"]["metrics"][0]["resource"]["target"] ==
        Json{{"type", "Utilization"}, {"averageUtilization", 1}});
}

TEST_CASE("v1 without any metric means four fifths of the CPU") {
  const Json out = autoscaler_to_v2(Json{{"metadata", Json::object()}, {"spec", nullptr}});
  CHECK(out["spec"]["metrics"] == Json::parse(kCpu80));
  CHECK(out["status"] == Json{{"currentMetrics", nullptr}});
}

TEST_CASE("each kind of metric is written as v1 has it, and read again") {
  const char* const metrics = R"([
    {"type":"Object","object":{"describedObject":{"kind":"Service","name":"s","apiVersion":"v1"},
      "metric":{"name":"m&"},"target":{"type":"AverageValue","averageValue":"2"}}},
    {"type":"Object","object":{"describedObject":{"kind":"Service","name":"s"},
      "metric":{"name":"m"},"target":{"type":"Value","value":"3"}}},
    {"type":"Pods","pods":{"metric":{"name":"p","selector":{"matchLabels":{"a":"b"},
      "matchExpressions":[{"key":"k","operator":"Exists"}]}},
      "target":{"type":"AverageValue","averageValue":"1"}}},
    {"type":"ContainerResource","containerResource":{"name":"cpu","container":"c",
      "target":{"type":"Utilization","averageUtilization":5}}},
    {"type":"Resource","resource":{"name":"cpu","target":{"type":"AverageValue",
      "averageValue":"1"}}},
    {"type":"External","external":{"metric":{"name":"e"},"target":{"type":"Value","value":"1"}}}])";
  const Json spec = {{"metrics", Json::parse(metrics)}};
  const Json out = autoscaler_to_v1(newer(spec.dump().c_str()));
  CHECK(annotation(out, kMetrics) ==
        R"([{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},)"
        R"("metricName":"m\u0026","targetValue":"0","averageValue":"2"}},)"
        R"({"type":"Object","object":{"target":{"kind":"Service","name":"s"},"metricName":"m",)"
        R"("targetValue":"3"}},)"
        R"({"type":"Pods","pods":{"metricName":"p","targetAverageValue":"1","selector":)"
        R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"Exists"}]}}},)"
        R"({"type":"ContainerResource","containerResource":{"name":"cpu",)"
        R"("targetAverageUtilization":5,"container":"c"}},)"
        R"({"type":"Resource","resource":{"name":"cpu","targetAverageValue":"1"}},)"
        R"({"type":"External","external":{"metricName":"e","targetValue":"1"}}])");
  CHECK_FALSE(out["spec"].contains("targetCPUUtilizationPercentage"));
  CHECK(autoscaler_to_v2(out)["spec"] == spec);
}

TEST_CASE("conditions, current metrics and the behavior survive v1") {
  const Json object = newer(
      R"({"metrics":[{"type":"Resource","resource":{"name":"cpu",
            "target":{"type":"Utilization","averageUtilization":80}}}],
          "behavior":{"scaleUp":{"policies":[{"type":"Pods","value":1,"periodSeconds":2}],
                                 "selectPolicy":"Max","tolerance":"100m"}}})",
      R"({"currentReplicas":2,"desiredReplicas":3,
          "conditions":[{"type":"A","status":"True","lastTransitionTime":null,"message":"m"}],
          "currentMetrics":[{"type":"Resource","resource":{"name":"cpu",
            "current":{"averageUtilization":3,"averageValue":"1"}}}]})");
  const Json out = autoscaler_to_v1(object);
  CHECK(out["status"] == Json{{"currentReplicas", 2},
                              {"desiredReplicas", 3},
                              {"currentCPUUtilizationPercentage", 3}});
  CHECK(annotation(out, kConditions) ==
        R"([{"type":"A","status":"True","lastTransitionTime":null,"message":"m"}])");
  CHECK(annotation(out, kCurrent) ==
        R"([{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":3,)"
        R"("currentAverageValue":"1"}}])");
  CHECK(annotation(out, kBehavior) ==
        R"({"ScaleUp":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":)"
        R"([{"Type":"Pods","Value":1,"PeriodSeconds":2}],"Tolerance":"100m"},"ScaleDown":null})");
  CHECK(autoscaler_to_v2(out) == object);
}

TEST_CASE("names in annotations are read in any case, values of other types not at all") {
  const Json lower = autoscaler_to_v2(
      older(kBehavior, R"({"scaleDown":{"policies":[{"type":"Pods","value":1}]}})"));
  CHECK(lower["spec"]["behavior"]["scaleDown"]["policies"][0] ==
        Json{{"type", "Pods"}, {"value", 1}, {"periodSeconds", 0}});
  // Without policies it is as wrong as with an empty list.
  const Json none =
      autoscaler_to_v2(older(kBehavior, R"({"ScaleUp":{"StabilizationWindowSeconds":1}})"));
  CHECK(none["spec"]["behavior"]["scaleUp"]["policies"] == Json::array());
  for (const char* unread : {"", "{", "[5]", R"({"a":1})", R"([{"type":5}])",
                             R"([{"resource":{"targetAverageUtilization":1.5}}])",
                             R"([{"resource":{"targetAverageUtilization":3000000000}}])",
                             R"([{"resource":{"targetAverageUtilization":18446744073709551615}}])",
                             R"([{"pods":{"targetAverageValue":"x"}}])"}) {
    CAPTURE(unread);
    const Json out = autoscaler_to_v2(older(kMetrics, unread));
    CHECK(out["spec"]["metrics"] == Json::parse(kCpu80));
    CHECK_FALSE(out["metadata"].contains("annotations"));
  }
  CHECK_FALSE(autoscaler_to_v2(older(kBehavior, "{}"))["spec"].contains("behavior"));
}

TEST_CASE("a selector in an annotation has the types of one, or nothing is read") {
  const auto read = [](const std::string& selector) {
    const std::string metric = R"([{"type":"Pods","pods":{"metricName":"m",)"
                               R"("targetAverageValue":"1","selector":)" +
                               selector + "}}]";
    return autoscaler_to_v2(older(kMetrics, metric))["spec"]["metrics"];
  };
  for (const char* unread :
       {"5", R"({"matchLabels":{"a":5}})", R"({"matchLabels":"x"})", R"({"matchLabels":[]})",
        R"({"matchExpressions":[5]})", R"({"matchExpressions":"abc"})",
        R"({"matchExpressions":{"a":1}})", R"({"matchExpressions":[{"key":5}]})",
        R"({"matchExpressions":[{"values":{}}]})", R"({"matchExpressions":[{"values":[5]}]})"}) {
    CAPTURE(unread);
    CHECK(read(unread) == Json::parse(kCpu80));
  }
  const Json found = read(R"({"MatchLabels":{"a":null,"b":"c"},"other":5,"matchExpressions":[null,
      {"Key":"k","operator":"In","values":["x",null]},{"key":"l","values":[]}]})");
  CHECK(found[0]["pods"]["metric"]["selector"] ==
        Json::parse(R"({"matchLabels":{"a":"","b":"c"},"matchExpressions":[
            {"key":"","operator":""},{"key":"k","operator":"In","values":["x",""]},
            {"key":"l","operator":""}]})"));
  CHECK(read(R"({"matchLabels":null,"matchExpressions":[]})")[0]["pods"]["metric"]["selector"] ==
        Json::object());
}

TEST_CASE("a null in a list of an annotation is one with nothing in it") {
  CHECK(autoscaler_to_v2(older(kMetrics, "[null]"))["spec"]["metrics"] ==
        Json::parse(R"([{"type":""}])"));
  const Json rules = autoscaler_to_v2(older(kBehavior, R"({"ScaleUp":{"Policies":[null]}})"));
  CHECK(rules["spec"]["behavior"]["scaleUp"]["policies"] ==
        Json::parse(R"([{"type":"","value":0,"periodSeconds":0}])"));
}

TEST_CASE("times of conditions are read as times") {
  const auto conditions = [](const std::string& time) {
    const Json list = Json::array({{{"type", "A"}, {"lastTransitionTime", time}}});
    return autoscaler_to_v2(older(kConditions, list.dump()))["status"].value("conditions", Json());
  };
  CHECK(conditions("2020-01-01T02:00:00+02:00")[0]["lastTransitionTime"] == "2020-01-01T00:00:00Z");
  for (const char* unread : {"", "x", "2020-01-01"}) CHECK(conditions(unread).is_null());
}

TEST_CASE("metrics of annotations come first, the CPU's share after them") {
  const Json out = autoscaler_to_v2(
      older(kMetrics,
            R"([{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1024Mi"}}])",
            R"({"targetCPUUtilizationPercentage":7})"));
  REQUIRE(out["spec"]["metrics"].size() == 2);
  CHECK(out["spec"]["metrics"][0]["resource"]["target"] ==
        Json{{"type", "AverageValue"}, {"averageValue", "1Gi"}});
  CHECK(out["spec"]["metrics"][1]["resource"]["target"]["averageUtilization"] == 7);
}

TEST_CASE("v2 shows none of v1's annotations, and the time of each condition") {
  Json object = newer("{}", R"({"conditions":[{"type":"A"}]})");
  object["metadata"]["annotations"] = {{kMetrics, "[]"}, {"own", "x"}};
  complete_autoscaler(object);
  CHECK(object["metadata"]["annotations"] == Json{{"own", "x"}});
  CHECK(object["status"]["conditions"][0].contains("lastTransitionTime"));
}

}  // namespace kubewatch::builtin
