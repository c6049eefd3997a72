// What a kube-apiserver makes and keeps by itself beside the first namespaces: roles and bindings,
// APIServices, the range and the addresses of Services.
#include "apiserver/saved_objects.hpp"
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using base::string_at;
using test::Server;

namespace {

const std::string kRights = "/apis/rbac.authorization.k8s.io/v1/";
const std::string kRegistrations = "/apis/apiregistration.k8s.io/v1/apiservices";
const std::string kAddresses = "/apis/networking.k8s.io/v1/ipaddresses";
const std::string kServices = "/api/v1/namespaces/default/services";

ApiOptions whole_cluster() {
  ApiOptions options;
  options.whole_cluster = true;
  return options;
}

std::string names(Server& server, const std::string& path) {
  std::vector<std::string> out;
  const auto list = server.get(path);
  for (const Json& one : list.json.at("items")) {
    out.push_back(string_at(one, {"metadata", "name"}));
  }
  return base::join(out, " ");
}

std::size_t count(Server& server, const std::string& path) {
  return server.get(path).json.at("items").size();
}

Json service(const std::string& name, const Json& spec = Json::object()) {
  Json out = {{"metadata", {{"name", name}}}, {"spec", {{"ports", {{{"port", 80}}}}}}};
  out["spec"].update(spec);
  return out;
}

}  // namespace

TEST_CASE("a whole cluster has the roles and bindings of every cluster from the start") {
  Server server(whole_cluster());
  CHECK(count(server, kRights + "clusterroles") == 69);
  CHECK(count(server, kRights + "clusterrolebindings") == 50);
  CHECK(count(server, kRights + "roles") == 7);
  CHECK(count(server, kRights + "rolebindings") == 7);
  const auto admin = server.get(kRights + "clusterroles/admin");
  CHECK(admin.json["rules"].is_null());  // gathering them is the work of a controller
  CHECK(admin.json["aggregationRule"]["clusterRoleSelectors"][0]["matchLabels"] ==
        Json{{"rbac.authorization.k8s.io/aggregate-to-admin", "true"}});
  const auto basic = server.get(kRights + "clusterroles/system:basic-user");
  CHECK(basic.json["rules"][0] ==
        Json{{"verbs", {"create"}},
             {"apiGroups", {"authorization.k8s.io"}},
             {"resources", {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}}});
  const auto all = server.get(kRights + "clusterroles/cluster-admin");
  CHECK(all.json["rules"][1] == Json{{"verbs", {"*"}}, {"nonResourceURLs", {"*"}}});
  CHECK(all.json["metadata"]["labels"] == Json{{"kubernetes.io/bootstrapping", "rbac-defaults"}});
  CHECK(all.json["metadata"]["managedFields"][0]["manager"] == "kube-apiserver");
  const auto bound = server.get(kRights + "clusterrolebindings/cluster-admin");
  CHECK(bound.json["subjects"][0]["name"] == "system:masters");
  CHECK(bound.json["roleRef"]["name"] == "cluster-admin");
  const auto reader = server.get(
      kRights + "namespaces/kube-system/roles/extension-apiserver-authentication-reader");
  CHECK(reader.json["rules"][0]["resourceNames"] ==
        Json::array({"extension-apiserver-authentication"}));
  const auto account =
      server.get(kRights + "namespaces/kube-system/rolebindings/system:controller:token-cleaner");
  CHECK(account.json["subjects"][0] ==
        Json{{"kind", "ServiceAccount"}, {"name", "token-cleaner"}, {"namespace", "kube-system"}});
}

TEST_CASE("what stands for no cluster has the first namespaces and priorities alone") {
  Server server;
  CHECK(count(server, kRights + "clusterroles") == 0);
  CHECK(count(server, kRegistrations) == 0);
  server.post(kServices, service("s"));
  CHECK(count(server, kAddresses) == 0);
  CHECK(names(server, "/api/v1/namespaces") == "default kube-node-lease kube-public kube-system");
}

