// The rules of a status, which its subresource alone keeps.
#include "builtin/objects.hpp"

namespace kubewatch::builtin {

namespace {

std::string told_of_status(const std::string& storage_id, const Json& before, const char* status) {
  const Json live = before;
  Json object = live;
  object["status"] = Json::parse(status);
  schema::FieldErrors errors;
  validate(storage_id, &live, object, "status", errors);
  return errors.empty() ? "" : schema::sentences(errors);
}

struct Transition {
  const char* spec;
  const char* before;
  const char* status;
  const char* sentences;
};

std::string told_of_job(const Transition& one) {
  return told_of_status("jobs.batch",
                        {{"spec", Json::parse(one.spec)}, {"status", Json::parse(one.before)}},
                        one.status);
}

void check_jobs(const std::vector<Transition>& cases) {
  for (const Transition& one : cases) {
    CAPTURE(one.spec, one.before, one.status);
    CHECK(told_of_job(one) == one.sentences);
  }
}

constexpr const char* kStarted = R"({"startTime":"2026-01-01T00:00:00Z"})";
constexpr const char* kComplete = R"({"startTime":"2026-01-01T00:00:00Z",
    "completionTime":"2026-01-01T00:00:05Z","succeeded":1,"conditions":[
    {"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]})";
constexpr const char* kFailed = R"({"startTime":"2026-01-01T00:00:00Z","failed":1,"conditions":[
    {"type":"FailureTarget","status":"True"},{"type":"Failed","status":"True"}]})";
constexpr const char* kIndexed =
    R"({"completionMode":"Indexed","completions":5,"parallelism":2,"backoffLimitPerIndex":1})";

}  // namespace

TEST_CASE("what a Namespace, a claim and an APIService may say of themselves") {
  const Json living = Json::object();
  const Json dying = {{"metadata", {{"deletionTimestamp", "2026-01-01T00:00:00Z"}}}};
  CHECK(told_of_status("namespaces", living, R"({"phase":"Active"})").empty());
  CHECK(told_of_status("namespaces", dying, R"({"phase":"Terminating"})").empty());
  CHECK(told_of_status("namespaces", living, R"({"phase":"x"})") ==
        "status.Phase: Invalid value: \"x\": may only be 'Active' if `deletionTimestamp` is empty");
  CHECK(told_of_status("namespaces", dying, R"({"phase":"Active"})") ==
        "status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` "
        "is not empty");
  const auto claim = [](const char* status) {
    return told_of_status("persistentvolumeclaims", Json::object(), status);
  };
  CHECK(claim(R"({"capacity":{"storage":"1Gi"},"allocatedResources":{"storage":1,"a.b/c":"2"},
                  "allocatedResourceStatuses":{"storage":"NodeResizePending"}})")
            .empty());
  CHECK(
      claim(R"({"capacity":{"x":"-100m"},"allocatedResources":{"k":1,"storage":-2}})") ==
      "[status.capacity[x]: Invalid value: -1: must be a valid resource quantity, "
      "status.allocatedResources: Unsupported value: \"k\": supported values: \"storage\", "
      "status.allocatedResources[storage]: Invalid value: -2: must be a valid resource quantity]");
  CHECK(
      claim(R"({"allocatedResourceStatuses":{"k":"x"}})") ==
      "[status.allocatedResourceStatuses: Unsupported value: \"k\": supported values: "
      "\"storage\", status.allocatedResourceStatuses: Unsupported value: \"k\": supported values: "
      "\"ControllerResizeInProgress\", \"ControllerResizeInfeasible\", \"NodeResizeInProgress\", "
      "\"NodeResizeInfeasible\", \"NodeResizePending\"]");
  CHECK(told_of_status("apiservices.apiregistration.k8s.io", Json::object(),
                       R"({"conditions":[{"status":"True"},{}]})") ==
        "status.conditions[1].status: Unsupported value: \"\": supported values: \"True\", "
        "\"False\", \"Unknown\"");
}

