// Whether what an APIService names is available.
#include "builtin/aggregation.hpp"

#include "builtin/defaults.hpp"
#include "builtin/typed_objects.hpp"
#include "support/catch.hpp"

namespace kubewatch::builtin {

namespace {

const Json kRemote = Json::parse(R"({"spec":{"group":"g","version":"v1",
    "service":{"name":"s","namespace":"n","port":443}}})");

Json service(const char* ports, const char* type = "ClusterIP") {
  return {{"spec", {{"type", type}, {"ports", Json::parse(ports)}}}};
}

std::string reason(const Json* service, const std::vector<const Json*>& slices = {}) {
  return base::string_at(availability(kRemote, service, slices), {"reason"});
}

}  // namespace

TEST_CASE("an APIService without a service is available") {
  const Json told = availability(Json{{"spec", Json::object()}}, nullptr, {});
  CHECK(told["status"] == "True");
  CHECK(told["reason"] == "Local");
}

TEST_CASE("the first thing that is missing is told") {
  CHECK(availability(kRemote, nullptr, {})["message"] == "service/s in \"n\" is not present");
  const Json other = service(R"([{"port":80}])");
  CHECK(reason(nullptr) == "ServiceNotFound");
  CHECK(reason(&other) == "ServicePortError");
  const Json right = service(R"([{"port":443,"name":"https"}])");
  CHECK(reason(&right) == "EndpointsNotFound");
  const Json resting = Json::parse(R"({"endpoints":[{"conditions":{"ready":false}}],
                                       "ports":[{"name":"https","port":1}]})");
  const Json elsewhere = Json::parse(R"({"endpoints":[{}],"ports":[{"name":"http","port":1}]})");
  CHECK(reason(&right, {&resting, &elsewhere}) == "MissingEndpoints");
  const Json ready = Json::parse(R"({"endpoints":[{}],"ports":[{"name":"https","port":1}]})");
  CHECK(reason(&right, {&resting, &ready}) == "FailedDiscoveryCheck");
  // Of others the ports are not looked at.
  const Json external = service("[]", "ExternalName");
  CHECK(reason(&external) == "FailedDiscoveryCheck");
}

TEST_CASE("the time of a condition is that of its last change") {
  Json object = Json::object();
  const Json missing = availability(kRemote, nullptr, {});
  CHECK(set_availability(object, missing, "1"));
  CHECK_FALSE(set_availability(object, missing, "2"));
  const Json other = service(R"([{"port":80}])");
  CHECK(set_availability(object, availability(kRemote, &other, {}), "3"));
  CHECK(object["status"]["conditions"][0]["lastTransitionTime"] == "1");
  CHECK(set_availability(object, availability(Json::object(), nullptr, {}), "4"));
  REQUIRE(object["status"]["conditions"].size() == 1);
  CHECK(object["status"]["conditions"][0]["lastTransitionTime"] == "4");
}

TEST_CASE("an APIService gets its service's port") {
  Json object = typed_object(kApiServices, Json::parse(R"({"spec":{"service":{}}})"));
  apply_defaults(kApiServices, object);
  CHECK(object["spec"]["service"]["port"] == 443);
  CHECK(object["status"] == Json::object());
}

}  // namespace kubewatch::builtin
