#include "builtin/defaults.hpp"

#include <functional>
#include <map>

#include "builtin/convert_autoscaling.hpp"
#include "builtin/default_rules.hpp"
#include "builtin/defaults_kinds.hpp"
#include "builtin/typed_form.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kRbac = "rbac.authorization.k8s.io";

void default_persistent_volume(Json& object) {
  static const DefaultRules rules = {
      {"spec.persistentVolumeReclaimPolicy", R"("Retain")", kUnset},
      {"spec.volumeMode", R"("Filesystem")"},
      {"status.phase", R"("Pending")", kUnset},
  };
  rules.apply(object);
  for_each_at(object, "spec", default_volume_source);
}

void default_claim(Json& object) {
  static const DefaultRules rules = {
      {"status.phase", R"("Pending")", kUnset},
  };
  rules.apply(object);
  for_each_at(object, "spec", default_claim_spec);
}

// The first of a Node's address ranges has a field of its own.
void mirror_pod_cidr(Json& spec) {
  if (!spec.is_object()) return;
  const Json* listed = base::find(spec, {"podCIDRs"});
  const bool any = listed != nullptr && listed->is_array() && !listed->empty();
  const std::string range = base::string_at(spec, {"podCIDR"});
  if (!range.empty() && (!any || listed->front() != range)) {
    spec["podCIDRs"] = Json::array({range});
  } else if (range.empty() && any && listed->front().is_string()) {
    spec["podCIDR"] = Json(listed->front());
  }
}

void default_node(Json& object) {
  for_each_at(object, "spec", mirror_pod_cidr);
  for_each_at(object, "status", [](Json& status) {
    if (!status.is_object() || !is_absent(status, "allocatable")) return;
    if (!is_absent(status, "capacity")) status["allocatable"] = status["capacity"];
  });
}

// Adds to the list of `item` what it lacks of the amounts.
void complete(Json& item, const char* list, const Json& amounts) {
  Json& to = item[list];
  if (to.is_null()) to = Json::object();
  if (!to.is_object() || !amounts.is_object()) return;
  for (const auto& [name, value] : amounts.items()) {
    if (!to.contains(name)) to[name] = value;
  }
}

void default_limits(Json& object) {
  for_each_at(object, "spec.limits[]", [](Json& item) {
    if (!item.is_object() || !has_text(item, "type", "Container")) return;
    complete(item, "default", item.value("max", Json()));
    complete(item, "defaultRequest", item.value("default", Json()));
    complete(item, "defaultRequest", item.value("min", Json()));
    for (const char* list : {"default", "defaultRequest"}) {
      if (item[list] == Json::object()) item.erase(list);
    }
  });
}

void default_behavior(Json& behavior) {
  if (!behavior.is_object()) return;
  static const DefaultRules rules = {{"scaleUp", "{}"}, {"scaleDown", "{}"}};
  static const DefaultRules up = {
      {"stabilizationWindowSeconds", "0"},
      {"selectPolicy", R"("Max")"},
      {"policies", R"([{"type":"Pods","value":4,"periodSeconds":15},
                       {"type":"Percent","value":100,"periodSeconds":15}])"},
  };
  static const DefaultRules down = {
      {"selectPolicy", R"("Max")"},
      {"policies", R"([{"type":"Percent","value":100,"periodSeconds":15}])"},
  };
  rules.apply(behavior);
  up.apply(behavior["scaleUp"]);
  down.apply(behavior["scaleDown"]);
}

void default_autoscaler_v2(Json& object) {
  static const DefaultRules all = {
      {"spec.minReplicas", "1"},
      {"spec.metrics", R"([{"type":"Resource","resource":{"name":"cpu",
          "target":{"type":"Utilization","averageUtilization":80}}}])",
       kUnset},
  };
  all.apply(object);
  for_each_at(object, "spec.behavior", default_behavior);
}

// Which defaults there are follows from what it says in any of its versions.
void default_autoscaler(Json& object) {
  if (!has_text(object, "apiVersion", "autoscaling/v1")) {
    complete_autoscaler(object);
    return default_autoscaler_v2(object);
  }
  Json stored = autoscaler_to_v2(std::move(object));
  to_typed_form(stored);
  default_autoscaler_v2(stored);
  object = autoscaler_to_v1(std::move(stored));
}

void default_network_policy(Json& object) {
  static const DefaultRules rules = {
      {"spec.ingress[].ports[].protocol", R"("TCP")"},
      {"spec.egress[].ports[].protocol", R"("TCP")"},
  };
  rules.apply(object);
  for_each_at(object, "spec", [](Json& spec) {
    if (!spec.is_object() || !is_unset(spec, "policyTypes")) return;
    spec["policyTypes"] = Json::array({"Ingress"});
    if (!is_unset(spec, "egress")) spec["policyTypes"].push_back("Egress");
  });
}

void default_binding(Json& object) {
  static const DefaultRules rules = [] {
    static const std::string group = Json(kRbac).dump();
    return DefaultRules{{"roleRef.apiGroup", group, kUnset},
                        {"subjects[].apiGroup", group, kUnset, "kind", "User"},
                        {"subjects[].apiGroup", group, kUnset, "kind", "Group"}};
  }();
  rules.apply(object);
}

void default_webhooks(Json& object) {
  static const DefaultRules rules = {
      {"webhooks[].clientConfig.service.port", "443"},
      {"webhooks[].failurePolicy", R"("Fail")"},
      {"webhooks[].matchPolicy", R"("Equivalent")"},
      {"webhooks[].namespaceSelector", "{}"},
      {"webhooks[].objectSelector", "{}"},
      {"webhooks[].timeoutSeconds", "10"},
      {"webhooks[].rules[].scope", R"("*")"},
  };
  rules.apply(object);
}

