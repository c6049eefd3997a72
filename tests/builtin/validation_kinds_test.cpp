// The rules of all built-in kinds but Pods: those are in validation_test.cpp.
#include "base/strings.hpp"
#include "builtin/objects.hpp"

namespace kubewatch::builtin {

TEST_CASE("controllers select what they make") {
  check_all({
      {"deployments.apps", R"({"spec":{"selector":null}})",
       "[spec.selector: Required value, spec.template.metadata.labels: Invalid value: {\"a\""
       ":\"b\"}: `selector` does not match template `labels`]"},
      {"deployments.apps", R"({"spec":{"selector":{"matchLabels":{"a":"c"}}}})",
       "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not "
       "match template `labels`"},
      {"deployments.apps", R"({"spec":{"selector":{"matchLabels":null}}})",
       "spec.selector: Invalid value: {}: empty selector is invalid for deployment"},
      {"deployments.apps",
       R"({"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Foo"}]}}})",
       "[spec.selector.matchExpressions[0].operator: Invalid value: \"Foo\": not a valid "
       "selector operator, spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"},\""
       "matchExpressions\":[{\"key\":\"a\",\"operator\":\"Foo\"}]}: invalid label selector]"},
      {"deployments.apps",
       R"({"spec":{"replicas":-1,"minReadySeconds":5,"progressDeadlineSeconds":5}})",
       "[spec.replicas: Invalid value: -1: must be greater than or equal to 0, "
       "spec.progressDeadlineSeconds: Invalid value: 5: must be greater than "
       "minReadySeconds]"},
      {"deployments.apps", R"({"spec":{"strategy":{"type":"Foo"}}})",
       "spec.strategy: Unsupported value: {\"Type\":\"Foo\",\"RollingUpdate\":null}: "
       "supported values: \"Recreate\", \"RollingUpdate\""},
      {"deployments.apps",
       R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"0%",
        "maxUnavailable":0}}}})",
       "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
       "`maxSurge` is 0"},
      {"deployments.apps",
       R"({"spec":{"template":{"spec":{"restartPolicy":"Never","activeDeadlineSeconds":
        5,"containers":[]}}}})",
       "[spec.template.spec.containers: Required value, spec.template.spec.restartPolicy: "
       "Unsupported value: \"Never\": supported values: \"Always\", "
       "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in "
       "ReplicaSet is not Supported]"},
      {"replicasets.apps", R"({"spec":{"selector":{"matchLabels":null}}})",
       "spec.selector: Invalid value: {}: empty selector is invalid for deployment"},
      {"statefulsets.apps",
       R"({"spec":{"podManagementPolicy":"X","serviceName":"A.b","updateStrategy":{
        "type":"Foo"}}})",
       "[spec.podManagementPolicy: Invalid value: \"X\": must be 'OrderedReady' or "
       "'Parallel', spec.updateStrategy: Invalid value: {\"Type\":\"Foo\",\"RollingUpdate\""
       ":null}: must be 'RollingUpdate' or 'OnDelete', spec.serviceName: Invalid value: \""
       "A.b\": a lowercase RFC 1123 label must consist of lower case alphanumeric "
       "characters or '-', and must start and end with an alphanumeric character (e.g. "
       "'my-name',  or '123-abc', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')]"},
      {"statefulsets.apps",
       R"({"spec":{"volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{}}]}})",
       "[spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access "
       "mode is required, spec.volumeClaimTemplates[0].spec.resources[storage]: Required "
       "value]"},
      {"daemonsets.apps",
       R"({"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{
        "maxUnavailable":1,"maxSurge":1}}}})",
       "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when "
       "maxUnavailable is non-zero"},
      {"daemonsets.apps", R"({"spec":{"updateStrategy":{"type":"Foo"}}})",
       "spec.updateStrategy: Unsupported value: {\"Type\":\"Foo\",\"RollingUpdate\":null}: "
       "supported values: \"RollingUpdate\", \"OnDelete\""},
      {"daemonsets.apps",
       R"({"spec":{"updateStrategy":{"type":"Foo","rollingUpdate":{
        "maxUnavailable":1,"maxSurge":"0%"}}}})",
       "spec.updateStrategy: Unsupported value: {\"Type\":\"Foo\",\"RollingUpdate\":{"
       "\"MaxUnavailable\":1,\"MaxSurge\":\"0%\"}}: supported values: \"RollingUpdate\", "
       "\"OnDelete\""},
      {"daemonsets.apps", R"({"spec":{"selector":null}})",
       "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not "
       "match template `labels`"},
      {"replicationcontrollers", R"({"spec":{"selector":{"a":"c"},"replicas":-1}})",
       "[spec.replicas: Invalid value: -1: must be greater than or equal to 0, "
       "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not "
       "match template `labels`]"},
  });
}