TEST_CASE("counts of a status are not negative, and no part is more than the whole") {
  struct Of {
    const char* storage_id;
    const char* status;
    const char* sentences;
  };
  for (const Of& one : std::vector<Of>{
           {"deployments.apps", R"({"replicas":2,"readyReplicas":2,"availableReplicas":1})", ""},
           {"deployments.apps", "{}", ""},
           {"deployments.apps",
            R"({"observedGeneration":-1,"unavailableReplicas":-2,"terminatingReplicas":-3})",
            "[status.observedGeneration: Invalid value: -1: must be greater than or equal to 0, "
            "status.unavailableReplicas: Invalid value: -2: must be greater than or equal to 0, "
            "status.terminatingReplicas: Invalid value: -3: must be greater than or equal to 0]"},
           {"deployments.apps", R"({"availableReplicas":1,"updatedReplicas":1})",
            "[status.updatedReplicas: Invalid value: 1: cannot be greater than status.replicas, "
            "status.availableReplicas: Invalid value: 1: cannot be greater than status.replicas, "
            "status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas]"},
           {"deployments.apps", R"({"replicas":-1})",
            "[status.replicas: Invalid value: -1: must be greater than or equal to 0, "
            "status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas, "
            "status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas, "
            "status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas]"},
           {"replicasets.apps", R"({"fullyLabeledReplicas":1,"readyReplicas":1})",
            "[status.fullyLabeledReplicas: Invalid value: 1: cannot be greater than "
            "status.replicas, status.readyReplicas: Invalid value: 1: cannot be greater than "
            "status.replicas]"},
           {"replicationcontrollers", R"({"replicas":1,"availableReplicas":1})",
            "status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas"},
           {"statefulsets.apps", R"({"replicas":1,"currentReplicas":2,"availableReplicas":1})",
            "[status.currentReplicas: Invalid value: 2: cannot be greater than status.replicas, "
            "status.availableReplicas: Invalid value: 1: cannot be greater than "
            "status.readyReplicas]"},
           {"daemonsets.apps", R"({"numberReady":3,"numberMisscheduled":-1})",
            "status.numberMisscheduled: Invalid value: -1: must be greater than or equal to 0"},
       }) {
    CAPTURE(one.storage_id, one.status);
    CHECK(told_of_status(one.storage_id, right(one.storage_id), one.status) == one.sentences);
  }
}

