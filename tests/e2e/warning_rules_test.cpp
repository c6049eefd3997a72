// What the server takes and warns of: names, deprecated fields, things that are said twice.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

using Warnings = std::vector<std::string>;

// Without their code and quotes.
Warnings warnings_of(World& w, const std::string& method, const std::string& path, const Json& body,
                     const std::string& type = "application/json") {
  http::Request request;
  request.method = method;
  request.url = path + (path.find('?') == std::string::npos ? "?" : "&") + "dryRun=All";
  request.headers.set("Accept", "application/json");
  request.headers.set("Content-Type", type);
  request.body = base::dump_json(body);
  const http::Response answer = fetch(w, w.server().config(), std::move(request));
  CAPTURE(answer.body);
  CHECK(answer.status / 100 == 2);
  const std::string start = "299 - \"";
  Warnings out;
  for (const auto& [name, value] : answer.headers.all()) {
    if (value.starts_with(start)) {
      out.push_back(value.substr(start.size(), value.size() - start.size() - 1));
    }
  }
  return out;
}

Json pod(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"labels", {{"a", "b"}}}}},
          {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
}

Json deployment(const std::string& name, const Json& pod) {
  const Json of_pods = {{"metadata", {{"labels", {{"a", "b"}}}}}, {"spec", pod["spec"]}};
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", name}}},
          {"spec", {{"selector", {{"matchLabels", {{"a", "b"}}}}}, {"template", of_pods}}}};
}

}  // namespace

E2E_CASE("a name that makes a poor hostname is warned of, when the object is made") {
  World w;
  const std::string end =
      ", which can result in surprising behavior; a DNS label is recommended: [must not contain "
      "dots]";
  const std::string pods = "/api/v1/namespaces/" + w.ns() + "/pods";
  CHECK(warnings_of(w, "POST", pods, pod("a.b")) ==
        Warnings{"metadata.name: this is used in the Pod's hostname" + end});
  CHECK(warnings_of(w, "POST", pods, pod("a-b")).empty());
  const std::string all = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments";
  const Json dotted = deployment("a.b", pod("p"));
  const Warnings told = {"metadata.name: this is used in Pod names and hostnames" + end};
  CHECK(warnings_of(w, "POST", all, dotted) == told);
  CHECK(warnings_of(w, "PATCH", all + "/a.b?fieldManager=m", dotted,
                    "application/apply-patch+yaml") == told);
  REQUIRE(send(w, "POST", all, dotted).code == 201);
  CHECK(warnings_of(w, "PATCH", all + "/a.b", {{"spec", {{"minReadySeconds", 1}}}},
                    "application/merge-patch+json")
            .empty());
}

E2E_CASE("a Pod's twice defined variables and ports are warned of, in templates as well") {
  World w;
  Json one = pod("p");
  one["spec"]["containers"][0]["env"] = {{{"name", "A"}, {"value", "1"}},
                                         {{"name", "A"}, {"value", "2"}}};
  one["spec"]["containers"][0]["ports"] = {{{"containerPort", 80}}, {{"containerPort", 80}}};
  const std::string hides =
      "containers[0].env[1]: hides previous definition of \\\"A\\\", which may be dropped when "
      "using apply";
  CHECK(warnings_of(w, "POST", "/api/v1/namespaces/" + w.ns() + "/pods", one) ==
        Warnings{"spec." + hides,
                 "spec.containers[0].ports[1]: duplicate port definition with "
                 "spec.containers[0].ports[0]"});
  const std::string all = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments";
  const Json made = deployment("d", one);
  CHECK(warnings_of(w, "POST", all, made)[0] == "spec.template.spec." + hides);
  REQUIRE(send(w, "POST", all, made).code == 201);
  const auto patched = [&](const Json& body) {
    return warnings_of(w, "PATCH", all + "/d", body, "application/merge-patch+json").size();
  };
  CHECK(patched({{"spec", {{"minReadySeconds", 1}}}}) == 2);
  CHECK(patched({{"metadata", {{"labels", {{"x", "y"}}}}}}) == 0);
}

E2E_CASE("fields of a Service that do nothing are warned of at each write") {
  World w;
  const std::string services = "/api/v1/namespaces/" + w.ns() + "/services";
  const Json service = {{"apiVersion", "v1"},
                        {"kind", "Service"},
                        {"metadata", {{"name", "s"}}},
                        {"spec", {{"externalName", "x.y"}, {"ports", {{{"port", 80}}}}}}};
  const Warnings told = {"spec.externalName is ignored when spec.type is not \\\"ExternalName\\\""};
  CHECK(warnings_of(w, "POST", services, service) == told);
  REQUIRE(send(w, "POST", services, service).code == 201);
  CHECK(warnings_of(w, "PATCH", services + "/s", {{"metadata", {{"labels", {{"x", "y"}}}}}},
                    "application/merge-patch+json") == told);
}

