#include "apiserver/kind_traits.hpp"

#include "apiserver/registry.hpp"
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

TEST_CASE("every kind that has traits is one that the server serves, and has them") {
  const Registry registry;
  for (const auto& [storage_id, traits] : kind_traits()) {
    CAPTURE(storage_id);
    const ResourcePtr resource = registry.find_storage(storage_id);
    REQUIRE(resource != nullptr);
    CHECK(resource->traits.generation == traits.generation);
    CHECK(resource->traits.looks.whole == traits.looks.whole);
  }
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