TEST_CASE("the status of a Pod keeps its class, and what has ended") {
  const Json live = Json::parse(R"({"spec":{"restartPolicy":"OnFailure","nodeName":"n",
      "resourceClaims":[{"name":"r"}],
      "containers":[{"name":"a"},{"name":"b"},{"name":"always","restartPolicy":"Always"}],
      "initContainers":[{"name":"i"}]},
      "status":{"qosClass":"Burstable","podIPs":[{"ip":"odd"}],
      "containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0}}},
        {"name":"b","state":{"terminated":{"exitCode":1}}},
        {"name":"always","state":{"terminated":{"exitCode":0}}}],
      "ephemeralContainerStatuses":[{"name":"e","state":{"terminated":{"exitCode":1}}}]}})");
  const auto told = [&live](const char* status) {
    const Json kept = {{"qosClass", "Burstable"}};
    Json all = kept;
    all.merge_patch(Json::parse(status));
    return told_of_status("pods", live, all.dump().c_str());
  };
  const std::string ended = ".state: Forbidden: may not be transitioned to non-terminated state";
  CHECK(told("{}").empty());
  CHECK(told(R"({"qosClass":"Guaranteed"})") ==
        "status.qosClass: Invalid value: \"Guaranteed\": field is immutable");
  CHECK(told(R"({"containerStatuses":[{"name":"always","state":{"running":{}}},
      {"name":"b","state":{"running":{}}},{"name":"a","state":{"running":{}}}]})") ==
        "status.containerStatuses[0]" + ended);
  CHECK(told(R"({"ephemeralContainerStatuses":[{"name":"e"}]})") ==
        "status.ephemeralContainerStatuses[0]" + ended);
  CHECK(told(R"({"podIP":"odd","podIPs":[{"ip":"odd"}]})").empty());
  CHECK(told(R"({"podIPs":[{"ip":"10.0.0.1"},{"ip":"2001:db8::1"}]})").empty());
  CHECK(told(R"({"podIPs":[{"ip":"nonsense"}]})") ==
        "status.podIPs[0]: Invalid value: \"nonsense\": must be a valid IP address, (e.g. 10.9.8.7 "
        "or 2001:db8::ffff)");
  CHECK(told(R"({"podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]})") ==
        "status.podIPs: Invalid value: [{\"IP\":\"10.0.0.1\"},{\"IP\":\"10.0.0.2\"}]: may specify "
        "no more than one IP for each IP family");
  CHECK(told(R"({"hostIP":"10.0.0.1","hostIPs":[{"ip":"10.0.0.2"}]})") ==
        "status.hostIPs[0].ip: Invalid value: \"10.0.0.2\": must be equal to `hostIP`");
  CHECK(told(R"({"observedGeneration":-1,"nominatedNodeName":"m",
      "conditions":[{"type":"Ready"},{"type":"/"}],"resourceClaimStatuses":[{"name":"q"}]})")
            .starts_with("[status.conditions[1].Type: Invalid value: \"/\": prefix part must be "
                         "non-empty, "));
  CHECK(told(R"({"observedGeneration":-1,"nominatedNodeName":"m",
      "resourceClaimStatuses":[{"name":"r"},{"name":"q"}]})") ==
        "[status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a "
        "node, status.observedGeneration: Invalid value: -1: must be a non-negative integer, "
        "status.resourceClaimStatuses[1].name: Invalid value: \"q\": must match the name of an "
        "entry in `spec.resourceClaims`]");
}

TEST_CASE("the status of a Pod tells of users and of resources that containers have asked for") {
  const Json live = Json::parse(R"({"spec":{"containers":[{"name":"c","resources":{
      "requests":{"a.b/c":"1"},"claims":[{"name":"k","request":"r"},{"name":"l"}]}}],
      "initContainers":[{"name":"d"}]}})");
  const auto told = [&live](const char* status) { return told_of_status("pods", live, status); };
  CHECK(told(R"({"initContainerStatuses":[{"name":"d","user":{"linux":{"uid":-1,"gid":2147483648,
      "supplementalGroups":[-1,5]}}}]})") ==
        "[status.initContainerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and "
        "2147483647, inclusive, status.initContainerStatuses[0].user.linux.gid: Invalid value: "
        "2147483648: must be between 0 and 2147483647, inclusive, "
        "status.initContainerStatuses[0].user.linux.supplementalGroups[0]: Invalid value: -1: must "
        "be between 0 and 2147483647, inclusive]");
  Json windows = live;
  windows["spec"]["os"] = {{"name", "windows"}};
  CHECK(
      told_of_status("pods", windows, R"({"containerStatuses":[{"user":{"linux":{"uid":-1}}}]})") ==
      "status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod");
  const auto allocated = [&](const std::string& name, const std::string& resources = "[]") {
    return told((R"({"containerStatuses":[{"name":"c","allocatedResourcesStatus":[{"name":")" +
                 name + R"(","resources":)" + resources + "}]}]}")
                    .c_str());
  };
  const std::string at = "status.containerStatuses[0].allocatedResourcesStatus[0].";
  const std::string no_claim =
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' "
      "or 'claim:<claimName>' if request is empty";
  CHECK(allocated("a.b/c").empty());
  CHECK(allocated("claim:k/r").empty());
  CHECK(allocated("claim:l").empty());
  CHECK(allocated("claim:k") == at + "name: Invalid value: \"claim:k\": " + no_claim);
  CHECK(allocated("cpu") ==
        at + "name: Invalid value: \"cpu\": must match one of the container's resource requests");
  CHECK(allocated("a.b/c",
                  R"([{"resourceID":"1","health":"Unknown"},{"resourceID":"1","message":""}])") ==
        "[" + at +
            "resources[1].health: Unsupported value: \"\": supported values: \"Healthy\", "
            "\"Unhealthy\", \"Unknown\", " +
            at + "resources[1].message: Required value: must be non-empty if specified, " + at +
            "resources[1].resourceID: Duplicate value: \"1\"]");
  CHECK(
      allocated("a.b/c", R"([{"health":"Healthy","message":")" + std::string(1025, 'a') + "\"}]") ==
      at + "resources[0].message: Too long: may not be more than 1024 bytes");
  CHECK(told(R"({"containerStatuses":[{"name":"gone","allocatedResourcesStatus":[{"name":"x"}]}]})")
            .empty());
  CHECK(told(R"({"ephemeralContainerStatuses":[{"allocatedResourcesStatus":[{"name":"x"}]}]})") ==
        "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be "
        "specified in container status");
}

