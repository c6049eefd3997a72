// What the server refuses of admission policies, of the addresses of Services, of volumes that are
// attached and of states that others tell; and what an update of them may change.
#include <string>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

Answer patched(World& w, const std::string& path, const std::string& patch) {
  return send_text(w, "PATCH", path, patch, kMerge);
}

Json object_of(const char* version, const char* kind, const std::string& name, const char* rest) {
  Json out = {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}}}};
  out.merge_patch(Json::parse(rest));
  return out;
}

// Of a cluster, and gone with the case.
class ClusterObject {
 public:
  ClusterObject(World& w, const std::string& collection, const Json& object)
      : w_(w), path_(collection + "/" + base::string_at(object, {"metadata", "name"})) {
    made(w, collection, object);
  }
  ClusterObject(const ClusterObject&) = delete;
  ClusterObject& operator=(const ClusterObject&) = delete;
  ~ClusterObject() { send(w_, "DELETE", path_); }
  const std::string& path() const { return path_; }

 private:
  World& w_;
  std::string path_;
};

constexpr const char* kAdmission = "/apis/admissionregistration.k8s.io/v1/";

std::string told_of_policy(World& w, const char* kind, const char* spec) {
  const std::string plural = std::string(kind) == "ValidatingAdmissionPolicy"
                                 ? "validatingadmissionpolicies"
                                 : "mutatingadmissionpolicies";
  Json object = object_of("admissionregistration.k8s.io/v1", kind, "kw", R"({"spec":{
      "matchConstraints":{"resourceRules":[{"apiGroups":["apps"],"apiVersions":["v1"],
      "operations":["CREATE"],"resources":["deployments"]}]}}})");
  object["spec"].merge_patch(Json::parse(spec));
  return message(send(w, "POST", kAdmission + plural + "?dryRun=All", object));
}

}  // namespace

E2E_CASE("admission policies are refused in the server's words, and their expressions compiled") {
  World w;
  const auto told = [&w](const char* spec) {
    return told_of_policy(w, "ValidatingAdmissionPolicy", spec);
  };
  const std::string invalid =
      "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"kw\" is invalid: ";
  CHECK(told(R"({"validations":[{"expression":"object.spec.replicas <= 5"}],
      "variables":[{"name":"a","expression":"['x']"}],
      "auditAnnotations":[{"key":"a","valueExpression":"variables.a[0]"}]})")
            .empty());
  CHECK(told(R"json({"validations":[{"expression":
      "authorizer.group('').resource('pods').namespace('a').check('get').allowed()"}]})json")
            .empty());
  CHECK(told(R"({"failurePolicy":"Fali","matchConstraints":null})") ==
        invalid +
            "[spec.failurePolicy: Unsupported value: \"Fali\": supported values: \"Fail\", "
            "\"Ignore\", spec.matchConstraints: Required value, spec.validations: Required value: "
            "validations or auditAnnotations must contain at least one item, "
            "spec.auditAnnotations: Required value: validations or auditAnnotations must contain "
            "at least one item]");
  CHECK(told(R"({"validations":[{"expression":"object.spec.replicas <= "}]})")
            .starts_with(invalid +
                         "spec.validations[0].expression: Invalid value: \"object.spec.replicas <= "
                         "\": compilation failed: ERROR: <input>:1:25: Syntax error: mismatched "
                         "input '<EOF>' expecting"));
  CHECK(
      told(R"({"validations":[{"expression":"params.x == 1"}]})") ==
      invalid +
          "spec.validations[0].expression: Invalid value: \"params.x == 1\": compilation failed: "
          "ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x == "
          "1\n | ^");
  CHECK(told(R"({"validations":[{"expression":"object.spec.x","reason":"x",
      "messageExpression":"1"}],"matchConditions":[{"expression":"request.name"}]})") ==
        invalid +
            "[spec.matchConditions[0].expression: Invalid value: \"request.name\": must evaluate "
            "to bool but got string, spec.matchConditions[0].name: Required value, "
            "spec.validations[0].expression: Invalid value: \"object.spec.x\": must evaluate to "
            "bool but got dyn, spec.validations[0].messageExpression: Invalid value: \"1\": must "
            "evaluate to string but got int, spec.validations[0].reason: Unsupported value: \"x\": "
            "supported values: \"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\"]");
  CHECK(told_of_policy(w, "MutatingAdmissionPolicy",
                       R"({"mutations":[{"patchType":"JSONPatch"}]})") ==
        "MutatingAdmissionPolicy.admissionregistration.k8s.io \"kw\" is invalid: "
        "[spec.mutations[0].jsonPatch: Required value: must be specified when patchType is "
        "JSONPatch, spec.reinvocationPolicy: Required value]");
}

