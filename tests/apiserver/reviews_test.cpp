// Reviews where they are not as any cluster has them: what the sandbox grants. Their rules:
// tests/e2e/endpoint_rules_test.cpp.
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::Server;

TEST_CASE("who asks may do everything, and the answer says why") {
  Server server;
  const std::string rights = "/apis/authorization.k8s.io/v1/";
  const Json asked = {{"spec",
                       {{"user", "a"},
                        {"groups", nullptr},
                        {"resourceAttributes", {{"verb", "get"}, {"namespace", "default"}}}}}};
  const auto other = server.post(rights + "subjectaccessreviews", asked);
  CHECK(other.code == 201);
  CHECK(other.json["kind"] == "SubjectAccessReview");
  CHECK(other.json["status"] ==
        Json{{"allowed", true}, {"reason", "the sandbox has no authorization"}});
  CHECK_FALSE(other.json["spec"].contains("groups"));
  CHECK(other.json["metadata"]["managedFields"][0]["manager"] == "tester");
  const auto local = server.post(rights + "namespaces/default/localsubjectaccessreviews", asked);
  CHECK(local.code == 201);
  CHECK(local.json["metadata"]["namespace"] == "default");
  const auto self = server.post(rights + "selfsubjectaccessreviews",
                                {{"spec", {{"nonResourceAttributes", Json::object()}}}});
  CHECK(self.json["status"] == Json{{"allowed", true}});
  CHECK(server.post(rights + "tokenreviews", asked).code == 404);
}

TEST_CASE("a review of oneself is made anew, whatever was sent") {
  Server server;
  const auto self = server.post("/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                {{"metadata", {{"name", "x"}}}, {"spec", Json::object()}});
  CHECK(self.code == 201);
  CHECK(self.json["metadata"].size() == 1);
  CHECK_FALSE(self.json.contains("spec"));
  CHECK(self.headers.get("Warning") == "299 - \"unknown field \\\"spec\\\"\"");
  const auto rules = server.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                                 {{"spec", {{"namespace", "default"}}}});
  CHECK(rules.json["metadata"] == Json::object());
  CHECK(rules.json["spec"] == Json::object());
}

}  // namespace kubewatch::apiserver
