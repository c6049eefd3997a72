// Paths of the API, with hostile names.
#include "core/url.hpp"

#include "support/catch.hpp"

using namespace kubewatch::core;

namespace {
const ResourceType kPods{{"", "v1", "Pod"}, "pods", "pod", true, {}, {}, {}, {}};
const ResourceType kNodes{{"", "v1", "Node"}, "nodes", "node", false, {}, {}, {}, {}};
const ResourceType kDeployments{
    {"apps", "v1", "Deployment"}, "deployments", "deployment", true, {}, {}, {}, {}};
}  // namespace

TEST_CASE("collections and objects have the paths of the API") {
  CHECK(collection_path(kPods, "shop") == "/api/v1/namespaces/shop/pods");
  CHECK(collection_path(kPods, "") == "/api/v1/pods");
  CHECK(collection_path(kDeployments, "") == "/apis/apps/v1/deployments");
  CHECK(object_path(kDeployments, {"shop", "web"}) ==
        "/apis/apps/v1/namespaces/shop/deployments/web");
  CHECK(object_path(kDeployments, {"shop", "web"}, "status") ==
        "/apis/apps/v1/namespaces/shop/deployments/web/status");
  CHECK(object_path(kNodes, {"ignored", "n1"}) == "/api/v1/nodes/n1");
}

TEST_CASE("no name changes the path that it stands in") {
  CHECK(object_path(kPods, {"shop", "../../nodes/n1"}) ==
        "/api/v1/namespaces/shop/pods/..%2F..%2Fnodes%2Fn1");
  CHECK(object_path(kPods, {"shop", ".."}) == "/api/v1/namespaces/shop/pods/%2E%2E");
  CHECK(object_path(kPods, {".", "a"}) == "/api/v1/namespaces/%2E/pods/a");
  CHECK(object_path(kPods, {"shop", "a?x=1#y;z%2e"}) ==
        "/api/v1/namespaces/shop/pods/a%3Fx%3D1%23y%3Bz%252e");
  CHECK(object_path(kPods, {"a\r\nb", "x"}) == "/api/v1/namespaces/a%0D%0Ab/pods/x");
}
