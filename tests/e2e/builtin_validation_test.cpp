// What the server refuses of objects of its own kinds beyond their types, word for word, and what
// it takes; and what an update of them may not change.
#include <string>
#include <vector>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

struct Case {
  const char* root;
  const char* plural;
  const char* kind;
  const char* body;
  const char* message;  // "" = it is taken
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"/api/v1", "pods", "Pod", R"({})", "Pod \"x\" is invalid: spec.containers: Required value"},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"Sometimes"}})",
       "Pod \"x\" is invalid: spec.restartPolicy: Unsupported value: \"Sometimes\": "
       "supported values: \"Always\", \"OnFailure\", \"Never\""},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":
        70000}]}]}})",
       "Pod \"x\" is invalid: spec.containers[0].ports[0].containerPort: Invalid value: "
       "70000: must be between 1 and 65535, inclusive"},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"a=b"},{"value":
        "x"}]}]}})",
       "Pod \"x\" is invalid: [spec.containers[0].env[0].name: Invalid value: \"a=b\": a "
       "valid environment variable name must consist only of printable ASCII characters "
       "other than '=', spec.containers[0].env[1].name: Required value]"},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v",
        "mountPath":"/a"}]}]}})",
       "Pod \"x\" is invalid: spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v",
        "secret":{}}]}})",
       "Pod \"x\" is invalid: spec.volumes[0].secret.secretName: Required value"},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i","livenessProbe":{}}]}})",
       "Pod \"x\" is invalid: spec.containers[0].livenessProbe: Required value: must "
       "specify a handler type"},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":
        "2"},"limits":{"cpu":"1"}}}]}})",
       "Pod \"x\" is invalid: spec.containers[0].resources.requests: Invalid value: \"2\": "
       "must be less than or equal to cpu limit of 1"},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"foo":
        "1"}}}]}})",
       "Pod \"x\" is invalid: [spec.containers[0].resources.requests[foo]: Invalid value: \""
       "foo\": must be a standard resource type or fully qualified, "
       "spec.containers[0].resources.requests[foo]: Invalid value: \"foo\": must be a "
       "standard resource for containers]"},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i","imagePullPolicy":"Never"}]}})", ""},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"<\u007f"}],"ports":[
        {"containerPort":80,"protocol":"<&>"}]}]}})",
       "Pod \"x\" is invalid: [spec.containers[0].ports[0].protocol: Unsupported value: "
       "\"\\u003c\\u0026\\u003e\": supported values: \"SCTP\", \"TCP\", \"UDP\", "
       "spec.containers[0].env[0].name: Invalid value: \"<\\x7f\": a valid environment variable "
       "name must consist only of printable ASCII characters other than '=']"},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i"}],"tolerations":[{"operator":
        "Equal"}]}})",
       "Pod \"x\" is invalid: spec.tolerations[0].operator: Invalid value: \"Equal\": "
       "operator must be Exists when `key` is empty, which means \"match all values and all "
       "keys\""},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i"}],"affinity":{"podAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}})",
       "Pod \"x\" is invalid: "
       "[spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
       "Required value: can not be empty, "
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
       "Invalid value: \"\": name part must be non-empty, "
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
       "Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or "
       "'.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
       "'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]"},
      {"/api/v1", "pods", "Pod",
       R"({"spec":{"containers":[{"name":"c","image":"i"}],"hostname":"a.b",
        "activeDeadlineSeconds":0}})",
       "Pod \"x\" is invalid: [spec.activeDeadlineSeconds: Invalid value: 0: must be "
       "between 1 and 2147483647, inclusive, spec.hostname: Invalid value: \"a.b\": must "
       "not contain dots]"},
      {"/apis/apps/v1", "deployments", "Deployment", R"({})",
       "Deployment.apps \"x\" is invalid: [spec.selector: Required value, "
       "spec.template.metadata.labels: Invalid value: null: `selector` does not match "
       "template `labels`, spec.template.spec.containers: Required value]"},
      {"/apis/apps/v1", "deployments", "Deployment",
       R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{
        "labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})",
       ""},
      {"/apis/apps/v1", "deployments", "Deployment",
       R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{
        "labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},
        "replicas":-1}})",
       "Deployment.apps \"x\" is invalid: spec.replicas: Invalid value: -1: must be greater "
       "than or equal to 0"},
      {"/apis/apps/v1", "deployments", "Deployment",
       R"({"spec":{"selector":{"matchLabels":{"a":"c"}},"template":{"metadata":{
        "labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})",
       "Deployment.apps \"x\" is invalid: spec.template.metadata.labels: Invalid value: {\"a"
       "\":\"b\"}: `selector` does not match template `labels`"},
      {"/apis/apps/v1", "deployments", "Deployment",
       R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{
        "labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},
        "strategy":{"type":"Foo"}}})",
       "Deployment.apps \"x\" is invalid: spec.strategy: Unsupported value: {\"Type\":\"Foo"
       "\",\"RollingUpdate\":null}: supported values: \"Recreate\", \"RollingUpdate\""},
      {"/apis/apps/v1", "deployments", "Deployment",
       R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{
        "labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},
        "strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}}}})",
       "Deployment.apps \"x\" is invalid: spec.strategy.rollingUpdate.maxUnavailable: "
       "Invalid value: 0: may not be 0 when `maxSurge` is 0"},
      {"/apis/apps/v1", "statefulsets", "StatefulSet",
       R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{
        "labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},
        "podManagementPolicy":"X"}})",
       "StatefulSet.apps \"x\" is invalid: spec.podManagementPolicy: Invalid value: \"X\": "
       "must be 'OrderedReady' or 'Parallel'"},
      {"/apis/apps/v1", "daemonsets", "DaemonSet",
       R"({"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{
        "name":"c","image":"i"}]}}}})",
       "DaemonSet.apps \"x\" is invalid: spec.template.metadata.labels: Invalid value: {\"a"
       "\":\"b\"}: `selector` does not match template `labels`"},
      {"/apis/apps/v1", "replicasets", "ReplicaSet",
       R"({"spec":{"selector":{},"template":{"metadata":{"labels":{"a":"b"}},"spec":{
        "containers":[{"name":"c","image":"i"}]}}}})",
       "ReplicaSet.apps \"x\" is invalid: spec.selector: Invalid value: {}: empty selector "
       "is invalid for deployment"},
      {"/api/v1", "replicationcontrollers", "ReplicationController",
       R"({"spec":{"selector":{"a":"c"},"template":{"metadata":{"labels":{"a":"b"}},
        "spec":{"containers":[{"name":"c","image":"i"}]}}}})",
       "ReplicationController \"x\" is invalid: spec.template.metadata.labels: Invalid "
       "value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
      {"/apis/batch/v1", "jobs", "Job",
       R"({"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":
        "c","image":"i"}]}}}})",
       ""},
      {"/apis/batch/v1", "jobs", "Job",
       R"({"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{
        "name":"c","image":"i"}]}}}})",
       "Job.batch \"x\" is invalid: spec.template.spec.restartPolicy: Required value: valid "
       "values: \"OnFailure\", \"Never\""},
      {"/apis/batch/v1", "jobs", "Job",
       R"({"spec":{"parallelism":-1,"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i"}]}}}})",
       "Job.batch \"x\" is invalid: spec.parallelism: Invalid value: -1: must be greater "
       "than or equal to 0"},
      {"/apis/batch/v1", "cronjobs", "CronJob",
       R"({"spec":{"schedule":"61 * * * *","jobTemplate":{"spec":{"template":{"spec":{
        "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}})",
       "CronJob.batch \"x\" is invalid: spec.schedule: Invalid value: \"61 * * * *\": end "
       "of range (61) above maximum (59): 61"},
      {"/apis/batch/v1", "cronjobs", "CronJob",
       R"({"spec":{"schedule":"@daily","timeZone":"Nope/Zone","jobTemplate":{"spec":{
        "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":
        "i"}]}}}}}})",
       "CronJob.batch \"x\" is invalid: spec.timeZone: Invalid value: \"Nope/Zone\": "
       "unknown time zone Nope/Zone"},
      {"/api/v1", "services", "Service", R"({"spec":{}})",
       "Service \"x\" is invalid: spec.ports: Required value"},
      {"/api/v1", "services", "Service", R"({"spec":{"ports":[{"port":80},{"port":81}]}})",
       "Service \"x\" is invalid: [spec.ports[0].name: Required value, spec.ports[1].name: "
       "Required value]"},
      {"/api/v1", "services", "Service", R"({"spec":{"ports":[{"port":80,"targetPort":"Bad_"}]}})",
       "Service \"x\" is invalid: spec.ports[0].targetPort: Invalid value: \"Bad_\": must "
       "contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"},
      {"/api/v1", "services", "Service", R"({"spec":{"type":"ExternalName"}})",
       "Service \"x\" is invalid: spec.externalName: Required value"},
      {"/api/v1", "services", "Service", R"({"spec":{"clusterIP":"None"}})", ""},
      {"/apis/networking.k8s.io/v1", "ingresses", "Ingress", R"({"spec":{}})",
       "Ingress.networking.k8s.io \"x\" is invalid: spec: Invalid value: null: either "
       "`defaultBackend` or `rules` must be specified"},
      {"/apis/networking.k8s.io/v1", "ingresses", "Ingress",
       R"({"spec":{"rules":[{"http":{"paths":[{"path":"x","pathType":"Prefix","backend":
        {}}]}}]}})",
       "Ingress.networking.k8s.io \"x\" is invalid: [spec.rules[0].http.paths[0].path: "
       "Invalid value: \"x\": must be an absolute path, "
       "spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or service "
       "backend is required]"},
      {"/apis/networking.k8s.io/v1", "networkpolicies", "NetworkPolicy",
       R"({"spec":{"podSelector":{},"ingress":[{"from":[{}]}]}})",
       "NetworkPolicy.networking.k8s.io \"x\" is invalid: spec.ingress[0].from[0]: Required "
       "value: must specify a peer"},
      {"/api/v1", "persistentvolumeclaims", "PersistentVolumeClaim",
       R"({"spec":{"accessModes":["X"]}})",
       "PersistentVolumeClaim \"x\" is invalid: [spec.accessModes: Unsupported value: \"X\""
       ": supported values: \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \""
       "ReadWriteOncePod\", spec.resources[storage]: Required value]"},
      {"/apis/autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler",
       R"({"spec":{"maxReplicas":0,"scaleTargetRef":{"apiVersion":"apps/v1","kind":
        "Deployment","name":"d"}}})",
       "HorizontalPodAutoscaler.autoscaling \"x\" is invalid: [spec.maxReplicas: Required "
       "value: must be set and greater than 0, spec.maxReplicas: Invalid value: 0: must be "
       "greater than or equal to `minReplicas`]"},
      {"/apis/policy/v1", "poddisruptionbudgets", "PodDisruptionBudget",
       R"({"spec":{"minAvailable":1,"maxUnavailable":1}})",
       "PodDisruptionBudget.policy \"x\" is invalid: spec: Invalid value: {\"MinAvailable\""
       ":1,\"Selector\":null,\"MaxUnavailable\":1,\"UnhealthyPodEvictionPolicy\":null}: "
       "minAvailable and maxUnavailable cannot be both set"},
      {"/apis/rbac.authorization.k8s.io/v1", "roles", "Role", R"({"rules":[{}]})",
       "Role.rbac.authorization.k8s.io \"x\" is invalid: [rules[0].verbs: Required value: "
       "verbs must contain at least one value, rules[0].apiGroups: Required value: resource "
       "rules must supply at least one api group, rules[0].resources: Required value: "
       "resource rules must supply at least one resource]"},
      {"/apis/rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding",
       R"({"roleRef":{"kind":"X","name":""}})",
       "RoleBinding.rbac.authorization.k8s.io \"x\" is invalid: [roleRef.kind: Unsupported "
       "value: \"X\": supported values: \"Role\", \"ClusterRole\", roleRef.name: Required "
       "value]"},
      {"/api/v1", "resourcequotas", "ResourceQuota", R"({"spec":{"hard":{"foo":"1"}}})",
       "ResourceQuota \"x\" is invalid: [spec.hard[foo]: Invalid value: \"foo\": must be a "
       "standard resource type or fully qualified, spec.hard[foo]: Invalid value: \"foo\": "
       "must be a standard resource for quota]"},
      {"/api/v1", "limitranges", "LimitRange", R"({"spec":{"limits":[{"type":"X"}]}})",
       "LimitRange \"x\" is invalid: spec.limits[0].type: Invalid value: \"X\": must be a "
       "standard limit type or fully qualified"},
      {"/api/v1", "secrets", "Secret", R"({"type":"kubernetes.io/tls"})",
       "Secret \"x\" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required "
       "value]"},
      {"/apis/coordination.k8s.io/v1", "leases", "Lease", R"({"spec":{"leaseDurationSeconds":0}})",
       "Lease.coordination.k8s.io \"x\" is invalid: spec.leaseDurationSeconds: Invalid "
       "value: 0: must be greater than 0"},
  };
  return all;
}