E2E_CASE(
    "addresses of Services, and volumes that are attached, are refused in the server's words") {
  World w;
  const auto told = [&w](const std::string& root, const std::string& plural, const char* kind,
                         const char* name, const char* rest) {
    const std::string version = root.substr(std::string("/apis/").size());
    return message(send(w, "POST", root + "/" + plural + "?dryRun=All",
                        object_of(version.c_str(), kind, name, rest)));
  };
  const std::string network = "/apis/networking.k8s.io/v1";
  const std::string storage = "/apis/storage.k8s.io/v1";
  // What shows nothing is quoted as Go quotes it, not as JSON does.
  CHECK(message(send(w, "POST", "/api/v1/namespaces/" + w.ns() + "/configmaps?dryRun=All",
                     object_of("v1", "ConfigMap", "e\x1b[31m\x7f", "{}")))
            .starts_with("ConfigMap \"e\\x1b[31m\\x7f\" is invalid: metadata.name: Invalid value: "
                         "\"e\\x1b[31m\\x7f\": a lowercase RFC 1123 subdomain must consist of"));
  CHECK(told(network, "servicecidrs", "ServiceCIDR", "kw",
             R"({"spec":{"cidrs":["nonsense","2001:DB8::/64"]}})") ==
        "ServiceCIDR.networking.k8s.io \"kw\" is invalid: [spec.cidrs[0]: Invalid value: "
        "\"nonsense\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64), "
        "spec.cidrs[1]: Invalid value: \"2001:DB8::/64\": must be in canonical form "
        "(\"2001:db8::/64\")]");
  CHECK(told(network, "ipaddresses", "IPAddress", "2001:db8::17",
             R"({"spec":{"parentRef":{"resource":"services","name":"a"}}})")
            .empty());
  CHECK(told(network, "ipaddresses", "IPAddress", "a", R"({"spec":{}})") ==
        "IPAddress.networking.k8s.io \"a\" is invalid: [metadata.name: Invalid value: \"a\": must "
        "be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff), spec.parentRef: Required "
        "value]");
  CHECK(
      told(network, "ipaddresses", "IPAddress", "a/b",
           R"({"spec":{"parentRef":{"resource":"services","name":"a"}}})") ==
      "IPAddress.networking.k8s.io \"a/b\" is invalid: metadata.name: Invalid value: \"a/b\": must "
      "be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  CHECK(told(storage, "csinodes", "CSINode", "kw",
             R"({"spec":{"drivers":[{"name":"d.io","nodeID":""}]}})") ==
        "CSINode.storage.k8s.io \"kw\" is invalid: spec.drivers[0].nodeID: Required value");
  CHECK(told(storage, "volumeattachments", "VolumeAttachment", "kw",
             R"({"spec":{"attacher":"d.io","nodeName":"n","source":{}}})") ==
        "VolumeAttachment.storage.k8s.io \"kw\" is invalid: spec.source: Required value: must "
        "specify exactly one of inlineVolumeSpec and persistentVolumeName");
  CHECK(told(storage, "volumeattributesclasses", "VolumeAttributesClass", "kw",
             R"({"driverName":"d.io"})") ==
        "VolumeAttributesClass.storage.k8s.io \"kw\" is invalid: parameters: Required value: must "
        "contain at least one key/value pair");
}

