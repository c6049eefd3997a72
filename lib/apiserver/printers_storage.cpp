// Volumes, claims, their classes and drivers.
#include <algorithm>

#include "apiserver/printer_parts.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver::parts {

namespace {

using base::find;
using base::string_at;

// "RWO,ROX": in this order, whatever the object's is.
std::string access_modes(const Json& o, Path path) {
  const auto given = sorted_set(texts(o, path, {}));
  std::vector<std::string> out;
  for (const auto& [mode, word] : {std::pair("ReadWriteOnce", "RWO"),
                                   {"ReadOnlyMany", "ROX"},
                                   {"ReadWriteMany", "RWX"},
                                   {"ReadWriteOncePod", "RWOP"}}) {
    if (std::find(given.begin(), given.end(), mode) != given.end()) out.emplace_back(word);
  }
  return base::join(out, ",");
}

// The annotation is older than the field, and goes first.
std::string storage_class(const Json& o) {
  const Json* annotations = find(o, {"metadata", "annotations"});
  constexpr std::string_view kBeta = "volume.beta.kubernetes.io/storage-class";
  if (annotations != nullptr && annotations->is_object() && annotations->contains(kBeta)) {
    return string_at(*annotations, {kBeta});
  }
  return string_at(o, {"spec", "storageClassName"});
}

std::string phase(const Json& o) {
  return deleting(o) ? "Terminating" : text(o, {"status", "phase"});
}

Json claim(const Json& o, WallTime) {
  if (!exists(o, {"spec", "claimRef"})) return "";
  return string_at(o, {"spec", "claimRef", "namespace"}) + "/" +
         string_at(o, {"spec", "claimRef", "name"});
}

bool bound(const Json& claim) {
  return !text(claim, {"spec", "volumeName"}).empty();
}

Json storage_class_name(const Json& o, WallTime) {
  std::string name = default_name(o, "storageclass.kubernetes.io/is-default-class");
  if (name != text(o, {"metadata", "name"})) return name;
  return default_name(o, "storageclass.beta.kubernetes.io/is-default-class");
}

Json token_requests(const Json& o, WallTime) {
  if (!exists(o, {"spec", "tokenRequests"})) return "<unset>";
  return base::join(texts(o, {"spec", "tokenRequests"}, {"audience"}), ",");
}

Json lifecycle_modes(const Json& o, WallTime) {
  const auto modes = texts(o, {"spec", "volumeLifecycleModes"}, {});
  return modes.empty() ? "<none>" : base::join(modes, ",");
}

void add_volumes(ColumnTable& t) {
  const BuiltinColumn of_class = {"StorageClass", "string", 0, KW_CELL(storage_class(o))};
  const BuiltinColumn attributes = {
      "VolumeAttributesClass", "string", 0,
      KW_CELL(shown(o, {"spec", "volumeAttributesClassName"}, "<unset>"))};
  const BuiltinColumn mode = {"VolumeMode", "string", 1,
                              KW_CELL(shown(o, {"spec", "volumeMode"}, "<unset>"))};
  t["persistentvolumes"] = {
      kName,
      {"Capacity", "string", 0, KW_CELL(shown(o, {"spec", "capacity", "storage"}, "0"))},
      {"Access Modes", "string", 0, KW_CELL(access_modes(o, {"spec", "accessModes"}))},
      {"Reclaim Policy", "string", 0, KW_CELL(text(o, {"spec", "persistentVolumeReclaimPolicy"}))},
      {"Status", "string", 0, KW_CELL(phase(o))},
      {"Claim", "string", 0, claim},
      of_class,
      attributes,
      {"Reason", "string", 0, KW_CELL(text(o, {"status", "reason"}))},
      kAge,
      mode};
  t["persistentvolumeclaims"] = {
      kName,
      {"Status", "string", 0, KW_CELL(phase(o))},
      {"Volume", "string", 0, KW_CELL(text(o, {"spec", "volumeName"}))},
      {"Capacity", "string", 0,
       KW_CELL(bound(o) ? shown(o, {"status", "capacity", "storage"}, "0") : "")},
      {"Access Modes", "string", 0,
       KW_CELL(bound(o) ? access_modes(o, {"status", "accessModes"}) : "")},
      of_class,
      attributes,
      kAge,
      mode};
}

}  // namespace

void add_storage(ColumnTable& t) {
  add_volumes(t);
  t["storageclasses.storage.k8s.io"] = {
      {"Name", "string", 0, storage_class_name},
      {"Provisioner", "string", 0, KW_CELL(text(o, {"provisioner"}))},
      {"ReclaimPolicy", "string", 0, KW_CELL(text(o, {"reclaimPolicy"}, "Delete"))},
      {"VolumeBindingMode", "string", 0, KW_CELL(text(o, {"volumeBindingMode"}, "Immediate"))},
      {"AllowVolumeExpansion", "string", 0, KW_CELL(flag(o, {"allowVolumeExpansion"}))},
      kAge};
  t["volumeattributesclasses.storage.k8s.io"] = {
      kName, {"DriverName", "string", 0, KW_CELL(text(o, {"driverName"}))}, kAge};
  t["volumeattachments.storage.k8s.io"] = {
      kName,
      {"Attacher", "string", 0, KW_CELL(text(o, {"spec", "attacher"})), "name"},
      {"PV", "string", 0, KW_CELL(text(o, {"spec", "source", "persistentVolumeName"}))},
      {"Node", "string", 0, KW_CELL(text(o, {"spec", "nodeName"}))},
      {"Attached", "boolean", 0, KW_CELL(flag(o, {"status", "attached"}))},
      kAge};
  t["csinodes.storage.k8s.io"] = {
      kName, {"Drivers", "integer", 0, KW_CELL(count(o, {"spec", "drivers"}))}, kAge};
  t["csidrivers.storage.k8s.io"] = {
      kName,
      {"AttachRequired", "boolean", 0, KW_CELL(flag(o, {"spec", "attachRequired"}, true))},
      {"PodInfoOnMount", "boolean", 0, KW_CELL(flag(o, {"spec", "podInfoOnMount"}))},
      {"StorageCapacity", "boolean", 0, KW_CELL(flag(o, {"spec", "storageCapacity"}))},
      {"TokenRequests", "string", 0, token_requests},
      {"RequiresRepublish", "boolean", 0, KW_CELL(flag(o, {"spec", "requiresRepublish"}))},
      {"Modes", "string", 0, lifecycle_modes},
      kAge};
}

}  // namespace kubewatch::apiserver::parts