TEST_CASE("the claim for extended resources of a Pod is mapped to its containers") {
  const Json live = Json::parse(R"({"spec":{"initContainers":[{"name":"i"}],
      "containers":[{"name":"c","resources":{"requests":{"a.b/c":"1"}}}]}})");
  const auto told = [&live](const std::string& claim) {
    return told_of_status("pods", live,
                          (R"({"extendedResourceClaimStatus":)" + claim + "}").c_str());
  };
  const std::string at = "status.extendedResourceClaimStatus.";
  const std::string mapping = R"({"containerName":"c","resourceName":"a.b/c","requestName":"r"})";
  CHECK(told(R"({"resourceClaimName":"a","requestMappings":[)" + mapping + "]}").empty());
  CHECK(told("{}") == "[" + at +
                          "requestMappings: Required value: at least one request mapping is "
                          "required, " +
                          at + "resourceClaimName: Required value]");
  CHECK(told(R"({"resourceClaimName":"a","requestMappings":[)" + mapping + "," + mapping + "]}") ==
        "[" + at + "requestMappings[1].containerName: Duplicate value: \"c\", " + at +
            "requestMappings[1].resourceName: Duplicate value: \"a.b/c\", " + at +
            "requestMappings[1].requestName: Duplicate value: \"r\"]");
  const std::string odd = told(R"({"resourceClaimName":"A","requestMappings":[
      {"containerName":"i","resourceName":"a.b/c","requestName":"r"},
      {"containerName":"x","resourceName":"a.b/c","requestName":"R"}]})");
  CHECK(odd.starts_with(
      "[" + at +
      "requestMappings[0].resourceName: Invalid value: \"a.b/c\": must match the extended "
      "resource name of an entry in spec.initContainers.resources.requests or "
      "spec.containers.resources.requests, " +
      at +
      "requestMappings[1].containerName: Invalid value: \"x\": must match the name of an entry in "
      "spec.initContainers.name or spec.containers.name, " +
      at + "requestName: Invalid value: \"R\": a lowercase RFC 1123 label must "));
  CHECK(odd.find(at + "resourceClaimName: Invalid value: \"A\": ") != std::string::npos);
}