std::string api_version(const std::string& root) {
  return root == "/api/v1" ? "v1" : root.substr(std::string("/apis/").size());
}

Json object_of(const Case& one) {
  Json object = Json::parse(one.body);
  object["apiVersion"] = api_version(one.root);
  object["kind"] = one.kind;
  object["metadata"] = {{"name", "x"}};
  return object;
}

const Json& pod_template() {
  static const Json tmpl = Json::parse(R"({
    "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}})");
  return tmpl;
}

Json workload(const std::string& kind) {
  return {{"apiVersion", "apps/v1"},
          {"kind", kind},
          {"metadata", {{"name", "x"}}},
          {"spec",
           {{"replicas", 0},
            {"selector", {{"matchLabels", {{"a", "b"}}}}},
            {"template", pod_template()}}}};
}

}  // namespace

E2E_CASE("objects of built-in kinds are refused in the server's words") {
  World w;
  for (const Case& one : cases()) {
    CAPTURE(one.plural, one.body);
    const std::string url = std::string(one.root) + "/namespaces/" + w.ns() + "/" + one.plural;
    const Answer answer = send(w, "POST", url + "?dryRun=All", object_of(one));
    const bool taken = std::string(one.message).empty();
    CHECK(answer.code == (taken ? 201 : 422));
    CHECK((taken ? "" : message(answer)) == one.message);
  }
}