TEST_CASE("Jobs and CronJobs") {
  check_all({
      {"jobs.batch", R"({"spec":{"parallelism":-1,"completions":-1}})",
       "[spec.parallelism: Invalid value: -1: must be greater than or equal to 0, "
       "spec.completions: Invalid value: -1: must be greater than or equal to 0]"},
      {"jobs.batch", R"({"spec":{"template":{"spec":{"restartPolicy":"Always"}}}})",
       "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \""
       "Never\""},
      {"jobs.batch",
       R"({"spec":{"completionMode":"Indexed","completions":3,"maxFailedIndexes":5,
        "backoffLimitPerIndex":1}})",
       "spec.maxFailedIndexes: Invalid value: 5: must be less than or equal to completions"},
      {"jobs.batch", R"({"spec":{"backoffLimitPerIndex":1}})",
       "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"},
      {"jobs.batch", R"({"spec":{"podFailurePolicy":{"rules":[{"action":"X"}]}}})",
       "[spec.podFailurePolicy.rules[0].action: Unsupported value: \"X\": supported values: "
       "\"Count\", \"FailIndex\", \"FailJob\", \"Ignore\", spec.podFailurePolicy.rules[0]: "
       "Invalid value: specifying one of OnExitCodes and OnPodConditions is required]"},
      {"jobs.batch", R"({"spec":{"managedBy":"x"}})",
       "spec.managedBy: Invalid value: \"x\": must be a domain-prefixed path (such as \""
       "acme.io/foo\")"},
      {"jobs.batch", R"({"spec":{"template":{"metadata":{"labels":{"job-name":"other"}}}}})",
       "spec.template.metadata.labels[job-name]: Invalid value: {\""
       "batch.kubernetes.io/controller-uid\":\"u\",\"batch.kubernetes.io/job-name\":\"j\",\""
       "controller-uid\":\"u\",\"job-name\":\"other\"}: must be 'j'"},
      {"cronjobs.batch", R"({"spec":{"schedule":""}})", "spec.schedule: Required value"},
      {"cronjobs.batch", R"({"spec":{"schedule":"x"}})",
       "spec.schedule: Invalid value: \"x\": expected exactly 5 fields, found 1: [x]"},
      {"cronjobs.batch", R"({"spec":{"schedule":"61 * * * *"}})",
       "spec.schedule: Invalid value: \"61 * * * *\": end of range (61) above maximum (59): "
       "61"},
      {"cronjobs.batch", R"({"spec":{"schedule":"*/0 * * * *"}})",
       "spec.schedule: Invalid value: \"*/0 * * * *\": step of range should be a positive "
       "number: */0"},
      {"cronjobs.batch", R"({"spec":{"schedule":"a * * * *"}})",
       "spec.schedule: Invalid value: \"a * * * *\": failed to parse int from a: "
       "strconv.Atoi: parsing \"a\": invalid syntax"},
      {"cronjobs.batch", R"({"spec":{"schedule":"@foo"}})",
       "spec.schedule: Invalid value: \"@foo\": unrecognized descriptor: @foo"},
      {"cronjobs.batch", R"({"spec":{"schedule":"TZ=UTC 0 0 * * *"}})",
       "spec.schedule: Invalid value: \"TZ=UTC 0 0 * * *\": cannot use TZ or CRON_TZ in "
       "schedule, use timeZone field instead"},
      {"cronjobs.batch", R"({"spec":{"schedule":"@every 1h30m"}})", ""},
      {"cronjobs.batch", R"({"spec":{"timeZone":"Nope/Zone","concurrencyPolicy":"X"}})",
       "[spec.timeZone: Invalid value: \"Nope/Zone\": unknown time zone Nope/Zone, "
       "spec.concurrencyPolicy: Unsupported value: \"X\": supported values: \"Allow\", \""
       "Forbid\", \"Replace\"]"},
      {"cronjobs.batch", R"({"spec":{"timeZone":"Europe/Berlin"}})", ""},
  });
}

TEST_CASE("Services and what is in front of them") {
  check_all({
      {"services", R"({"spec":{"ports":[]}})", "spec.ports: Required value"},
      {"services", R"({"spec":{"ports":[{}]}})",
       "[spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive, "
       "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive]"},
      {"services", R"({"spec":{"ports":[{"port":80},{"port":81}]}})",
       "[spec.ports[0].name: Required value, spec.ports[1].name: Required value]"},
      {"services", R"({"spec":{"ports":[{"port":80,"name":"a"},{"port":80,"name":"b"}]}})",
       "spec.ports[1]: Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\""
       ":null,\"Port\":80,\"TargetPort\":0,\"NodePort\":0}"},
      {"services", R"({"spec":{"ports":[{"port":80,"targetPort":"Bad_","protocol":"X"}]}})",
       "[spec.ports[0].protocol: Unsupported value: \"X\": supported values: \"SCTP\", \"TCP"
       "\", \"UDP\", spec.ports[0].targetPort: Invalid value: \"Bad_\": must contain only "
       "alpha-numeric characters (a-z, 0-9), and hyphens (-)]"},
      {"services", R"({"spec":{"type":"X"}})",
       "spec.type: Unsupported value: \"X\": supported values: \"ClusterIP\", \"ExternalName"
       "\", \"LoadBalancer\", \"NodePort\""},
      {"services", R"({"spec":{"type":"ExternalName"}})", "spec.externalName: Required value"},
      {"services", R"({"spec":{"sessionAffinity":"X","selector":{"a":"b c"}}})",
       "[spec.selector: Invalid value: \"b c\": a valid label must be an empty string or "
       "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
       "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), spec.sessionAffinity: "
       "Unsupported value: \"X\": supported values: \"ClientIP\", \"None\"]"},
      {"services", R"({"spec":{"externalIPs":["127.0.0.1","x"]}})",
       "[spec.externalIPs[0]: Invalid value: \"127.0.0.1\": may not be in the loopback "
       "range (127.0.0.0/8, ::1/128), spec.externalIPs[1]: Invalid value: \"x\": must be a "
       "valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)]"},
      {"services", R"({"spec":{"type":"ClusterIP","externalTrafficPolicy":"Local"}})",
       "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for "
       "externally-accessible services"},
      {"ingresses.networking.k8s.io", R"({"spec":{"rules":null}})",
       "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"},
      {"ingresses.networking.k8s.io",
       R"({"spec":{"rules":[{"host":"1.2.3.4","http":{"paths":[{"path":"x","pathType":
        "Prefix","backend":{}}]}}]}})",
       "[spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS name, not an IP "
       "address, spec.rules[0].http.paths[0].path: Invalid value: \"x\": must be an "
       "absolute path, spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource "
       "or service backend is required]"},
      {"networkpolicies.networking.k8s.io",
       R"({"spec":{"policyTypes":["X"],"ingress":[{"from":[{},{"ipBlock":{"cidr":
        "10.0.0.0/8","except":["11.0.0.0/16"]}}]}]}})",
       "[spec.ingress[0].from[0]: Required value: must specify a peer, "
       "spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be "
       "a strict subset of `cidr`, spec.policyTypes[0]: Unsupported value: \"X\": supported "
       "values: \"Ingress\", \"Egress\"]"},
      {"networkpolicies.networking.k8s.io",
       R"({"spec":{"egress":[{"ports":[{"port":80,"endPort":70},{"endPort":5}]}]}})",
       "[spec.egress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal "
       "to `port`, spec.egress[0].ports[1].endPort: Invalid value: 5: may not be specified "
       "when `port` is not specified]"},
      {"ingressclasses.networking.k8s.io", R"({"spec":{"controller":"x"}})",
       "spec.controller: Invalid value: \"x\": must be a domain-prefixed path (such as \""
       "acme.io/foo\")"},
      {"endpointslices.discovery.k8s.io",
       R"({"endpoints":[{"addresses":["::1"]},{"addresses":[]}]})",
       "[endpoints[0].addresses: Invalid value: \"::1\": must be an IPv4 address, "
       "endpoints[0].addresses[0]: Invalid value: \"::1\": may not be in the loopback range "
       "(127.0.0.0/8, ::1/128), endpoints[1].addresses: Required value: must contain at "
       "least 1 address]"},
  });
}

