#include "apiserver/class_admission.hpp"

#include <string>
#include <utility>

#include "apiserver/status.hpp"
#include "base/quantity.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

constexpr const char* kIngresses = "ingresses.networking.k8s.io";
constexpr const char* kIngressClasses = "ingressclasses.networking.k8s.io";
constexpr const char* kDefaultIngressClass = "ingressclass.kubernetes.io/is-default-class";
constexpr const char* kOldIngressClass = "kubernetes.io/ingress.class";
constexpr const char* kClaims = "persistentvolumeclaims";
constexpr const char* kStorageClasses = "storageclasses.storage.k8s.io";
constexpr const char* kOldStorageClass = "volume.beta.kubernetes.io/storage-class";

// Of several the newest; of those of one second the first by its name. "": there is none.
std::string default_ingress_class(const Storage& storage) {
  std::string name;
  std::string made;
  storage.each(kIngressClasses, "", "", [&](const ObjectPtr& object) {
    const Json& one = object->json();
    if (string_at(one, {"metadata", "annotations", kDefaultIngressClass}) != "true") return true;
    const std::string time = string_at(one, {"metadata", "creationTimestamp"});
    if (!name.empty() && (time < made || (time == made && object->name() > name))) return true;
    name = object->name();
    made = time;
    return true;
  });
  return name;
}

std::string class_of(const Json& claim) {
  const Json* old = base::find(claim, {"metadata", "annotations", kOldStorageClass});
  return old != nullptr ? string_at(claim, {"metadata", "annotations", kOldStorageClass})
                        : string_at(claim, {"spec", "storageClassName"});
}

bool grows(const Json& before, const Json& after) {
  const auto size = [](const Json& claim) {
    const auto said =
        base::Quantity::parse(string_at(claim, {"spec", "resources", "requests", "storage"}));
    return said.value_or(base::Quantity::of(0));
  };
  return size(after).compare(size(before)) > 0;
}

bool may_grow(const Storage& storage, const Json& before, const Json& after) {
  const std::string name = class_of(after);
  if (name.empty() || name != class_of(before)) return false;
  const ObjectPtr of = storage.get(kStorageClasses, object_key("", name));
  const Json* allows = of ? base::find(of->json(), {"allowVolumeExpansion"}) : nullptr;
  return allows != nullptr && *allows == true;
}

}  // namespace

void take_default_class(const Storage& storage, const Resource& resource, Json& object) {
  if (resource.storage_id != kIngresses) return;
  const Json* given = base::find(object, {"spec", "ingressClassName"});
  const Json* old = base::find(object, {"metadata", "annotations", kOldIngressClass});
  if ((given != nullptr && !given->is_null()) || old != nullptr) return;
  const std::string name = default_ingress_class(storage);
  if (name.empty()) return;
  if (!object["spec"].is_object()) object["spec"] = Json::object();
  object["spec"]["ingressClassName"] = name;
}

Result<void> check_growth(const Storage& storage, const Resource& resource, const Json& before,
                          const Json& after) {
  if (resource.storage_id != kClaims || !grows(before, after)) return {};
  const Subject claim = resource.subject(string_at(after, {"metadata", "name"}));
  if (string_at(before, {"status", "phase"}) != "Bound") {
    return forbidden(claim, "Only bound persistent volume claims can be expanded");
  }
  if (may_grow(storage, before, after)) return {};
  return forbidden(claim,
                   "only dynamically provisioned pvc can be resized and the storageclass that "
                   "provisions the pvc must support resize");
}

}  // namespace kubewatch::apiserver
