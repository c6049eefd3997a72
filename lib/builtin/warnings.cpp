#include "builtin/warnings.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/strings.hpp"
#include "builtin/pod_templates.hpp"

namespace kubewatch::builtin {

namespace {

using base::string_at;
using Warnings = std::vector<std::string>;

constexpr std::size_t kLongestLabel = 63;

std::string annotation(const Json& object, const char* key) {
  const Json* annotations = base::find(object, {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->contains(key)) return "";
  return fmt::format("metadata.annotations[{}]: ", key);
}

// The kinds whose Pods are called after them.
bool names_pods(const std::string& storage_id) {
  static const std::set<std::string> kinds = {"replicationcontrollers", "replicasets.apps",
                                              "deployments.apps", "jobs.batch", "cronjobs.batch"};
  return kinds.count(storage_id) != 0;
}

void warn_of_name(const std::string& storage_id, const Json& object, Warnings& warnings) {
  const bool pod = storage_id == "pods";
  if (!pod && !names_pods(storage_id)) return;
  const std::string name = string_at(object, {"metadata", "name"});
  Warnings problems;
  if (name.size() > kLongestLabel) problems.push_back("must be no more than 63 characters");
  if (name.find('.') != std::string::npos) problems.push_back("must not contain dots");
  if (problems.empty()) return;
  warnings.push_back(fmt::format(
      "metadata.name: this is used in {}, which can result in surprising behavior; a "
      "DNS label is recommended: [{}]",
      pod ? "the Pod's hostname" : "Pod names and hostnames", base::join(problems, " ")));
}

// How often what is wanted has changed; a DaemonSet's template counts alone.
bool is_looked_at_again(const std::string& storage_id, const Json& live, const Json& object) {
  if (storage_id == "daemonsets.apps") {
    const Json* before = pod_template(storage_id, live);
    const Json* after = pod_template(storage_id, object);
    return before == nullptr || after == nullptr || *before != *after;
  }
  return base::int_at(live, {"metadata", "generation"}) !=
         base::int_at(object, {"metadata", "generation"});
}

void warn_of_stateful_set(const Json& set, Warnings& warnings) {
  if (const Json* claims = base::find(set, {"spec", "volumeClaimTemplates"})) {
    for (std::size_t i = 0; claims->is_array() && i < claims->size(); ++i) {
      const Json* spec = base::find((*claims)[i], {"spec"});
      if (spec == nullptr) continue;
      warn_of_claim_spec(fmt::format("spec.volumeClaimTemplates[{}]", i), *spec, warnings);
    }
  }
  if (base::int_at(set, {"spec", "revisionHistoryLimit"}).value_or(0) < 0) {
    warnings.push_back(
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= "
        "0 is recommended");
  }
}

void warn_of_job(const std::string& path, const Json& spec, Warnings& warnings) {
  constexpr std::int64_t kManyCompletions = 100000;
  constexpr std::int64_t kMuchAtOnce = 10000;
  if (string_at(spec, {"completionMode"}) != "Indexed") return;
  if (base::int_at(spec, {"completions"}).value_or(0) <= kManyCompletions) return;
  if (base::int_at(spec, {"parallelism"}).value_or(0) <= kMuchAtOnce) return;
  warnings.push_back(
      path +
      ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher "
      "than 10^4, Kubernetes might not be able to track completedIndexes when a big number of "
      "indexes fail");
}

void warn_of_workload(const std::string& storage_id, const Json& object, Warnings& warnings) {
  if (storage_id == "jobs.batch") {
    if (const Json* spec = base::find(object, {"spec"})) warn_of_job("spec", *spec, warnings);
  }
  if (const Json* pods = pod_template(storage_id, object)) {
    warn_of_pod(template_path(storage_id), *pods, warnings);
  }
  if (storage_id == "statefulsets.apps") warn_of_stateful_set(object, warnings);
}

bool has_items(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* list = base::find(object, path);
  return list != nullptr && list->is_array() && !list->empty();
}

void warn_of_headless(const Json& service, Warnings& warnings) {
  if (!string_at(service, {"spec", "loadBalancerIP"}).empty()) {
    warnings.push_back("spec.loadBalancerIP is ignored for headless services");
  }
  if (has_items(service, {"spec", "externalIPs"})) {
    warnings.push_back("spec.externalIPs is ignored for headless services");
  }
  const std::string affinity = string_at(service, {"spec", "sessionAffinity"});
  if (!affinity.empty() && affinity != "None") {
    warnings.push_back("spec.SessionAffinity is ignored for headless services");
  }
}

void warn_of_service(const Json& service, Warnings& warnings) {
  const Json* annotations = base::find(service, {"metadata", "annotations"});
  if (annotations != nullptr &&
      annotations->contains("service.kubernetes.io/topology-aware-hints")) {
    warnings.push_back(
        "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
        "service.kubernetes.io/topology-mode instead");
  }
  const std::string type = string_at(service, {"spec", "type"});
  const bool external = type == "ExternalName";
  const bool in_cluster = type.empty() || type == "ClusterIP";
  const std::string own = string_at(service, {"spec", "clusterIP"});
  const bool headless = in_cluster && own == "None";
  if (own != "None") {
    warn_of_addresses("spec.clusterIPs", base::find(service, {"spec", "clusterIPs"}), warnings);
  }
  if (headless) warn_of_headless(service, warnings);
  warn_of_addresses("spec.externalIPs", base::find(service, {"spec", "externalIPs"}), warnings);
  const bool outside = has_items(service, {"spec", "externalIPs"});
  if (outside && !headless && !external) {
    warnings.push_back(
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  warn_of_address("spec.loadBalancerIP", string_at(service, {"spec", "loadBalancerIP"}), warnings);
  warn_of_addresses("spec.loadBalancerSourceRanges",
                    base::find(service, {"spec", "loadBalancerSourceRanges"}), warnings);
  if (outside && external) {
    warnings.push_back("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
  }
  if (!external && !string_at(service, {"spec", "externalName"}).empty()) {
    warnings.push_back("spec.externalName is ignored when spec.type is not \"ExternalName\"");
  }
  if (string_at(service, {"spec", "trafficDistribution"}) == "PreferClose") {
    warnings.push_back(
        "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
  }
}

void warn_of_old_class(const Json& object, Warnings& warnings) {
  const std::string field = annotation(object, "volume.beta.kubernetes.io/storage-class");
  if (!field.empty()) {
    warnings.push_back(field + "deprecated since v1.8; use \"storageClassName\" attribute instead");
  }
}

void warn_of_claim(const Json& claim, Warnings& warnings) {
  warn_of_old_class(claim, warnings);
  if (const Json* spec = base::find(claim, {"spec"})) warn_of_claim_spec("spec", *spec, warnings);
}

// "path.key: LABEL is ADVICE" of what a term demands of nodes.
void warn_of_required_node(const std::string& path, const Json& term, Warnings& warnings) {
  const Json* all = base::find(term, {"matchExpressions"});
  for (std::size_t i = 0; all != nullptr && all->is_array() && i < all->size(); ++i) {
    const std::string label = string_at((*all)[i], {"key"});
    const std::string advice = node_label_advice(label);
    if (advice.empty()) continue;
    warnings.push_back(
        fmt::format("{}.matchExpressions[{}].key: {} is {}", path, i, label, advice));
  }
}

void warn_of_plugin(const Json& volume, Warnings& warnings) {
  struct Plugin {
    const char* key;
    const char* told;
    const char* advice;
  };
  static const std::vector<Plugin> gone = {
      {"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
      {"photonPersistentDisk", "photonPersistentDisk",
       "deprecated in v1.11, non-functional in v1.16+"},
      {"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
      {"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
      {"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
      {"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"}};
  for (const Plugin& one : gone) {
    const Json* source = base::find(volume, {"spec", one.key});
    if (source == nullptr || source->is_null()) continue;
    warnings.push_back(fmt::format("spec.{}: {}", one.told, one.advice));
  }
}

void warn_of_volume(const Json& volume, Warnings& warnings) {
  warn_of_old_class(volume, warnings);
  const std::string options = annotation(volume, "volume.beta.kubernetes.io/mount-options");
  if (!options.empty()) {
    warnings.push_back(options + "deprecated since v1.31; use \"mountOptions\" attribute instead");
  }
  if (string_at(volume, {"spec", "persistentVolumeReclaimPolicy"}) == "Recycle") {
    warnings.push_back(
        "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, "
        "the recommended approach is to use dynamic provisioning.");
  }
  const Json* terms = base::find(volume, {"spec", "nodeAffinity", "required", "nodeSelectorTerms"});
  for (std::size_t i = 0; terms != nullptr && terms->is_array() && i < terms->size(); ++i) {
    warn_of_required_node(fmt::format("spec.nodeAffinity.required.nodeSelectorTerms[{}]", i),
                          (*terms)[i], warnings);
  }
  warn_of_plugin(volume, warnings);
}

void warn_of_node(const Json& node, Warnings& warnings) {
  if (!string_at(node, {"spec", "externalID"}).empty()) {
    warnings.emplace_back("spec.externalID: this field is deprecated, and is unused by Kubernetes");
  }
  warn_of_addresses("spec.podCIDRs", base::find(node, {"spec", "podCIDRs"}), warnings);
}

void warn_of_runtime_class(const Json& object, Warnings& warnings) {
  const Json* selector = base::find(object, {"scheduling", "nodeSelector"});
  if (selector == nullptr || !selector->is_object()) return;
  for (const auto& [key, value] : selector->items()) {
    const std::string advice = node_label_advice(key);
    if (!advice.empty()) warnings.push_back("scheduling.nodeSelector: " + advice);
  }
}

// When it starts to ask for tokens, or asks for others.
void warn_of_driver(const Json* live, const Json& driver, Warnings& warnings) {
  const Json* in_secrets = base::find(driver, {"spec", "serviceAccountTokenInSecrets"});
  const Json* tokens = base::find(driver, {"spec", "tokenRequests"});
  const bool set = in_secrets != nullptr && !in_secrets->is_null();
  if (set || tokens == nullptr || tokens->empty()) return;
  const Json* before = live == nullptr ? nullptr : base::find(*live, {"spec", "tokenRequests"});
  if (before != nullptr && *before == *tokens) return;
  warnings.push_back(
      "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to "
      "prevent possible logging of tokens in volume attributes");
}

void warn_of_storage_class(const Json& object, Warnings& warnings) {
  const Json* terms = base::find(object, {"allowedTopologies"});
  for (std::size_t i = 0; terms != nullptr && terms->is_array() && i < terms->size(); ++i) {
    const Json* labels = base::find((*terms)[i], {"matchLabelExpressions"});
    for (std::size_t j = 0; labels != nullptr && labels->is_array() && j < labels->size(); ++j) {
      const std::string advice = node_label_advice(string_at((*labels)[j], {"key"}));
      if (advice.empty()) continue;
      warnings.push_back(
          fmt::format("allowedTopologies[{}].matchLabelExpressions[{}].key: {}", i, j, advice));
    }
  }
}

// A certificate that is none at all; what else is wrong with one is not looked at.
void warn_of_secret(const Json& secret, Warnings& warnings) {
  if (string_at(secret, {"type"}) != "kubernetes.io/tls") return;
  const auto certificate = base::base64_decode(string_at(secret, {"data", "tls.crt"}));
  if (certificate && certificate->find("-----BEGIN ") != std::string::npos) return;
  warnings.push_back("tls: failed to find any PEM data in certificate input");
}

void warn_of_endpoints(const Json& endpoints, Warnings& warnings) {
  // The controller writes addresses in their one form.
  const char* by = "endpoints.kubernetes.io/managed-by";
  if (string_at(endpoints, {"metadata", "labels", by}) == "endpoint-controller") return;
  std::size_t index = 0;
  for (const Json& subset : base::items_at(endpoints, {"subsets"})) {
    const std::string path = fmt::format("subsets[{}]", index++);
    for (const char* key : {"addresses", "notReadyAddresses"}) {
      std::size_t place = 0;
      for (const Json& one : base::items_at(subset, {key})) {
        warn_of_address(fmt::format("{}.{}[{}].ip", path, key, place++), string_at(one, {"ip"}),
                        warnings);
      }
    }
  }
}

void warn_of_network_policy(const Json& policy, Warnings& warnings) {
  for (const auto& [way, peers] : {std::pair{"ingress", "from"}, std::pair{"egress", "to"}}) {
    std::size_t rule = 0;
    for (const Json& one : base::items_at(policy, {"spec", way})) {
      const std::string path = fmt::format("spec.{}[{}].{}", way, rule++, peers);
      std::size_t place = 0;
      for (const Json& peer : base::items_at(one, {peers})) {
        const std::string block = fmt::format("{}[{}].ipBlock", path, place++);
        warn_of_address(block + ".cidr", string_at(peer, {"ipBlock", "cidr"}), warnings);
        warn_of_addresses(block + ".except", base::find(peer, {"ipBlock", "except"}), warnings);
      }
    }
  }
}

// Once, when it is made.
void warn_of_new(const std::string& storage_id, const Json& object, Warnings& warnings) {
  if (storage_id == "ingresses.networking.k8s.io" &&
      !annotation(object, "kubernetes.io/ingress.class").empty()) {
    warnings.push_back(
        "annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
        "'spec.ingressClassName' instead");
  }
  const std::string secrets = annotation(object, "kubernetes.io/enforce-mountable-secrets");
  if (storage_id == "serviceaccounts" && !secrets.empty()) {
    warnings.push_back(secrets +
                       "deprecated in v1.32+; prefer separate namespaces to isolate access to "
                       "mounted secrets");
  }
  if (storage_id == "endpointslices.discovery.k8s.io" &&
      string_at(object, {"addressType"}) == "FQDN") {
    warnings.push_back("spec.addressType: FQDN endpoints are deprecated");
  }
  if (storage_id == "pods") warn_of_pod("", object, warnings);
}

}  // namespace

std::string node_label_advice(const std::string& label) {
  struct Advice {
    const char* since;
    const char* instead;
  };
  static const std::map<std::string, Advice> table = {
      {"beta.kubernetes.io/arch", {"deprecated since v1.14; ", "kubernetes.io/arch"}},
      {"beta.kubernetes.io/os", {"deprecated since v1.14; ", "kubernetes.io/os"}},
      {"failure-domain.beta.kubernetes.io/region",
       {"deprecated since v1.17; ", "topology.kubernetes.io/region"}},
      {"failure-domain.beta.kubernetes.io/zone",
       {"deprecated since v1.17; ", "topology.kubernetes.io/zone"}},
      {"beta.kubernetes.io/instance-type",
       {"deprecated since v1.17; ", "node.kubernetes.io/instance-type"}},
      {"node-role.kubernetes.io/master", {"", "node-role.kubernetes.io/control-plane"}}};
  const auto it = table.find(label);
  if (it == table.end()) return "";
  return fmt::format("{}use \"{}\" instead", it->second.since, it->second.instead);
}

std::vector<std::string> warnings_of(const std::string& storage_id, const Json* live,
                                     const Json& object) {
  Warnings warnings;
  if (live == nullptr) {
    warn_of_name(storage_id, object, warnings);
    warn_of_new(storage_id, object, warnings);
  }
  if (!template_path(storage_id).empty()) {
    const bool look = live == nullptr || is_looked_at_again(storage_id, *live, object);
    if (look) warn_of_workload(storage_id, object, warnings);
  }
  if (storage_id == "secrets") warn_of_secret(object, warnings);
  if (storage_id == "services") warn_of_service(object, warnings);
  if (storage_id == "persistentvolumeclaims") warn_of_claim(object, warnings);
  if (storage_id == "persistentvolumes") warn_of_volume(object, warnings);
  if (storage_id == "nodes") warn_of_node(object, warnings);
  if (storage_id == "endpoints") warn_of_endpoints(object, warnings);
  if (storage_id == "networkpolicies.networking.k8s.io") warn_of_network_policy(object, warnings);
  if (storage_id == "runtimeclasses.node.k8s.io") warn_of_runtime_class(object, warnings);
  if (storage_id == "csidrivers.storage.k8s.io") warn_of_driver(live, object, warnings);
  if (storage_id == "storageclasses.storage.k8s.io") warn_of_storage_class(object, warnings);
  return warnings;
}

}  // namespace kubewatch::builtin