TEST_CASE("a Job succeeds by indexes that it has") {
  const auto told_of_rule = [](const std::string& rule) {
    const std::string change =
        R"({"spec":{"completionMode":"Indexed","completions":5,"parallelism":5,"successPolicy":
        {"rules":[)" +
        rule + "]}}}";
    return told_of("jobs.batch", change.c_str());
  };
  const std::string of = "spec.successPolicy.rules[0]";
  const std::string indexes = of + ".succeededIndexes: Invalid value: ";
  CHECK(told_of_rule(R"({"succeededIndexes":"0,2-4","succeededCount":4})").empty());
  CHECK(told_of_rule(R"({"succeededIndexes":""})").empty());
  CHECK(told_of_rule("{}") ==
        of + ": Required value: at least one of succeededCount or succeededIndexes must be "
             "specified");
  CHECK(told_of_rule(R"({"succeededIndexes":"7-2,abc"})") ==
        indexes + "\"7-2,abc\": error parsing succeededIndexes: too large index: \"7\"");
  CHECK(told_of_rule(R"({"succeededIndexes":"abc"})") ==
        indexes +
            "\"abc\": error parsing succeededIndexes: cannot convert string to integer for "
            "index: \"abc\"");
  CHECK(told_of_rule(R"({"succeededIndexes":"0","succeededCount":3})") ==
        of + ".succeededCount: Invalid value: 3: must be less than or equal to 1 (the number of "
             "indexes in the specified succeededIndexes field)");
  CHECK(told_of_rule(R"({"succeededCount":6})") ==
        of + ".succeededCount: Invalid value: 6: must be less than or equal to 5 (the number of "
             "specified completions)");
}

TEST_CASE("a Job at rest may send its Pods elsewhere") {
  Json job = right("jobs.batch");
  job["spec"]["suspend"] = true;
  const auto told_of_pod = [](const Json& live, const char* change) {
    Json object = live;
    object["spec"]["template"]["spec"].merge_patch(Json::parse(change));
    return told("jobs.batch", &live, object);
  };
  constexpr const char* selector = R"({"nodeSelector":{"a":"b"}})";
  constexpr const char* nodes = R"({"affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}})";
  constexpr const char* pods = R"({"affinity":{"podAntiAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z"}]}}})";
  const auto kept = [](const std::string& sentences) {
    return sentences.starts_with("spec.template.spec: Invalid value: {") &&
           sentences.ends_with(": field is immutable");
  };
  CHECK(told_of_pod(job, selector).empty());
  CHECK(told_of_pod(job, nodes).empty());
  CHECK(kept(told_of_pod(job, pods)));
  Json with_pods = job;
  with_pods["spec"]["template"]["spec"].merge_patch(Json::parse(pods));
  CHECK(told_of_pod(with_pods, nodes).empty());
  CHECK(kept(told_of_pod(with_pods, R"({"affinity":null})")));
  CHECK(told_of_pod(job, R"({"containers":[{"name":"c","image":"i","resources":{
      "requests":{"cpu":"1"}}}]})")
            .empty());
  CHECK(kept(told_of_pod(job, R"({"containers":[{"name":"c","image":"j"}]})")));

  const std::string running = "spec.template: Invalid value: {";
  job["status"] = {{"startTime", "2026-01-01T00:00:00Z"}};
  CHECK(told_of_pod(job, selector).starts_with(running));
  job["status"]["conditions"] = Json::parse(R"([{"type":"Suspended","status":"True"}])");
  CHECK(told_of_pod(job, selector).empty());
  job["status"]["active"] = 1;
  CHECK(told_of_pod(job, selector).starts_with(running));
}