TEST_CASE("each group and version that is served has its APIService, which is there") {
  Server server(whole_cluster());
  const auto core = server.get(kRegistrations + "/v1.");
  CHECK(core.json["spec"] ==
        Json{{"version", "v1"}, {"groupPriorityMinimum", 18000}, {"versionPriority", 1}});
  CHECK(core.json["metadata"]["labels"] ==
        Json{{"kube-aggregator.kubernetes.io/automanaged", "onstart"}});
  CHECK(core.json["status"]["conditions"][0]["reason"] == "Local");
  CHECK(core.json["status"]["conditions"][0]["status"] == "True");
  // One for each of discovery, but for the aggregator's own group.
  std::set<std::string> served = {"v1."};
  for (const ResourcePtr& one : server.api.registry().all()) {
    const core::Gvk& gvk = one->type.gvk;
    if (gvk.group != "apiregistration.k8s.io") served.insert(gvk.version + "." + gvk.group);
  }
  CHECK(names(server, kRegistrations) == base::join({served.begin(), served.end()}, " "));
}

TEST_CASE("the APIServices of a definition come and go with it, and come back when they are lost") {
  Server server(whole_cluster());
  const std::string ours = kRegistrations + "/v1.demo.kubewatch.dev";
  REQUIRE(server.post(test::kCrdPath, test::website_crd()).code == 201);
  server.settle();
  const auto made = server.get(ours);
  REQUIRE(made.code == 200);
  CHECK(made.json["spec"] == Json{{"group", "demo.kubewatch.dev"},
                                  {"version", "v1"},
                                  {"groupPriorityMinimum", 1000},
                                  {"versionPriority", 100}});
  CHECK(made.json["metadata"]["labels"] ==
        Json{{"kube-aggregator.kubernetes.io/automanaged", "true"}});
  CHECK(made.json["status"]["conditions"][0]["reason"] == "Local");
  CHECK(server.get(kRegistrations + "/v1beta1.demo.kubewatch.dev").code == 200);
  CHECK(server.get(kRegistrations + "/v1alpha1.demo.kubewatch.dev").code == 404);  // not served
  server.remove(ours);
  server.remove(kRegistrations + "/v1.apps");
  server.settle();
  CHECK(server.get(ours).code == 200);
  CHECK(server.get(kRegistrations + "/v1.apps").code == 404);  // looked after at the start alone
  server.merge(ours, {{"spec", {{"versionPriority", 7}}}});
  server.settle();
  CHECK(server.get(ours).json["spec"]["versionPriority"] == 100);
  server.remove(test::kCrdPath + "/websites.demo.kubewatch.dev");
  server.settle();
  CHECK(server.get(ours).code == 404);
}

TEST_CASE("an APIService that somebody else has made stays, whatever is served") {
  Server server(whole_cluster());
  const std::string ours = kRegistrations + "/v1.demo.kubewatch.dev";
  REQUIRE(server
              .post(kRegistrations, {{"metadata", {{"name", "v1.demo.kubewatch.dev"}}},
                                     {"spec",
                                      {{"group", "demo.kubewatch.dev"},
                                       {"version", "v1"},
                                       {"groupPriorityMinimum", 5},
                                       {"versionPriority", 6}}}})
              .code == 201);
  server.post(test::kCrdPath, test::website_crd());
  server.settle();
  CHECK(server.get(ours).json["spec"]["versionPriority"] == 6);
  server.remove(test::kCrdPath + "/websites.demo.kubewatch.dev");
  server.settle();
  CHECK(server.get(ours).code == 200);
}

TEST_CASE("the range of Services is told, and each of their addresses is an object") {
  Server server(whole_cluster());
  const auto range = server.get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes");
  CHECK(range.json["spec"] == Json{{"cidrs", {kServiceCidr}}});
  CHECK(range.json["status"]["conditions"][0]["type"] == "Ready");
  CHECK(range.json["status"]["conditions"][0]["status"] == "True");
  REQUIRE(server.post(kServices, service("a", {{"clusterIP", "10.96.7.7"}})).code == 201);
  REQUIRE(server.post(kServices, service("none", {{"clusterIP", "None"}})).code == 201);
  CHECK(names(server, kAddresses) == "10.96.7.7");
  const auto address = server.get(kAddresses + "/10.96.7.7");
  CHECK(address.json["spec"]["parentRef"] ==
        Json{{"resource", "services"}, {"namespace", "default"}, {"name", "a"}});
  CHECK(address.json["metadata"]["labels"] ==
        Json{{"ipaddress.kubernetes.io/ip-family", "IPv4"},
             {"ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"}});
  server.remove(kAddresses + "/10.96.7.7");
  CHECK(names(server, kAddresses) == "10.96.7.7");
  server.merge(kServices + "/a", {{"spec", {{"type", "ExternalName"}, {"externalName", "x.y"}}}});
  CHECK(names(server, kAddresses).empty());
  server.merge(kServices + "/a", {{"spec", {{"type", "ClusterIP"}, {"clusterIP", "10.96.7.8"}}}});
  CHECK(names(server, kAddresses) == "10.96.7.8");
  server.remove(kServices + "/a");
  CHECK(names(server, kAddresses).empty());
  // What somebody else has made stays.
  REQUIRE(server
              .post(kAddresses, {{"metadata", {{"name", "10.96.9.9"}}},
                                 {"spec",
                                  {{"parentRef",
                                    {{"resource", "gateways"},
                                     {"group", "g.io"},
                                     {"namespace", "default"},
                                     {"name", "g"}}}}}})
              .code == 201);
  CHECK(names(server, kAddresses) == "10.96.9.9");
}