E2E_CASE("an update of a Pod changes images and little else, and is told what it would change") {
  World w;
  const std::string pods = "/api/v1/namespaces/" + w.ns() + "/pods";
  made(w, pods,
       {{"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", {{"name", "x"}}},
        {"spec", pod_template()["spec"]}});
  const auto containers = [](const Json& container) {
    return Json{{"spec", {{"containers", Json::array({container})}}}};
  };
  CHECK(patch(w, pods + "/x", containers({{"name", "c"}, {"image", "j"}})).code == 200);
  const Answer refused = patch(w, pods + "/x", {{"spec", {{"restartPolicy", "Never"}}}});
  CHECK(refused.code == 422);
  CHECK(message(refused).starts_with(
      "Pod \"x\" is invalid: spec: Forbidden: pod updates may not change fields other than "
      "`spec.containers[*].image`,`spec.initContainers[*].image`,"));
  CHECK(message(refused).find("- \"RestartPolicy\": \"Always\",\n+ \"RestartPolicy\": "
                              "\"Never\",\n") != std::string::npos);
  const Json two = Json::array({{{"name", "c"}, {"image", "i"}}, {{"name", "d"}, {"image", "i"}}});
  CHECK(message(patch(w, pods + "/x", {{"spec", {{"containers", two}}}})) ==
        "Pod \"x\" is invalid: spec.containers: Forbidden: pod updates may not add or remove "
        "containers");
}

