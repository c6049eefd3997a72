// Keepers of several Leases on one client: whose requests wait for whose.
#include "runtime/lease_keeper.hpp"

#include "client/rig.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using namespace kubewatch::test;

namespace {

ElectionOptions lease(const std::string& name) {
  ElectionOptions out;
  out.lease = {"kube", name};
  out.identity = "me";
  return out;
}

LeaseKeeperCallbacks deaf() {
  LeaseKeeperCallbacks out;
  out.on_leading = [] {};
  out.on_lost = [](const LostLead&) {};
  out.on_released = [](bool) {};
  return out;
}

}  // namespace

TEST_CASE("a Lease's request waits while as many of others are on their way as may be") {
  Rig rig;
  base::Random random{1};
  LeaseTurns turns(1);
  LeaseKeeper first(rig.client, lease("shop-0"), random, deaf(), &turns);
  LeaseKeeper second(rig.client, lease("shop-1"), random, deaf(), &turns);
  LeaseKeeper alone(rig.client, lease("shop-members"), random, deaf());
  const auto sent = [&](std::size_t index) { return rig.transport.call(index).line(); };
  const std::string leases = " /apis/coordination.k8s.io/v1/namespaces/kube/leases";
  first.start();
  second.start();
  alone.start();
  REQUIRE(rig.transport.size() == 2);
  CHECK(sent(0) == "GET" + leases + "/shop-0");
  CHECK(sent(1) == "GET" + leases + "/shop-members");
  rig.transport.call(0).head(404);
  rig.transport.call(0).data(R"({"kind":"Status","reason":"NotFound","code":404})");
  rig.transport.call(0).end();
  REQUIRE(rig.transport.size() == 3);
  CHECK(sent(2) == "GET" + leases + "/shop-1");
  // What is given up gives its place to the next: the first one makes its Lease.
  second.release();
  CHECK(rig.transport.call(2).canceled());
  REQUIRE(rig.transport.size() == 4);
  CHECK(sent(3) == "POST" + leases);
}
