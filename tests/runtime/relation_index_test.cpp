#include "runtime/relation_index.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

TEST_CASE("relations are found from both ends and follow their source") {
  const core::ObjectKey settings{"shop", "settings"}, a{"shop", "a"}, b{"shop", "b"};
  RelationIndex index;
  index.set(settings, {b, a});
  CHECK(index.targets_of(settings) == std::vector<core::ObjectKey>{a, b});
  CHECK(index.sources_of(a) == std::vector<core::ObjectKey>{settings});
  index.set(settings, {b});
  CHECK(index.sources_of(a).empty());
  index.set(settings, {});
  CHECK(index.sources_of(b).empty());
  CHECK(index.targets_of(settings).empty());
}
