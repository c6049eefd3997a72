// Kinds about the server itself: APIServices, FlowSchemas, PriorityLevelConfigurations.
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::Server;

namespace {

const std::string kApiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
const std::string kMetrics = kApiServices + "/v1beta1.metrics.k8s.io";
const std::string kLevels = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";

Json api_service(const std::string& version, const std::string& group, Json spec) {
  spec["group"] = group;
  spec["version"] = version;
  spec["groupPriorityMinimum"] = 100;
  spec["versionPriority"] = 100;
  return {{"apiVersion", "apiregistration.k8s.io/v1"},
          {"kind", "APIService"},
          {"metadata", {{"name", version + "." + group}}},
          {"spec", std::move(spec)}};
}

Json metrics() {
  return api_service("v1beta1", "metrics.k8s.io",
                     {{"service", {{"name", "metrics-server"}, {"namespace", "kube-system"}}}});
}

Json condition(Server& server, const std::string& path = kMetrics) {
  return server.get(path).json["status"].value("conditions", Json::array({Json::object()}))[0];
}

}  // namespace

TEST_CASE("an APIService without a service is available when it is made") {
  Server server;
  const auto made =
      server.post(kApiServices, api_service("v1", "local.example.com", Json::object()));
  REQUIRE(made.code == 201);
  CHECK(made.json["status"]["conditions"][0]["reason"] == "Local");
  CHECK(made.json["status"]["conditions"][0]["lastTransitionTime"] ==
        made.json["metadata"]["creationTimestamp"]);
  CHECK_FALSE(made.json["metadata"]["managedFields"][0]["fieldsV1"].contains("f:status"));
}

TEST_CASE("the condition of an APIService follows what is behind it") {
  Server server;
  const auto made = server.post(kApiServices, metrics());
  REQUIRE(made.code == 201);
  CHECK(made.json["status"] == Json::object());
  server.settle();
  CHECK(condition(server)["reason"] == "ServiceNotFound");
  const Json entry = server.get(kMetrics).json["metadata"]["managedFields"][0];
  CHECK(entry["manager"] == "kube-apiserver");
  CHECK(entry["subresource"] == "status");

  server.post("/api/v1/namespaces/kube-system/services",
              {{"apiVersion", "v1"},
               {"kind", "Service"},
               {"metadata", {{"name", "metrics-server"}}},
               {"spec", {{"ports", {{{"port", 443}, {"name", "https"}}}}}}});
  server.settle();
  CHECK(condition(server)["reason"] == "EndpointsNotFound");
  const std::string slices = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices";
  server.post(slices,
              {{"apiVersion", "discovery.k8s.io/v1"},
               {"kind", "EndpointSlice"},
               {"metadata",
                {{"name", "e"}, {"labels", {{"kubernetes.io/service-name", "metrics-server"}}}}},
               {"addressType", "IPv4"},
               {"ports", {{{"name", "https"}, {"port", 4443}}}},
               {"endpoints", {{{"addresses", {"1.2.3.4"}}}}}});
  server.settle();
  CHECK(condition(server)["reason"] == "FailedDiscoveryCheck");
  server.remove(slices + "/e");
  server.settle();
  CHECK(condition(server)["reason"] == "EndpointsNotFound");
  const auto table = server.call("GET", kMetrics, "", "", test::kTableAccept);
  CHECK(table.json["rows"][0]["cells"][1] == "kube-system/metrics-server");
  CHECK(table.json["rows"][0]["cells"][2] == "False (EndpointsNotFound)");
  // Nobody answers for its group.
  CHECK(server.get("/apis/metrics.k8s.io/v1beta1/nodes").code == 404);
}

TEST_CASE("of an APIService the status endpoint writes the status alone") {
  Server server;
  server.post(kApiServices, metrics());
  server.settle();
  Json object = server.get(kMetrics).json;
  object["metadata"]["labels"] = {{"a", "b"}};
  object["spec"]["versionPriority"] = 5;
  object["status"]["conditions"] = {{{"type", "Own"}, {"status", "True"}}};
  const auto written = server.put(kMetrics + "/status", object);
  REQUIRE(written.code == 200);
  CHECK_FALSE(written.json["metadata"].contains("labels"));
  CHECK(written.json["spec"]["versionPriority"] == 100);
  CHECK(written.json["status"]["conditions"][0] ==
        Json{{"type", "Own"}, {"status", "True"}, {"lastTransitionTime", nullptr}});
  server.settle();
  CHECK(server.get(kMetrics).json["status"]["conditions"].size() == 2);
}

TEST_CASE("an APIService's bundle is base64, and its update names a version") {
  Server server;
  Json object = metrics();
  object["spec"]["caBundle"] = "#";
  CHECK(
      server.post(kApiServices, object).message().ends_with("illegal base64 data at input byte 0"));
  CHECK(server.post(kApiServices, metrics()).code == 201);
  CHECK(server.put(kMetrics, metrics()).message().ends_with("must be specified for an update"));
}

TEST_CASE("flow control objects count the changes of their specs") {
  Server server;
  const Json level = {
      {"apiVersion", "flowcontrol.apiserver.k8s.io/v1"},
      {"kind", "PriorityLevelConfiguration"},
      {"metadata", {{"name", "p"}}},
      {"spec",
       {{"type", "Limited"},
        {"limited", {{"limitResponse", {{"type", "Queue"}, {"queuing", Json::object()}}}}}}}};
  const auto made = server.post(kLevels, level);
  REQUIRE(made.code == 201);
  CHECK(made.json["metadata"]["generation"] == 1);
  CHECK(made.json["spec"]["limited"]["nominalConcurrencyShares"] == 30);
  const Json less = {{"spec", {{"limited", {{"nominalConcurrencyShares", 5}}}}}};
  CHECK(server.merge(kLevels + "/p", less).json["metadata"]["generation"] == 2);
  const Json label = {{"metadata", {{"labels", {{"a", "b"}}}}}};
  CHECK(server.merge(kLevels + "/p", label).json["metadata"]["generation"] == 2);
  CHECK(server.merge(kLevels + "/p/status", label).json["metadata"]["generation"] == 2);
  const auto table = server.call("GET", kLevels + "/p", "", "", test::kTableAccept);
  CHECK(table.json["rows"][0]["cells"][2] == 5);
  CHECK(table.json["rows"][0]["cells"][3] == 64);
  const Json odd = {{"status", {{"conditions", {{{"type", ""}}}}}}};
  CHECK(server.merge(kLevels + "/p/status", odd).code == 422);
}

}  // namespace kubewatch::apiserver