E2E_CASE("annotations of AppArmor agree with the fields, and a Pod's stay") {
  World w;
  const std::string key = "container.apparmor.security.beta.kubernetes.io/c";
  const std::string sets = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments";
  Json set = workload("Deployment");
  Json& tmpl = set["spec"]["template"];
  tmpl["metadata"]["annotations"] = {{key, "unconfined"}};
  tmpl["spec"]["securityContext"] = {{"appArmorProfile", {{"type", "RuntimeDefault"}}}};
  CHECK(message(send(w, "POST", sets, set)) ==
        "Deployment.apps \"x\" is invalid: "
        "spec.template.spec.containers[0].securityContext.appArmorProfile.type: Forbidden: "
        "apparmor type in annotation and field must match");
  tmpl["metadata"]["annotations"] = {{key, "what"}};
  tmpl["spec"].erase("securityContext");
  CHECK(message(send(w, "POST", sets, set)) ==
        "Deployment.apps \"x\" is invalid: spec.template.annotations[" + key +
            "]: Invalid value: \"what\": invalid AppArmor profile name: \"what\"");
  const std::string pods = "/api/v1/namespaces/" + w.ns() + "/pods";
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", "x"}, {"annotations", {{key, "unconfined"}}}}},
              {"spec", pod_template()["spec"]}};
  pod["spec"]["schedulerName"] = "none";
  made(w, pods, pod);
  CHECK(message(patch(w, pods + "/x", {{"metadata", {{"annotations", {{key, nullptr}}}}}})) ==
        "Pod \"x\" is invalid: metadata.annotations[" + key +
            "]: Forbidden: may not remove or update AppArmor annotations");
}

