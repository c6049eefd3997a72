// Definitions whose group, version or names are those of built-in kinds.
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::kCrdPath;
using test::Server;

namespace {

const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

Json definition(const std::string& plural, const std::string& kind, const std::string& word) {
  Json crd = test::website_crd();
  crd["metadata"] = {{"name", plural + ".coordination.k8s.io"},
                     {"annotations", {{"api-approved.kubernetes.io", word}}}};
  crd["spec"]["group"] = "coordination.k8s.io";
  crd["spec"]["names"] = {{"plural", plural}, {"kind", kind}};
  Json version = crd["spec"]["versions"][0];
  crd["spec"]["versions"] = Json::array({version});
  return crd;
}

Json condition(const Json& crd, const std::string& type) {
  for (const Json& one : crd["status"]["conditions"]) {
    if (one["type"] == type) return one;
  }
  return nullptr;
}

Server& with_lease(Server& server) {
  server.post(kLeases, {{"apiVersion", "coordination.k8s.io/v1"},
                        {"kind", "Lease"},
                        {"metadata", {{"name", "l"}}},
                        {"spec", {{"holderIdentity", "h"}}}});
  return server;
}

}  // namespace

TEST_CASE("a definition in a built-in group and version is established and served nowhere") {
  Server server;
  with_lease(server);
  REQUIRE(server.post(kCrdPath, definition("foos", "Lease", "https://x.io/1")).code == 201);
  const Json made = server.get(kCrdPath + "/foos.coordination.k8s.io").json;
  CHECK(condition(made, "Established")["status"] == "True");
  CHECK(server.get("/apis/coordination.k8s.io/v1/namespaces/default/foos").code == 404);
  CHECK(server.get(kLeases + "/l").json["spec"]["holderIdentity"] == "h");
}

TEST_CASE("a definition with the name of a built-in kind leaves its objects alone") {
  Server server;
  with_lease(server);
  const auto watch = server.watch(kLeases + "?watch=1");
  REQUIRE(server.post(kCrdPath, definition("leases", "Foo", "https://x.io/1")).code == 201);
  const std::string one = kCrdPath + "/leases.coordination.k8s.io";
  server.merge(one, {{"spec", {{"names", {{"shortNames", {"fo"}}}}}}});
  CHECK(server.get(kLeases + "/l").json["spec"]["holderIdentity"] == "h");
  server.remove(one);
  server.settle();
  CHECK(server.get(one).code == 404);
  CHECK(server.get(kLeases + "/l").code == 200);
  CHECK_FALSE(watch->ended);
}

TEST_CASE("whether a group of Kubernetes was approved is a condition") {
  Server server;
  server.post(kCrdPath, definition("foos", "Foo", "https://x.io/1"));
  server.post(kCrdPath, definition("bars", "Bar", "unapproved, a test"));
  const std::string type = "KubernetesAPIApprovalPolicyConformant";
  const Json yes = condition(server.get(kCrdPath + "/foos.coordination.k8s.io").json, type);
  CHECK(yes["status"] == "True");
  CHECK(yes["message"] == "approved in https://x.io/1");
  const Json no = condition(server.get(kCrdPath + "/bars.coordination.k8s.io").json, type);
  CHECK(no["status"] == "False");
  CHECK(no["reason"] == "UnapprovedAnnotation");
  CHECK(no["message"] == "not approved: \"unapproved, a test\"");
  server.post(kCrdPath, test::website_crd());
  CHECK(condition(server.get(kCrdPath + "/websites.demo.kubewatch.dev").json, type).is_null());
}

}  // namespace kubewatch::apiserver
