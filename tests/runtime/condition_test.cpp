// Stock conditions and how they combine; the cases that look met or hopeless and are not.
#include "runtime/condition.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "runtime/stock_conditions.hpp"
#include "runtime/wait_condition.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using State = Verdict::State;

namespace {

State state_of(const Condition& condition, const char* json) {
  const Json object = Json::parse(json);
  return condition.look(&object).state;
}
std::string reason_of(const Condition& condition, const char* json) {
  const Json object = Json::parse(json);
  return condition.look(&object).reason;
}

Condition always(State state) {
  return {"it", [state](const Json*) { return Verdict{state, "why"}; }};
}

}  // namespace

TEST_CASE("conditions combine: not, and, or over met, not yet and failed") {
  const State met = State::met;
  const State wait = State::not_yet;
  const State failed = State::failed;
  CHECK(not_(always(met)).look(nullptr).state == wait);
  CHECK(not_(always(wait)).look(nullptr).state == met);
  CHECK(not_(always(failed)).look(nullptr).state == met);
  struct Row {
    State a, b, both, either;
  };
  const std::vector<Row> rows = {
      {met, met, met, met},     {met, wait, wait, met},       {met, failed, failed, met},
      {wait, wait, wait, wait}, {wait, failed, failed, wait}, {failed, failed, failed, failed},
      {wait, met, wait, met},   {failed, met, failed, met},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.a), static_cast<int>(row.b));
    CHECK(and_(always(row.a), always(row.b)).look(nullptr).state == row.both);
    CHECK(or_(always(row.a), always(row.b)).look(nullptr).state == row.either);
  }
  CHECK(and_(not_(always(met)), always(met)).text() == "not (it) and it");
}

TEST_CASE("an object is deleted when it is absent or its name is another object's") {
  const Condition one = conditions::deleted("u1");
  CHECK(one.look(nullptr).is_met());
  CHECK(state_of(one, R"({"metadata":{"uid":"u1"}})") == State::not_yet);
  CHECK(state_of(one, R"({"metadata":{"uid":"u2"}})") == State::met);
  CHECK(state_of(conditions::deleted(), R"({"metadata":{"uid":"u2"}})") == State::not_yet);
  CHECK(conditions::created().look(nullptr).state == State::not_yet);
  CHECK(state_of(conditions::created(), "{}") == State::met);
}

TEST_CASE("a Pod that has ended is not waited for to run") {
  const auto running = conditions::pod_running();
  CHECK(state_of(running, R"({"status":{"phase":"Pending"}})") == State::not_yet);
  CHECK(state_of(running, R"({"status":{"phase":"Running"}})") == State::met);
  CHECK(state_of(running, R"({"status":{"phase":"Succeeded"}})") == State::failed);
  CHECK(
      reason_of(running, R"({"status":{"phase":"Failed","reason":"Evicted","message":"disk"}})") ==
      "the Pod has ended: phase is Failed, Evicted, disk");
  CHECK(running.look(nullptr).state == State::not_yet);
  const auto ready = conditions::pod_ready();
  CHECK(state_of(ready, R"({"status":{"phase":"Running","conditions":[
      {"type":"Ready","status":"True"}]}})") == State::met);
  CHECK(reason_of(ready, R"({"status":{"phase":"Running","conditions":[
      {"type":"Ready","status":"False","reason":"ContainersNotReady"}]}})") ==
        "Ready is False (reason ContainersNotReady)");
  CHECK(state_of(ready, R"({"status":{"phase":"Succeeded","conditions":[
      {"type":"Ready","status":"False"}]}})") == State::failed);
}

TEST_CASE("a Job that has failed is not waited for forever") {
  const auto job = conditions::job_completed();
  CHECK(state_of(job, R"({"status":{"conditions":[{"type":"Complete","status":"True"}]}})") ==
        State::met);
  CHECK(reason_of(job, R"({"status":{"conditions":[
      {"type":"Failed","status":"True","reason":"BackoffLimitExceeded","message":"too often"}]}})") ==
        "Failed is True (reason BackoffLimitExceeded: too often)");
  CHECK(state_of(job, R"({"status":{"conditions":[{"type":"Failed","status":"True"}]}})") ==
        State::failed);
  CHECK(reason_of(job, R"({"spec":{"completions":3},"status":{"succeeded":1,"active":2}})") ==
        "1 of 3 completions (2 active, 0 failed)");
}

