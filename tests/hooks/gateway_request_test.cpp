// What a hook with `credentials: cache` may ask for, and where it is answered.
#include "hooks/gateway_request.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using How = GatewayPlan::How;

namespace {

GatewayPlan plan(const std::string& method, const std::string& target,
                 const std::string& accept = "application/json", bool read_only = false) {
  core::ResourceType maps;
  maps.gvk = {"", "v1", "ConfigMap"};
  maps.plural = "configmaps";
  core::ResourceType sites;
  sites.gvk = {"demo.dev", "v1", "Website"};
  sites.plural = "websites";
  http::ServerRequest request;
  request.method = method;
  request.path = target.substr(0, target.find('?'));
  if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
  if (!accept.empty()) request.headers.add("Accept", accept);
  return plan_gateway_request(request, {maps, sites}, "kubewatch/web", read_only);
}

How how(const std::string& method, const std::string& target,
        const std::string& accept = "application/json") {
  return plan(method, target, accept).how;
}

const std::string kMaps = "/api/v1/namespaces/shop/configmaps";

}  // namespace

TEST_CASE("in a dry run reads are answered, and writes refused in its words") {
  CHECK(plan("GET", kMaps + "/a", "application/json", true).how == How::cache);
  CHECK(plan("GET", "/api", "application/json", true).how == How::forward);
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    const std::string target = method == std::string("POST") ? kMaps : kMaps + "/a";
    INFO(method);
    CHECK(plan(method, target).how == How::forward);
    const auto refused = plan(method, target, "application/json", true);
    CHECK(refused.how == How::refuse);
    CHECK(refused.status == 403);
    CHECK(refused.message.find("a dry run writes nothing") == 0);
  }
}

TEST_CASE("the root is no path of the API") {
  const auto root = plan("GET", "/");
  CHECK(root.how == How::refuse);
  CHECK(root.status == 403);
  CHECK(root.message == "not a path of the Kubernetes API");
}