TEST_CASE("a container is started again where its rules say so") {
  const auto told = [](const char* container) {
    const Json live = {
        {"spec", {{"restartPolicy", "Never"}, {"containers", {Json::parse(container)}}}},
        {"status",
         Json::parse(
             R"({"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":3}}}]})")}};
    return told_of_status("pods", live, R"({"containerStatuses":[{"name":"a"}]})");
  };
  CHECK_FALSE(told(R"({"name":"a"})").empty());
  CHECK_FALSE(told(R"({"name":"b"})").empty());
  CHECK(told(R"({"name":"a","restartPolicy":"OnFailure"})").empty());
  const auto by_rule = [&](const std::string& rule) {
    return told(
        (R"({"name":"a","restartPolicy":"Never","restartPolicyRules":[)" + rule + "]}").c_str());
  };
  CHECK(by_rule(R"({"action":"Restart","exitCodes":{"operator":"In","values":[3]}})").empty());
  CHECK_FALSE(
      by_rule(R"({"action":"Restart","exitCodes":{"operator":"NotIn","values":[3]}})").empty());
  CHECK(by_rule(R"({"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[9]}})")
            .empty());
}

TEST_CASE("the status of a Node has amounts, and no address twice") {
  const auto told = [](const char* status) {
    return told_of_status("nodes", Json::object(), status);
  };
  CHECK(
      told(R"({"addresses":[{"type":"Hostname","address":"a"},{"type":"InternalDNS","address":"a"}],
      "declaredFeatures":["A","A/b"]})")
          .empty());
  CHECK(told(R"({"capacity":{"cpu":"-1"},"addresses":[{"type":"Hostname","address":"a"},
      {"type":"Hostname","address":"a"}]})") ==
        "[status.capacity.cpu: Invalid value: \"-1\": must be greater than or equal to 0, "
        "status.addresses[1]: Duplicate value: {\"Type\":\"Hostname\",\"Address\":\"a\"}]");
  CHECK(told(R"({"declaredFeatures":["B","A"]})") ==
        "status.declaredFeatures[1]: Invalid value: \"A\": list must be sorted alphabetically");
}

TEST_CASE("the status of a budget counts from nothing, and has whole conditions") {
  constexpr const char* budget = "poddisruptionbudgets.policy";
  const auto told = [](const char* status) {
    return told_of_status(budget, Json::object(), status);
  };
  CHECK(told(R"({"disruptionsAllowed":0,"conditions":[{"type":"A","status":"True","reason":"R",
      "message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]})")
            .empty());
  CHECK(told(R"({"disruptionsAllowed":-3,"currentHealthy":0,"expectedPods":-1})") ==
        "[status.disruptionsAllowed: Invalid value: -3: must be greater than or equal to 0, "
        "status.expectedPods: Invalid value: -1: must be greater than or equal to 0]");
  CHECK(
      told(R"({"conditions":[{"type":"A","status":"x","reason":"1"},{"type":"A","status":"True",
      "reason":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]})") ==
      "[status.conditions[0].status: Unsupported value: \"x\": supported values: \"False\", "
      "\"True\", \"Unknown\", status.conditions[0].lastTransitionTime: Required value, "
      "status.conditions[0].reason: Invalid value: \"1\": a condition reason must start with "
      "alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', "
      "and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
      "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
      "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'), status.conditions[1].type: Duplicate value: "
      "\"A\", status.conditions[1].reason: Required value]");
}

TEST_CASE("the count of collisions does not go back") {
  for (const char* kind : {"deployments.apps", "statefulsets.apps", "daemonsets.apps"}) {
    CAPTURE(kind);
    const Json before = {{"status", {{"collisionCount", 2}}}};
    CHECK(told_of_status(kind, before, R"({"collisionCount":2})").empty());
    CHECK(told_of_status(kind, before, R"({"collisionCount":1})") ==
          "status.collisionCount: Invalid value: 1: cannot be decremented");
    CHECK(told_of_status(kind, before, "{}") ==
          "status.collisionCount: Invalid value: 0: cannot be decremented");
    CHECK(told_of_status(kind, Json::object(), R"({"collisionCount":1})").empty());
  }
}

