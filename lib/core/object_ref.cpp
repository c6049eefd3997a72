#include "core/object_ref.hpp"

#include "base/json.hpp"

namespace kubewatch::core {

std::string ObjectRef::str() const {
  return kind + " " + ObjectKey{namespace_, name}.str();
}

Json ObjectRef::to_json() const {
  Json out = Json::object();
  const auto set = [&out](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  set("apiVersion", api_version);
  set("kind", kind);
  set("namespace", namespace_);
  set("name", name);
  set("uid", uid);
  return out;
}

ObjectRef object_ref(const ObjectMeta& meta) {
  return {meta.api_version, meta.kind, meta.namespace_, meta.name, meta.uid};
}

std::string object_text(const Gvk& gvk, const ObjectKey& key) {
  return gvk.str() + " " + key.str();
}

Json owner_reference(const ObjectRef& owner, bool controller) {
  Json out = {{"apiVersion", owner.api_version},
              {"kind", owner.kind},
              {"name", owner.name},
              {"uid", owner.uid},
              {"blockOwnerDeletion", false}};
  if (controller) out["controller"] = true;
  return out;
}

const OwnerReference* controller_of(const ObjectMeta& meta) {
  for (const OwnerReference& owner : meta.owners) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

}  // namespace kubewatch::core
