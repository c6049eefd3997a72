// Keepers of several Leases on one client: whose requests wait for whose; and their gate.
#include "runtime/lease_keeper.hpp"

#include "client/rig.hpp"
#include "loop/boot_clock.hpp"
#include "runtime/lease_answers.hpp"

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

}  // namespace

TEST_CASE("a Lease's request waits while as many of others are on their way as may be") {
  Rig rig;
  base::Random random{1};
  LeaseTurns turns(1);
  LeaseKeeper first(rig.client, lease("shop-0"), random, {}, &turns);
  LeaseKeeper second(rig.client, lease("shop-1"), random, {}, &turns);
  LeaseKeeper alone(rig.client, lease("shop-members"), random, {});
  const auto sent = [&](std::size_t index) { return rig.transport.call(index).line(); };
  const std::string leases = " /apis/coordination.k8s.io/v1/namespaces/kube/leases";
  first.start();
  second.start();
  alone.start();
  REQUIRE(rig.transport.size() == 2);
  CHECK(sent(0) == "GET" + leases + "/shop-0");
  CHECK(sent(1) == "GET" + leases + "/shop-members");
  refuse_as_unknown(rig, 0);
  REQUIRE(rig.transport.size() == 3);
  CHECK(sent(2) == "GET" + leases + "/shop-1");
  // What is given up gives its place to the next: the first one makes its Lease.
  second.release();
  CHECK(rig.transport.call(2).canceled());
  REQUIRE(rig.transport.size() == 4);
  CHECK(sent(3) == "POST" + leases);
}

TEST_CASE("a keeper whose callbacks are empty takes its Lease, and gives it back") {
  Rig rig;
  base::Random random{1};
  LeaseKeeper keeper(rig.client, lease("shop"), random, {});
  keeper.start();
  refuse_as_unknown(rig, 0);
  REQUIRE(rig.transport.size() == 2);
  accept_lease(rig, 1);
  CHECK(keeper.state() == ElectionState::leading);
  keeper.release();
  REQUIRE(rig.transport.size() == 3);
  accept_lease(rig, 2);
  CHECK(keeper.state() == ElectionState::idle);
}

TEST_CASE("a gate tells one that does not lead from one that led too long ago") {
  std::optional<Fence> fence;
  LeaseGate gate([&] { return fence; });
  CHECK(gate.admit().error().message() ==
        "this instance does not lead: it holds no lease, so nothing is written");
  fence = Fence{};
  CHECK(gate.admit().error().message().find("not the leader any more: ") == 0);
  const TimePoint now = loop::boot_now();
  fence = Fence{now + Duration{60000}, now + Duration{90000}};
  CHECK(gate.admit().ok());
}