TEST_CASE("addresses of Services are written in one form") {
  constexpr const char* ranges = "servicecidrs.networking.k8s.io";
  constexpr const char* address = "ipaddresses.networking.k8s.io";
  check_all({
      {ranges, R"({"spec":{"cidrs":["10.1.0.0/16","2001:db8::/64"]}})", ""},
      {ranges, R"({"spec":{"cidrs":[]}})",
       "spec.cidrs: Required value: at least one CIDR required"},
      {ranges, R"({"spec":{"cidrs":["a","b","c"]}})",
       "spec.cidrs: Invalid value: {\"CIDRs\":[\"a\",\"b\",\"c\"]}: may only hold up to 2 "
       "values"},
      {ranges, R"({"spec":{"cidrs":["nonsense","2001:DB8::/64"]}})",
       "[spec.cidrs[0]: Invalid value: \"nonsense\": must be a valid CIDR value, (e.g. "
       "10.9.8.0/24 or 2001:db8::/64), spec.cidrs[1]: Invalid value: \"2001:DB8::/64\": must be in "
       "canonical form (\"2001:db8::/64\")]"},
      {ranges, R"({"spec":{"cidrs":["10.1.0.0/16","10.2.0.0/16"]}})",
       "spec.cidrs: Invalid value: [\"10.1.0.0/16\",\"10.2.0.0/16\"]: may specify no more than one "
       "IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"},
      {address, R"({"metadata":{"name":"2001:DB8::1"},"spec":{"parentRef":null}})",
       "[metadata.name: Invalid value: \"2001:DB8::1\": must be in canonical form "
       "(\"2001:db8::1\"), spec.parentRef: Required value]"},
      {address, R"({"metadata":{"name":"a"},"spec":{"parentRef":{"resource":"a/b","name":""}}})",
       "[metadata.name: Invalid value: \"a\": must be a valid IP address, (e.g. 10.9.8.7 or "
       "2001:db8::ffff), spec.parentRef.resource: Invalid value: \"a/b\": may not contain '/', "
       "spec.parentRef.name: Required value]"},
      // That it needs one is said for all kinds.
      {address, R"({"metadata":{"name":null}})", ""},
      {address, R"({"metadata":{"generateName":"a-"}})",
       "metadata.generateName: Invalid value: \"a-\": must be a valid IP address, (e.g. 10.9.8.7 "
       "or "
       "2001:db8::ffff)"},
  });
  check_updates({
      {ranges, R"({"spec":{"cidrs":["10.1.0.0/16","2001:db8::/64"]}})", ""},
      {ranges, R"({"spec":{"cidrs":["10.2.0.0/16"]}})",
       "spec.cidrs[0]: Invalid value: \"10.2.0.0/16\": field is immutable"},
      {ranges, R"({"spec":{"cidrs":[]}})", "spec.cidrs: Invalid value: []: field is immutable"},
      {address, R"({"spec":{"parentRef":{"name":"c"}}})",
       "spec.parentRef: Invalid value: {\"Group\":\"\",\"Resource\":\"services\",\"Namespace\":"
       "\"b\",\"Name\":\"c\"}: field is immutable"},
  });
}

TEST_CASE("storage") {
  check_all({
      {"persistentvolumeclaims", R"({"spec":{"accessModes":[],"resources":null}})",
       "[spec.accessModes: Required value: at least 1 access mode is required, "
       "spec.resources[storage]: Required value]"},
      {"persistentvolumeclaims",
       R"({"spec":{"accessModes":["X"],"resources":{"requests":{"storage":"0"}}}})",
       "[spec.accessModes: Unsupported value: \"X\": supported values: \"ReadOnlyMany\", \""
       "ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\", spec.resources[storage]: "
       "Invalid value: \"0\": must be greater than zero]"},
      {"persistentvolumes", R"({"spec":{"capacity":null,"hostPath":null}})",
       "[spec.capacity: Required value, spec.capacity: Unsupported value: null: supported "
       "values: \"storage\", spec: Required value: must specify a volume type]"},
      {"persistentvolumes", R"({"spec":{"hostPath":null,"fc":{"targetWWNs":["a"]}}})",
       "spec.fc.lun: Required value: lun is required if targetWWNs is specified"},
      {"persistentvolumes", R"({"spec":{"flexVolume":{"driver":"a/b"}}})", ""},
      {"persistentvolumes", R"({"spec":{"nfs":{"server":"a","path":"/"}}})",
       "spec.nfs: Forbidden: may not specify more than 1 volume type"},
      {"persistentvolumes", R"({"spec":{"hostPath":null,"local":{"path":"/a"}}})",
       "spec.nodeAffinity: Required value: Local volume requires node affinity"},
      {"storageclasses.storage.k8s.io", R"({"provisioner":"","reclaimPolicy":"X"})",
       "[provisioner: Required value, reclaimPolicy: Unsupported value: \"X\": supported "
       "values: \"Delete\", \"Retain\"]"},
  });
}