E2E_CASE("the status of Pods, Nodes and budgets is judged, and a Pod keeps its class of service") {
  World w;
  const std::string core = "/api/v1/namespaces/" + w.ns();
  Json pod = made(w, core + "/pods", object_of("v1", "Pod", "x", R"({"spec":{
      "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})"));
  const std::string status = core + "/pods/x/status";
  CHECK(
      message(patched(w, status, R"({"status":{"qosClass":"Guaranteed",
      "podIPs":[{"ip":"nonsense"}]}})")) ==
      "Pod \"x\" is invalid: [status.qosClass: Invalid value: \"Guaranteed\": field is immutable, "
      "status.podIPs[0]: Invalid value: \"nonsense\": must be a valid IP address, (e.g. 10.9.8.7 "
      "or 2001:db8::ffff)]");
  pod["status"] = Json::parse(R"({"phase":"Failed","containerStatuses":[{"name":"c","image":"i",
      "imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":1}}}]})");
  const Answer put = send(w, "PUT", status, pod);
  CHECK(put.code == 200);
  CHECK(put.body["status"]["qosClass"] == "BestEffort");
  CHECK(message(patched(w, status, R"({"status":{"containerStatuses":[{"name":"c","image":"i",
      "imageID":"","ready":true,"restartCount":1,"state":{"running":{}}}]}})")) ==
        "Pod \"x\" is invalid: status.containerStatuses[0].state: Forbidden: may not be "
        "transitioned to non-terminated state");

  const ClusterObject node(w, "/api/v1/nodes", object_of("v1", "Node", w.ns(), "{}"));
  CHECK(message(patched(w, node.path() + "/status?dryRun=All",
                        R"({"status":{"allocatable":{"cpu":"1"},"capacity":{"cpu":"-1"},
      "addresses":[{"type":"Hostname","address":"a"},{"type":"Hostname","address":"a"}]}})")) ==
        "Node \"" + w.ns() +
            "\" is invalid: [status.capacity.cpu: Invalid value: \"-1\": must be greater than or "
            "equal to 0, status.addresses[1]: Duplicate value: "
            "{\"Type\":\"Hostname\",\"Address\":\"a\"}]");

  const std::string budgets = "/apis/policy/v1/namespaces/" + w.ns() + "/poddisruptionbudgets";
  made(w, budgets, object_of("policy/v1", "PodDisruptionBudget", "x", R"({"spec":{
      "minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}})"));
  CHECK(message(patched(w, budgets + "/x/status?dryRun=All",
                        R"({"status":{"disruptionsAllowed":-3}})")) ==
        "PodDisruptionBudget.policy \"x\" is invalid: status.disruptionsAllowed: Invalid value: "
        "-3: must be greater than or equal to 0");
}

E2E_CASE("the metadata of a new budget is looked at only where its spec is right") {
  World w;
  const std::string budgets = "/apis/policy/v1/namespaces/" + w.ns() + "/poddisruptionbudgets";
  Json budget = object_of("policy/v1", "PodDisruptionBudget", "x",
                          R"({"metadata":{"labels":{"a":"!"}},"spec":{"minAvailable":-1}})");
  const Json spec = send(w, "POST", budgets, budget).body;
  REQUIRE(spec["details"]["causes"].size() == 1);
  CHECK(spec["details"]["causes"][0]["field"] == "spec.minAvailable");
  budget["spec"]["minAvailable"] = 1;
  const Json metadata = send(w, "POST", budgets, budget).body;
  REQUIRE(metadata["details"]["causes"].size() == 1);
  CHECK(metadata["details"]["causes"][0]["field"] == "metadata.labels");
}

