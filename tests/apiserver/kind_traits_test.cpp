#include "apiserver/kind_traits.hpp"

#include "apiserver/registry.hpp"
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

TEST_CASE("every kind that has traits is one that the server serves, and has them") {
  const Registry registry;
  for (const auto& row : kind_traits()) {
    CAPTURE(row.first);
    CHECK(registry.find_storage(row.first) != nullptr);
  }
  const auto has = [&](const char* storage_id) {
    return registry.find_storage(storage_id)->traits;
  };
  const KindTraits lease = has("leases.coordination.k8s.io");
  CHECK(lease.needs_version);
  CHECK(lease.creates_on_update);
  CHECK_FALSE(lease.generation);
  CHECK(has("deployments.apps").generation);
  CHECK_FALSE(has("deployments.apps").needs_version);
  CHECK_FALSE(has("configmaps").generation);
  CHECK(has("configmaps").looks.whole == 1);
  CHECK(has("persistentvolumes").looks.whole == 2);
  CHECK(has("services").answers_with_object);
  // Not served, unlike others of its group.
  CHECK(kind_traits().count("devicetaintrules.resource.k8s.io") == 0);
}

TEST_CASE("a kind without a row is like most, and custom ones are like each other") {
  const Registry registry;
  const std::string scaler = "horizontalpodautoscalers.autoscaling";
  REQUIRE(kind_traits().count(scaler) == 0);
  const KindTraits& traits = registry.find_storage(scaler)->traits;
  CHECK_FALSE(traits.generation);
  CHECK(traits.looks.changes);
  for (const auto& one : resources_of_crd(test::website_crd()).served) {
    CHECK(one->traits.generation);
    CHECK(one->traits.needs_version);
  }
}

}  // namespace kubewatch::apiserver