TEST_CASE("what drivers of volumes tell, and what is attached by them") {
  constexpr const char* node = "csinodes.storage.k8s.io";
  constexpr const char* capacity = "csistoragecapacities.storage.k8s.io";
  constexpr const char* attachment = "volumeattachments.storage.k8s.io";
  constexpr const char* attributes = "volumeattributesclasses.storage.k8s.io";
  check_all({
      {node, R"({"spec":{"drivers":[{"name":"d.io","nodeID":"","allocatable":{"count":-1}},
        {"name":"d.io","nodeID":"n","topologyKeys":["a","a",""]}]}})",
       "[spec.drivers[0].nodeID: Required value, spec.drivers[0].allocatable.count: Invalid value: "
       "-1: must be greater than or equal to 0, spec.drivers[1].name: Duplicate value: \"d.io\", "
       "spec.drivers[1]: Duplicate value: \"a\", spec.drivers[1]: Required value, "
       "spec.drivers[1]: Invalid value: \"\": name part must be non-empty, spec.drivers[1]: "
       "Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', "
       "and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
       "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]"},
      {capacity, R"({"capacity":"-1","nodeTopology":{"matchExpressions":[
        {"key":"a","operator":"x"}]}})",
       "[nodeTopology.matchExpressions[0].operator: Invalid value: \"x\": not a valid selector "
       "operator, capacity: Invalid value: \"-1\": must be greater than or equal to 0]"},
      {attachment, R"({"spec":{"attacher":"","source":null}})",
       "[spec.attacher: Required value, spec.source: Required value: must specify exactly one of "
       "inlineVolumeSpec and persistentVolumeName]"},
      {attachment, R"({"spec":{"source":{"persistentVolumeName":null,"inlineVolumeSpec":{
        "accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"hostPath":{"path":"/x"},
        "storageClassName":"a","persistentVolumeReclaimPolicy":"Delete"}}}})",
       "[spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of "
       "inline volumes, spec.source.inlineVolumeSpec.csi: Required value: has to be specified in "
       "the context of inline volumes, "
       "spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain "
       "in the context of inline volumes, spec.source.inlineVolumeSpec.storageClassName: "
       "Forbidden: "
       "may not be specified in the context of inline volumes]"},
      {attributes, R"({"driverName":"","parameters":null})",
       "[driverName: Required value, parameters: Required value: must contain at least one "
       "key/value pair]"},
  });
  check_updates({
      {node, R"({"spec":{"drivers":[{"name":"d.io","nodeID":"n","allocatable":{"count":3}}]}})",
       ""},
      {node, R"({"spec":{"drivers":[{"name":"d.io","nodeID":"m"}]}})",
       "spec.drivers: Invalid value: {\"Name\":\"d.io\",\"NodeID\":\"m\",\"TopologyKeys\":null,"
       "\"Allocatable\":null}: field is immutable"},
      {capacity, R"({"storageClassName":"b","capacity":"2Gi"})",
       "storageClassName: Invalid value: \"b\": field is immutable"},
      {attachment, R"({"spec":{"nodeName":"m"}})",
       "spec: Invalid value: {\"Attacher\":\"d.io\",\"Source\":{\"PersistentVolumeName\":\"v\","
       "\"InlineVolumeSpec\":null},\"NodeName\":\"m\"}: field is immutable"},
      {attributes, R"({"driverName":"e.io","parameters":{"a":"c"}})",
       "[driverName: Forbidden: updates to driverName are forbidden., parameters: Forbidden: "
       "updates to parameters are forbidden.]"},
  });
}

TEST_CASE("what may change of a volume and of a claim") {
  Json volume = right("persistentvolumes");
  volume["spec"].erase("hostPath");
  volume["spec"]["csi"] = {{"driver", "d.io"}, {"volumeHandle", "h"}};
  volume["spec"]["volumeAttributesClassName"] = "a";
  const auto told_of_volume = [&volume](const char* change) {
    Json object = volume;
    object["spec"].merge_patch(Json::parse(change));
    return told("persistentvolumes", &volume, object);
  };
  constexpr const char* expand =
      R"({"csi":{"controllerExpandSecretRef":{"name":"a","namespace":"b"}}})";
  CHECK(told_of_volume(expand).empty());
  CHECK(told_of_volume(R"({"volumeAttributesClassName":"b"})").empty());
  CHECK(told_of_volume(R"({"volumeAttributesClassName":null})") ==
        "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden");
  CHECK(told_of_volume(R"({"csi":{"nodeStageSecretRef":{"name":"a","namespace":"b"}}})")
            .starts_with("spec.persistentvolumesource: Forbidden:"));
  volume["spec"].merge_patch(Json::parse(expand));
  CHECK(told_of_volume(R"({"csi":{"controllerExpandSecretRef":{"name":"c"}}})")
            .starts_with("spec.persistentvolumesource: Forbidden:"));
  // All of an update is looked at twice, and the message says it once.
  const Json before = right("persistentvolumes");
  Json second = before;
  second["spec"]["azureFile"] = {{"secretName", "a"}};
  schema::FieldErrors errors;
  validate("persistentvolumes", &before, second, "", errors);
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].field == "spec.azureFile");
  CHECK(errors[1].field == "spec.azureFile");
  CHECK(errors[2].message.find(
            "+ \"AzureFile\": {\n+  \"SecretName\": \"a\",\n+  \"ShareName\": "
            "\"\",\n+  \"ReadOnly\": false,\n+  \"SecretNamespace\": null\n+ },") !=
        std::string::npos);
  CHECK(told_of_update("persistentvolumeclaims", R"({"spec":{"resources":null}})")
            .ends_with("spec.resources.requests.storage: Forbidden: field can not be less than "
                       "status.capacity]"));
  CHECK(told_of("persistentvolumes", R"({"spec":{"volumeAttributesClassName":""}})") ==
        "[spec.volumeAttributesClassName: Required value: an empty string is disallowed, spec.csi: "
        "Required value: has to be specified when using volumeAttributesClassName]");

  const auto nodes = [](const std::string& key, const std::string& value) {
    return R"({"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":")" +
           key + R"(","operator":"In","values":[")" + value + R"("]}]}]}}})";
  };
  volume["spec"].merge_patch(Json::parse(nodes("beta.kubernetes.io/os", "linux")));
  CHECK(told_of_volume(nodes("beta.kubernetes.io/os", "linux").c_str()).empty());
  CHECK(told_of_volume(nodes("kubernetes.io/os", "linux").c_str()).empty());
  const std::string shown =
      "nodeAffinity: Invalid value: {\"Required\":{\"NodeSelectorTerms\":[{\"MatchExpressions\":"
      "[{\"Key\":\"";
  const std::string kept =
      "\"]}],\"MatchFields\":null}]}}: field is immutable, except for updating from beta label to "
      "GA";
  CHECK(told_of_volume(nodes("kubernetes.io/os", "windows").c_str()) ==
        shown + "kubernetes.io/os\",\"Operator\":\"In\",\"Values\":[\"windows" + kept);
  CHECK(told_of_volume(nodes("kubernetes.io/arch", "linux").c_str()) ==
        shown + "kubernetes.io/arch\",\"Operator\":\"In\",\"Values\":[\"linux" + kept);
  CHECK(
      told_of_volume(R"({"nodeAffinity":null})") ==
      "nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label "
      "to GA");
  volume["spec"].merge_patch(Json::parse(nodes("kubernetes.io/os", "linux")));
  CHECK(told_of_volume(nodes("beta.kubernetes.io/os", "linux").c_str()) ==
        shown + "beta.kubernetes.io/os\",\"Operator\":\"In\",\"Values\":[\"linux" + kept);

  Json claim = right("persistentvolumeclaims");
  claim["spec"]["volumeAttributesClassName"] = "a";
  claim["status"] = {{"phase", "Bound"}, {"currentVolumeAttributesClassName", "a"}};
  const auto told_of_claim = [&claim](const char* change) {
    Json object = claim;
    object["spec"].merge_patch(Json::parse(change));
    return told("persistentvolumeclaims", &claim, object);
  };
  const std::string of = "spec.volumeAttributesClassName: Forbidden: update to ";
  const std::string why = " is forbidden when status.currentVolumeAttributesClassName is not nil";
  CHECK(told_of_claim(R"({"volumeAttributesClassName":"b"})").empty());
  CHECK(told_of_claim(R"({"volumeAttributesClassName":null})") == of + "nil" + why);
  CHECK(told_of_claim(R"({"volumeAttributesClassName":""})") == of + "empty string" + why);
  claim["status"].erase("currentVolumeAttributesClassName");
  CHECK(told_of_claim(R"({"volumeAttributesClassName":null})").empty());
}