TEST_CASE("a Job ends as its controller would end it") {
  check_jobs({
      {"{}", "{}", kStarted, ""},
      {"{}", kStarted, kComplete, ""},
      {"{}", kStarted, kFailed, ""},
      {"{}", "{}", R"({"conditions":[{"type":"Complete","status":"True"}]})",
       "[status.completionTime: Required value: completionTime is required for Complete jobs, "
       "status.conditions: Invalid value: cannot set Complete=True condition without the "
       "SuccessCriteriaMet=true condition, status.startTime: Required value: startTime is required "
       "for finished job]"},
      {R"({"successPolicy":{"rules":[]}})", kStarted,
       R"({"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:05Z",
        "conditions":[{"type":"Complete","status":"True"}]})",
       "[status.conditions: Invalid value: cannot set Complete=True condition without the "
       "SuccessCriteriaMet=true condition, status.conditions: Invalid value: cannot set "
       "Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True]"},
      {R"({"suspend":true,"completions":0})", "{}",
       R"({"conditions":[{"type":"FailureTarget","status":"True"},
        {"type":"Failed","status":"True"}]})",
       ""},
      {"{}", kStarted,
       R"({"startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Failed","status":"True"}]})",
       "status.conditions: Invalid value: cannot set Failed=True condition without the "
       "FailureTarget=true condition"},
      {"{}", kStarted,
       R"({"startTime":"2026-01-01T00:00:00Z","completionTime":"2025-12-31T23:59:59Z"})",
       "[status.completionTime: Invalid value: \"2025-12-31T23:59:59Z\": cannot set completionTime "
       "when there is no Complete=True condition, status.completionTime: Invalid value: "
       "\"2025-12-31T23:59:59Z\": must be equal to or after `startTime`]"},
      {"{}", kStarted,
       R"({"startTime":"2026-01-01T00:00:00Z","active":1,"terminating":2,
        "uncountedTerminatedPods":{"failed":["u"]},
        "conditions":[{"type":"FailureTarget","status":"True"},
        {"type":"Failed","status":"True"}]})",
       "[status.active: Invalid value: 1: active>0 is invalid for finished job, "
       "status.uncountedTerminatedPods: Invalid value: {\"Succeeded\":null,\"Failed\":[\"u\"]}: "
       "must be empty for finished job, status.terminating: Invalid value: 2: terminating>0 is "
       "invalid for finished job]"},
      {"{}", kComplete,
       R"({"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:05Z",
        "succeeded":1,"conditions":[{"type":"SuccessCriteriaMet","status":"True"},
        {"type":"Complete","status":"True"},{"type":"FailureTarget","status":"True"},
        {"type":"Failed","status":"True"}]})",
       "[status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions, "
       "status.conditions: Invalid value: cannot set Complete=True and FailureTarget=true "
       "conditions, status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and "
       "Failed=true conditions, status.conditions: Invalid value: cannot set "
       "SuccessCriteriaMet=True and FailureTarget=true conditions]"},
  });
}

TEST_CASE("what a Job has reached stays") {
  check_jobs({
      {"{}", kComplete, kStarted,
       "[status.conditions: Invalid value: cannot disable the terminal Complete=True condition, "
       "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter, "
       "status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition]"},
      {"{}", kFailed, kStarted,
       "[status.conditions: Invalid value: cannot disable the terminal Failed=True condition, "
       "status.conditions: Invalid value: cannot disable the terminal FailureTarget=True "
       "condition, status.failed: Invalid value: 0: cannot decrease the failed counter]"},
      {"{}", kComplete,
       R"({"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:06Z",
        "succeeded":1,"conditions":[{"type":"SuccessCriteriaMet","status":"True"},
        {"type":"Complete","status":"True"}]})",
       "status.completionTime: Invalid value: \"2026-01-01T00:00:06Z\": field is immutable"},
      {"{}", kStarted, "{}",
       "status.startTime: Invalid value: null: field is immutable for unsuspended job once set"},
      {R"({"suspend":true})", kStarted, "{}", ""},
      {"{}",
       R"({"startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Suspended","status":"True"}]})",
       R"({"startTime":"2026-01-01T00:00:09Z",
        "conditions":[{"type":"Suspended","status":"False"}]})",
       ""},
      {R"({"completionMode":"Indexed","completions":2,"parallelism":2})", R"({"succeeded":2})",
       R"({"succeeded":1})", ""},
      {R"({"completionMode":"Indexed","completions":2,"parallelism":1})", R"({"succeeded":2})",
       R"({"succeeded":1})",
       "status.succeeded: Invalid value: 1: cannot decrease the succeeded counter"},
      // What was wrong before may stay, beside what is not.
      {"{}", R"({"active":1,"ready":2})", R"({"active":1,"ready":2,"failed":1})", ""},
      {"{}", R"({"active":1,"ready":2})", R"({"active":1,"ready":3})",
       "status.ready: Invalid value: 3: cannot set more ready pods than active"},
  });
}

