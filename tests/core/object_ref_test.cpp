#include "core/object_ref.hpp"

#include "support/catch.hpp"

using namespace kubewatch;

TEST_CASE("an object is named by its apiVersion, kind, namespace and name") {
  CHECK(core::object_text({"apps", "v1", "Deployment"}, {"shop", "web"}) ==
        "apps/v1 Deployment shop/web");
  CHECK(core::object_text({"", "v1", "Node"}, {"", "a"}) == "v1 Node a");
}
