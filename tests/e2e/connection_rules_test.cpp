// What a server passes on to kubelets, Pods and Services, and why it cannot: neither server has
// one of them. And paths that lead behind what there is.
#include <tuple>
#include <vector>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

E2E_CASE("logs of a Pod without a node are empty, and nobody is let into what is not there") {
  World w;
  const std::string space = "/api/v1/namespaces/" + w.ns() + "/";
  const Json one = {{"name", "c"}, {"image", "i"}};
  const Json other = {{"name", "d"}, {"image", "i"}};
  made(w, space + "pods",
       {{"metadata", {{"name", "p"}}}, {"spec", {{"containers", Json::array({one})}}}});
  made(w, space + "pods",
       {{"metadata", {{"name", "two"}}}, {"spec", {{"containers", Json::array({one, other})}}}});
  made(w, space + "pods",
       {{"metadata", {{"name", "lost"}}},
        {"spec", {{"nodeName", w.ns()}, {"containers", Json::array({one})}}}});
  made(w, space + "services",
       {{"metadata", {{"name", "s"}}}, {"spec", {{"ports", {{{"port", 80}}}}}}});
  const Answer log = send(w, "GET", space + "pods/p/log");
  CHECK(log.code == 204);
  const std::string homeless = "pod p does not have a host assigned";
  const std::string nowhere = "the server could not find the requested resource";
  const std::string no_pod = "pods \"nope\" not found";
  const std::vector<std::tuple<std::string, std::string, int, std::string>> rows = {
      {"GET", "pods/p/exec?command=ls", 400, homeless},
      {"POST", "pods/p/attach", 400, homeless},
      {"GET", "pods/p/portforward", 400, homeless},
      {"GET", "pods/p/proxy/", 400, "address not allowed"},
      {"PATCH", "pods/p:80/proxy/a/b", 400, "address not allowed"},
      {"GET", "pods/ftp:p:80/proxy", 400, "invalid pod request \"ftp:p:80\""},
      {"GET", "pods/nope/log", 404, no_pod},
      {"GET", "pods/nope/exec", 404, no_pod},
      {"GET", "pods/nope/portforward", 404, no_pod},
      {"GET", "pods/nope/proxy", 404, no_pod},
      {"GET", "pods/lost/log", 404, "pods \"" + w.ns() + "\" not found"},
      {"GET", "pods/two/log", 400,
       "a container name must be specified for pod two, choose one of: [c d]"},
      {"GET", "pods/two/exec?container=z", 400, "container z is not valid for pod two"},
      {"GET", "pods/p/log?tailLines=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"GET", "pods/p/log?tailLines=-1", 422,
       "PodLogOptions \"p\" is invalid: tailLines: Invalid value: -1: must be greater than or "
       "equal to 0"},
      {"POST", "pods/p/log", 405,
       "the server does not allow this method on the requested resource"},
      {"GET", "services/x/proxy/", 404, "services \"x\" not found"},
      {"GET", "services/s:81/proxy", 503, "no service port 81 found for service \"s\""},
      {"GET", "services/s/proxy", 404, "services \"s\" not found"},
      {"GET", "pods/x/y/z", 404, nowhere},
      {"GET", "pods/p/log/x", 404, nowhere},
      {"GET", "pods/p/status/x", 404, nowhere}};
  for (const auto& [method, path, code, why] : rows) {
    INFO(method << " " << path);
    const Answer answer = send(w, method, space + path);
    CHECK(answer.code == code);
    CHECK(message(answer) == why);
  }
  const Answer node = send(w, "GET", "/api/v1/nodes/" + w.ns() + "/proxy/");
  CHECK(message(node) == "nodes \"" + w.ns() + "\" not found");
}

}  // namespace kubewatch::e2e
