// The one default among PriorityClasses, which the cases on a shared server have to do without.
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char* kClasses = "/apis/scheduling.k8s.io/v1/priorityclasses";

Json default_class(const std::string& name, std::int64_t value) {
  return {{"metadata", {{"name", name}}}, {"value", value}, {"globalDefault", true}};
}

}  // namespace

TEST_CASE("a Pod without a class has the default one, of which there is one") {
  test::Server server;
  const std::string pods = "/api/v1/namespaces/default/pods";
  const Json containers = Json::parse(R"([{"name":"c","image":"i"}])");
  const auto pod = [&](const std::string& name) {
    return Json{{"metadata", {{"name", name}}}, {"spec", {{"containers", containers}}}};
  };
  CHECK(server.post(pods, pod("before")).json["spec"]["priority"] == 0);
  REQUIRE(server.post(kClasses, default_class("seven", 7)).code == 201);
  const Json spec = server.post(pods, pod("after")).json["spec"];
  CHECK(spec["priority"] == 7);
  CHECK(spec["priorityClassName"] == "seven");
  const std::string taken =
      "PriorityClass seven is already marked as default. Only one default can exist";
  const auto second = server.post(kClasses, default_class("three", 3));
  CHECK(second.code == 403);
  CHECK(second.message() == "priorityclasses.scheduling.k8s.io \"three\" is forbidden: " + taken);
  // It is told before that the name is taken, and after what is wrong with the object.
  CHECK(server.post(kClasses, default_class("seven", 7)).code == 403);
  CHECK(server.post(kClasses, default_class("three!", 3)).code == 422);
  Json other = default_class("five", 5);
  other["globalDefault"] = false;
  REQUIRE(server.post(kClasses, other).code == 201);
  const std::string merge = "application/merge-patch+json";
  const std::string five = std::string(kClasses) + "/five";
  CHECK(server.call("PATCH", five, R"({"globalDefault":true})", merge).code == 403);
  const std::string seven = std::string(kClasses) + "/seven";
  CHECK(server.call("PATCH", seven, R"({"description":"x"})", merge).code == 200);
}

}  // namespace kubewatch::apiserver
