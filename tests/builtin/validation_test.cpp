#include "builtin/validation.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "builtin/objects.hpp"

namespace kubewatch::builtin {

TEST_CASE("plain strings are shown as Go quotes them, what has a type made of it as JSON") {
  check_all({
      {"pods", R"({"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"<\u007f"}]}]}})",
       R"(spec.containers[0].env[0].name: Invalid value: "<\x7f": a valid environment variable )"
       "name must consist only of printable ASCII characters other than '='"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,
        "protocol":"<&>"}]}]}})",
       R"(spec.containers[0].ports[0].protocol: Unsupported value: "\u003c\u0026\u003e": )"
       R"(supported values: "SCTP", "TCP", "UDP")"},
      {"rolebindings.rbac.authorization.k8s.io",
       R"({"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"<","name":"r"}})",
       R"(roleRef.kind: Unsupported value: "<": supported values: "Role", "ClusterRole")"},
  });
}

TEST_CASE("a Pod has containers with names, images, ports and sources of values") {
  check_all({
      {"pods", R"({"spec":{"containers":[]}})", "spec.containers: Required value"},
      {"pods", R"({"spec":{"containers":[{}]}})",
       "[spec.containers[0].name: Required value, spec.containers[0].image: Required value]"},
      {"pods", R"({"spec":{"containers":[{"name":"Bad_","image":" i "}]}})",
       "[spec.containers[0].name: Invalid value: \"Bad_\": a lowercase RFC 1123 label must "
       "consist of lower case alphanumeric characters or '-', and must start and end with "
       "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation "
       "is '[a-z0-9]([-a-z0-9]*[a-z0-9])?'), spec.containers[0].image: Invalid value: \" i "
       "\": must not have leading or trailing whitespace]"},
      {"pods", R"({"spec":{"containers":[{"name":"c","image":"i"},{"name":"c","image":"j"}]}})",
       "spec.containers[1].name: Duplicate value: \"c\""},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":
        70000}]}]}})",
       "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 "
       "and 65535, inclusive"},
      {"pods", R"({"spec":{"containers":[{"name":"c","image":"i","ports":[{}]}]}})",
       "spec.containers[0].ports[0].containerPort: Required value"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,
        "name":"waytoolongportname"}]}]}})",
       "spec.containers[0].ports[0].name: Invalid value: \"waytoolongportname\": must be no "
       "more than 15 characters"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,
        "hostPort":80},{"containerPort":81,"hostPort":80}]}]}})",
       "spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//80\""},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,
        "protocol":"HTTP"}]}]}})",
       "spec.containers[0].ports[0].protocol: Unsupported value: \"HTTP\": supported "
       "values: \"SCTP\", \"TCP\", \"UDP\""},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"a=b"},{"value":
        "x"}]}]}})",
       "[spec.containers[0].env[0].name: Invalid value: \"a=b\": a valid environment "
       "variable name must consist only of printable ASCII characters other than '=', "
       "spec.containers[0].env[1].name: Required value]"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"a","value":"x",
        "valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}]}})",
       "spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not be specified when "
       "`value` is not empty"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"a","valueFrom":
        {}}]}]}})",
       "spec.containers[0].env[0].valueFrom: Invalid value: \"\": must specify one of: "
       "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"a","valueFrom":
        {"fieldRef":{"fieldPath":"spec.nope"}}}]}]}})",
       "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.nope\""
       ": error converting fieldPath: field label not supported: spec.nope"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"a","valueFrom":
        {"fieldRef":{"fieldPath":"metadata.labels[']"}}},{"name":"b","valueFrom":
        {"fieldRef":{"fieldPath":"spec.host"}}}]}]}})",
       "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "
       "\"metadata.labels[']\": error converting fieldPath: field label not supported: "
       "metadata.labels[']"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"a","valueFrom":
        {"resourceFieldRef":{"resource":"limits.cpu","divisor":"2"}}}]}]}})",
       "spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: \""
       "limits.cpu\": only divisor's values 1m and 1 are supported with the cpu resource"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"a","valueFrom":
        {"secretKeyRef":{"name":"N","key":""}}}]}]}})",
       "[spec.containers[0].env[0].valueFrom.secretKeyRef.name: Invalid value: \"N\": a "
       "lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
       "'-' or '.', and must start and end with an alphanumeric character (e.g. "
       "'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\"
       ".[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), "
       "spec.containers[0].env[0].valueFrom.secretKeyRef.key: Required value]"},
      {"pods", R"({"spec":{"containers":[{"name":"c","image":"i","envFrom":[{}]}]}})",
       "spec.containers[0].envFrom: Invalid value: \"\": must specify one of: "
       "`configMapRef` or `secretRef`"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","imagePullPolicy":"X",
        "terminationMessagePolicy":"Y"}]}})",
       "[spec.containers[0].terminationMessagePolicy: Unsupported value: \"Y\": supported "
       "values: \"File\", \"FallbackToLogsOnError\", spec.containers[0].imagePullPolicy: "
       "Unsupported value: \"X\": supported values: \"Always\", \"IfNotPresent\", \"Never\"]"},
  });
}

