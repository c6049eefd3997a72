// Requests that a cluster passes on to a kubelet, a Pod or what is behind a Service.
#include "apiserver/connections.hpp"

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::Server;

namespace {

const std::string kSpace = "/api/v1/namespaces/default/";
const std::string kPods = kSpace + "pods/";

void make_pod(Server& server, const std::string& name, Json spec = Json::object()) {
  if (!spec.contains("containers")) spec["containers"] = {{{"name", "c"}, {"image", "i"}}};
  REQUIRE(server.post(kSpace + "pods", {{"metadata", {{"name", name}}}, {"spec", spec}}).code ==
          201);
}

// "CODE MESSAGE".
std::string told(Server& server, const std::string& path, const char* method = "GET") {
  const auto answer = server.call(method, path);
  return std::to_string(answer.code) + " " + answer.message();
}

}  // namespace

TEST_CASE("logs of a Pod that no node has are empty, and nobody gets into it") {
  Server server;
  make_pod(server, "p");
  const auto log = server.get(kPods + "p/log");
  CHECK(log.code == 204);
  CHECK(log.text.empty());
  CHECK(log.content_type.empty());
  const std::string homeless = "400 pod p does not have a host assigned";
  for (const char* way : {"exec?command=ls", "attach", "portforward"}) {
    CAPTURE(way);
    CHECK(told(server, kPods + "p/" + way) == homeless);
    CHECK(told(server, kPods + "p/" + way, "POST") == homeless);
    CHECK(server.call("PUT", kPods + "p/" + way).code == 405);
    CHECK(told(server, kPods + "nope/" + way) == "404 pods \"nope\" not found");
  }
  CHECK(told(server, kPods + "nope/log") == "404 pods \"nope\" not found");
  CHECK(server.call("POST", kPods + "p/log").code == 405);
  CHECK(told(server, kPods + "p/proxy/") == "400 address not allowed");
  CHECK(told(server, kPods + "p:80/proxy/a/b", "DELETE") == "400 address not allowed");
  CHECK(told(server, kPods + "nope/proxy") == "404 pods \"nope\" not found");
  CHECK(told(server, kPods + "ftp:p:80/proxy") == "400 invalid pod request \"ftp:p:80\"");
}

TEST_CASE("a container is named where a Pod has more than one, and is one of them") {
  Server server;
  make_pod(server, "two",
           {{"initContainers", {{{"name", "i"}, {"image", "i"}}}},
            {"containers", {{{"name", "c"}, {"image", "i"}}, {{"name", "d"}, {"image", "i"}}}}});
  CHECK(told(server, kPods + "two/log") ==
        "400 a container name must be specified for pod two, choose one of: [i c d]");
  CHECK(told(server, kPods + "two/exec?container=z") == "400 container z is not valid for pod two");
  CHECK(server.get(kPods + "two/log?container=i").code == 204);
  CHECK(told(server, kPods + "two/portforward") == "400 pod two does not have a host assigned");
}

TEST_CASE("the numbers of a request for logs are read before the Pod is looked for") {
  Server server;
  CHECK(told(server, kPods + "nope/log?tailLines=x") ==
        "400 strconv.ParseInt: parsing \"x\": invalid syntax");
  CHECK(told(server, kPods + "nope/log?tailLines=-1") ==
        "422 PodLogOptions \"nope\" is invalid: tailLines: Invalid value: -1: must be greater "
        "than or equal to 0");
  CHECK(told(server, kPods + "nope/log?limitBytes=0&tailLines=0") ==
        "422 PodLogOptions \"nope\" is invalid: limitBytes: Invalid value: 0: must be greater "
        "than 0");
}

TEST_CASE("what a node would answer is refused by name, as there is no kubelet") {
  Server server;
  make_pod(server, "lost", {{"nodeName", "nowhere"}});
  make_pod(server, "m", {{"nodeName", "here"}});
  REQUIRE(server.post("/api/v1/nodes", {{"metadata", {{"name", "here"}}}}).code == 201);
  // As there, it is not the Node that is told to be missing.
  CHECK(told(server, kPods + "lost/log") == "404 pods \"nowhere\" not found");
  const std::string nobody = ": the sandbox has no kubelet and no network of Pods";
  CHECK(told(server, kPods + "m/log") == "503 no log of pod m on node here" + nobody);
  CHECK(told(server, kPods + "m/exec") == "503 no exec of pod m on node here" + nobody);
  CHECK(server.get(kPods + "m/attach").reason() == "ServiceUnavailable");
  CHECK(told(server, "/api/v1/nodes/nope/proxy/") == "404 nodes \"nope\" not found");
  CHECK(told(server, "/api/v1/nodes/here/proxy/healthz") ==
        "503 node here is not reached" + nobody);
  REQUIRE(server
              .merge(kPods + "m/status",
                     {{"status", {{"podIP", "10.1.2.3"}, {"podIPs", {{{"ip", "10.1.2.3"}}}}}}})
              .code == 200);
  CHECK(told(server, kPods + "m/proxy") == "503 pod m is not reached" + nobody);
}

TEST_CASE("a Service is passed nothing on, with and without endpoints") {
  Server server;
  const std::string services = kSpace + "services/";
  CHECK(told(server, services + "x/proxy/") == "404 services \"x\" not found");
  CHECK(told(server, services + "a:b:c:d/proxy") == "400 invalid service request \"a:b:c:d\"");
  REQUIRE(server
              .post(kSpace + "services",
                    {{"metadata", {{"name", "s"}}}, {"spec", {{"ports", {{{"port", 80}}}}}}})
              .code == 201);
  CHECK(told(server, services + "s:81/proxy") == "503 no service port 81 found for service \"s\"");
  CHECK(told(server, services + "s:80/proxy") == "404 services \"s\" not found");
  const auto set_endpoints = [&](const Json& subsets) {
    server.remove(kSpace + "endpoints/s");
    REQUIRE(server.post(kSpace + "endpoints", {{"metadata", {{"name", "s"}}}, {"subsets", subsets}})
                .code == 201);
  };
  const Json ports = {{{"port", 80}}};
  set_endpoints({{{"addresses", {{{"ip", "1.2.3.4"}}}}, {"ports", ports}}});
  CHECK(told(server, services + "s:80/proxy") == "503 no endpoints available for service \"s:80\"");
  const Json of_pod = {{"ip", "1.2.3.4"}, {"targetRef", {{"kind", "Pod"}, {"name", "p"}}}};
  set_endpoints({{{"addresses", Json::array({of_pod})}, {"ports", ports}}});
  CHECK(told(server, services + "s/proxy/x") ==
        "503 service s is not reached: the sandbox has no kubelet and no network of Pods");
}

TEST_CASE("behind a part of an object there is nothing, and a Status says so") {
  Server server;
  for (const std::string& path : {kPods + "x/y/z", kPods + "p/log/x", kPods + "p/status/x",
                                  std::string("/apis/apps/v1/namespaces/n/deployments/a/b/c")}) {
    CAPTURE(path);
    CHECK(told(server, path) == "404 the server could not find the requested resource");
  }
  CHECK(server.get("/apis/foo/v1/namespaces/n/deployments/a/b/c").text == "404 page not found\n");
}

}  // namespace kubewatch::apiserver