E2E_CASE("annotations of seccomp name profiles, in a template as in a Pod") {
  World w;
  const std::string key = "seccomp.security.alpha.kubernetes.io/pod";
  const std::string sets = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments?dryRun=All";
  Json set = workload("Deployment");
  Json& annotations = set["spec"]["template"]["metadata"]["annotations"];
  const std::string told =
      "Deployment.apps \"x\" is invalid: spec.template.annotations." + key + ": Invalid value: ";
  annotations = {{key, "x"}};
  CHECK(message(send(w, "POST", sets, set)) == told + "\"x\": must be a valid seccomp profile");
  annotations = {{key, "localhost/../a"}};
  CHECK(message(send(w, "POST", sets, set)) == told + "\"../a\": must not contain '..'");
  annotations = {{key, "docker/default"}};
  CHECK(send(w, "POST", sets, set).code == 201);
  const Json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", "x"},
        {"annotations", {{"container.seccomp.security.alpha.kubernetes.io/other", "x"}}}}},
      {"spec", pod_template()["spec"]}};
  CHECK(message(send(w, "POST", "/api/v1/namespaces/" + w.ns() + "/pods?dryRun=All", pod)) ==
        "Pod \"x\" is invalid: metadata.annotations.container.seccomp.security.alpha.kubernetes.io/"
        "other: Invalid value: \"x\": must be a valid seccomp profile");
}

E2E_CASE("APIServices, CSIDrivers and bindings of policies are refused in the server's words") {
  World w;
  const auto told = [&](const std::string& root, const std::string& plural, const char* kind,
                        const char* name, const char* spec) {
    const Json object = {{"apiVersion", api_version(root)},
                         {"kind", kind},
                         {"metadata", {{"name", name}}},
                         {"spec", Json::parse(spec)}};
    return message(send(w, "POST", root + "/" + plural + "?dryRun=All", object));
  };
  const auto told_of_service = [&](const char* name, const char* spec) {
    Json whole = Json::parse(spec);
    whole.update(Json::parse(R"({"groupPriorityMinimum":100,"versionPriority":10})"));
    return told("/apis/apiregistration.k8s.io/v1", "apiservices", "APIService", name,
                whole.dump().c_str());
  };
  CHECK(told_of_service("v1.kw.io", R"({"group":"kw.io","version":"v1","caBundle":"YQ=="})") ==
        "APIService.apiregistration.k8s.io \"v1.kw.io\" is invalid: spec.caBundle: Invalid value: "
        "\"1 bytes\": local APIServices may not have a caBundle");
  CHECK(told_of_service("v9.", R"({"group":"","version":"v9"})") ==
        "APIService.apiregistration.k8s.io \"v9.\" is invalid: spec.group: Required value: only v1 "
        "may have an empty group and it better be legacy kube");
  CHECK(told_of_service("x_y", R"({"group":"kw.io","version":"v1"})") ==
        "APIService.apiregistration.k8s.io \"x_y\" is invalid: metadata.name: Invalid value: "
        "\"x_y\": must be `spec.version+\".\"+spec.group`: \"v1.kw.io\"");
  CHECK(told("/apis/storage.k8s.io/v1", "csidrivers", "CSIDriver", "kw.io",
             R"({"serviceAccountTokenInSecrets":true})") ==
        "CSIDriver.storage.k8s.io \"kw.io\" is invalid: spec.serviceAccountTokenInSecrets: Invalid "
        "value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified");
  const auto told_of_binding = [&](const char* spec) {
    return told("/apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings",
                "ValidatingAdmissionPolicyBinding", "kw", spec);
  };
  const std::string binding =
      "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io \"kw\" is invalid: ";
  CHECK(told_of_binding("{}") ==
        binding +
            "[spec.policyName: Required value, spec.validationActions: Required value: at "
            "least one validation action is required]");
  CHECK(told_of_binding(R"({"policyName":"p","validationActions":["Deny","Deny","x"],
            "paramRef":{"name":"a/b"},"matchResources":{"resourceRules":[{}]}})") ==
        binding +
            "[spec.paramRef.name: Invalid value: \"a/b\": may not contain '/', "
            "spec.paramRef.parameterNotFoundAction: Required value, "
            "spec.matchResources.resourceRules[0].operations: Required value, "
            "spec.matchResources.resourceRules[0].apiGroups: Required value, "
            "spec.matchResources.resourceRules[0].apiVersions: Required value, "
            "spec.matchResources.resourceRules[0].resources: Required value, "
            "spec.validationActions[1]: Duplicate value: \"Deny\", spec.validationActions[2]: "
            "Unsupported value: \"x\": supported values: \"Audit\", \"Deny\", \"Warn\"]");
}