TEST_CASE("mounts are of volumes that are there, and volumes have one source") {
  check_all({
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v",
        "mountPath":"/a"}]}]}})",
       "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
      {"pods", R"({"spec":{"volumes":[{"name":"V","emptyDir":{},"hostPath":{"path":"/"}}]}})",
       "[spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type, "
       "spec.volumes[0].name: Invalid value: \"V\": a lowercase RFC 1123 label must consist "
       "of lower case alphanumeric characters or '-', and must start and end with an "
       "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')]"},
      {"pods", R"({"spec":{"volumes":[{"name":"v","emptyDir":{}},{"name":"v","emptyDir":{}}]}})",
       "spec.volumes[1].name: Duplicate value: \"v\""},
      {"pods",
       R"({"spec":{"volumes":[{"name":"v","secret":{"items":[{"key":"k","path":"../x",
        "mode":-1}]}}]}})",
       "[spec.volumes[0].secret.secretName: Required value, "
       "spec.volumes[0].secret.items[0].path: Invalid value: \"../x\": must not contain "
       "'..', spec.volumes[0].secret.items[0].mode: Invalid value: -1: must be a number "
       "between 0 and 0777 (octal), both inclusive]"},
      {"pods", R"({"spec":{"volumes":[{"name":"v","configMap":{"name":"","defaultMode":1000}}]}})",
       "[spec.volumes[0].configMap.name: Required value, "
       "spec.volumes[0].configMap.defaultMode: Invalid value: 1000: must be a number "
       "between 0 and 0777 (octal), both inclusive]"},
      {"pods", R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/a/../b","type":"Foo"}}]}})",
       "[spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..', "
       "spec.volumes[0].hostPath.type: Unsupported value: \"Foo\": supported values: \"\", "
       "\"BlockDevice\", \"CharDevice\", \"Directory\", \"DirectoryOrCreate\", \"File\", \""
       "FileOrCreate\", \"Socket\"]"},
      {"pods", R"({"spec":{"volumes":[{"name":"v","persistentVolumeClaim":{}}]}})",
       "spec.volumes[0].persistentVolumeClaim.claimName: Required value"},
      {"pods",
       R"({"spec":{"volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"s",
        "items":[{"key":"a","path":"p"}]}},{"configMap":{"name":"c","items":[{"key":"a",
        "path":"p"}]}}]}}]}})",
       "spec.volumes[0].projected: Invalid value: \"c\": conflicting duplicate paths"},
      {"pods",
       R"({"spec":{"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{
        }}}}]}})",
       "[spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at "
       "least 1 access mode is required, "
       "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required "
       "value]"},
  });
}

