// Claims, volumes, and what provisions them.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/strings.hpp"
#include "builtin/go_values.hpp"
#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pods.hpp"
#include "builtin/volume_sources.hpp"

namespace kubewatch::builtin {

namespace {

void check_access_modes(const Field& modes) {
  static const Values supported = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                   "ReadWriteOncePod"};
  bool one_pod = false;
  bool others = false;
  for (const auto& mode : modes.items()) {
    const std::size_t told = mode.errors().size();
    mode.at(modes.path()).one_of(supported);
    const bool known = mode.errors().size() == told;
    one_pod = one_pod || mode.is("ReadWriteOncePod");
    others = others || (known && !mode.is("ReadWriteOncePod"));
  }
  if (one_pod && others) {
    modes.forbidden("may not use ReadWriteOncePod with other access modes");
  }
}

void check_data_source(const Field& source) {
  if (!source.present()) return;
  for (const char* key : {"name", "kind"}) {
    if (source[key].empty()) source[key].required();
  }
  const Field group = source["apiGroup"];
  const Field kind = source["kind"];
  if (group.empty() && !kind.is("PersistentVolumeClaim")) {
    kind.at(source.path())
        .invalid_text("must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (!group.empty()) group.invalid_each(subdomain_problems(group.text()));
  const Field name = source["namespace"];
  if (!name.empty()) name.invalid_each(label_problems(name.text()));
}

void check_data_sources(const Field& spec) {
  const Field source = spec["dataSource"];
  const Field ref = spec["dataSourceRef"];
  check_data_source(source);
  check_data_source(ref);
  if (!source.present() || !ref.present()) return;
  const bool elsewhere = !ref["namespace"].empty();
  bool same = true;
  for (const char* key : {"apiGroup", "kind", "name"}) {
    same = same && same_field(source[key], ref[key]);
  }
  if (!elsewhere && same) return;
  // The server shows no more of the place that it means.
  spec.invalid_as("{}", elsewhere ? "may not be specified when dataSourceRef.namespace is specified"
                                  : "must match dataSourceRef");
}

void check_class_name(const Field& name) {
  if (!name.empty()) name.invalid_each(subdomain_problems(name.text()));
}

constexpr const char* kAttributesClass = "volumeAttributesClassName";
const Values kVolumeModes = {"Block", "Filesystem"};

}  // namespace

void check_claim_spec(const Field& spec) {
  const Field modes = spec["accessModes"];
  if (modes.empty()) modes.required("at least 1 access mode is required");
  check_label_selector(spec["selector"]);
  check_access_modes(modes);
  const Field size =
      spec["resources"]["requests"]["storage"].at(spec["resources"].path() + "[storage]");
  if (!size.present()) {
    size.required();
  } else {
    check_positive_quantity(size);
  }
  check_class_name(spec["storageClassName"]);
  spec["volumeMode"].one_of(kVolumeModes);
  check_data_sources(spec);
  check_class_name(spec[kAttributesClass]);
}

namespace {

constexpr const char* kOldClass = "volume.beta.kubernetes.io/storage-class";

// What may change of a claim: the name of its volume and its class where there were none; its size
// once it is bound.
Json without_allowed(const Field& claim, const Json& before) {
  Json out = *claim["spec"].json();
  const auto keep = [&](const char* key) {
    out.erase(key);
    if (before.contains(key)) out[key] = before[key];
  };
  if (base::string_at(before, {"volumeName"}).empty()) keep("volumeName");
  if (!before.contains("storageClassName") && out.contains("storageClassName")) {
    const Field old = claim["metadata"]["annotations"][kOldClass];
    if (!old.present() || old.is(base::string_at(out, {"storageClassName"}))) {
      keep("storageClassName");
    }
  }
  if (!claim["status"]["phase"].is("Bound")) return out;
  keep(kAttributesClass);
  const Json* size = base::find(before, {"resources", "requests", "storage"});
  Json* requests = base::find(out, {"resources", "requests"});
  if (size != nullptr && requests != nullptr && requests->is_object())
    (*requests)["storage"] = *size;
  return out;
}

// A claim whose volume has such a class changes it for another one alone.
void check_class_left(const Field& now, const Field& before, const Field& current) {
  const bool same = now.present() == before.present() && now.text() == before.text();
  if (same || !current.present() || !now.empty()) return;
  now.forbidden(fmt::format(
      "update to {} is forbidden when status.currentVolumeAttributesClassName is not nil",
      now.present() ? "empty string" : "nil"));
}

void check_claim_update(const Field& claim, const Field& live) {
  const Field spec = claim["spec"];
  const Field before = live["spec"];
  if (!spec.is_map() || !before.is_map()) return;
  const Field old_class = live["metadata"]["annotations"][kOldClass];
  const Field new_class = claim["metadata"]["annotations"][kOldClass];
  if (!same_field(old_class, new_class)) {
    new_class.at(fmt::format("metadata.annotations[{}]", kOldClass))
        .invalid_text("field is immutable");
  }
  const Json rest = without_allowed(claim, *before.json());
  if (!same_go_value("PersistentVolumeClaimSpec", rest, *before.json())) {
    spec.forbidden(
        "spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims\n" +
        go_difference("PersistentVolumeClaimSpec", *before.json(), rest));
  }
  const auto now = spec["resources"]["requests"]["storage"].quantity_or_zero();
  const auto then = before["resources"]["requests"]["storage"].quantity_or_zero();
  const auto has = live["status"]["capacity"]["storage"].quantity_or_zero();
  if (now.compare(then) < 0 && now.compare(has) <= 0) {
    spec["resources"]["requests"]["storage"].forbidden(
        "field can not be less than status.capacity");
  }
  spec["volumeMode"].at("volumeMode").immutable(before["volumeMode"]);
  check_class_left(spec[kAttributesClass], before[kAttributesClass],
                   live["status"]["currentVolumeAttributesClassName"]);
}

}  // namespace

void check_claim(const Field& object, const Json* live) {
  check_claim_spec(object["spec"]);
  if (live != nullptr) check_claim_update(object, Field(*live, object.errors()));
}

namespace {

// What a claim has of its own: its storage, and what carries the domain of somebody else.
bool check_claimed_resource(const Field& place, const std::string& resource) {
  const auto problems = qualified_problems(resource);
  for (const auto& problem : problems) place.invalid_as(go_quoted(resource), problem);
  if (!problems.empty()) return false;
  if (!is_native_resource(resource) || resource == "storage") return true;
  place.errors().push_back(field_not_supported(place.path(), go_quoted(resource), {"storage"}));
  return false;
}

// The server rounds away from zero before it looks.
bool check_basic_amount(const Field& amount) {
  const auto quantity = amount.quantity();
  if (!quantity || quantity->sign() >= 0) return true;
  const auto whole = quantity->as_int64();
  amount.invalid_as(whole ? std::to_string(*whole) : "-1", "must be a valid resource quantity");
  return false;
}

}  // namespace

void check_claim_status(const Field& object, const Json* /*live*/) {
  static const Values states = {"ControllerResizeInProgress", "ControllerResizeInfeasible",
                                "NodeResizeInProgress", "NodeResizeInfeasible",
                                "NodeResizePending"};
  const Field status = object["status"];
  for (const auto& [name, amount] : status["capacity"].entries()) check_basic_amount(amount);
  const Field resizes = status["allocatedResourceStatuses"];
  for (const auto& [name, state] : resizes.entries()) {
    check_claimed_resource(resizes, name);
    if (is_one(state.text(), states)) continue;
    // It names the resource in place of the state.
    resizes.errors().push_back(field_not_supported(resizes.path(), json_text(name), states));
  }
  const Field allocated = status["allocatedResources"];
  for (const auto& [name, amount] : allocated.entries()) {
    if (check_claimed_resource(allocated, name)) check_basic_amount(amount);
  }
}

namespace {

void check_secret_reference(const Field& ref) {
  if (!ref.present()) return;
  const Field name = ref["name"];
  const Field space = ref["namespace"];
  if (name.empty()) name.required();
  if (!name.empty()) name.invalid_each(subdomain_problems(name.text()));
  if (space.empty()) space.required();
  if (!space.empty()) space.invalid_each(label_problems(space.text()));
}

void check_csi_volume(const Field& source) {
  check_csi_driver_name(source["driver"]);
  if (source["volumeHandle"].empty()) source["volumeHandle"].required();
  for (const char* key : {"controllerPublishSecretRef", "controllerExpandSecretRef",
                          "nodePublishSecretRef", "nodeExpandSecretRef"}) {
    check_secret_reference(source[key]);
  }
}

void check_local_volume(const Field& source, const Field& spec) {
  const Field path = source["path"];
  if (path.empty()) {
    path.required();
  } else {
    check_no_backsteps(path);
  }
  if (spec["nodeAffinity"]["required"].present()) return;
  spec["nodeAffinity"].required("Local volume requires node affinity");
}

// Of what a Pod demands less: a namespace beside the name.
void check_secret_namespace(const Field& source) {
  const Field ref = source["secretRef"];
  if (ref.present() && ref["namespace"].empty()) ref["namespace"].required();
}

void check_gluster_volume(const Field& source) {
  const Field space = source["endpointsNamespace"];
  if (space.present() && space.empty()) {
    space.invalid("if the endpointnamespace is set, it must be a valid namespace name");
  }
  if (!space.empty()) space.invalid_each(label_problems(space.text()));
}

void check_azure_volume(const Field& source) {
  const Field space = source["secretNamespace"];
  if (space.present() && space.empty()) space.required();
}

void check_iscsi_volume(const Field& source, const std::string& volume) {
  constexpr const char* no_form = "must be valid format";
  const Field portal = source["targetPortal"];
  if (portal.empty()) portal.required();
  if (is_long_iscsi_name(source, volume)) {
    portal.at(source.path() + ".targetportal").invalid_text(kLongIscsiName);
  }
  const Field iqn = source["iqn"];
  if (iqn.empty()) iqn.required();
  if (!iqn.empty()) check_iscsi_name(iqn, no_form);
  source["lun"].in_range(0, 255);
  check_iscsi_secret(source);
  const Field ref = source["secretRef"];
  if (ref.present() && ref["name"].empty()) ref["name"].required();
  const Field initiator = source["initiatorName"].at(source.path() + ".initiatorname");
  if (initiator.present()) check_iscsi_name(initiator, no_form);
}

struct VolumeSource {
  const char* key;
  const char* told;                             // what stands in the place of its own faults
  const char* twice;                            // and in that of one too many; null: it may be
  void (*more)(const Field& source) = nullptr;  // beside check_shared_source
};

// In the order in which the server looks.
const std::vector<VolumeSource>& volume_sources() {
  static const std::vector<VolumeSource> all = {
      {"hostPath", "hostPath", "hostPath", check_host_path},
      {"gcePersistentDisk", "persistentDisk", "gcePersistentDisk"},
      {"awsElasticBlockStore", "awsElasticBlockStore", "awsElasticBlockStore"},
      {"glusterfs", "glusterfs", "glusterfs", check_gluster_volume},
      {"flocker", "flocker", "flocker"},
      {"nfs", "nfs", "nfs"},
      {"rbd", "rbd", "rbd"},
      {"quobyte", "quobyte", "quobyte"},
      {"cephfs", "cephfs", "cephFS"},
      {"iscsi", "iscsi", "iscsi"},
      {"cinder", "cinder", "cinder", check_secret_namespace},
      {"fc", "fc", "fc"},
      {"flexVolume", "flexVolume", nullptr},
      {"azureFile", "azureFile", "azureFile", check_azure_volume},
      {"vsphereVolume", "vsphereVolume", "vsphereVolume"},
      {"photonPersistentDisk", "photonPersistentDisk", "photonPersistentDisk"},
      {"portworxVolume", "portworxVolume", "portworxVolume"},
      {"azureDisk", "azureDisk", "azureDisk"},
      {"scaleIO", "scaleIO", "scaleIO"},
      {"local", "local", "local"},
      {"storageos", "storageos", "storageos", check_secret_namespace},
      {"csi", "csi", "csi", check_csi_volume},
  };
  return all;
}

// `name`: of the volume.
void check_volume_source(const Field& spec, const std::string& name) {
  bool found = false;
  for (const auto& one : volume_sources()) {
    const std::string kind = one.key;
    if (!spec[kind].present()) continue;
    if (std::exchange(found, true) && one.twice != nullptr) {
      spec[kind]
          .at(spec.path() + "." + one.twice)
          .forbidden("may not specify more than 1 volume type");
      continue;
    }
    const Field source = spec[kind].at(spec.path() + "." + one.told);
    check_shared_source(kind, source);
    if (one.more != nullptr) one.more(source);
    if (kind == "local") check_local_volume(source, spec);
    if (kind == "iscsi") check_iscsi_volume(source, name);
  }
  if (!found) spec.required("must specify a volume type");
}

void check_capacity(const Field& capacity) {
  if (capacity.empty()) capacity.required();
  if (!capacity["storage"].present() || capacity.size() > 1) {
    capacity.errors().push_back(
        field_not_supported(capacity.path(), capacity.shown(), {"storage"}));
  }
  for (const auto& [name, amount] : capacity.entries()) {
    const auto quantity = amount.quantity();
    const auto whole = quantity && quantity->sign() < 0 ? quantity->as_int64() : std::nullopt;
    if (whole) amount.invalid_as(std::to_string(*whole), "must be a valid resource quantity");
    check_positive_quantity(amount);
  }
}

Json sources_of(const Field& spec) {
  Json out = Json::object();
  for (const auto& source : volume_sources()) {
    if (spec[source.key].present()) out[source.key] = *spec[source.key].json();
  }
  return out;
}

// The names that labels of nodes had before they were stable.
const std::map<std::string, std::string>& stable_labels() {
  static const std::map<std::string, std::string> all = {
      {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
      {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
      {"beta.kubernetes.io/os", "kubernetes.io/os"},
      {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
      {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
  };
  return all;
}

// `term` with the stable names that `now` has at the same places.
void take_stable_labels(Json& term, const Field& now) {
  for (const char* list : {"matchExpressions", "matchFields"}) {
    Json* old = base::find(term, {list});
    const auto all = now[list].items();
    if (old == nullptr || !old->is_array()) continue;
    for (std::size_t i = 0; i < old->size() && i < all.size(); ++i) {
      const auto stable = stable_labels().find(base::string_at((*old)[i], {"key"}));
      if (stable != stable_labels().end() && all[i]["key"].is(stable->second)) {
        (*old)[i]["key"] = stable->second;
      }
    }
  }
}

void check_kept_affinity(const Field& now, const Field& before) {
  if (!before.present()) return;
  Json kept = *before.json();
  Json* old = base::find(kept, {"required", "nodeSelectorTerms"});
  const Field selector = now["required"];
  const auto terms = selector["nodeSelectorTerms"].items();
  if (old != nullptr && old->is_array()) {
    for (std::size_t i = 0; i < old->size() && i < terms.size(); ++i) {
      take_stable_labels((*old)[i], terms[i]);
    }
  }
  if (same_value(now.json(), &kept)) return;
  const std::string shown =
      selector.present() ? go_value("NodeSelector", *selector.json()) : "null";
  now.invalid_as(now.present() ? "{\"Required\":" + shown + "}" : "null",
                 "field is immutable, except for updating from beta label to GA");
}

void check_volume_update(const Field& spec, const Field& before) {
  Json now = sources_of(spec);
  const Json then = sources_of(before);
  // It may be set once.
  constexpr const char* expand = "controllerExpandSecretRef";
  if (before["csi"].is_map() && spec["csi"].is_map() && !before["csi"][expand].present()) {
    now["csi"].erase(expand);
  }
  if (!same_go_value("PersistentVolumeSource", now, then)) {
    spec["persistentvolumesource"].forbidden(
        "spec.persistentvolumesource is immutable after creation\n" +
        go_difference("PersistentVolumeSource", then, now));
  }
  spec["volumeMode"].at("volumeMode").immutable(before["volumeMode"]);
  check_kept_affinity(spec["nodeAffinity"].at("nodeAffinity"), before["nodeAffinity"]);
  const Field attributes = spec[kAttributesClass];
  if (before[kAttributesClass].present() && !attributes.present()) {
    attributes.forbidden("update from non-nil value to nil is forbidden");
  }
}

void check_attributes_of_volume(const Field& spec) {
  const Field name = spec[kAttributesClass];
  if (!name.present()) return;
  if (name.empty()) name.required("an empty string is disallowed");
  check_class_name(name);
  if (spec["csi"].present()) return;
  spec["csi"].required("has to be specified when using volumeAttributesClassName");
}

void check_whole_volume(const Field& object) {
  const Field spec = object["spec"];
  if (spec["accessModes"].empty()) spec["accessModes"].required();
  check_access_modes(spec["accessModes"]);
  check_capacity(spec["capacity"]);
  const Field reclaim = spec["persistentVolumeReclaimPolicy"];
  if (!reclaim.empty()) reclaim.one_of({"Delete", "Recycle", "Retain"});
  const Field nodes = spec["nodeAffinity"];
  if (nodes.present() && !nodes["required"].present()) {
    nodes["required"].required("must specify required node constraints");
  } else if (nodes.present()) {
    check_node_selector(nodes["required"]);
  }
  check_volume_source(spec, object["metadata"]["name"].text());
  if (spec["hostPath"]["path"].is("/") && reclaim.is("Recycle")) {
    reclaim.forbidden("may not be 'recycle' for a hostPath mount of '/'");
  }
  check_class_name(spec["storageClassName"]);
  spec["volumeMode"].one_of(kVolumeModes);
  check_attributes_of_volume(spec);
}

}  // namespace

// The server looks at all of an update twice.
void check_volume(const Field& object, const Json* live) {
  check_whole_volume(object);
  if (live == nullptr) return;
  check_whole_volume(object);
  check_volume_update(object["spec"], Field(*live, object.errors())["spec"]);
}

void check_inline_volume(const Field& spec) {
  const std::string nowhere = "may not be specified in the context of inline volumes";
  const auto absent = [&](const char* key) {
    if (!spec[key].empty()) spec[key].forbidden(nowhere);
  };
  if (spec["claimRef"].present()) spec["claimRef"].forbidden(nowhere);
  absent("capacity");
  if (!spec["csi"].present()) {
    spec["csi"].required("has to be specified in the context of inline volumes");
  }
  if (spec["accessModes"].empty()) spec["accessModes"].required();
  check_access_modes(spec["accessModes"]);
  const Field reclaim = spec["persistentVolumeReclaimPolicy"];
  if (!reclaim.empty() && !reclaim.is("Retain")) {
    reclaim.forbidden("may only be Retain in the context of inline volumes");
  }
  if (spec["nodeAffinity"].present()) spec["nodeAffinity"].forbidden(nowhere);
  check_volume_source(spec, "");
  absent("storageClassName");
  const Field mode = spec["volumeMode"];
  if (mode.present() && !mode.is("Filesystem")) {
    mode.forbidden(
        "may not specify volumeMode other than Filesystem in the context of inline volumes");
  }
}

namespace {

constexpr std::size_t kMostParameters = 512;
constexpr std::size_t kMostParameterBytes = 256U << 10U;

void check_provisioner(const Field& provisioner) {
  if (provisioner.empty()) return provisioner.required();
  const std::string name = base::to_lower(provisioner.text());
  for (const auto& problem : qualified_problems(name)) {
    provisioner.invalid_as(go_quoted(name), problem);
  }
}

void check_parameters(const Field& parameters) {
  if (parameters.size() > kMostParameters) return parameters.too_long(kMostParameters);
  std::size_t total = 0;
  for (const auto& [key, value] : parameters.entries()) {
    if (key.empty()) parameters.invalid_as("\"\"", "field can not be empty.");
    total += key.size() + value.size();
  }
  if (total > kMostParameterBytes) parameters.too_long(kMostParameterBytes);
}

// The values that each key has in it.
using TopologyTerm = std::map<std::string, std::set<std::string>>;

TopologyTerm check_topology_term(const Field& term) {
  TopologyTerm out;
  for (const auto& one : term["matchLabelExpressions"].items()) {
    const Field values = one["values"];
    if (values.empty()) values.required();
    std::set<std::string> seen;
    for (const auto& value : values.items()) {
      if (!seen.insert(value.text()).second) value.duplicate();
    }
    const Field key = one["key"];
    key.invalid_each(qualified_problems(key.text()));
    if (out.count(key.text()) != 0) key.duplicate();
    out[key.text()] = std::move(seen);
  }
  return out;
}

void check_topologies(const Field& terms) {
  const auto all = terms.items();
  // The server begins with as many empty ones as there are terms.
  std::map<TopologyTerm, std::size_t> seen = {{TopologyTerm(), all.size()}};
  for (const auto& term : all) {
    std::size_t& before = seen[check_topology_term(term)];
    const Field twice = term["matchLabelExpressions"];
    for (std::size_t i = 0; i < before && !twice.errors().full(); ++i) {
      twice.errors().push_back(field_duplicate(twice.path(), "\"\""));
    }
    ++before;
  }
}

}  // namespace

void check_storage_class(const Field& object, const Json* live) {
  check_provisioner(object["provisioner"]);
  check_parameters(object["parameters"]);
  const Field reclaim = object["reclaimPolicy"];
  if (!reclaim.empty()) reclaim.one_of({"Delete", "Retain"});
  object["volumeBindingMode"].one_of({"Immediate", "WaitForFirstConsumer"});
  check_topologies(object["allowedTopologies"]);
  if (live == nullptr) return;
  const Field before(*live, object.errors());
  for (const char* key : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"}) {
    object[key].immutable(before[key]);
  }
}

void check_attributes_class(const Field& object, const Json* live) {
  const Field driver = object["driverName"];
  const Field parameters = object["parameters"];
  if (live != nullptr) {
    const Field before(*live, object.errors());
    if (!same_field(driver, before["driverName"])) {
      driver.forbidden("updates to driverName are forbidden.");
    }
    const auto all = [](const Field& map) { return map.is_map() ? *map.json() : Json::object(); };
    if (all(parameters) != all(before["parameters"])) {
      parameters.forbidden("updates to parameters are forbidden.");
    }
  }
  check_provisioner(driver);
  check_parameters(parameters);
  if (parameters.empty()) parameters.required("must contain at least one key/value pair");
}

}  // namespace kubewatch::builtin
