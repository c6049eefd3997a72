// Kinds that are nearly written as the server has them.
#include "hooks/close_kind.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

TEST_CASE("a kind in another case, version or group is told as the server has it") {
  std::vector<core::ResourceType> all(4);
  all[0].gvk = {"", "v1", "Secret"};
  all[1].gvk = {"", "v1", "Event"};
  all[2].gvk = {"events.k8s.io", "v1", "Event"};
  all[3].gvk = {"autoscaling", "v2", "HorizontalPodAutoscaler"};
  CHECK(close_kind(all, {"", "v1", "secret"}) == "v1 Secret");
  CHECK(close_kind(all, {"", "v2", "Secret"}) == "v1 Secret");
  CHECK(close_kind(all, {"apps", "v1", "Secret"}) == "v1 Secret");
  CHECK(close_kind(all, {"events.k8s.io", "v1beta1", "Event"}) == "events.k8s.io/v1 Event");
  CHECK(close_kind(all, {"apps", "v1", "Event"}) == "v1 Event or events.k8s.io/v1 Event");
  CHECK(close_kind(all, {"autoscaling", "v2beta2", "HorizontalPodAutoscaler"}) ==
        "autoscaling/v2 HorizontalPodAutoscaler");
  CHECK(close_kind(all, {"demo.dev", "v1", "Website"}).empty());
}
