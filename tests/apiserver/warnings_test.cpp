// Where the warnings of built-in kinds reach the client. Which there are: tests/builtin.
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

}  // namespace kubewatch::apiserver