TEST_CASE("what was saved of a cluster is loaded over what is there from the start") {
  Server server(whole_cluster());
  const auto load = [&](const Json& object) {
    const auto loaded = server.api.load(object, "saved", server.now());
    if (!loaded.ok()) INFO(loaded.error().message());
    return loaded.ok();
  };
  Json admin = server.get(kRights + "clusterroles/admin").json;
  for (const char* key : {"uid", "resourceVersion", "creationTimestamp", "managedFields"}) {
    admin["metadata"].erase(key);
  }
  const Json gathered = {{"verbs", {"get"}}, {"apiGroups", {""}}, {"resources", {"pods"}}};
  admin["rules"] = Json::array({gathered});
  CHECK(load(admin));
  CHECK(server.get(kRights + "clusterroles/admin").json["rules"] == Json::array({gathered}));
  Json apps = server.get(kRegistrations + "/v1.apps").json;
  apps["metadata"] = {{"name", "v1.apps"}, {"labels", apps["metadata"]["labels"]}};
  CHECK(load(apps));
  Json saved = service("a", {{"clusterIP", "10.96.7.7"}});
  saved["apiVersion"] = "v1";
  saved["kind"] = "Service";
  CHECK(load(saved));
  Json address = server.get(kAddresses + "/10.96.7.7").json;
  address["metadata"] = {{"name", "10.96.7.7"}, {"labels", address["metadata"]["labels"]}};
  CHECK(load(address));
  CHECK(load({{"apiVersion", "networking.k8s.io/v1"},
              {"kind", "ServiceCIDR"},
              {"metadata", {{"name", "kubernetes"}}},
              {"spec", {{"cidrs", {"10.0.0.0/24"}}}}}));
  CHECK(names(server, kAddresses) == "10.96.7.7");
}