E2E_CASE("an apply that changes nothing is warned of again") {
  World w;
  const std::string one = "/api/v1/namespaces/" + w.ns() + "/services/s?fieldManager=m";
  const Json service = {{"apiVersion", "v1"},
                        {"kind", "Service"},
                        {"metadata", {{"name", "s"}}},
                        {"spec", {{"externalName", "x.y"}, {"ports", {{{"port", 80}}}}}}};
  const char* apply = "application/apply-patch+yaml";
  const Answer made = send_text(w, "PATCH", one, base::dump_json(service), apply);
  REQUIRE(made.code == 201);
  CHECK(warnings_of(w, "PATCH", one, service, apply) ==
        Warnings{"spec.externalName is ignored when spec.type is not \\\"ExternalName\\\""});
  const std::string all = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments/d?fieldManager=m";
  Json with_label = pod("p");
  with_label["spec"]["nodeSelector"] = {{"beta.kubernetes.io/os", "linux"}};
  const Json set = deployment("d", with_label);
  CHECK(warnings_of(w, "PATCH", all, set, apply).size() == 1);
  REQUIRE(send_text(w, "PATCH", all, base::dump_json(set), apply).code == 201);
  // A template is looked at where what is wanted changes.
  CHECK(warnings_of(w, "PATCH", all, set, apply).empty());
}

E2E_CASE("a CSIDriver that asks for tokens is warned of until it says where it wants them") {
  World w;
  const std::string drivers = "/apis/storage.k8s.io/v1/csidrivers";
  const auto driver = [&](const Json& spec) {
    return Json{{"apiVersion", "storage.k8s.io/v1"},
                {"kind", "CSIDriver"},
                {"metadata", {{"name", w.ns()}}},
                {"spec", spec}};
  };
  const Json tokens = Json::parse(R"([{"audience":"a"}])");
  const Json asks = driver({{"tokenRequests", tokens}});
  const Warnings told = {
      "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to "
      "prevent possible logging of tokens in volume attributes"};
  CHECK(warnings_of(w, "POST", drivers, asks) == told);
  CHECK(warnings_of(w, "POST", drivers,
                    driver({{"tokenRequests", tokens}, {"serviceAccountTokenInSecrets", true}}))
            .empty());
  REQUIRE(send(w, "POST", drivers, asks).code == 201);
  const std::string one = drivers + "/" + w.ns();
  const char* merge = "application/merge-patch+json";
  CHECK(warnings_of(w, "PATCH", one, {{"spec", {{"requiresRepublish", true}}}}, merge).empty());
  CHECK(warnings_of(w, "PATCH", one, {{"spec", {{"tokenRequests", {{{"audience", "b"}}}}}}},
                    merge) == told);
  const Answer changed =
      send_text(w, "PATCH", one, R"({"spec":{"requiresRepublish":true}})", merge);
  CHECK(changed.body["metadata"]["generation"] == 1);
  CHECK(send(w, "DELETE", one, Json()).code == 200);
}

E2E_CASE("annotations of AppArmor become fields of a Pod, and stay those of a template") {
  World w;
  const std::string key = "container.apparmor.security.beta.kubernetes.io/c";
  const std::string told =
      "metadata.annotations[" + key +
      "]: deprecated since v1.30; use the \\\"appArmorProfile\\\" field instead";
  const std::string pods = "/api/v1/namespaces/" + w.ns() + "/pods";
  Json old = pod("a.b");
  old["metadata"]["annotations"] = {{key, "localhost/x"}};
  const Warnings of_pod = warnings_of(w, "POST", pods, old);
  REQUIRE(of_pod.size() == 2);
  CHECK(of_pod[0] == told);  // before its name
  const Answer made = send(w, "POST", pods + "?dryRun=All", old);
  CHECK(made.body["spec"]["containers"][0]["securityContext"] ==
        Json::parse(R"({"appArmorProfile":{"type":"Localhost","localhostProfile":"x"}})"));
  Json both = old;
  both["metadata"]["name"] = "p";
  both["spec"]["securityContext"] = {
      {"appArmorProfile", {{"type", "Localhost"}, {"localhostProfile", "x"}}}};
  CHECK(warnings_of(w, "POST", pods, both).empty());
  both["spec"].erase("securityContext");
  both["metadata"]["annotations"][key] = "localhost/";  // no profile, and yet warned of
  CHECK(warnings_of(w, "POST", pods, both) == Warnings{told});
  const std::string sets = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments";
  Json set = deployment("d", pod("p"));
  set["spec"]["template"]["metadata"]["annotations"] = {{key, "unconfined"}};
  CHECK(warnings_of(w, "POST", sets, set) == Warnings{"spec.template." + told});
}

E2E_CASE("an old annotation of an Ingress is warned of when it is made") {
  World w;
  const Json backend = {{"service", {{"name", "s"}, {"port", {{"number", 80}}}}}};
  const Json ingress = {
      {"apiVersion", "networking.k8s.io/v1"},
      {"kind", "Ingress"},
      {"metadata", {{"name", "i"}, {"annotations", {{"kubernetes.io/ingress.class", "nginx"}}}}},
      {"spec", {{"defaultBackend", backend}}}};
  CHECK(warnings_of(w, "POST", "/apis/networking.k8s.io/v1/namespaces/" + w.ns() + "/ingresses",
                    ingress) ==
        Warnings{"annotation \\\"kubernetes.io/ingress.class\\\" is deprecated, please use "
                 "'spec.ingressClassName' instead"});
}

}  // namespace kubewatch::e2e
