// Objects of built-in kinds that are right, and what the rules say of changed ones.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "builtin/validation.hpp"
#include "support/catch.hpp"

namespace kubewatch::builtin {

// One that is right, of each kind that the tables change.
inline const std::map<std::string, Json>& right_objects() {
  static const Json pod = Json::parse(R"({"containers": [{"name": "c", "image": "i"}]})");
  static const Json tmpl = {{"metadata", {{"labels", {{"a", "b"}}}}}, {"spec", pod}};
  static const Json selected = {
      {"spec", {{"selector", {{"matchLabels", {{"a", "b"}}}}}, {"template", tmpl}}}};
  static const Json job = Json::parse(R"({"metadata": {"name": "j", "uid": "u"}, "spec": {
      "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}},
      "template": {
        "metadata": {"labels": {"controller-uid": "u", "job-name": "j",
                                "batch.kubernetes.io/controller-uid": "u",
                                "batch.kubernetes.io/job-name": "j"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})");
  static const std::map<std::string, Json> all = {
      {"pods", {{"spec", pod}}},
      {"deployments.apps", selected},
      {"replicasets.apps", selected},
      {"statefulsets.apps", selected},
      {"daemonsets.apps", selected},
      {"replicationcontrollers", {{"spec", {{"selector", {{"a", "b"}}}, {"template", tmpl}}}}},
      {"jobs.batch", job},
      {"cronjobs.batch",
       {{"spec",
         {{"schedule", "* * * * *"},
          {"jobTemplate", {{"spec", {{"template", job["spec"]["template"]}}}}}}}}},
      {"services", Json::parse(R"({"spec": {"ports": [{"port": 80}]}})")},
      {"networkpolicies.networking.k8s.io", Json::parse(R"({"spec": {"podSelector": {}}})")},
      {"ingresses.networking.k8s.io", Json::parse(R"({"spec": {"rules": [{}]}})")},
      {"ingressclasses.networking.k8s.io", Json::parse(R"({"spec": {"controller": "a.b/c"}})")},
      {"endpointslices.discovery.k8s.io", Json::parse(R"({"addressType": "IPv4"})")},
      {"persistentvolumeclaims", Json::parse(R"({"spec": {"accessModes": ["ReadWriteOnce"],
          "resources": {"requests": {"storage": "1Gi"}}}})")},
      {"persistentvolumes", Json::parse(R"({"spec": {"accessModes": ["ReadWriteOnce"],
          "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"}}})")},
      {"storageclasses.storage.k8s.io", Json::parse(R"({"provisioner": "a.b/c"})")},
      {"horizontalpodautoscalers.autoscaling", Json::parse(R"({"spec": {"maxReplicas": 3,
          "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}})")},
      {"rolebindings.rbac.authorization.k8s.io",
       Json::parse(R"({"roleRef": {"kind": "ClusterRole", "name": "view"}})")},
      {"validatingwebhookconfigurations.admissionregistration.k8s.io",
       Json::parse(R"({"webhooks": [{"name": "a.b.c", "clientConfig": {"url": "https://x/y"},
          "sideEffects": "None", "admissionReviewVersions": ["v1"]}]})")},
      {"validatingadmissionpolicies.admissionregistration.k8s.io",
       Json::parse(R"({"metadata": {"name": "p"}, "spec": {
          "matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"],
            "operations": ["CREATE"], "resources": ["deployments"]}]},
          "validations": [{"expression": "object.spec.replicas <= 5"}]}})")},
      {"mutatingadmissionpolicies.admissionregistration.k8s.io",
       Json::parse(R"({"metadata": {"name": "p"}, "spec": {"reinvocationPolicy": "Never",
          "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}]},
          "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {
            "expression": "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"}}]}})")},
      {"mutatingadmissionpolicybindings.admissionregistration.k8s.io",
       Json::parse(R"({"spec": {"policyName": "p"}})")},
      {"servicecidrs.networking.k8s.io", Json::parse(R"({"spec": {"cidrs": ["10.1.0.0/16"]}})")},
      {"ipaddresses.networking.k8s.io", Json::parse(R"({"metadata": {"name": "2001:db8::1"},
          "spec": {"parentRef": {"resource": "services", "name": "a", "namespace": "b"}}})")},
      {"csinodes.storage.k8s.io",
       Json::parse(R"({"spec": {"drivers": [{"name": "d.io", "nodeID": "n"}]}})")},
      {"csistoragecapacities.storage.k8s.io",
       Json::parse(R"({"storageClassName": "a", "capacity": "1Gi"})")},
      {"volumeattachments.storage.k8s.io", Json::parse(R"({"spec": {"attacher": "d.io",
          "nodeName": "n", "source": {"persistentVolumeName": "v"}}})")},
      {"deviceclasses.resource.k8s.io",
       Json::parse(R"({"spec": {"selectors": [{"cel": {"expression": "device.driver == 'd.io'"}}],
          "config": [{"opaque": {"driver": "d.io", "parameters": {}}}]}})")},
      {"resourceclaims.resource.k8s.io", Json::parse(R"({"spec": {"devices": {
          "requests": [{"name": "a", "exactly": {"deviceClassName": "c"}},
            {"name": "b", "firstAvailable": [{"name": "x", "deviceClassName": "c"}]}],
          "constraints": [{"requests": ["a", "b/x"], "matchAttribute": "d.io/model"}]}}})")},
      {"resourceslices.resource.k8s.io", Json::parse(R"({"spec": {"driver": "d.io", "nodeName": "n",
          "pool": {"name": "p/q", "resourceSliceCount": 1}, "devices": [{"name": "a"}]}})")},
      {"volumeattributesclasses.storage.k8s.io",
       Json::parse(R"({"driverName": "d.io", "parameters": {"a": "b"}})")},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io",
       Json::parse(R"({"spec": {"policyName": "p", "validationActions": ["Deny"]}})")},
      {"apiservices.apiregistration.k8s.io", Json::parse(R"({"metadata": {"name": "v1.a.io"},
          "spec": {"group": "a.io", "version": "v1", "groupPriorityMinimum": 100,
          "versionPriority": 10}})")},
  };
  return all;
}

inline Json right(const std::string& storage_id) {
  const auto found = right_objects().find(storage_id);
  return found == right_objects().end() ? Json::object() : found->second;
}

inline std::string told(const std::string& storage_id, const Json* live, const Json& object) {
  schema::FieldErrors errors;
  validate(storage_id, live, object, "", errors);
  return errors.empty() ? "" : schema::sentences(errors);
}

// `change` is a merge patch of the right one.
inline std::string told_of(const std::string& storage_id, const char* change) {
  Json object = right(storage_id);
  object.merge_patch(Json::parse(change));
  return told(storage_id, nullptr, object);
}

inline std::string told_of_update(const std::string& storage_id, const char* change) {
  const Json live = right(storage_id);
  Json object = live;
  object.merge_patch(Json::parse(change));
  return told(storage_id, &live, object);
}

struct Case {
  const char* storage_id;
  const char* change;
  const char* sentences;
};

// As kube-apiserver 1.36 says it.
inline void check_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    CAPTURE(one.storage_id, one.change);
    CHECK(told_of(one.storage_id, one.change) == one.sentences);
  }
}

inline void check_updates(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    CAPTURE(one.storage_id, one.change);
    CHECK(told_of_update(one.storage_id, one.change) == one.sentences);
  }
}

}  // namespace kubewatch::builtin