void default_mutating_webhooks(Json& object) {
  static const DefaultRules rules = {{"webhooks[].reinvocationPolicy", R"("Never")"}};
  default_webhooks(object);
  rules.apply(object);
}

void default_match(Json& match) {
  static const DefaultRules rules = {
      {"matchPolicy", R"("Equivalent")"},
      {"namespaceSelector", "{}"},
      {"objectSelector", "{}"},
      {"resourceRules[].scope", R"("*")"},
      {"excludeResourceRules[].scope", R"("*")"},
  };
  if (match.is_object()) rules.apply(match);
}

void default_admission_policy(Json& object) {
  static const DefaultRules rules = {{"spec.failurePolicy", R"("Fail")"}};
  rules.apply(object);
  for_each_at(object, "spec.matchConstraints", default_match);
}

void default_policy_binding(Json& object) {
  for_each_at(object, "spec.matchResources", default_match);
}

void default_devices(Json& devices) {
  static const DefaultRules request = {
      {"allocationMode", R"("ExactCount")", kUnset},
      {"count", "1", kUnset, "allocationMode", "ExactCount"},
      {"tolerations[].operator", R"("Equal")", kUnset},
  };
  for (const char* one : {"requests[].exactly", "requests[].firstAvailable[]"}) {
    for_each_at(devices, one, [](Json& at) { request.apply(at); });
  }
}

void default_resource_claim(Json& object) {
  for_each_at(object, "spec.devices", default_devices);
}

void default_resource_claim_template(Json& object) {
  for_each_at(object, "spec.spec.devices", default_devices);
}

// Kinds whose defaults are rules and nothing else.
const std::map<std::string, DefaultRules>& tables() {
  static const std::map<std::string, DefaultRules> all = {
      {"endpoints", {{"subsets[].ports[].protocol", R"("TCP")", kUnset}}},
      {"endpointslices.discovery.k8s.io",
       {{"ports[].name", R"("")"}, {"ports[].protocol", R"("TCP")"}}},
      {"namespaces", {{"status.phase", R"("Active")", kUnset}}},
      {"ingressclasses.networking.k8s.io", {{"spec.parameters.scope", R"("Cluster")"}}},
      {"priorityclasses.scheduling.k8s.io", {{"preemptionPolicy", R"("PreemptLowerPriority")"}}},
      {"storageclasses.storage.k8s.io",
       {{"reclaimPolicy", R"("Delete")"}, {"volumeBindingMode", R"("Immediate")"}}},
      {"csidrivers.storage.k8s.io",
       {{"spec.attachRequired", "true"},
        {"spec.podInfoOnMount", "false"},
        {"spec.storageCapacity", "false"},
        {"spec.fsGroupPolicy", R"("ReadWriteOnceWithFSType")"},
        {"spec.volumeLifecycleModes", R"(["Persistent"])", kUnset},
        {"spec.requiresRepublish", "false"},
        {"spec.seLinuxMount", "false"}}},
      {"apiservices.apiregistration.k8s.io", {{"spec.service.port", "443"}}},
      {"flowschemas.flowcontrol.apiserver.k8s.io", {{"spec.matchingPrecedence", "1000", kUnset}}},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
       {{"spec.exempt.nominalConcurrencyShares", "0"},
        {"spec.exempt.lendablePercent", "0"},
        {"spec.limited.nominalConcurrencyShares", "30"},
        {"spec.limited.lendablePercent", "0"},
        {"spec.limited.limitResponse.queuing.handSize", "8", kUnset},
        {"spec.limited.limitResponse.queuing.queues", "64", kUnset},
        {"spec.limited.limitResponse.queuing.queueLengthLimit", "50", kUnset}}},
  };
  return all;
}

void default_attachment(Json& object) {
  for_each_at(object, "spec.source.inlineVolumeSpec", default_volume_source);
}

const std::map<std::string, void (*)(Json&)>& functions() {
  static const std::map<std::string, void (*)(Json&)> all = {
      {"persistentvolumes", default_persistent_volume},
      {"persistentvolumeclaims", default_claim},
      {"nodes", default_node},
      {"limitranges", default_limits},
      {kAutoscalers, default_autoscaler},
      {"networkpolicies.networking.k8s.io", default_network_policy},
      {"rolebindings.rbac.authorization.k8s.io", default_binding},
      {"clusterrolebindings.rbac.authorization.k8s.io", default_binding},
      {"volumeattachments.storage.k8s.io", default_attachment},
      {"validatingwebhookconfigurations.admissionregistration.k8s.io", default_webhooks},
      {"mutatingwebhookconfigurations.admissionregistration.k8s.io", default_mutating_webhooks},
      {"validatingadmissionpolicies.admissionregistration.k8s.io", default_admission_policy},
      {"mutatingadmissionpolicies.admissionregistration.k8s.io", default_admission_policy},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io", default_policy_binding},
      {"mutatingadmissionpolicybindings.admissionregistration.k8s.io", default_policy_binding},
      {"resourceclaims.resource.k8s.io", default_resource_claim},
      {"resourceclaimtemplates.resource.k8s.io", default_resource_claim_template},
  };
  return all;
}

}  // namespace

void apply_defaults(const std::string& storage_id, Json& object) {
  if (!object.is_object()) return;
  to_typed_form(object);
  if (default_workload(storage_id, object)) return;
  if (const auto table = tables().find(storage_id); table != tables().end()) {
    table->second.apply(object);
  }
  if (const auto kind = functions().find(storage_id); kind != functions().end()) {
    kind->second(object);
  }
}

}  // namespace kubewatch::builtin
