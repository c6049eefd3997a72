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