TEST_CASE("what was saved of a cluster keeps what others know of it") {
  Server server(whole_cluster());
  const auto load = [&](const char* text) {
    const auto loaded = server.api.load(Json::parse(text), "saved", server.now());
    if (!loaded.ok()) FAIL(loaded.error().render());
  };
  load(R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"r","uid":"r-1",
    "namespace":"default","resourceVersion":"77","generation":5,
    "creationTimestamp":"2024-05-06T07:08:09Z",
    "managedFields":[{"manager":"m","operation":"Update","apiVersion":"apps/v1",
      "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}]},
    "spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},
      "template":{"metadata":{"labels":{"a":"b"}},
        "spec":{"containers":[{"name":"c","image":"i"}]}}},
    "status":{"replicas":1,"observedGeneration":5}})");
  // The owner of this one is known by the uid that it had.
  load(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":"p-1",
    "namespace":"default","resourceVersion":"78",
    "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"r-1"}]},
    "spec":{"containers":[{"name":"c","image":"i"}]},
    "status":{"phase":"Running","podIP":"10.0.0.7"}})");
  load(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice","uid":"p-1",
    "namespace":"default"}})");
  // Its selector is one by its uid.
  load(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","uid":"j-1",
    "namespace":"default","resourceVersion":"79"},
    "spec":{"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"j-1"}},
      "template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"j-1",
        "controller-uid":"j-1","job-name":"j","batch.kubernetes.io/job-name":"j"}},
        "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  server.settle();
  const std::string sets = "/apis/apps/v1/namespaces/default/replicasets/r";
  const Json set = server.get(sets).json;
  CHECK(string_at(set, {"metadata", "uid"}) == "r-1");
  CHECK(string_at(set, {"metadata", "creationTimestamp"}) == "2024-05-06T07:08:09Z");
  CHECK(set["metadata"]["generation"] == 5);
  CHECK(string_at(set, {"metadata", "resourceVersion"}) != "77");
  CHECK(set["status"]["observedGeneration"] == 5);
  REQUIRE(set["metadata"]["managedFields"].size() == 1);
  CHECK(set["metadata"]["managedFields"][0]["manager"] == "m");
  const auto pod = server.get("/api/v1/namespaces/default/pods/p");
  REQUIRE(pod.code == 200);
  CHECK(pod.at({"status", "phase"}) == "Running");
  const auto map = server.get("/api/v1/namespaces/default/configmaps/twice");
  CHECK(map.at({"metadata", "uid"}) != "p-1");
  CHECK(server.get("/apis/batch/v1/namespaces/default/jobs/j").at({"metadata", "uid"}) == "j-1");
  // A create is what it was.
  Json again = set;
  again["metadata"]["name"] = "s";
  CHECK(server.post("/apis/apps/v1/namespaces/default/replicasets", again).code == 500);
  again["metadata"].erase("resourceVersion");
  const auto made = server.post("/apis/apps/v1/namespaces/default/replicasets", again);
  REQUIRE(made.code == 201);
  CHECK(made.at({"metadata", "uid"}) != "r-1");
  CHECK(made.json["metadata"]["generation"] == 1);
}

TEST_CASE("what was saved of a cluster is not judged as a step to it, nor admitted anew") {
  Server server(whole_cluster());
  const auto load = [&](const char* text) {
    Json object = Json::parse(text);
    fit_saved(object, {});
    const auto loaded = server.api.load(object, "saved", server.now());
    if (!loaded.ok()) FAIL(loaded.error().render());
  };
  load(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"done","uid":"j-1",
    "namespace":"default"},
    "spec":{"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"j-1"}},
      "template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"j-1",
        "controller-uid":"j-1","job-name":"done","batch.kubernetes.io/job-name":"done"}},
        "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}},
    "status":{"succeeded":1,"startTime":"2024-05-06T07:08:09Z",
      "completionTime":"2024-05-06T07:09:09Z",
      "conditions":[{"type":"Complete","status":"True"}]}})");
  load(
      R"({"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest",
    "metadata":{"name":"r","uid":"r-1"},
    "spec":{"signerName":"example.com/s","usages":["client auth"],"username":"eve",
      "groups":["system:authenticated"],"request":")"
      "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUFBPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNU"
      "LS0tLS0K"
      R"("},
    "status":{"conditions":[{"type":"Approved","status":"True","reason":"Fine"}]}})");
  load(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"bound","uid":"p-1",
    "namespace":"default"},
    "spec":{"nodeName":"node","containers":[{"name":"c","image":"i"}]},
    "status":{"phase":"Running","nominatedNodeName":"node"}})");
  load(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"debugged","uid":"p-2",
    "namespace":"default"},
    "spec":{"priorityClassName":"gone","priority":7,"containers":[{"name":"c","image":"i"}],
      "ephemeralContainers":[{"name":"d","image":"i"}]}})");
  load(R"({"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"made-","uid":"p-3",
    "namespace":"default"},
    "spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}})");
  load(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"odd","uid":"n-2",
    "labels":{"pod-security.kubernetes.io/enforce":"odd"}}})");
  load(R"({"apiVersion":"networking.k8s.io/v1","kind":"IngressClass","metadata":{"name":"usual",
    "annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}},
    "spec":{"controller":"a.b/c"}})");
  load(R"({"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"of-none",
    "uid":"i-1","namespace":"default"},
    "spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}})");
  const Json job = server.get("/apis/batch/v1/namespaces/default/jobs/done").json;
  CHECK(job["status"]["conditions"][0]["type"] == "Complete");
  const Json request = server.get("/apis/certificates.k8s.io/v1/certificatesigningrequests/r").json;
  CHECK(request["spec"]["username"] == "eve");
  CHECK(request["status"]["conditions"][0]["type"] == "Approved");
  const std::string pods = "/api/v1/namespaces/default/pods";
  CHECK(server.get(pods + "/bound").at({"status", "nominatedNodeName"}) == "node");
  CHECK(server.get(pods + "/debugged").json["spec"]["priority"] == 7);
  CHECK(count(server, pods) == 3);
  CHECK(server.get("/api/v1/namespaces/odd").code == 200);
  const auto ingress =
      server.get("/apis/networking.k8s.io/v1/namespaces/default/ingresses/of-none");
  REQUIRE(ingress.code == 200);
  CHECK_FALSE(ingress.json["spec"].contains("ingressClassName"));
}