E2E_CASE("what selects stays, and of a StatefulSet most") {
  World w;
  const std::string apps = "/apis/apps/v1/namespaces/" + w.ns();
  const Json moved = {{"spec",
                       {{"selector", {{"matchLabels", {{"a", "c"}}}}},
                        {"template", {{"metadata", {{"labels", {{"a", "c"}}}}}}}}}};
  made(w, apps + "/deployments", workload("Deployment"));
  CHECK(message(patch(w, apps + "/deployments/x", moved)) ==
        "Deployment.apps \"x\" is invalid: spec.selector: Invalid value: "
        "{\"matchLabels\":{\"a\":\"c\"}}: field is immutable");
  made(w, apps + "/statefulsets", workload("StatefulSet"));
  CHECK(patch(w, apps + "/statefulsets/x", {{"spec", {{"minReadySeconds", 3}}}}).code == 200);
  CHECK(
      message(patch(w, apps + "/statefulsets/x", {{"spec", {{"serviceName", "s"}}}})) ==
      "StatefulSet.apps \"x\" is invalid: spec: Forbidden: updates to statefulset spec for fields "
      "other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
      "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

E2E_CASE("a Job gets its selector from the server, and keeps its template") {
  World w;
  const std::string jobs = "/apis/batch/v1/namespaces/" + w.ns() + "/jobs";
  Json tmpl = pod_template();
  tmpl["spec"]["restartPolicy"] = "Never";
  const Json job = made(w, jobs,
                        {{"apiVersion", "batch/v1"},
                         {"kind", "Job"},
                         {"metadata", {{"name", "x"}}},
                         {"spec", {{"parallelism", 0}, {"template", tmpl}}}});
  const Json& labels = job["spec"]["template"]["metadata"]["labels"];
  const Json uid = job["metadata"]["uid"];
  CHECK(labels == Json{{"a", "b"},
                       {"batch.kubernetes.io/controller-uid", uid},
                       {"batch.kubernetes.io/job-name", "x"},
                       {"controller-uid", uid},
                       {"job-name", "x"}});
  CHECK(job["spec"]["selector"]["matchLabels"] ==
        Json{{"batch.kubernetes.io/controller-uid", uid}});
  const Json image = {{"name", "c"}, {"image", "j"}};
  const Answer refused =
      patch(w, jobs + "/x",
            {{"spec", {{"template", {{"spec", {{"containers", Json::array({image})}}}}}}}});
  CHECK(refused.code == 422);
  CHECK(
      message(refused).starts_with("Job.batch \"x\" is invalid: spec.template: Invalid value: "
                                   "{\"labels\":{\"a\":\"b\",\"batch.kubernetes.io/"));
  CHECK(message(refused).ends_with("}: field is immutable"));
  CHECK(message(patch(w, jobs + "/x", {{"spec", {{"completions", 3}}}})) ==
        "Job.batch \"x\" is invalid: spec.completions: Invalid value: 3: field is immutable");
}

namespace {

// A Job that no controller looks after.
Json unattended_job() {
  Json tmpl = pod_template();
  tmpl["spec"]["restartPolicy"] = "Never";
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata", {{"name", "x"}}},
          {"spec", {{"managedBy", "kw.io/nobody"}, {"parallelism", 0}, {"template", tmpl}}}};
}

Json with_status(const char* status) {
  return {{"status", Json::parse(status)}};
}

}  // namespace

E2E_CASE("times of built-in kinds are read, and written in UTC") {
  World w;
  const std::string jobs = "/apis/batch/v1/namespaces/" + w.ns() + "/jobs";
  const std::string status = jobs + "/x/status";
  Json job = made(w, jobs, unattended_job());
  const Answer taken =
      patch(w, status, with_status(R"({"startTime":"2026-01-01T02:00:00.5+02:00","conditions":[
          {"type":"A","status":"True","lastProbeTime":"0001-01-01T00:00:00Z",
           "lastTransitionTime":"2026-01-01T1:00:00Z"}]})"));
  CHECK(taken.code == 200);
  const Json& written = taken.body["status"];
  CHECK(written["startTime"] == "2026-01-01T00:00:00Z");
  CHECK(written["conditions"][0]["lastProbeTime"].is_null());
  CHECK(written["conditions"][0]["lastTransitionTime"] == "2026-01-01T01:00:00Z");
  CHECK(send(w, "GET", jobs + "/x").body["status"] == written);

  const std::string no_time =
      "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as "
      "\"2006\"";
  const std::string number = "json: cannot unmarshal number into Go ";
  job["status"]["startTime"] = "yesterday";
  const Answer put = send(w, "PUT", status, job);
  CHECK(put.code == 400);
  CHECK(message(put) == "Job in version \"v1\" cannot be handled as a Job: " + no_time);
  job["status"]["startTime"] = 5;
  CHECK(message(send(w, "PUT", status, job)) ==
        "Job in version \"v1\" cannot be handled as a Job: " + number +
            "struct field JobStatus.status.startTime of type string");
  const auto refused = [&](const char* time, const std::string& type, const std::string& why) {
    const Answer answer =
        send_text(w, "PATCH", status, R"({"status":{"startTime":)" + std::string(time) + "}}",
                  "application/" + type + "-patch+json");
    CAPTURE(type, message(answer));
    CHECK(answer.code == 422);
    CHECK(message(answer).starts_with(" \"\" is invalid: patch: Invalid value: "));
    CHECK(message(answer).ends_with(": " + why));
  };
  refused("\"yesterday\"", "merge", no_time);
  refused("5", "merge", number + "struct field JobStatus.status.startTime of type string");
  refused("\"yesterday\"", "strategic-merge", no_time);
  refused("5", "strategic-merge", number + "value of type string");
  const auto applied = [&](const std::string& force) {
    return send_text(w, "PATCH", status + "?fieldManager=m" + force,
                     R"({"apiVersion":"batch/v1","kind":"Job","status":{"startTime":"yesterday"}})",
                     "application/apply-patch+yaml");
  };
  CHECK(applied("").code == 409);
  const Answer forced = applied("&force=true");
  CHECK(forced.code == 500);
  CHECK(message(forced) ==
        "failed to convert new object (/; batch/v1, Kind=Job) to proper version: unable to convert "
        "unstructured object to batch/v1, Kind=Job: " +
            no_time);
}