TEST_CASE("probes, hooks and resources") {
  check_all({
      {"pods", R"({"spec":{"containers":[{"name":"c","image":"i","livenessProbe":{}}]}})",
       "spec.containers[0].livenessProbe: Required value: must specify a handler type"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","livenessProbe":{"exec":{
        "command":["x"]},"tcpSocket":{"port":1},"successThreshold":2}}]}})",
       "[spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 "
       "handler type, spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: "
       "must be 1]"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","readinessProbe":{"httpGet":{
        "port":"Bad_","scheme":"FTP"},"periodSeconds":-1}}]}})",
       "[spec.containers[0].readinessProbe.httpGet.port: Invalid value: \"Bad_\": must "
       "contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), "
       "spec.containers[0].readinessProbe.httpGet.scheme: Unsupported value: \"FTP\": "
       "supported values: \"HTTP\", \"HTTPS\", "
       "spec.containers[0].readinessProbe.periodSeconds: Invalid value: -1: must be greater "
       "than or equal to 0]"},
      {"pods", R"({"spec":{"containers":[{"name":"c","image":"i","lifecycle":{"preStop":{}}}]}})",
       "spec.containers[0].lifecycle.preStop: Required value: must specify a handler type"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":
        "2"},"limits":{"cpu":"1"}}}]}})",
       "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or "
       "equal to cpu limit of 1"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"foo":
        "1"}}}]}})",
       "[spec.containers[0].resources.requests[foo]: Invalid value: \"foo\": must be a "
       "standard resource type or fully qualified, "
       "spec.containers[0].resources.requests[foo]: Invalid value: \"foo\": must be a "
       "standard resource for containers]"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{
        "memory":"-1"}}}]}})",
       "spec.containers[0].resources.requests[memory]: Invalid value: \"-1\": must be "
       "greater than or equal to 0"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{
        "example.com/gpu":"500m"},"requests":{"example.com/gpu":"500m"}}}]}})",
       "[spec.containers[0].resources.limits[example.com/gpu]: Invalid value: \"500m\": "
       "must be an integer, spec.containers[0].resources.requests[example.com/gpu]: Invalid "
       "value: \"500m\": must be an integer]"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{
        "hugepages-2Mi":"3Mi"},"requests":{"hugepages-2Mi":"3Mi"}}}]}})",
       "[spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is "
       "not positive integer multiple of hugepages-2Mi, "
       "spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi "
       "is not positive integer multiple of hugepages-2Mi, spec.containers[0].resources: "
       "Forbidden: HugePages require cpu or memory]"},
      {"pods",
       R"({"spec":{"containers":[{"name":"c","image":"i","securityContext":{"runAsUser":
        -1,"procMount":"X"}}]}})",
       "[spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 "
       "and 2147483647, inclusive, spec.containers[0].securityContext.procMount: "
       "Unsupported value: \"X\": supported values: \"Default\", \"Unmasked\"]"},
      {"pods",
       R"({"spec":{"initContainers":[{"name":"d","image":"i","livenessProbe":{"exec":{
        "command":["x"]}}}]}})",
       "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers "
       "without restartPolicy=Always"},
  });
}

TEST_CASE("what a Pod says of itself and of where it runs") {
  check_all({
      {"pods", R"({"spec":{"restartPolicy":"X","dnsPolicy":"Y"}})",
       "[spec.restartPolicy: Unsupported value: \"X\": supported values: \"Always\", \""
       "OnFailure\", \"Never\", spec.dnsPolicy: Unsupported value: \"Y\": supported values: "
       "\"ClusterFirstWithHostNet\", \"ClusterFirst\", \"Default\", \"None\"]"},
      {"pods", R"({"spec":{"dnsPolicy":"None"}})",
       "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"},
      {"pods", R"({"spec":{"activeDeadlineSeconds":0,"hostname":"a.b","nodeName":"Bad_"}})",
       "[spec.nodeName: Invalid value: \"Bad_\": a lowercase RFC 1123 subdomain must "
       "consist of lower case alphanumeric characters, '-' or '.', and must start and end "
       "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), "
       "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, "
       "inclusive, spec.hostname: Invalid value: \"a.b\": must not contain dots]"},
      {"pods",
       R"({"spec":{"securityContext":{"fsGroup":3000000000,"seccompProfile":{"type":
        "Localhost"}}}})",
       "[spec.securityContext.fsGroup: Invalid value: 3000000000: must be between 0 and "
       "2147483647, inclusive, spec.securityContext.seccompProfile.localhostProfile: "
       "Required value: must be set when seccomp type is Localhost]"},
      {"pods", R"({"spec":{"nodeSelector":{"a b":"x"}}})",
       "spec.nodeSelector: Invalid value: \"a b\": name part must consist of alphanumeric "
       "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
       "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
      {"pods",
       R"({"spec":{"affinity":{"nodeAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}}}})",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms: "
       "Required value: must have at least one node selector term"},
      {"pods",
       R"({"spec":{"affinity":{"podAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}})",
       "[spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
       "Required value: can not be empty, "
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
       "Invalid value: \"\": name part must be non-empty, "
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
       "Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or "
       "'.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
       "'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]"},
      {"pods",
       R"({"spec":{"tolerations":[{"operator":"Equal"},{"key":"a","tolerationSeconds":
        5}]}})",
       "[spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists "
       "when `key` is empty, which means \"match all values and all keys\", "
       "spec.tolerations[1].effect: Invalid value: \"\": effect must be 'NoExecute' when "
       "`tolerationSeconds` is set]"},
      {"pods",
       R"({"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"k",
        "whenUnsatisfiable":"X","minDomains":0}]}})",
       "[spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"X\": "
       "supported values: \"DoNotSchedule\", \"ScheduleAnyway\", "
       "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater "
       "than zero, spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only "
       "use minDomains if whenUnsatisfiable=DoNotSchedule, not X]"},
      {"pods", R"({"spec":{"schedulingGates":[{"name":"a"}],"nodeName":"n"}})",
       "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"},
      {"pods",
       R"({"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i","ports":[{
        "containerPort":80,"hostPort":81}]}]}})",
       "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` "
       "when `hostNetwork` is true"},
  });
}

