// What the cases on a shared server have to do without: the one default among PriorityClasses, and
// lists of a size at which comparing each item with each other would not end.
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

TEST_CASE("many tolerations of a Pod and of its RuntimeClass become one list") {
  constexpr int kMany = 12000;
  test::Server server;
  const auto many = [](const char* start, const char* op) {
    Json list = Json::array();
    for (int i = 0; i < kMany; ++i) {
      list.push_back({{"key", start + std::to_string(i)}, {"operator", op}});
    }
    return list;
  };
  Json runtime = {{"metadata", {{"name", "many"}}}, {"handler", "h"}};
  runtime["scheduling"] = {{"tolerations", many("r", "Exists")}};
  // What one of the Pod's covers, and one that an equal one is followed by.
  runtime["scheduling"]["tolerations"].push_back(
      {{"key", "p7"}, {"operator", "Equal"}, {"value", "v"}, {"effect", "NoExecute"}});
  runtime["scheduling"]["tolerations"].push_back({{"key", "p8"}, {"operator", "Exists"}});
  REQUIRE(server.post("/apis/node.k8s.io/v1/runtimeclasses", runtime).code == 201);
  Json pod = {{"metadata", {{"name", "many"}}}};
  pod["spec"] = {{"containers", Json::parse(R"([{"name":"c","image":"i"}])")},
                 {"runtimeClassName", "many"},
                 {"tolerations", many("p", "Exists")}};
  // Covered by one that comes after it.
  pod["spec"]["tolerations"][0] = {
      {"key", "r3"}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 5}};
  const auto made = server.post("/api/v1/namespaces/default/pods", pod);
  REQUIRE(made.code == 201);
  const Json& list = made.json["spec"]["tolerations"];
  // Two more are the Pod's by default: of nodes that are not ready or reached.
  CHECK(list.size() == 2 * kMany - 1 + 2);
  CHECK(list[0]["key"] == "p1");
}

TEST_CASE("of tolerations that match the same the one that lasts longest stays") {
  test::Server server;
  const auto lasting = [](Json seconds) {
    Json out = {{"key", "k"}, {"operator", "Exists"}, {"effect", "NoExecute"}};
    if (!seconds.is_null()) out["tolerationSeconds"] = std::move(seconds);
    return out;
  };
  const auto valued = [](const char* value) {
    return Json{{"key", "e"}, {"operator", "Equal"}, {"value", value}};
  };
  Json runtime = {{"metadata", {{"name", "few"}}}, {"handler", "h"}};
  runtime["scheduling"] = {{"tolerations", {lasting(9), valued("a"), valued("b")}}};
  REQUIRE(server.post("/apis/node.k8s.io/v1/runtimeclasses", runtime).code == 201);
  const auto merged = [&](const char* name, const Json& tolerations) {
    Json pod = {{"metadata", {{"name", name}}}};
    pod["spec"] = {{"containers", Json::parse(R"([{"name":"c","image":"i"}])")},
                   {"runtimeClassName", "few"},
                   {"tolerations", tolerations}};
    const auto made = server.post("/api/v1/namespaces/default/pods", pod);
    Json out = Json::array();
    if (made.code != 201) return out;
    for (const Json& one : made.json["spec"]["tolerations"]) {
      if (!base::string_at(one, {"key"}).starts_with("node.kubernetes.io/")) out.push_back(one);
    }
    return out;
  };
  CHECK(merged("a", {lasting(5), valued("b")}) == Json({valued("b"), lasting(9), valued("a")}));
  CHECK(merged("b", {lasting(9), lasting(3)}) == Json({lasting(9), valued("a"), valued("b")}));
  CHECK(merged("c", Json::array({lasting(nullptr)})) ==
        Json({lasting(nullptr), valued("a"), valued("b")}));
  const Json all = {{"operator", "Exists"}};
  CHECK(merged("d", {valued("c"), all}) == Json::array({all}));
}

TEST_CASE("an overhead of nothing is one that the RuntimeClass of a Pod has to have") {
  test::Server server;
  const std::string classes = "/apis/node.k8s.io/v1/runtimeclasses";
  Json runtime = {{"metadata", {{"name", "light"}}}, {"handler", "h"}};
  REQUIRE(server.post(classes, runtime).code == 201);
  runtime["metadata"]["name"] = "heavy";
  runtime["overhead"] = {{"podFixed", {{"cpu", "1"}}}};
  REQUIRE(server.post(classes, runtime).code == 201);
  const auto made = [&](const char* runtime_class, bool applied) {
    Json pod = Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
        "spec":{"overhead":{},"containers":[{"name":"c","image":"i"}]}})");
    if (runtime_class != nullptr) pod["spec"]["runtimeClassName"] = runtime_class;
    const std::string pods = "/api/v1/namespaces/default/pods";
    if (!applied) return server.post(pods + "?dryRun=All", pod);
    return server.call("PATCH", pods + "/p?dryRun=All&fieldManager=m", base::dump_json(pod),
                       "application/apply-patch+yaml");
  };
  for (const bool applied : {false, true}) {
    CAPTURE(applied);
    for (const char* without : {static_cast<const char*>(nullptr), "light"}) {
      const auto refused = made(without, applied);
      CHECK(refused.code == 403);
      CHECK(refused.message() ==
            "pods \"p\" is forbidden: pod rejected: Pod Overhead set without corresponding "
            "RuntimeClass defined Overhead");
    }
    const auto heavy = made("heavy", applied);
    CHECK(heavy.code == 201);
    CHECK(heavy.json["spec"]["overhead"]["cpu"] == "1");
  }
}

}  // namespace kubewatch::apiserver
