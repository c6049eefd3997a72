// Leadership: what it refuses, and what it says of writes, on a scripted server. How leads come and
// go is leader_election_test's, shard_coordinator_test's and cli/election_test's.
#include "runtime/leadership.hpp"

#include "client/rig.hpp"
#include "runtime/lease_answers.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using namespace kubewatch::test;

namespace {

LeadershipOptions shared_out(std::size_t shards, const std::string& plan) {
  LeadershipOptions out;
  out.election.lease = {"kube", "shop"};
  out.election.identity = "me";
  out.shards = shards;
  out.plan = plan;
  return out;
}

}  // namespace

TEST_CASE("shards need a plan that says how the objects are shared out") {
  CHECK(shared_out(1, "").validate().ok());
  CHECK(shared_out(3, "3 even shards by hash of names").validate().ok());
  CHECK(
      shared_out(3, "").validate().error().render() ==
      "plan \"\" must say how the objects are shared out to 3 shards, with \" even shards by \" in "
      "its words, as \"3 even shards by hash of names\"");
  CHECK_FALSE(shared_out(3, "by hash").validate().ok());
  CHECK(shared_out(0, "").validate().error().render() == "shards must be 1 to 1000");
  LeadershipNames names;
  names.shards = "--shards";
  CHECK(shared_out(0, "").validate(names).error().render() == "--shards must be 1 to 1000");
}

TEST_CASE("a Leadership whose callbacks are empty leads, and lets writes through only then") {
  Rig rig;
  base::Random random{1};
  Leadership leadership(rig.client, shared_out(1, ""), random, {});
  const auto refusal = [&] { return leadership.gate().admit().error().message(); };
  CHECK(refusal().find("this instance does not lead") == 0);
  leadership.start();
  refuse_as_unknown(rig, 0);
  accept_lease(rig, 1);
  CHECK(leadership.gate().admit().ok());
  leadership.leave();
  bool released = false;
  leadership.release([&] { released = true; });
  REQUIRE(rig.transport.size() == 3);
  accept_lease(rig, 2);
  rig.run();
  CHECK(released);
  CHECK(refusal().find("this instance does not lead") == 0);
}