TEST_CASE("annotations of seccomp name profiles, of whatever container") {
  const char* const pod = "seccomp.security.alpha.kubernetes.io/pod";
  const std::string container = "container.seccomp.security.alpha.kubernetes.io/";
  const auto told_with = [](const std::string& key, const char* profile) {
    const Json change = {{"metadata", {{"annotations", {{key, profile}}}}}};
    return told_of("pods", change.dump().c_str());
  };
  for (const char* good :
       {"unconfined", "runtime/default", "docker/default", "localhost/a/b", "localhost/"}) {
    CAPTURE(good);
    CHECK(told_with(pod, good).empty());
    CHECK(told_with(container + "c", good).empty());
  }
  CHECK(told_with(pod, "") ==
        "metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: \"\": must "
        "be a valid seccomp profile");
  CHECK(told_with(container + "other", "x") ==
        "metadata.annotations.container.seccomp.security.alpha.kubernetes.io/other: Invalid "
        "value: \"x\": must be a valid seccomp profile");
  CHECK(told_with(pod, "localhost/../a") ==
        "metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: \"../a\": "
        "must not contain '..'");
  CHECK(told_with(pod, "localhost//a") ==
        "metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: \"/a\": "
        "must be a relative path");
  CHECK(told_of("deployments.apps",
                R"({"spec":{"template":{"metadata":{"annotations":{
                  "seccomp.security.alpha.kubernetes.io/pod":"x"}}}}})") ==
        "spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: \"x\": "
        "must be a valid seccomp profile");
}

TEST_CASE("what is right is taken, with its defaults or without") {
  for (const char* storage_id : {"pods",
                                 "deployments.apps",
                                 "replicasets.apps",
                                 "statefulsets.apps",
                                 "daemonsets.apps",
                                 "replicationcontrollers",
                                 "jobs.batch",
                                 "cronjobs.batch",
                                 "services",
                                 "networkpolicies.networking.k8s.io",
                                 "ingresses.networking.k8s.io",
                                 "ingressclasses.networking.k8s.io",
                                 "endpointslices.discovery.k8s.io",
                                 "persistentvolumeclaims",
                                 "persistentvolumes",
                                 "storageclasses.storage.k8s.io",
                                 "horizontalpodautoscalers.autoscaling",
                                 "rolebindings.rbac.authorization.k8s.io",
                                 "validatingwebhookconfigurations.admissionregistration.k8s.io",
                                 "validatingadmissionpolicies.admissionregistration.k8s.io",
                                 "mutatingadmissionpolicies.admissionregistration.k8s.io",
                                 "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
                                 "servicecidrs.networking.k8s.io",
                                 "ipaddresses.networking.k8s.io",
                                 "csinodes.storage.k8s.io",
                                 "csistoragecapacities.storage.k8s.io",
                                 "volumeattachments.storage.k8s.io",
                                 "volumeattributesclasses.storage.k8s.io",
                                 "deviceclasses.resource.k8s.io",
                                 "resourceclaims.resource.k8s.io",
                                 "resourceslices.resource.k8s.io",
                                 "widgets.example.com"}) {
    CAPTURE(storage_id);
    const Json object = right(storage_id);
    CHECK(told(storage_id, nullptr, object).empty());
    CHECK(told(storage_id, &object, object).empty());
  }
}