TEST_CASE("Pods and indexes of a Job are counted once") {
  const auto overlaps = [](const char* completed, const char* failed) {
    const Json status = {{"completedIndexes", completed}, {"failedIndexes", failed}};
    return told_of_job({kIndexed, "{}", status.dump().c_str(), ""});
  };
  const auto why = [](const char* completed) {
    const Json status = {{"completedIndexes", completed}};
    return told_of_job({kIndexed, "{}", status.dump().c_str(), ""});
  };
  check_jobs({
      {"{}", "{}", R"({"uncountedTerminatedPods":{"succeeded":["a","","b"],"failed":["c","b"]}})",
       "[status.uncountedTerminatedPods.succeeded[1]: Invalid value: \"\": must not be empty, "
       "status.uncountedTerminatedPods.failed[1]: Duplicate value: \"b\"]"},
      {"{}", "{}", R"({"active":-1,"succeeded":-1,"failed":-1,"terminating":-1})",
       "[status.active: Invalid value: -1: must be greater than or equal to 0, "
       "status.succeeded: Invalid value: -1: must be greater than or equal to 0, "
       "status.failed: Invalid value: -1: must be greater than or equal to 0, "
       "status.terminating: Invalid value: -1: must be greater than or equal to 0, "
       "status.failed: Invalid value: -1: cannot decrease the failed counter, "
       "status.succeeded: Invalid value: -1: cannot decrease the succeeded counter]"},
      {R"({"completions":5})", "{}", R"({"completedIndexes":"1","failedIndexes":""})",
       "[status.completedIndexes: Invalid value: \"1\": cannot set non-empty completedIndexes when "
       "non-indexed completion mode, status.failedIndexes: Invalid value: \"\": cannot set "
       "non-null "
       "failedIndexes when backoffLimitPerIndex is null]"},
  });
  CHECK(why("0,2-4").empty());
  const std::string of = "status.completedIndexes: Invalid value: ";
  CHECK(why("1,1") == of + "\"1,1\": error parsing completedIndexes: non-increasing order, "
                           "previous: 1, current: 1");
  CHECK(why("3-2") == of + "\"3-2\": error parsing completedIndexes: non-increasing order, "
                           "previous: 3, current: 2");
  CHECK(why("5") == of + "\"5\": error parsing completedIndexes: too large index: \"5\"");
  CHECK(why("-1") ==
        of + "\"-1\": error parsing completedIndexes: cannot convert string to integer for index: "
             "\"\"");
  CHECK(why("1-2-3") ==
        of + "\"1-2-3\": error parsing completedIndexes: the fragment \"1-2-3\" violates the "
             "requirement that an index interval can have at most two parts separated by '-'");
  CHECK(overlaps("0,2", "1,3-4").empty());
  CHECK(overlaps("0,2-4", "1,3") ==
        "status.failedIndexes: Invalid value: \"1,3\": failedIndexes and completedIndexes overlap "
        "at index: 3");
}

}  // namespace kubewatch::builtin