E2E_CASE("Pods that nobody has placed yet, and of Jobs at rest, may go to other nodes") {
  World w;
  const std::string pods = "/api/v1/namespaces/" + w.ns() + "/pods";
  const std::string pod = pods + "/x?dryRun=All";
  made(w, pods, object_of("v1", "Pod", "x", R"({"spec":{"schedulingGates":[{"name":"kw.io/gate"}],
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{
      "nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}},
      "containers":[{"name":"c","image":"i"}]}})"));
  const auto terms = [](const std::string& expressions) {
    return R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{
        "nodeSelectorTerms":[{"matchExpressions":[)" +
           expressions + "]}]}}}";
  };
  const std::string more = R"({"key":"a","operator":"Exists"},{"key":"b","operator":"Exists"})";
  CHECK(patched(w, pod, R"({"spec":{"affinity":)" + terms(more) + "}}").code == 200);
  CHECK(message(patched(
            w, pod,
            R"({"spec":{"affinity":)" + terms(R"({"key":"b","operator":"Exists"})") + "}}")) ==
        "Pod \"x\" is invalid: "
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
        "nodeSelectorTerms[0]: Invalid value: {\"MatchExpressions\":[{\"Key\":\"b\",\"Operator\":"
        "\"Exists\",\"Values\":null}],\"MatchFields\":null}: only additions are allowed (no "
        "mutations or deletions)");
  const std::string others = R"({"podAntiAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z"}]}})";
  CHECK(message(patched(w, pod, R"({"spec":{"affinity":)" + others + "}}"))
            .starts_with("Pod \"x\" is invalid: spec: Forbidden: pod updates may not change"));

  const std::string jobs = "/apis/batch/v1/namespaces/" + w.ns() + "/jobs";
  made(w, jobs, object_of("batch/v1", "Job", "x", R"({"spec":{"suspend":true,
      "managedBy":"kw.io/nobody","template":{"spec":{"restartPolicy":"Never",
      "containers":[{"name":"c","image":"i"}]}}}})"));
  const auto changed = [&](const std::string& spec) {
    return message(
        patched(w, jobs + "/x?dryRun=All", R"({"spec":{"template":{"spec":)" + spec + "}}}"));
  };
  const std::string selector = R"({"nodeSelector":{"a":"b"}})";
  CHECK(changed(selector).empty());
  CHECK(changed(R"({"affinity":)" + terms(more) + "}").empty());
  CHECK(changed(R"({"affinity":)" + others + "}")
            .starts_with("Job.batch \"x\" is invalid: spec.template.spec: Invalid value: "));
  const auto with_status = [&](const char* status) {
    CHECK(patched(w, jobs + "/x/status", status).code == 200);
  };
  with_status(R"({"status":{"startTime":"2026-01-01T00:00:00Z","active":1}})");
  CHECK(
      changed(selector).starts_with("Job.batch \"x\" is invalid: spec.template: Invalid value: "));
  with_status(R"({"status":{"active":0,"conditions":[{"type":"Suspended","status":"True"}]}})");
  CHECK(changed(selector).empty());
}

E2E_CASE("a volume gets its secret for growing once, and keeps a class of attributes") {
  World w;
  const ClusterObject volume(
      w, "/api/v1/persistentvolumes",
      object_of("v1", "PersistentVolume", w.ns(), R"({"spec":{"capacity":{"storage":"1Gi"},
      "accessModes":["ReadWriteOnce"],"volumeAttributesClassName":"a","storageClassName":"kw",
      "csi":{"driver":"d.kw.io","volumeHandle":"h","readOnly":false},
      "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
        {"key":"beta.kubernetes.io/os","operator":"Exists"}]}]}}}})"));
  const auto told = [&](const char* patch) { return message(patched(w, volume.path(), patch)); };
  CHECK(told(R"({"spec":{"volumeAttributesClassName":null}})") ==
        "PersistentVolume \"" + w.ns() +
            "\" is invalid: spec.volumeAttributesClassName: Forbidden: update from non-nil value "
            "to nil is forbidden");
  CHECK(told(R"({"spec":{"csi":{"controllerExpandSecretRef":{"name":"a","namespace":"b"}}}})")
            .empty());
  CHECK(told(R"({"spec":{"csi":{"readOnly":null}}})").empty());
  const auto nodes = [&](const std::string& label) {
    return told((R"({"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":")" +
                 label + R"(","operator":"Exists"}]}]}}}})")
                    .c_str());
  };
  CHECK(nodes("kubernetes.io/os").empty());
  CHECK(nodes("kubernetes.io/arch")
            .ends_with("field is immutable, except for updating from beta label to GA"));
  CHECK(told(R"({"spec":{"csi":{"controllerExpandSecretRef":{"name":"c"}}}})")
            .starts_with("PersistentVolume \"" + w.ns() +
                         "\" is invalid: spec.persistentvolumesource: Forbidden: "));
}

}  // namespace kubewatch::e2e