TEST_CASE("false and 0 are what absent is where the server keeps no more") {
  Json pod = right("pods");
  pod["spec"]["hostNetwork"] = false;
  auto& container = pod["spec"]["containers"][0];
  container["tty"] = false;
  container["volumeMounts"] = Json::parse(R"([{"name":"v","mountPath":"/v","readOnly":false}])");
  container["ports"] = Json::parse(R"([{"containerPort":80,"hostPort":0}])");
  container["securityContext"] = {{"privileged", false}, {"runAsUser", 0}};
  pod["spec"]["volumes"] = Json::parse(R"([{"name":"v","nfs":{"server":"s","path":"/",
      "readOnly":false}}])");
  Json sent = pod;  // as a client in Go writes it
  sent["spec"].erase("hostNetwork");
  sent["spec"]["volumes"][0]["nfs"].erase("readOnly");
  auto& same = sent["spec"]["containers"][0];
  same.erase("tty");
  same["volumeMounts"][0].erase("readOnly");
  same["ports"][0].erase("hostPort");
  CHECK(told("pods", &pod, sent).empty());
  CHECK(told("pods", &sent, pod).empty());
  for (const char* pointer : {"privileged", "runAsUser"}) {
    Json other = sent;
    other["spec"]["containers"][0]["securityContext"].erase(pointer);
    CHECK(told("pods", &pod, other).starts_with("spec: Forbidden: pod updates may not change"));
  }
  sent["spec"]["containers"][0]["tty"] = true;
  CHECK(told("pods", &pod, sent).starts_with("spec: Forbidden: pod updates may not change"));

  Json volume = right("persistentvolumes");
  volume["spec"].erase("hostPath");
  for (const char* source : {R"({"nfs":{"server":"s","path":"/","readOnly":false}})",
                             R"({"csi":{"driver":"d.io","volumeHandle":"h","readOnly":false}})"}) {
    Json live = volume;
    live["spec"].merge_patch(Json::parse(source));
    const std::string kind = Json::parse(source).begin().key();
    Json object = live;
    object["spec"][kind].erase("readOnly");
    CHECK(told("persistentvolumes", &live, object).empty());
  }

  Json job = right("jobs.batch");
  job["spec"]["template"]["spec"]["containers"][0]["tty"] = false;
  CHECK(told("jobs.batch", &job, right("jobs.batch")).empty());
}

TEST_CASE("rules of restarting go with a policy, and ephemeral containers have none of it") {
  check_all({
      {"pods", R"({"spec":{"initContainers":[{"name":"i","image":"i","restartPolicyRules":[
          {"action":"x"}]}]}})",
       "spec.initContainers[0].restartPolicy: Required value: must specify restartPolicy when "
       "restart rules are used"},
      {"pods", R"({"spec":{"initContainers":[{"name":"i","image":"i","restartPolicy":"Always",
          "restartPolicyRules":[{"action":"x","exitCodes":{"operator":"In","values":[1]}}]}]}})",
       "spec.initContainers[0].restartPolicyRules[0].action: Unsupported value: \"x\": supported "
       "values: \"Restart\", \"RestartAllContainers\""},
      {"pods", R"({"spec":{"ephemeralContainers":[{"name":"e","image":"i","lifecycle":{},
          "restartPolicy":"","ports":[],"resources":{}}]}})",
       "[spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container, "
       "spec.ephemeralContainers[0].restartPolicy: Forbidden: cannot be set for an Ephemeral "
       "Container, spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an "
       "Ephemeral Container, spec.ephemeralContainers: Forbidden: cannot be set on create]"},
  });
}

TEST_CASE("an update of a Pod shows what else it would change, as the server prints it") {
  Json live = right("pods");
  live["spec"]["restartPolicy"] = "Always";
  Json object = live;
  object["spec"]["restartPolicy"] = "Never";
  object["spec"]["containers"][0]["image"] = "j";
  CHECK(told("pods", &live, object) ==
        "spec: Forbidden: pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
        "`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
        "negative)\n"
        "@@ -35,7 +35,7 @@\n"
        "   }\n"
        "  ],\n"
        "  \"EphemeralContainers\": null,\n"
        "- \"RestartPolicy\": \"Always\",\n"
        "+ \"RestartPolicy\": \"Never\",\n"
        "  \"TerminationGracePeriodSeconds\": null,\n"
        "  \"ActiveDeadlineSeconds\": null,\n"
        "  \"DNSPolicy\": \"\",\n");
}