TEST_CASE("plain reads may come from the cache, what only the server can say is passed on") {
  const auto one = plan("GET", kMaps + "/a");
  CHECK(one.how == How::cache);
  CHECK(one.path.namespace_ == "shop");
  CHECK(one.path.plural == "configmaps");
  CHECK(one.path.name == "a");
  const auto list = plan("GET", "/apis/demo.dev/v1/websites?labelSelector=a%3Db%2Cc&limit=500");
  CHECK(list.how == How::cache);
  CHECK(list.label_selector == "a=b,c");
  CHECK(list.path.group == "demo.dev");
  CHECK(list.path.name.empty());
  CHECK(how("GET", kMaps + "?resourceVersion=0") == How::cache);
  CHECK(how("GET", kMaps, "") == How::cache);
  CHECK(how("GET", "/api/v1/namespaces/shop") == How::cache);
  CHECK(plan("GET", "/api/v1/namespaces/shop").path.plural == "namespaces");

  for (const std::string& target :
       {kMaps + "?watch=true", kMaps + "?resourceVersion=7", kMaps + "?fieldSelector=a%3Db",
        kMaps + "?continue=x", kMaps + "?what=ever", std::string("/api"), std::string("/apis"),
        std::string("/version"), std::string("/openapi/v3/apis/apps/v1"),
        std::string("/apis/apps/v1"), std::string("/api/v1/namespaces/shop/pods/a/log?follow=true"),
        std::string("/apis/demo.dev/v1/namespaces/shop/websites/a/status")}) {
    INFO(target);
    const auto passed = plan("GET", target);
    CHECK(passed.how == How::forward);
    CHECK(passed.target == target);
    CHECK_FALSE(passed.write);
  }
  // As the server reads a flag, and the old way to ask for a watch.
  for (const std::string& target :
       {kMaps + "?watch=true", kMaps + "?watch=True", kMaps + "?watch", kMaps + "?w%61tch=1",
        std::string("/api/v1/watch/namespaces/shop/configmaps")}) {
    INFO(target);
    CHECK(how("GET", target) == How::forward);
    CHECK(plan("GET", target).streaming);
  }
  CHECK(how("GET", kMaps + "?watch=False") == How::cache);
  CHECK(plan("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Ab").path.name == "a:b");
  const auto broken = plan("GET", kMaps + "?labelSelector=%zz");
  CHECK(broken.how == How::refuse);
  CHECK(broken.status == 400);
  CHECK(how("GET", kMaps, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json") ==
        How::forward);
  CHECK(how("GET", kMaps, "application/vnd.kubernetes.protobuf") == How::forward);
}

TEST_CASE("writes go to the rule's kinds alone, under its field manager") {
  CHECK(plan("PATCH", kMaps + "/a?force=true").target ==
        kMaps + "/a?force=true&fieldManager=kubewatch%2Fweb");
  CHECK(plan("POST", kMaps + "?fieldManager=kubectl-create&dryRun=All").target ==
        kMaps + "?dryRun=All&fieldManager=kubewatch%2Fweb");
  // However it is written.
  CHECK(plan("PUT", kMaps + "/a?field%4Danager=x").target ==
        kMaps + "/a?fieldManager=kubewatch%2Fweb");
  CHECK(plan("DELETE", kMaps + "/a").target == kMaps + "/a");
  CHECK(plan("DELETE", kMaps + "/a").write);
  CHECK(plan("PATCH", "/apis/demo.dev/v1/namespaces/shop/websites/a/status").how == How::forward);
  const auto refused = plan("POST", "/api/v1/namespaces/shop/secrets");
  CHECK(refused.how == How::refuse);
  CHECK(refused.status == 403);
  CHECK(refused.message.find("secrets") != std::string::npos);
  CHECK(how("PATCH", "/apis/other.dev/v1/websites/a") == How::refuse);
  CHECK(how("DELETE", kMaps) == How::refuse);
  CHECK(how("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") == How::forward);
  CHECK(how("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews") == How::forward);
  CHECK(how("POST", "/apis/authentication.k8s.io/v1/tokenreviews") == How::refuse);
  CHECK(how("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews") == How::refuse);
  CHECK(how("POST", "/api") == How::refuse);
}

TEST_CASE("what replaces an object that the hook has read is told from other writes") {
  const auto replaces = [](const std::string& method, const std::string& below) {
    return plan(method, kMaps + "/a" + below).replaces;
  };
  for (const char* below : {"", "/status", "/finalize", "?dryRun=All"}) {
    INFO(below);
    CHECK(replaces("PUT", below));
    CHECK_FALSE(replaces("PATCH", below));
  }
  CHECK_FALSE(replaces("PUT", "/scale"));
  CHECK_FALSE(replaces("PUT", "/approval"));
  CHECK_FALSE(replaces("DELETE", ""));
  CHECK_FALSE(plan("POST", kMaps).replaces);
}

TEST_CASE("no tunnel, no token, no path beside the API gets through") {
  for (const std::string& target :
       std::initializer_list<std::string>{"/api/v1/namespaces/shop/pods/a/exec",
                                          "/api/v1/namespaces/shop/pods/a/proxy/x",
                                          "/api/v1/namespaces/shop/services/a/proxy",
                                          "/api/v1/nodes/n/proxy/metrics",
                                          "/api/v1/namespaces/shop/pods/a/attach",
                                          "/api/v1/namespaces/shop/pods/a/portforward",
                                          "/api/v1/namespaces/shop/serviceaccounts/a/token",
                                          "/",
                                          "/metrics",
                                          "/logs/x",
                                          "/debug/pprof",
                                          "/healthz",
                                          "/api/../metrics",
                                          "/api/v1/..",
                                          "/api//v1/pods",
                                          "/apis2",
                                          "/api/v1/%2e%2e/x",
                                          "/api/v1%2fpods",
                                          "/api/v1/pods%00",
                                          "/api/v1/pods\\x",
                                          "/versions"}) {
    INFO(target);
    CHECK(how("GET", target) == How::refuse);
    CHECK(how("POST", target) == How::refuse);
  }
  CHECK(how("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode") == How::cache);
  CHECK(plan("CONNECT", kMaps).status == 405);
  CHECK(plan("OPTIONS", kMaps).status == 405);
  CHECK(plan("OPTIONS", kMaps).allow == "GET, POST, PUT, PATCH, DELETE");
  CHECK(plan("GET", kMaps + "?labelSelector=" + std::string(9000, 'a')).status == 414);
  http::ServerRequest upgrade;
  upgrade.method = "GET";
  upgrade.path = kMaps;
  upgrade.headers.add("Upgrade", "SPDY/3.1");
  CHECK(plan_gateway_request(upgrade, {}, "m").how == How::refuse);
}
