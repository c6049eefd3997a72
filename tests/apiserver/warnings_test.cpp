// Where the warnings of built-in kinds reach the client. Which there are: tests/builtin.
#include "apiserver/api_target.hpp"
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

TEST_CASE("warnings come with creates and applies, after those of unknown fields") {
  test::Server server;
  Json one = Json::parse(R"({"metadata": {}, "spec": {"zzz": 1, "containers": [
      {"name": "c", "image": "i"}]}})");
  one["apiVersion"] = "v1";
  one["kind"] = "Pod";
  one["metadata"]["name"] = "a.b";
  const std::string pods = "/api/v1/namespaces/default/pods";
  const auto made = server.post(pods, one);
  REQUIRE(made.code == 201);
  std::vector<std::string> warnings;
  for (const auto& [name, value] : made.headers.all()) {
    if (name == "Warning") warnings.push_back(value);
  }
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].find("unknown field") != std::string::npos);
  CHECK(warnings[1].find("the Pod's hostname") != std::string::npos);
  one["metadata"]["name"] = "c.d";
  one["spec"].erase("zzz");
  const auto applied = server.apply(pods + "/c.d?fieldManager=m", one);
  CHECK(std::string(applied.headers.get("Warning")).find("hostname") != std::string::npos);
}

TEST_CASE("a definition that is refused is not warned of, and a kept format only once") {
  test::Server server;
  Json crd = test::website_crd();
  Json& spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
  spec["properties"]["host"]["format"] = "foo";
  Json wrong = crd;
  wrong["metadata"]["name"] = "other";
  const auto refused = server.post(test::kCrdPath, wrong);
  CHECK(refused.code == 422);
  CHECK(refused.headers.get("Warning").empty());
  const auto made = server.post(test::kCrdPath, crd);
  CHECK(made.code == 201);
  CHECK(made.headers.get("Warning") == R"(299 - "unrecognized format \"foo\"")");
  const auto kept = server.merge(test::kCrdPath + "/websites.demo.kubewatch.dev",
                                 {{"metadata", {{"labels", {{"a", "b"}}}}}});
  CHECK(kept.code == 200);
  CHECK(kept.headers.get("Warning").empty());
}

TEST_CASE("a body of another kind is read as that kind before it is refused") {
  test::Server server;
  const auto told = [&](const std::string& body) {
    return server.call("POST", test::kConfigMaps, body).message();
  };
  CHECK(told(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"b"},"data":{"x":"y"}})") ==
        "Secret in version \"v1\" cannot be handled as a ConfigMap: illegal base64 data at input "
        "byte 0");
  CHECK(told(R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":"y"}})") ==
        "Deployment in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
        "string into Go struct field DeploymentSpec.spec.replicas of type int32");
  CHECK(told(R"({"apiVersion":"v1","kind":"Pod","spec":{"foo":1}})") ==
        "Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to "
        "(core.ConfigMap): unknown conversion");
}

TEST_CASE("a rule that an update may leave broken is warned of, at both endpoints") {
  test::Server server;
  Json crd = test::website_crd();
  REQUIRE(server.post(test::kCrdPath, crd).code == 201);
  REQUIRE(server.post(test::kWebsites, test::website("a", {{"host", "abc"}})).code == 201);
  const std::string definition = test::kCrdPath + "/websites.demo.kubewatch.dev";
  crd = server.get(definition).json;
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
     ["x-kubernetes-validations"] =
         Json::array({{{"rule", "has(self.mode)"}, {"message", "needs a mode"}}});
  REQUIRE(server.put(definition, crd).code == 200);
  const std::string site = test::kWebsites + "/a";
  const std::string told = "299 - \"spec: Invalid value: needs a mode\"";
  const auto labelled = server.merge(site, {{"metadata", {{"labels", {{"a", "b"}}}}}});
  CHECK(labelled.code == 200);
  CHECK(labelled.headers.get("Warning") == told);
  const auto status = server.merge(site + "/status", {{"status", {{"n", 1}}}});
  CHECK(status.code == 200);
  CHECK(status.headers.get("Warning") == told);
  const auto refused = server.merge(site, {{"spec", {{"host", "abd"}}}});
  CHECK(refused.code == 422);
  CHECK_FALSE(refused.headers.has("Warning"));
}

TEST_CASE("an apply that changes nothing is judged, and warned of, as any other update") {
  test::Server server;
  REQUIRE(server.post(test::kCrdPath, test::website_crd()).code == 201);
  const std::string site = test::kWebsites + "/a?fieldManager=m";
  const Json object = test::website("a", {{"host", "abc"}});
  const auto made = server.apply(site, object);
  REQUIRE(made.code == 201);
  server.advance(90000);
  const std::string definition = test::kCrdPath + "/websites.demo.kubewatch.dev";
  Json crd = server.get(definition).json;
  Json& root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  root["properties"]["spec"]["x-kubernetes-validations"] =
      Json::array({{{"rule", "has(self.mode)"}, {"message", "needs a mode"}}});
  REQUIRE(server.put(definition, crd).code == 200);
  for (const char* dry : {"&dryRun=All", ""}) {
    const auto same = server.apply(site + dry, object);
    CHECK(same.code == 200);
    CHECK(same.headers.get("Warning") == "299 - \"spec: Invalid value: needs a mode\"");
    CHECK(same.json == made.json);
  }
  crd = server.get(definition).json;
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] =
      Json::array({{{"rule", "has(self.spec.mode)"}, {"message", "needs it"}}});
  REQUIRE(server.put(definition, crd).code == 200);
  const auto refused = server.apply(site, object);
  CHECK(refused.code == 422);
  CHECK(refused.message().find("<nil>: Invalid value: needs it") != std::string::npos);
}

TEST_CASE("warnings are told once, and cut where all of them are too long") {
  const auto told = [](const std::vector<std::string>& warnings) {
    ApiResponse response;
    add_warnings(warnings, response);
    std::vector<std::string> out;
    for (const auto& [name, value] : response.headers.all()) out.push_back(value);
    return out;
  };
  CHECK(told({"a", "", "b\"", "a", "c\n", "d\xc2\x85", "e\xff"}) ==
        std::vector<std::string>{"299 - \"a\"", R"(299 - "b\"")"});
  const auto many = [](int count) {
    std::vector<std::string> out;
    for (int i = 0; i < count; ++i) {
      std::string text;
      for (int one = 0; one < 1000; ++one) text += "\xc3\xa9";
      out.push_back(text + std::to_string(i));
    }
    return out;
  };
  const std::size_t around = std::string("299 - \"\"").size();
  const auto whole = told(many(4));
  REQUIRE(whole.size() == 4);
  CHECK(whole.back().size() == around + 2001);
  const auto cut = told(many(5));
  REQUIRE(cut.size() == 5);
  CHECK(cut.back().size() == around + 512);
  CHECK(told(many(20)).size() == 16);
}

}  // namespace kubewatch::apiserver
