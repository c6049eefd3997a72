// The one line that says why: from Pods, claims and Events.
#include "runtime/wait_cause.hpp"

#include "base/yaml.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

Json yaml(const std::string& text) {
  auto parsed = base::parse_yaml_values(text);
  INFO(text);
  REQUIRE(parsed.ok());
  return parsed->front();
}

std::string of_containers(const std::string& statuses, const std::string& list = "container") {
  return pod_cause(yaml("{status: {" + list + "Statuses: [" + statuses + "]}}"));
}

}  // namespace

TEST_CASE("a Pod's cause is its first container that does not do what it should") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"{name: a, ready: true, state: {running: {}}}", ""},
      {"{name: a, state: {waiting: {reason: ContainerCreating}}}", ""},
      {"{name: a, restartCount: 5, state: {waiting: {reason: CrashLoopBackOff, message: back-off}},"
       " lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}",
       "container a: CrashLoopBackOff, last exit code 137 (OOMKilled), 5 restarts"},
      {"{name: a, state: {waiting: {reason: ImagePullBackOff, message: Back-off pulling x}}}",
       "container a: ImagePullBackOff: Back-off pulling x"},
      {"{name: a, state: {terminated: {exitCode: 3, reason: Error, message: \"no config\"}}}",
       "container a: exit code 3: no config"},
      {"{name: a, state: {terminated: {exitCode: 0, reason: Completed}}}", ""},
      {"{name: a, state: {terminated: {exitCode: 137, signal: 9, reason: Error}}}",
       "container a: exit code 137, signal 9"},
      {"{name: a, ready: false, restartCount: 1, state: {running: {}}, lastState: {terminated: "
       "{exitCode: 1, reason: Error}}}",
       "container a: running, not ready, last exit code 1, 1 restart"},
      {"{name: a, ready: true, state: {running: {}}}, {name: b, state: {waiting: {reason: "
       "ErrImagePull}}}",
       "container b: ErrImagePull"},
  };
  for (const auto& [statuses, cause] : rows) {
    INFO(statuses);
    CHECK(of_containers(statuses) == cause);
  }
  CHECK(of_containers("{name: migrate, state: {terminated: {exitCode: 2}}}", "initContainer") ==
        "init container migrate: exit code 2");
  CHECK(of_containers("{name: migrate, ready: false, state: {running: {}}}", "initContainer") ==
        "");
}

TEST_CASE("a Pod without containers yet is explained by the scheduler or its phase") {
  CHECK(
      pod_cause(yaml("{status: {phase: Pending, conditions: [{type: PodScheduled, status: "
                     "\"False\", reason: Unschedulable, message: \"0/3 nodes\\nare free\"}]}}")) ==
      "unschedulable: 0/3 nodes are free");
  CHECK(pod_cause(yaml("{status: {phase: Failed, reason: Evicted, message: disk}}")) ==
        "phase is Failed: Evicted: disk");
  CHECK(pod_cause(yaml("{status: {phase: Pending}}")).empty());
  CHECK(pod_cause(yaml("{spec: {}}")).empty());
}

TEST_CASE("claims that a Pod mounts are named until they are bound") {
  const Json pod = yaml(
      "{spec: {volumes: [{name: a, emptyDir: {}}, {name: b, "
      "persistentVolumeClaim: {claimName: data}}]}}");
  CHECK(claims_of(pod) == std::vector<std::string>{"data"});
  CHECK(claim_cause(yaml("{metadata: {name: data}, status: {phase: Pending}}")) ==
        "PersistentVolumeClaim data is Pending");
  CHECK(claim_cause(yaml("{metadata: {name: data}}")) == "PersistentVolumeClaim data is not bound");
  CHECK(claim_cause(yaml("{metadata: {name: data}, status: {phase: Bound}}")).empty());
}

TEST_CASE("the last warning Event is found in both APIs' words") {
  const std::vector<Json> events = {
      yaml("{type: Warning, reason: Old, note: first, regarding: {uid: u}, "
           "deprecatedLastTimestamp: \"2026-01-02T03:04:05Z\"}"),
      yaml("{type: Normal, reason: Fine, note: x, regarding: {uid: u}, eventTime: "
           "\"2026-01-02T09:04:05.000000Z\"}"),
      yaml("{type: Warning, reason: FailedMount, message: no such secret, involvedObject: {uid: "
           "u}, count: 4, lastTimestamp: \"2026-01-02T03:05:05Z\"}"),
      yaml("{type: Warning, reason: Other, note: why, regarding: {uid: v}, eventTime: "
           "\"2026-01-02T08:04:05.000000Z\"}"),
  };
  CHECK(event_cause(events, {"u"}) == "FailedMount: no such secret (4 times)");
  CHECK(event_cause(events, {"v"}) == "Other: why");
  CHECK(event_cause(events, {"w"}).empty());
  CHECK(event_cause(events, {""}).empty());
}

TEST_CASE("Pods are found through the ReplicaSets of their owner, newest first") {
  const auto pod = [](const std::string& name, const std::string& owner, const std::string& at) {
    return yaml("{metadata: {name: " + name + ", creationTimestamp: \"" + at +
                "\", ownerReferences: [{uid: " + owner + "}]}}");
  };
  const std::vector<Json> pods = {
      pod("old", "rs1", "2026-01-01T00:00:00Z"), pod("new", "rs2", "2026-01-02T00:00:00Z"),
      pod("direct", "web", "2026-01-01T12:00:00Z"), pod("other", "rs3", "2026-01-03T00:00:00Z")};
  const std::vector<Json> sets = {yaml("{metadata: {uid: rs1, ownerReferences: [{uid: web}]}}"),
                                  yaml("{metadata: {uid: rs2, ownerReferences: [{uid: web}]}}"),
                                  yaml("{metadata: {uid: rs3, ownerReferences: [{uid: x}]}}")};
  std::vector<std::string> names;
  for (const auto& one : pods_owned_by(pods, "web", sets)) {
    names.push_back(base::string_at(one, {"metadata", "name"}));
  }
  CHECK(names == std::vector<std::string>{"new", "direct", "old"});
}

TEST_CASE("a cause is one line, cut at a character") {
  CHECK(cause_line("  a\nb\tc ") == "a b c");
  CHECK(cause_line("\xC3\xA4\xC3\xA4\xC3\xA4", 3) == "\xC3\xA4...");
}