TEST_CASE(
    "what was owned by an object that the server makes by itself stays, loaded before or after") {
  Server server(whole_cluster());
  const auto load = [&](const Json& object) {
    const auto loaded = server.api.load(object, "saved", server.now());
    if (!loaded.ok()) FAIL(loaded.error().render());
  };
  const auto owned = [](const char* name, const Json& owner) {
    return test::config_map(
        name,
        {{"metadata",
          {{"uid", name}, {"namespace", "default"}, {"ownerReferences", Json::array({owner})}}}});
  };
  const Json space = {
      {"apiVersion", "v1"}, {"kind", "Namespace"}, {"name", "default"}, {"uid", "n-1"}};
  load(owned("before", space));
  load({{"apiVersion", "v1"},
        {"kind", "Namespace"},
        {"metadata", {{"name", "default"}, {"uid", "n-1"}}}});
  load(owned("after", space));
  load(owned("of-role", {{"apiVersion", "rbac.authorization.k8s.io/v1"},
                         {"kind", "ClusterRole"},
                         {"name", "admin"},
                         {"uid", "c-1"}}));
  Json away = space;
  away["name"] = "away";
  load(owned("of-none", away));
  server.settle();
  const Json after = server.get(test::kConfigMaps + "/after").json;
  CHECK(names(server, test::kConfigMaps) == "after before of-role");
  CHECK(string_at(after["metadata"]["ownerReferences"][0], {"uid"}) ==
        server.get("/api/v1/namespaces/default").at({"metadata", "uid"}));
}

TEST_CASE("a Pod that was saved of a cluster is not held against what its namespace asks now") {
  Server server;
  const auto load = [&](const Json& object) {
    return server.api.load(object, "kubewatch", server.now());
  };
  REQUIRE(load({{"apiVersion", "v1"},
                {"kind", "Namespace"},
                {"metadata",
                 {{"name", "strict"},
                  {"uid", "n-1"},
                  {"labels", {{"pod-security.kubernetes.io/enforce", "restricted"}}}}}})
              .ok());
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", "old"}, {"namespace", "strict"}, {"uid", "p-1"}}},
              {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  CHECK(load(pod).ok());
  pod["metadata"] = {{"name", "new"}, {"namespace", "strict"}};
  const auto refused = load(pod);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render().find("violates PodSecurity") != std::string::npos);
}

TEST_CASE("a token says by which credential, and in which Pod, its bearer is known") {
  Server server;
  server.post("/api/v1/namespaces/default/serviceaccounts", {{"metadata", {{"name", "bot"}}}});
  const auto pod = server.post("/api/v1/namespaces/default/pods",
                               {{"metadata", {{"name", "p"}}},
                                {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  REQUIRE(pod.code == 201);
  const auto review = [&](const Json& spec) {
    const auto token =
        server.post("/api/v1/namespaces/default/serviceaccounts/bot/token", {{"spec", spec}});
    const std::string text = token.at({"status", "token"});
    const auto answer =
        server.post("/apis/authentication.k8s.io/v1/tokenreviews", {{"spec", {{"token", text}}}});
    return answer.json["status"]["user"]["extra"];
  };
  const Json free = review(Json::object());
  REQUIRE(free.size() == 1);
  CHECK(
      free["authentication.kubernetes.io/credential-id"][0].get<std::string>().starts_with("JTI="));
  const Json bound =
      review({{"boundObjectRef", {{"kind", "Pod"}, {"apiVersion", "v1"}, {"name", "p"}}}});
  CHECK(bound["authentication.kubernetes.io/pod-name"] == Json::array({"p"}));
  CHECK(bound["authentication.kubernetes.io/pod-uid"] ==
        Json::array({pod.at({"metadata", "uid"})}));
}

}  // namespace kubewatch::apiserver