TEST_CASE("scaling, disruptions, quotas and ranges") {
  check_all({
      {"horizontalpodautoscalers.autoscaling", R"({"spec":{"minReplicas":1,"maxReplicas":0}})",
       "[spec.maxReplicas: Required value: must be set and greater than 0, "
       "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`]"},
      {"horizontalpodautoscalers.autoscaling", R"({"spec":{"minReplicas":5}})",
       "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"},
      {"horizontalpodautoscalers.autoscaling",
       R"({"spec":{"scaleTargetRef":{"apiVersion":"v1","kind":"a/b","name":""}}})",
       "[spec.scaleTargetRef.kind: Invalid value: \"a/b\": may not contain '/', "
       "spec.scaleTargetRef.name: Required value, spec.scaleTargetRef.apiVersion: Invalid "
       "value: \"v1\": apiVersion must specify API group]"},
      {"horizontalpodautoscalers.autoscaling", R"({"spec":{"metrics":[{"type":"X"}]}})",
       "spec.metrics[0].type: Unsupported value: \"X\": supported values: \""
       "ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\""},
      {"horizontalpodautoscalers.autoscaling",
       R"({"spec":{"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{
        "type":"Utilization"}}}]}})",
       "spec.metrics[0].resource.target.averageUtilization: Required value: must set either "
       "a target raw value or a target utilization"},
      {"poddisruptionbudgets.policy", R"({"spec":{"minAvailable":"101%"}})",
       "spec.minAvailable: Invalid value: \"101%\": must not be greater than 100%"},
      {"poddisruptionbudgets.policy", R"({"spec":{"minAvailable":1,"maxUnavailable":1}})",
       "spec: Invalid value: {\"MinAvailable\":1,\"Selector\":null,\"MaxUnavailable\":1,\""
       "UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot be both "
       "set"},
      {"resourcequotas", R"({"spec":{"hard":{"foo":"1","pods":"1.5"}}})",
       "[spec.hard[foo]: Invalid value: \"foo\": must be a standard resource type or fully "
       "qualified, spec.hard[foo]: Invalid value: \"foo\": must be a standard resource for "
       "quota, spec.hard[pods]: Invalid value: \"1500m\": must be an integer]"},
      {"resourcequotas", R"({"spec":{"hard":{"cpu":"1"},"scopes":["BestEffort"]}})",
       "spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope applied to resource"},
      {"limitranges", R"({"spec":{"limits":[{"type":"Pod","min":{"cpu":"2"},"max":{"cpu":"1"}}]}})",
       "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max "
       "value 1"},
      {"limitranges", R"({"spec":{"limits":[{"type":"X"}]}})",
       "spec.limits[0].type: Invalid value: \"X\": must be a standard limit type or fully "
       "qualified"},
      {"priorityclasses.scheduling.k8s.io", R"({"metadata":{"name":"p"},"value":2000000000})",
       "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
      {"priorityclasses.scheduling.k8s.io",
       R"({"metadata":{"name":"system-mine"},"value":2000000000})",
       "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
       "system use only. error: system-mine is not a known system priority class"},
      {"priorityclasses.scheduling.k8s.io",
       R"({"metadata":{"name":"system-node-critical"},"value":2000000000})",
       "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
       "system use only. error: value of system-node-critical PriorityClass must be 2000001000"},
      {"priorityclasses.scheduling.k8s.io",
       R"({"metadata":{"name":"system-cluster-critical"},"value":2000000000,"globalDefault":true})",
       "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
       "system use only. error: globalDefault of system-cluster-critical PriorityClass must be "
       "false"},
      {"leases.coordination.k8s.io", R"({"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}})",
       "[spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, "
       "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]"},
  });
}