E2E_CASE("a status counts no part as more than the whole") {
  World w;
  const std::string apps = "/apis/apps/v1/namespaces/" + w.ns();
  made(w, apps + "/deployments", workload("Deployment"));
  made(w, apps + "/statefulsets", workload("StatefulSet"));
  const auto told = [&](const std::string& path, const char* status) {
    return message(patch(w, apps + path + "/x/status?dryRun=All", with_status(status)));
  };
  CHECK(told("/deployments", R"({"availableReplicas":1,"unavailableReplicas":-1})") ==
        "Deployment.apps \"x\" is invalid: [status.unavailableReplicas: Invalid value: -1: must be "
        "greater than or equal to 0, status.availableReplicas: Invalid value: 1: cannot be greater "
        "than status.replicas, status.availableReplicas: Invalid value: 1: cannot be greater than "
        "readyReplicas]");
  CHECK(told("/statefulsets", R"({"replicas":1,"readyReplicas":0,"availableReplicas":1})") ==
        "StatefulSet.apps \"x\" is invalid: status.availableReplicas: Invalid value: 1: cannot be "
        "greater than status.readyReplicas");
  CHECK(told("/deployments", R"({"replicas":1,"readyReplicas":1})").empty());
}

E2E_CASE("a Job ends in steps, and stays ended") {
  World w;
  const std::string jobs = "/apis/batch/v1/namespaces/" + w.ns() + "/jobs";
  const std::string status = jobs + "/x/status";
  made(w, jobs, unattended_job());
  const std::string invalid = "Job.batch \"x\" is invalid: ";
  CHECK(message(patch(w, status,
                      with_status(R"({"conditions":[{"type":"Complete","status":"True"}]})"))) ==
        invalid +
            "[status.completionTime: Required value: completionTime is required for Complete jobs, "
            "status.conditions: Invalid value: cannot set Complete=True condition without the "
            "SuccessCriteriaMet=true condition, status.startTime: Required value: startTime is "
            "required for finished job]");
  CHECK(message(patch(w, status, with_status(R"({"startTime":"2026-01-01T00:00:00Z","failed":-1,
            "completionTime":"2025-12-31T00:00:00Z","uncountedTerminatedPods":{"failed":["u","u"]},
            "conditions":[{"type":"Failed","status":"True"}]})"))) ==
        invalid +
            "[status.failed: Invalid value: -1: must be greater than or equal to 0, "
            "status.uncountedTerminatedPods.failed[1]: Duplicate value: \"u\", "
            "status.completionTime: Invalid value: \"2025-12-31T00:00:00Z\": cannot set "
            "completionTime when there is no Complete=True condition, status.completionTime: "
            "Invalid value: \"2025-12-31T00:00:00Z\": must be equal to or after `startTime`, "
            "status.conditions: Invalid value: cannot set Failed=True condition without the "
            "FailureTarget=true condition, status.uncountedTerminatedPods: Invalid value: "
            "{\"Succeeded\":null,\"Failed\":[\"u\",\"u\"]}: must be empty for finished job, "
            "status.failed: Invalid value: -1: cannot decrease the failed counter]");
  CHECK(patch(w, status, with_status(R"({"startTime":"2026-01-01T00:00:00Z","succeeded":1,
            "completionTime":"2026-01-01T00:00:05Z","conditions":[
            {"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]})"))
            .code == 200);
  CHECK(message(patch(w, status, with_status(R"({"startTime":null,"active":1,"succeeded":null,
            "completionTime":"2026-01-01T00:00:06Z","completedIndexes":"0","failedIndexes":""})"))) ==
        invalid +
            "[status.active: Invalid value: 1: active>0 is invalid for finished job, "
            "status.startTime: Required value: startTime is required for finished job, "
            "status.completedIndexes: Invalid value: \"0\": cannot set non-empty completedIndexes "
            "when non-indexed completion mode, status.failedIndexes: Invalid value: \"\": cannot "
            "set non-null failedIndexes when backoffLimitPerIndex is null, status.succeeded: "
            "Invalid value: 0: cannot decrease the succeeded counter, status.completionTime: "
            "Invalid value: \"2026-01-01T00:00:06Z\": field is immutable, status.startTime: "
            "Invalid value: null: field is immutable for unsuspended job once set]");
  CHECK(message(patch(w, status, with_status(R"({"conditions":null,"completionTime":null})"))) ==
        invalid +
            "[status.conditions: Invalid value: cannot disable the terminal Complete=True "
            "condition, status.conditions: Invalid value: cannot disable the SuccessCriteriaMet="
            "True condition]");
}

}  // namespace kubewatch::e2e
