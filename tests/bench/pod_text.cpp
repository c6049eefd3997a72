#include "bench/pod_text.hpp"

namespace kubewatch::bench {

namespace {

constexpr std::string_view kMetadata = R"({"metadata":{
 "name":"<app>-<hash>-<pod>","generateName":"<app>-<hash>-","namespace":"<ns>","uid":"<uid>",
 "resourceVersion":"<rv>","generation":1,"creationTimestamp":"<created>",
 "labels":{"app":"<app>","app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/version":"<version>",
  "decile":"<decile>","percentile":"<percentile>","pod-template-hash":"<hash>","team":"<team>","tier":"<tier>"},
 "annotations":{"bench.kubewatch.dev/sent":"<sent>","checksum/config":"<checksum>",
  "prometheus.io/path":"/<metrics>","prometheus.io/port":"9090","prometheus.io/scrape":"true"},
 "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"<app>-<hash>","uid":"<owner>",
  "controller":true,"blockOwnerDeletion":true}],)";

// What kube-controller-manager and kubelet leave behind; keys name containers, ports and mounts.
constexpr std::string_view kManagedSpec = R"("managedFields":[
 {"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"<created>",
  "fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:checksum/config":{},
   "f:prometheus.io/path":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},"f:generateName":{},
   "f:labels":{".":{},"f:app":{},"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/version":{},
   "f:pod-template-hash":{},"f:team":{},"f:tier":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"<owner>\"}":{}}},
   "f:spec":{"f:containers":{"k:{\"name\":\"<main>\"}":{".":{},"f:args":{},"f:env":{".":{},
     "k:{\"name\":\"<env0>\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"<env1>\"}":{".":{},"f:name":{},"f:value":{}},
     "k:{\"name\":\"<env2>\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"<env3>\"}":{".":{},"f:name":{},"f:value":{}}},
     "f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:httpGet":{".":{},"f:path":{},"f:port":{}}},
     "f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},
     "f:name":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{},"f:memory":{}},
     "f:requests":{".":{},"f:cpu":{},"f:memory":{}}},
     "f:volumeMounts":{".":{},"k:{\"mountPath\":\"/<mount>\"}":{".":{},"f:mountPath":{},"f:name":{}}}},
    "k:{\"name\":\"<side>\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{}}},
   "f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},
   "f:serviceAccount":{},"f:serviceAccountName":{},"f:terminationGracePeriodSeconds":{},
   "f:volumes":{".":{},"k:{\"name\":\"config\"}":{".":{},"f:configMap":{".":{},"f:defaultMode":{},"f:name":{}},"f:name":{}}}}}},)";

constexpr std::string_view kManagedStatus = R"(
 {"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"<ready>","fieldsType":"FieldsV1",
  "fieldsV1":{"f:status":{"f:conditions":{
   "k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},
   "k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},
   "f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},
   "k:{\"ip\":\"<ip>\"}":{".":{},"f:ip":{}}},"f:startTime":{}}},"subresource":"status"}]},)";

constexpr std::string_view kSpec = R"("spec":{
 "volumes":[{"name":"config","configMap":{"name":"<config>","defaultMode":420}}],
 "containers":[{"name":"<main>","image":"<registry>/<app>:<version>","args":["--config=/<mount>/<configfile>","--log-level=<level>"],
   "ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],
   "env":[{"name":"<env0>","value":"<value0>"},{"name":"<env1>","value":"<value1>"},{"name":"<env2>","value":"<value2>"},
    {"name":"<env3>","value":"<value3>"}],
   "resources":{"limits":{"cpu":"<cpu>m","memory":"<memory>Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},
   "volumeMounts":[{"name":"config","readOnly":true,"mountPath":"/<mount>"}],
   "livenessProbe":{"httpGet":{"path":"/<health>","port":"http","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,
    "successThreshold":1,"failureThreshold":3},"imagePullPolicy":"IfNotPresent"},
  {"name":"<side>","image":"<registry>/<side>:<sideversion>","resources":{},"imagePullPolicy":"IfNotPresent"}],
 "restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",
 "serviceAccountName":"<account>","serviceAccount":"<account>","nodeName":"<node>","securityContext":{},
 "schedulerName":"default-scheduler",
 "priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},)";

constexpr std::string_view kStatus = R"("status":{"phase":"Running","conditions":[
  {"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"<ready>"},
  {"type":"ContainersReady","status":"True","lastProbeTime":null,"lastTransitionTime":"<ready>"},
  {"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"<created>"}],
 "hostIP":"<host>","hostIPs":[{"ip":"<host>"}],"podIP":"<ip>","podIPs":[{"ip":"<ip>"}],"startTime":"<created>",
 "containerStatuses":[
  {"name":"<main>","state":{"running":{"startedAt":"<ready>"}},"lastState":{},"ready":true,"restartCount":0,
   "image":"<registry>/<app>:<version>","imageID":"<registry>/<app>@sha256:<digest0>","containerID":"containerd://<id0>","started":true},
  {"name":"<side>","state":{"running":{"startedAt":"<ready>"}},"lastState":{},"ready":true,"restartCount":0,
   "image":"<registry>/<side>:<sideversion>","imageID":"<registry>/<side>@sha256:<digest1>","containerID":"containerd://<id1>","started":true}],
 "qosClass":"Burstable"}})";

constexpr std::string_view kSmall = R"({"metadata":{
 "name":"<app>-<pod>","namespace":"<ns>","uid":"<uid>","resourceVersion":"<rv>","creationTimestamp":"<created>",
 "labels":{"app":"<app>","decile":"<decile>","percentile":"<percentile>"},
 "annotations":{"bench.kubewatch.dev/sent":"<sent>"},
 "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"<app>","uid":"<owner>","controller":true}],
 "managedFields":[{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"<ready>","fieldsType":"FieldsV1",
  "fieldsV1":{"f:status":{"f:phase":{},"f:podIP":{}}},"subresource":"status"}]},
 "spec":{"containers":[{"name":"<main>","image":"<registry>/<app>:<version>","resources":{}}],"nodeName":"<node>"},
 "status":{"phase":"Running","podIP":"<ip>","startTime":"<created>","containerStatuses":[{"name":"<main>",
  "ready":true,"restartCount":0,"containerID":"containerd://<id0>"}]}})";

// The line breaks and the indentation above are for readers. No string in the texts holds two
// spaces.
std::string compact(std::string text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
      continue;
    }
    out.push_back(text[i]);
  }
  return out;
}

}  // namespace

std::string pod_text() {
  std::string out(kMetadata);
  return compact(out.append(kManagedSpec).append(kManagedStatus).append(kSpec).append(kStatus));
}

std::string small_pod_text() {
  return compact(std::string(kSmall));
}

void fill(std::string_view text, const Words& words, std::string& out) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find('<', at);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('>', open);
    const auto word = words.find(text.substr(open + 1, close - open - 1));
    out.append(text.substr(at, open - at));
    out.append(word == words.end() ? text.substr(open, close + 1 - open) : word->second);
    at = close + 1;
  }
  out.append(text.substr(at));
}

}  // namespace kubewatch::bench
