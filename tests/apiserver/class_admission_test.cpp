// The default IngressClass of an Ingress, which on a server would be that of all e2e cases; that a
// claim grows only where its class allows it is in tests/e2e/more_kind_rules_test.cpp.
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::Server;

namespace {

const std::string kClasses = "/apis/networking.k8s.io/v1/ingressclasses";
const std::string kIngresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";

void make_class(Server& server, const std::string& name, const std::string& is_default) {
  const Json marks = {{"ingressclass.kubernetes.io/is-default-class", is_default}};
  REQUIRE(server
              .post(kClasses, {{"metadata", {{"name", name}, {"annotations", marks}}},
                               {"spec", {{"controller", "a.b/c"}}}})
              .code == 201);
}

// The class that a new Ingress has; "" for none.
std::string class_of(Server& server, const Json& spec = Json::object(),
                     const Json& annotations = Json::object()) {
  Json ingress = {
      {"metadata", {{"generateName", "i-"}, {"annotations", annotations}}},
      {"spec", {{"defaultBackend", {{"service", {{"name", "s"}, {"port", {{"number", 80}}}}}}}}}};
  ingress["spec"].update(spec);
  const auto made = server.post(kIngresses, ingress);
  REQUIRE(made.code == 201);
  return made.at({"spec", "ingressClassName"});
}

}  // namespace

TEST_CASE("an Ingress that names no class gets the default one, of several the newest") {
  Server server;
  make_class(server, "other", "false");
  CHECK(class_of(server).empty());
  make_class(server, "b", "true");
  CHECK(class_of(server) == "b");
  CHECK(class_of(server, {{"ingressClassName", "other"}}) == "other");
  CHECK(class_of(server, Json::object(), {{"kubernetes.io/ingress.class", "old"}}).empty());
  make_class(server, "c", "true");  // of the same second
  CHECK(class_of(server) == "b");
  server.advance(2000);
  make_class(server, "d", "true");
  CHECK(class_of(server) == "d");
}

}  // namespace kubewatch::apiserver