TEST_CASE("roles, webhooks and data") {
  check_all({
      {"roles.rbac.authorization.k8s.io", R"({"rules":[{}]})",
       "[rules[0].verbs: Required value: verbs must contain at least one value, "
       "rules[0].apiGroups: Required value: resource rules must supply at least one api "
       "group, rules[0].resources: Required value: resource rules must supply at least one "
       "resource]"},
      {"roles.rbac.authorization.k8s.io",
       R"({"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]})",
       "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to "
       "non-resource URLs"},
      {"rolebindings.rbac.authorization.k8s.io",
       R"({"roleRef":{"kind":"X","name":""},"subjects":[{"kind":"Foo","name":"x"}]})",
       "[roleRef.kind: Unsupported value: \"X\": supported values: \"Role\", \"ClusterRole\""
       ", roleRef.name: Required value, subjects[0].kind: Unsupported value: \"Foo\": "
       "supported values: \"ServiceAccount\", \"User\", \"Group\"]"},
      {"clusterrolebindings.rbac.authorization.k8s.io",
       R"({"roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[{"kind":
        "ServiceAccount","name":"a"}]})",
       "subjects[0].namespace: Required value"},
      {"validatingwebhookconfigurations.admissionregistration.k8s.io",
       R"({"webhooks":[{"name":"a","clientConfig":{"url":"http://x?z=1"},"rules":[{}],
        "admissionReviewVersions":["v2"]}]})",
       "[webhooks[0].name: Invalid value: \"a\": should be a domain with at least three "
       "segments separated by dots, webhooks[0].rules[0].operations: Required value, "
       "webhooks[0].rules[0].apiGroups: Required value, webhooks[0].rules[0].apiVersions: "
       "Required value, webhooks[0].rules[0].resources: Required value, "
       "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun, "
       "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed "
       "URL scheme; desired format: https://host[/path], webhooks[0].clientConfig.url: "
       "Invalid value: \"z=1\": query parameters are not permitted in the URL, "
       "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least "
       "one of v1, v1beta1]"},
      {"secrets", R"({"type":"kubernetes.io/tls"})",
       "[data[tls.crt]: Required value, data[tls.key]: Required value]"},
      {"secrets",
       R"({"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":"eA=="}})",
       "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid "
       "character 'x' looking for beginning of value"},
      {"secrets", R"({"type":"kubernetes.io/basic-auth"})",
       "[data[username]: Required value, data[password]: Required value]"},
      {"configmaps", R"({"data":{"a b":"x"}})",
       "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric "
       "characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex "
       "used for validation is '[-._a-zA-Z0-9]+')"},
      {"nodes", R"({"spec":{"taints":[{"key":"a b","effect":"X"}]}})",
       "[metadata.taints[0].key: Invalid value: \"a b\": name part must consist of "
       "alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
       "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), "
       "metadata.taints[0].effect: Unsupported value: \"X\": supported values: \"NoSchedule"
       "\", \"PreferNoSchedule\", \"NoExecute\"]"},
      {"events", R"({"metadata":{"namespace":"a"},"involvedObject":{"namespace":"b"}})",
       "involvedObject.namespace: Invalid value: \"b\": does not match event.namespace"},
  });
}

TEST_CASE("keys of data are names of files") {
  const auto told_of_key = [](const std::string& key) {
    const std::string text = told("configmaps", nullptr, {{"data", {{key, "v"}}}});
    return text.substr(text.find("\": ") + 3);
  };
  CHECK(told_of_key("..") == "must not be '..'");
  CHECK(told_of_key("..a") == "must not start with '..'");
  CHECK(told_of_key(std::string(254, 'a')) == "must be no more than 253 characters");
  const Json right = {{"data", {{".a", "v"}, {std::string(253, 'a'), "v"}}}};
  CHECK(told("configmaps", nullptr, right).empty());
}

TEST_CASE("what an update may not change") {
  check_updates({
      {"deployments.apps",
       R"({"spec":{"selector":{"matchLabels":{"a":"c"}},"template":{"metadata":{
        "labels":{"a":"c"}}}}})",
       "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"c\"}}: field is immutable"},
      {"statefulsets.apps", R"({"spec":{"serviceName":"x"}})",
       "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
       "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
       "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"},
      {"statefulsets.apps", R"({"spec":{"replicas":3,"minReadySeconds":1}})", ""},
      {"pods", R"({"spec":{"containers":[{"name":"c","image":"j"}]}})", ""},
      {"pods", R"({"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"i"}]}})",
       "spec.containers: Forbidden: pod updates may not add or remove containers"},
      {"pods", R"({"spec":{"schedulingGates":[{"name":"a/b"}]}})",
       "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
       "scheduling gate 'a/b'"},
      {"pods", R"({"spec":{"schedulingGates":[{"name":"a"},{"name":"b"},{"name":"a"}]}})",
       "[spec.schedulingGates[2]: Duplicate value: \"a\", spec.schedulingGates[1].name: "
       "Forbidden: only deletion is allowed, but found new scheduling gate 'b', "
       "spec.schedulingGates[2].name: Forbidden: only deletion is allowed, but found new "
       "scheduling gate 'a']"},
      {"jobs.batch", R"({"spec":{"completions":3}})",
       "spec.completions: Invalid value: 3: field is immutable"},
      {"persistentvolumeclaims", R"({"spec":{"resources":{"requests":{"storage":"1Gi"}}}})", ""},
      {"storageclasses.storage.k8s.io", R"({"provisioner":"x"})",
       "provisioner: Invalid value: \"x\": field is immutable"},
      {"storageclasses.storage.k8s.io", R"({"allowedTopologies":[{}]})",
       "allowedTopologies[0].matchLabelExpressions: Duplicate value: \"\""},
      {"rolebindings.rbac.authorization.k8s.io",
       R"({"roleRef":{"kind":"ClusterRole","name":"edit"}})",
       "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\""
       "ClusterRole\",\"Name\":\"edit\"}: cannot change roleRef"},
      {"secrets", R"({"type":"b"})", "type: Invalid value: \"b\": field is immutable"},
      {"ingressclasses.networking.k8s.io", R"({"spec":{"controller":"a.b/d"}})",
       "spec.controller: Invalid value: \"a.b/d\": field is immutable"},
      {"ingressclasses.networking.k8s.io", R"({"spec":{"controller":null}})",
       "[spec.controller: Invalid value: \"\": field is immutable, spec.controller: Required "
       "value]"},
      {"volumeattachments.storage.k8s.io",
       R"({"spec":{"source":{"persistentVolumeName":"w"},"nodeName":null}})",
       "[spec.nodeName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower "
       "case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
       "character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?"
       "(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), spec: Invalid value: {\"Attacher\":\"d.io\","
       "\"Source\":{\"PersistentVolumeName\":\"w\",\"InlineVolumeSpec\":null},\"NodeName\":\"\"}: "
       "field is immutable]"},
      {"csistoragecapacities.storage.k8s.io", R"({"nodeTopology":{}})",
       "nodeTopology: Invalid value: {}: field is immutable"},
      {"events", R"({"apiVersion":"events.k8s.io/v1","related":{}})",
       "related: Invalid value: {\"Kind\":\"\",\"Namespace\":\"\",\"Name\":\"\",\"UID\":\"\","
       "\"APIVersion\":\"\",\"ResourceVersion\":\"\",\"FieldPath\":\"\"}: field is immutable"},
  });
}