TEST_CASE("a Deployment is rolled out when all replicas are new and available, and not before") {
  const auto rolled = conditions::deployment_rolled_out();
  CHECK(state_of(rolled, R"({"metadata":{"generation":2},"spec":{"replicas":2},"status":{
      "observedGeneration":2,"replicas":2,"updatedReplicas":2,"availableReplicas":2}})") ==
        State::met);
  // The status of the generation before, with the reason that kube-rs takes for the end.
  CHECK(reason_of(rolled, R"({"metadata":{"generation":3},"spec":{"replicas":2},"status":{
      "observedGeneration":2,"replicas":2,"updatedReplicas":2,"availableReplicas":2,"conditions":[
      {"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}})") ==
        "generation 3 is not observed yet (the status is of 2)");
  CHECK(reason_of(rolled, R"({"metadata":{"generation":1},"status":{}})") ==
        "generation 1 is not observed yet (the status is of 0)");
  CHECK(reason_of(rolled, R"({"spec":{"replicas":3},"status":{"updatedReplicas":1}})") ==
        "1 of 3 replicas are updated");
  CHECK(reason_of(rolled, R"({"spec":{"replicas":2},"status":{"replicas":3,"updatedReplicas":2,
      "availableReplicas":3}})") == "1 old replicas are still there");
  CHECK(reason_of(rolled, R"({"status":{"replicas":1,"updatedReplicas":1}})") ==
        "0 of 1 replicas are available");
  CHECK(state_of(rolled, R"({"status":{"conditions":[{"type":"Progressing","status":"False",
      "reason":"ProgressDeadlineExceeded"}]}})") == State::failed);
}

TEST_CASE("a StatefulSet is rolled out by revision, or up to its partition") {
  const auto rolled = conditions::stateful_set_rolled_out();
  CHECK(state_of(rolled, R"({"spec":{"replicas":2},"status":{"readyReplicas":2,
      "currentRevision":"b","updateRevision":"b"}})") == State::met);
  CHECK(state_of(rolled, R"({"spec":{"replicas":2},"status":{"readyReplicas":2,
      "currentRevision":"a","updateRevision":"b","updatedReplicas":1}})") == State::not_yet);
  CHECK(state_of(rolled, R"({"spec":{"replicas":2},"status":{"readyReplicas":1,
      "currentRevision":"b","updateRevision":"b"}})") == State::not_yet);
  const char* const partitioned = R"({"spec":{"replicas":3,"updateStrategy":{"rollingUpdate":{
      "partition":2}}},"status":{"readyReplicas":3,"updatedReplicas":1,
      "currentRevision":"a","updateRevision":"b"}})";
  CHECK(state_of(rolled, partitioned) == State::met);
  // Rolled back before the update was through.
  const auto rolled_back = [](int updated) {
    return fmt::format(R"({{"spec":{{"replicas":3,"updateStrategy":{{"rollingUpdate":{{
        "partition":0}}}}}},"status":{{"readyReplicas":3,"updatedReplicas":{},
        "currentRevision":"a","updateRevision":"a"}}}})",
                       updated);
  };
  CHECK(state_of(rolled, rolled_back(2).c_str()) == State::not_yet);
  CHECK(state_of(rolled, rolled_back(3).c_str()) == State::met);
  CHECK(state_of(rolled, R"({"metadata":{"generation":2},"status":{"observedGeneration":1}})") ==
        State::not_yet);
  CHECK(state_of(rolled, R"({"spec":{"updateStrategy":{"type":"OnDelete"}}})") == State::failed);
}

