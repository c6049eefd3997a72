// What is taken out of objects that another cluster saved.
#include "apiserver/saved_objects.hpp"

#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

using Told = std::vector<std::string>;

Json service(const char* spec) {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", {{"name", "s"}}},
          {"spec", Json::parse(spec)}};
}

}  // namespace

TEST_CASE("addresses, families and ports of another cluster are taken out of a Service and told") {
  Json own = service(R"({"clusterIP":"10.96.3.4","clusterIPs":["10.96.3.4"],
                         "ports":[{"port":80,"nodePort":30080}]})");
  const Json before = own;
  CHECK(fit_saved(own, {}).empty());
  CHECK(own == before);
  Json headless = service(R"({"clusterIP":"None","clusterIPs":["None"]})");
  CHECK(fit_saved(headless, {}).empty());
  CHECK(headless["spec"]["clusterIP"] == "None");
  Json other = service(R"({"clusterIP":"172.20.1.2","clusterIPs":["172.20.1.2"],
                           "healthCheckNodePort":8080,"ports":[{"port":80,"nodePort":8081}]})");
  CHECK(fit_saved(other, {}) == Told{"the address 172.20.1.2 is not of 10.96.0.0/16",
                                     "the healthCheckNodePort 8080 is not of 30000-32767",
                                     "the nodePort 8081 is not of 30000-32767"});
  CHECK(other["spec"] == Json::parse(R"({"ports":[{"port":80}]})"));
  Json both = service(R"({"clusterIP":"10.96.3.4","clusterIPs":["10.96.3.4","fd00::1"],
                          "ipFamilies":["IPv4","IPv6"],"ipFamilyPolicy":"RequireDualStack"})");
  CHECK(fit_saved(both, {}) ==
        Told{"the address fd00::1 is not of 10.96.0.0/16", "the family IPv6 is not served"});
  CHECK(both["spec"] == Json::parse(R"({"clusterIP":"10.96.3.4"})"));
}

TEST_CASE("ephemeral containers, which no create takes, are taken out of a Pod and told") {
  Json pod = Json::parse(R"({"apiVersion":"v1","kind":"Pod","spec":{
      "containers":[{"name":"c"}],"ephemeralContainers":[{"name":"d"}]}})");
  CHECK(fit_saved(pod, {}) == Told{"its ephemeral containers cannot be made"});
  CHECK(pod["spec"] == Json::parse(R"({"containers":[{"name":"c"}]})"));
  CHECK(fit_saved(pod, {}).empty());
  Json other = Json::parse(R"({"apiVersion":"a.b/v1","kind":"Pod","spec":{
      "ephemeralContainers":[{"name":"d"}]}})");
  CHECK(fit_saved(other, {}).empty());
  CHECK(other["spec"].contains("ephemeralContainers"));
}

TEST_CASE("owners that are not loaded as well are taken out of an object and told") {
  const Json owner = {{"metadata", {{"uid", "u-1"}}}};
  const Json stranger = {{"metadata", {{"name", "no uid"}}}};
  const auto loaded = uids_of({&owner, &stranger});
  CHECK(loaded == std::set<std::string>{"u-1"});
  Json object = Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"ownerReferences":[
      {"kind":"ReplicaSet","name":"there","uid":"u-1"},
      {"kind":"Node","name":"away","uid":"u-2"},{"kind":"Bad"}]}})");
  CHECK(fit_saved(object, loaded) == Told{"its owner Node \"away\" is not loaded"});
  const Json& left = object["metadata"]["ownerReferences"];
  REQUIRE(left.size() == 2);
  CHECK(left[0]["name"] == "there");
}

}  // namespace kubewatch::apiserver