TEST_CASE("a Pod that waits at a gate may be sent to fewer nodes, by its node affinity alone") {
  const auto nodes = [](const char* terms) {
    return Json{{"nodeAffinity",
                 {{"requiredDuringSchedulingIgnoredDuringExecution",
                   {{"nodeSelectorTerms", Json::parse(terms)}}}}}};
  };
  const std::string zone = R"({"key":"zone","operator":"In","values":["a"]})";
  const std::string more = zone + R"(,{"key":"b","operator":"Exists"})";
  const auto term = [](const std::string& expressions) {
    return R"([{"matchExpressions":[)" + expressions + "]}]";
  };
  Json live = right("pods");
  live["spec"]["schedulingGates"] = Json::parse(R"([{"name":"a.b/c"}])");
  const auto told_of_affinity = [&live](const Json& before, const Json& now) {
    if (!before.is_null()) live["spec"]["affinity"] = before;
    Json object = live;
    object["spec"]["affinity"] = now;
    return told("pods", &live, object);
  };
  const std::string terms =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
      "nodeSelectorTerms";
  CHECK(told_of_affinity(nullptr, nodes(term(zone).c_str())).empty());
  const Json of_zone = nodes(term(zone).c_str());
  CHECK(told_of_affinity(of_zone, nodes(term(more).c_str())).empty());
  CHECK(told_of_affinity(of_zone, nodes(term(R"({"key":"b","operator":"Exists"})").c_str())) ==
        terms +
            "[0]: Invalid value: {\"MatchExpressions\":[{\"Key\":\"b\",\"Operator\":\"Exists\","
            "\"Values\":null}],\"MatchFields\":null}: only additions are allowed (no mutations or "
            "deletions)");
  CHECK(told_of_affinity(of_zone, Json::object()) ==
        terms +
            ": Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms "
            "list are allowed");
  Json others = of_zone;
  others["podAntiAffinity"] =
      Json::parse(R"({"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z"}]})");
  CHECK(told_of_affinity(of_zone, others)
            .starts_with("spec: Forbidden: pod updates may not change fields other than"));
}

TEST_CASE("a status, a scale and kinds without rules are not looked at") {
  schema::FieldErrors errors;
  const Json broken = Json::parse(R"({"spec": {"replicas": -1}})");
  validate("deployments.apps", &broken, broken, "status", errors);
  validate("widgets.example.com", nullptr, broken, "", errors);
  CHECK(errors.empty());
}

TEST_CASE("odd values in any place never throw") {
  const std::vector<Json> odd = {
      nullptr,       3, INT64_MIN, 1.5, "", "a/b/c", true, Json::array(), Json::array({nullptr}),
      Json::object()};
  // What a status of any kind may have.
  const Json status = Json::parse(R"({"replicas":1,"readyReplicas":1,"collisionCount":1,
      "conditions":[{"type":"A","status":"True","reason":"B","observedGeneration":1}],
      "containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0}}}],
      "podIPs":[{"ip":"10.0.0.1"}],"hostIP":"10.0.0.2","hostIPs":[{"ip":"10.0.0.2"}],
      "resourceClaimStatuses":[{"name":"r","resourceClaimName":"s"}],"nominatedNodeName":"n",
      "capacity":{"cpu":"1"},"allocatable":{"cpu":"1"},"config":{"active":{"configMap":{"name":"a"}}},
      "startTime":"2026-01-01T00:00:00Z","active":1,"failed":1,"completedIndexes":"0",
      "uncountedTerminatedPods":{"succeeded":["a"],"failed":["b"]},
      "disruptionsAllowed":1,"attached":true,"attachmentMetadata":{"a":"b"},
      "attachError":{"message":"m","errorCode":1},
      "typeChecking":{"expressionWarnings":[{"fieldRef":"a","warning":"b"}]}})");
  const auto check = [&odd](const std::string& storage_id, const Json& live,
                            const std::string& subresource) {
    const auto judge = [&](const Json* before, const Json& now) {
      schema::FieldErrors errors;
      validate(storage_id, before, now, subresource, errors);
      return schema::sentences(errors);
    };
    const Json flat = live.flatten();
    for (const auto& [path, leaf] : flat.items()) {
      for (auto at = Json::json_pointer(path); !at.empty(); at = at.parent_pointer()) {
        for (const Json& value : odd) {
          Json object = live;
          object[at] = value;
          CAPTURE(storage_id, subresource, path, value);
          CHECK_NOTHROW(judge(nullptr, object));
          CHECK_NOTHROW(judge(&live, object));
          CHECK_NOTHROW(judge(&object, live));
          CHECK_NOTHROW(judge(&object, object));
        }
      }
    }
  };
  for (const auto& [storage_id, live] : right_objects()) {
    check(storage_id, live, "");
    Json told_status = live;
    told_status["status"] = status;
    check(storage_id, told_status, "status");
  }
  for (const char* storage_id : {"nodes", "poddisruptionbudgets.policy"}) {
    check(storage_id, {{"spec", {{"maxUnavailable", 1}}}, {"status", status}}, "status");
  }
}

}  // namespace kubewatch::builtin