TEST_CASE("a DaemonSet is rolled out when every node has the new Pod available") {
  const auto rolled = conditions::daemon_set_rolled_out();
  CHECK(state_of(rolled, R"({"status":{"desiredNumberScheduled":2,"updatedNumberScheduled":2,
      "numberAvailable":2}})") == State::met);
  CHECK(state_of(rolled, R"({"status":{"desiredNumberScheduled":2,"updatedNumberScheduled":1,
      "numberAvailable":2}})") == State::not_yet);
  CHECK(state_of(rolled, R"({"status":{"desiredNumberScheduled":2,"updatedNumberScheduled":2,
      "numberAvailable":1}})") == State::not_yet);
  CHECK(state_of(rolled, R"({"metadata":{"generation":2},"status":{"observedGeneration":1}})") ==
        State::not_yet);
  CHECK(state_of(rolled, R"({"spec":{"updateStrategy":{"type":"OnDelete"}}})") == State::failed);
}

TEST_CASE("an empty list of ingress points is no load balancer") {
  const auto service = conditions::load_balancer_provisioned();
  CHECK(state_of(service, R"({"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{
      "ingress":[]}}})") == State::not_yet);
  CHECK(state_of(service, R"({"spec":{"type":"LoadBalancer"}})") == State::not_yet);
  CHECK(state_of(service, R"({"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{
      "ingress":[{"ip":"1.2.3.4"}]}}})") == State::met);
  CHECK(state_of(service, R"({"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{
      "ingress":[{"ip":"1.2.3.4"},{}]}}})") == State::not_yet);
  const auto ingress = conditions::ingress_provisioned();
  CHECK(state_of(ingress, R"({"status":{"loadBalancer":{"ingress":[]}}})") == State::not_yet);
  CHECK(state_of(ingress, R"({"status":{"loadBalancer":{"ingress":[{"hostname":"a.b"}]}}})") ==
        State::met);
}

TEST_CASE("a Service of another type is never provisioned, and that is told at once") {
  const auto service = conditions::load_balancer_provisioned();
  CHECK(reason_of(service, R"({"spec":{}})") ==
        "a Service of type ClusterIP gets no load balancer");
  CHECK(state_of(service, R"({"spec":{"type":"NodePort"}})") == State::failed);
}

TEST_CASE("kinds, namespaces and claims that are ready, on their way, or lost") {
  const auto crd = conditions::crd_established();
  CHECK(state_of(crd, R"({"status":{"conditions":[{"type":"Established","status":"True"}]}})") ==
        State::met);
  CHECK(reason_of(crd, R"({"status":{"conditions":[{"type":"Established","status":"False"},
      {"type":"NamesAccepted","status":"False","reason":"ListKindConflict"}]}})") ==
        "NamesAccepted is False (reason ListKindConflict)");
  CHECK(state_of(crd, R"({"metadata":{"deletionTimestamp":"t"},"status":{"conditions":[
      {"type":"Established","status":"True"}]}})") == State::failed);
  const auto ns = conditions::namespace_active();
  CHECK(state_of(ns, R"({"status":{"phase":"Active"}})") == State::met);
  CHECK(state_of(ns, "{}") == State::not_yet);
  CHECK(state_of(ns, R"({"status":{"phase":"Terminating"}})") == State::failed);
  const auto claim = conditions::claim_bound();
  CHECK(state_of(claim, R"({"status":{"phase":"Pending"}})") == State::not_yet);
  CHECK(state_of(claim, R"({"status":{"phase":"Bound"}})") == State::met);
  CHECK(state_of(claim, R"({"status":{"phase":"Lost"}})") == State::failed);
}

TEST_CASE("kubectl's forms are conditions like any other") {
  const Condition ready = WaitCondition::parse("condition=Ready")->condition();
  CHECK(ready.text() == "condition=Ready");
  CHECK(state_of(ready, R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})") ==
        State::met);
  CHECK(reason_of(ready, "{}") == "Ready is absent");
  const Condition both = and_(ready, not_(WaitCondition::parse("delete")->condition()));
  CHECK(state_of(both, R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})") ==
        State::met);
  const Condition list = WaitCondition::parse("jsonpath={.a}=1")->condition();
  CHECK(state_of(list, R"({"a":[1]})") == State::failed);
}
