// Objects that a kube-apiserver makes and keeps by itself.
#include <vector>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr const char* kRegistrations = "/apis/apiregistration.k8s.io/v1/apiservices/";
constexpr const char* kRights = "/apis/rbac.authorization.k8s.io/v1/";

}  // namespace

E2E_CASE("every cluster has the same roles and bindings from the start") {
  World w;
  const auto read = [&](const std::string& path) {
    const Answer answer = send(w, "GET", kRights + path);
    INFO(path << " " << message(answer));
    REQUIRE(answer.code == 200);
    return answer.body;
  };
  const Json whole = {{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}};
  CHECK(read("clusterroles/cluster-admin")["rules"][0] == whole);
  const Json view = read("clusterroles/view");
  CHECK(view["aggregationRule"]["clusterRoleSelectors"][0]["matchLabels"] ==
        Json{{"rbac.authorization.k8s.io/aggregate-to-view", "true"}});
  CHECK(view["metadata"]["labels"] ==
        Json{{"kubernetes.io/bootstrapping", "rbac-defaults"},
             {"rbac.authorization.k8s.io/aggregate-to-edit", "true"}});
  CHECK(read("clusterroles/system:aggregate-to-edit")["rules"].size() == 15);
  CHECK(read("clusterroles/system:public-info-viewer")["rules"][0]["nonResourceURLs"] ==
        Json{"/healthz", "/livez", "/readyz", "/version", "/version/"});
  CHECK(read("clusterrolebindings/system:discovery")["subjects"][0] ==
        Json{{"kind", "Group"},
             {"apiGroup", "rbac.authorization.k8s.io"},
             {"name", "system:authenticated"}});
  CHECK(read("namespaces/kube-system/rolebindings/system:controller:token-cleaner")["roleRef"]
                                                                                   ["name"] ==
        "system:controller:token-cleaner");
}

E2E_CASE("what is served here has an APIService that is there, and a definition brings its own") {
  World w;
  const Json apps = send(w, "GET", std::string(kRegistrations) + "v1.apps").body;
  CHECK(apps["spec"] == Json{{"group", "apps"},
                             {"version", "v1"},
                             {"groupPriorityMinimum", 17800},
                             {"versionPriority", 15}});
  CHECK(apps["status"]["conditions"][0]["reason"] == "Local");
  const std::string group = "o" + w.ns() + ".example.com";
  const std::string ours = kRegistrations + ("v1." + group);
  w.apply(
      "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
      "things." +
      group + "}, spec: {group: " + group +
      ", scope: Cluster, names: {plural: things, kind: Thing}, versions: [{name: v1, served: "
      "true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}");
  Json made;
  REQUIRE(w.eventually(
      [&] {
        made = send(w, "GET", ours).body;
        const Json* conditions = base::find(made, {"status", "conditions"});
        return conditions != nullptr && !conditions->empty();
      },
      kDiscovery));
  CHECK(made["metadata"]["labels"] == Json{{"kube-aggregator.kubernetes.io/automanaged", "true"}});
  CHECK(made["spec"] == Json{{"group", group},
                             {"version", "v1"},
                             {"groupPriorityMinimum", 1000},
                             {"versionPriority", 100}});
  CHECK(made["status"]["conditions"][0]["status"] == "True");
  w.remove_definition("things." + group);
  CHECK(w.eventually([&] { return send(w, "GET", ours).code == 404; }, kDiscovery));
}

E2E_CASE("each address of a Service is an IPAddress while the Service has it") {
  World w;
  const Json range = send(w, "GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes").body;
  CHECK(range["spec"]["cidrs"].size() == 1);
  CHECK(range["status"]["conditions"][0]["type"] == "Ready");
  const std::string services = "/api/v1/namespaces/" + w.ns() + "/services";
  const Json service =
      made(w, services, {{"metadata", {{"name", "s"}}}, {"spec", {{"ports", {{{"port", 80}}}}}}});
  const std::string address =
      "/apis/networking.k8s.io/v1/ipaddresses/" + base::string_at(service, {"spec", "clusterIP"});
  const Answer there = send(w, "GET", address);
  REQUIRE(there.code == 200);
  CHECK(there.body["spec"]["parentRef"] ==
        Json{{"resource", "services"}, {"namespace", w.ns()}, {"name", "s"}});
  CHECK(there.body["metadata"]["labels"] ==
        Json{{"ipaddress.kubernetes.io/ip-family", "IPv4"},
             {"ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"}});
  REQUIRE(send(w, "DELETE", services + "/s").code == 200);
  CHECK(w.eventually([&] { return send(w, "GET", address).code == 404; }));
}

}  // namespace kubewatch::e2e
