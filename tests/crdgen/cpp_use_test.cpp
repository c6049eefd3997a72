// The generated C++ structs, compiled and used: golden/website.hpp is what crd-gen prints
// (outputs_test compares), here it goes through Api<T>.
#include "client/api.hpp"
#include "crdgen/golden/website.hpp"
#include "fixture.hpp"
#include "support/catch.hpp"

namespace kubewatch::crdgen {

using website_v1::Website;

static_assert(client::NamespacedKind<Website>);
static_assert(!client::ClusterKind<Website>);

TEST_CASE("generated structs go with Api: its type, its decoding, and nothing that was not set") {
  const core::ResourceType type = client::resource_type_of<Website>();
  CHECK(type.gvk.str() == "demo.example.com/v1 Website");
  CHECK(type.plural == "websites");
  CHECK(type.namespaced);
  auto read = client::Api<Website>::decode(
      yaml("{metadata: {name: a}, spec: {replicas: 3, hosts: [x], backends: [{name: b, port: "
           "8080}], "
           "port: http, labels: {k: v}, settings: {any: [1]}, source: {git: {url: u}}}}"),
      type);
  REQUIRE(read.ok());
  CHECK(read->apiVersion == "demo.example.com/v1");
  CHECK(read->spec->replicas == 3);
  CHECK(read->spec->hosts->at(0) == "x");
  CHECK(read->spec->backends->at(0).port == 8080);
  CHECK(read->spec->source->git->url == "u");
  CHECK_FALSE(read->spec->minReplicas.has_value());
  CHECK_FALSE(read->status.has_value());
  Website written;
  written.spec.emplace();
  written.spec->replicas = 2;
  CHECK(written.to_json() == yaml("{spec: {replicas: 2}}"));
  // There and back.
  Website again;
  REQUIRE(again.from_json(read->to_json()).ok());
  CHECK(again.to_json() == read->to_json());
}

TEST_CASE("a number that is none of its type is refused, not changed") {
  Website object;
  for (const char* wrong :
       {"{spec: {replicas: 9300000000000000000}}", "{spec: {replicas: true}}",
        "{spec: {replicas: 1.7}}", "{spec: {backends: [{name: b, port: 5000000000}]}}"}) {
    INFO(wrong);
    const auto read = object.from_json(yaml(wrong));
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().kind() == ErrorKind::invalid);
  }
  CHECK_THAT(object.from_json(yaml("{spec: {replicas: 1.7}}")).error().message(),
             Catch::Contains("spec: replicas: is no whole number"));
}

TEST_CASE("an object of another shape is an error of the generated structs, not an exception") {
  Website object;
  const auto read = object.from_json(yaml("{spec: {replicas: many}}"));
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().kind() == ErrorKind::invalid);
  CHECK_THAT(read.error().message(), Catch::Contains("replicas"));
  CHECK_FALSE(object.from_json(5).ok());
  CHECK(object.from_json(yaml("{spec: text}")).error().message() ==
        "Website: spec: must be an object");
}

}  // namespace kubewatch::crdgen