TEST_CASE("two sources of a claim are the same, and a webhook's service has both names") {
  check_all({
      {"persistentvolumeclaims",
       R"({"spec":{"dataSource":{"apiGroup":"a.b","kind":"K","name":"a"},
          "dataSourceRef":{"apiGroup":"a.b","kind":"K","name":"b"}}})",
       "spec: Invalid value: {}: must match dataSourceRef"},
  });
  const auto hook = [](const char* service) {
    Json object = right("validatingwebhookconfigurations.admissionregistration.k8s.io");
    object["webhooks"][0]["clientConfig"] = {{"service", Json::parse(service)}};
    return told("validatingwebhookconfigurations.admissionregistration.k8s.io", nullptr, object);
  };
  const std::string at = "webhooks[0].clientConfig.service.";
  CHECK(hook(R"({"name":"n","namespace":"s"})").empty());
  CHECK(hook(R"({"name":"n"})") == at + "name: Required value");
  CHECK(hook(R"({"namespace":"s"})") == at + "namespace: Required value");
  CHECK(hook("{}") == "[" + at + "name: Required value, " + at + "namespace: Required value]");
}

TEST_CASE("what asks for a certificate is a request in PEM") {
  const auto told_of_request = [](const Json& request) {
    return told(
        "certificatesigningrequests.certificates.k8s.io", nullptr,
        {{"spec", {{"request", request}, {"signerName", "a.b/c"}, {"usages", {"client auth"}}}}});
  };
  const auto block = [](const std::string& type) {
    return base::base64_encode("-----BEGIN " + type + "-----\nMAA=\n-----END " + type + "-----\n");
  };
  const std::string why = ": PEM block type must be CERTIFICATE REQUEST";
  CHECK(told_of_request(block("CERTIFICATE REQUEST")).empty());
  CHECK(told_of_request(nullptr) == "spec.request: Invalid value: null" + why);
  CHECK(told_of_request("") == "spec.request: Invalid value: \"\"" + why);
  CHECK(told_of_request("YWJj") == "spec.request: Invalid value: \"YWJj\"" + why);
  CHECK(told_of_request(block("X")) == "spec.request: Invalid value: \"" + block("X") + "\"" + why);
}

TEST_CASE("what is signed is certificates in PEM, and what was none before may stay so") {
  const auto told_of_certificate = [](const std::string& before, const std::string& pem) {
    const auto signed_as = [](const std::string& text) {
      return Json{{"status", {{"certificate", base::base64_encode(text)}}}};
    };
    const Json live = before.empty() ? Json::object() : signed_as(before);
    schema::FieldErrors errors;
    validate("certificatesigningrequests.certificates.k8s.io", &live, signed_as(pem), "status",
             errors);
    return errors.empty() ? "" : errors.front().message;
  };
  const auto block = [](const std::string& inside, const std::string& type = "CERTIFICATE") {
    return "-----BEGIN " + type + "-----\n" + inside + "-----END " + type + "-----\n";
  };
  const std::string start = "Invalid value: \"<certificate data>\": ";
  CHECK(told_of_certificate("", "# a\n" + block("MAA=\n") + block("MAA=\n") + "more").empty());
  CHECK(told_of_certificate("", "a") == start + "must contain at least one CERTIFICATE PEM block");
  CHECK(told_of_certificate("", block("YQ==\n", "X")) ==
        start + "only CERTIFICATE PEM blocks are allowed, found \"X\"");
  CHECK(told_of_certificate("", block("A: b\n\nMAA=\n")) ==
        start + "no PEM block headers are permitted");
  CHECK(told_of_certificate("", block("")) ==
        start + "found CERTIFICATE PEM block containing 0 certificates");
  CHECK(told_of_certificate("", block("YQ==\n")) == start + "x509: malformed certificate");
  CHECK(told_of_certificate("a", "a").empty());
}

}  // namespace kubewatch::builtin
