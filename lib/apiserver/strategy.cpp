#include "apiserver/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <variant>

#include "apiserver/crd.hpp"
#include "apiserver/metadata.hpp"
#include "base/strings.hpp"
#include "core/object_rules.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::size_t kMostData = 1U << 20U;  // MaxSecretSize of k8s.io/api
constexpr const char* kNamespaceFinalizer = "kubernetes";

bool is(const Resource& resource, const char* storage_id) {
  return resource.storage_id == storage_id;
}

void label_namespace(Json& object) {
  const std::string name = base::string_at(object, {"metadata", "name"});
  if (!name.empty()) object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
}

// Its own finalizer comes after those that the request gives.
void prepare_namespace(Json& object) {
  label_namespace(object);
  const Json* given = base::find(object, {"spec", "finalizers"});
  Json finalizers = given != nullptr && given->is_array() ? *given : Json::array();
  if (std::find(finalizers.begin(), finalizers.end(), kNamespaceFinalizer) == finalizers.end()) {
    finalizers.push_back(kNamespaceFinalizer);
  }
  object["spec"] = {{"finalizers", std::move(finalizers)}};
  object["status"] = {{"phase", "Active"}};
}

void check_namespace_finalizers(const Json& object, FieldErrors& errors) {
  const Json* finalizers = base::find(object, {"spec", "finalizers"});
  if (finalizers == nullptr || !finalizers->is_array()) return;
  for (const auto& one : *finalizers) {
    const std::string name = one.is_string() ? one.get<std::string>() : "";
    std::string problem = core::check_label_key(name);
    if (problem.empty() && name != kNamespaceFinalizer && name.find('/') == std::string::npos) {
      problem = kNoFinalizer;
    }
    if (problem.empty()) continue;
    errors.push_back(field_invalid("spec.finalizers", base::dump_json(Json(name)), problem));
  }
}

// Kinds whose status starts with a phase.
const std::map<std::string, const char*>& first_phases() {
  static const std::map<std::string, const char*> phases = {
      {"pods", "Pending"}, {"persistentvolumeclaims", "Pending"}, {"persistentvolumes", "Pending"}};
  return phases;
}

// Fields that may not change once set.
const std::multimap<std::string, std::vector<std::string>>& immutable_fields() {
  static const std::multimap<std::string, std::vector<std::string>> fields = {
      {"deployments.apps", {"spec", "selector"}},
      {"replicasets.apps", {"spec", "selector"}},
      {"daemonsets.apps", {"spec", "selector"}},
      {"secrets", {"type"}},
      {"rolebindings.rbac.authorization.k8s.io", {"roleRef"}},
      {"clusterrolebindings.rbac.authorization.k8s.io", {"roleRef"}},
  };
  return fields;
}

const Json* at_path(const Json& object, const std::vector<std::string>& path) {
  const Json* at = &object;
  for (const auto& key : path) {
    if (!at->is_object() || !at->contains(key)) return nullptr;
    at = &at->at(key);
  }
  return at;
}

void check_immutable(const Resource& resource, const Json& live, const Json& object,
                     FieldErrors& errors) {
  const auto range = immutable_fields().equal_range(resource.storage_id);
  for (auto it = range.first; it != range.second; ++it) {
    const Json* before = at_path(live, it->second);
    const Json* after = at_path(object, it->second);
    if (before == nullptr || (after != nullptr && *before == *after)) continue;
    errors.push_back(field_invalid(base::join(it->second, "."),
                                   after == nullptr ? "null" : base::dump_json(*after),
                                   "field is immutable"));
  }
  if (!is(resource, "configmaps") && !is(resource, "secrets")) return;
  const Json* frozen = base::find(live, {"immutable"});
  if (frozen == nullptr || *frozen != true) return;
  for (const char* key : {"immutable", "data", "binaryData"}) {
    if (live.value(key, Json()) == object.value(key, Json())) continue;
    errors.push_back(field_forbidden(key, "field is immutable when `immutable` is set"));
  }
}

void check_data_keys(const Json& object, const char* key, FieldErrors& errors) {
  const Json* data = base::find(object, {key});
  if (data == nullptr || !data->is_object()) return;
  for (const auto& [name, value] : data->items()) {
    const std::string problem = core::check_data_key(name);
    if (problem.empty()) continue;
    errors.push_back(
        field_invalid(fmt::format("{}[{}]", key, name), base::dump_json(Json(name)), problem));
  }
}

// Of all values together, base64 as what it stands for.
std::size_t data_size(const Json& object, const char* key, bool bytes) {
  const Json* data = base::find(object, {key});
  std::size_t total = 0;
  if (data == nullptr || !data->is_object()) return total;
  for (const auto& [name, value] : data->items()) {
    const auto& text = value.get_ref<const std::string&>();
    const std::size_t padding =
        std::min<std::size_t>(2, text.size() - text.find_last_not_of('=') - 1);
    total += bytes && !text.empty() ? text.size() / 4 * 3 - padding : text.size();
  }
  return total;
}

// A key of both, and more than an object of etcd should hold.
void check_data(const Json& object, bool secret, FieldErrors& errors) {
  check_data_keys(object, "data", errors);
  check_data_keys(object, "binaryData", errors);
  const Json* data = base::find(object, {"data"});
  const Json* binary = base::find(object, {"binaryData"});
  if (data != nullptr && binary != nullptr && data->is_object() && binary->is_object()) {
    for (const auto& [name, value] : binary->items()) {
      if (!data->contains(name)) continue;
      errors.push_back(field_invalid(fmt::format("data[{}]", name), base::dump_json(Json(name)),
                                     "duplicate of key present in binaryData"));
    }
  }
  if (data_size(object, "data", secret) + data_size(object, "binaryData", true) <= kMostData)
    return;
  errors.push_back(field_too_long(secret ? "data" : "[]", kMostData));
}

// A map of strings, of bytes where `bytes` (which come as base64 and are kept in its usual form).
Result<void> normalise_map(const Resource& resource, const char* key, bool bytes, Json& object) {
  const auto data = object.find(key);
  if (data == object.end() || data->is_null()) return {};
  const char* wrong = data->is_object() ? nullptr : data->type_name();
  for (auto it = data->begin(); wrong == nullptr && it != data->end(); ++it) {
    if (it->is_null()) *it = "";
    if (!it->is_string()) {
      wrong = it->type_name();
    } else if (bytes) {
      const auto read = core::decode_bytes(it->get_ref<const std::string&>());
      if (const auto* place = std::get_if<std::size_t>(&read)) {
        return undecodable(resource.type.gvk,
                           fmt::format("illegal base64 data at input byte {}", *place));
      }
      *it = base::base64_encode(std::get<std::string>(read));
    }
  }
  if (wrong == nullptr) return {};
  const char* type = !data->is_object() ? (bytes ? "map[string][]uint8" : "map[string]string")
                     : bytes            ? "[]uint8"
                                        : "string";
  return undecodable(resource.type.gvk,
                     fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of "
                                 "type {}",
                                 wrong, resource.type.gvk.kind, key, type));
}

void normalise_secret(Json& object) {
  if (const auto plain = object.find("stringData"); plain != object.end()) {
    if (plain->is_object() && !plain->empty()) {
      Json& data = object["data"];
      if (!data.is_object()) data = Json::object();
      for (const auto& [key, value] : plain->items()) {
        data[key] = base::base64_encode(value.get<std::string>());
      }
    }
    object.erase("stringData");
  }
  if (base::string_at(object, {"type"}).empty()) object["type"] = "Opaque";
}

}  // namespace

Result<void> normalise_kind(const Resource& resource, Json& object) {
  const bool secret = is(resource, "secrets");
  if (secret || is(resource, "configmaps")) {
    KW_TRY(normalise_map(resource, "data", secret, object));
    KW_TRY(normalise_map(resource, "stringData", false, object));
    KW_TRY(normalise_map(resource, "binaryData", true, object));
    for (const char* key : {"data", "binaryData"}) {
      const auto it = object.find(key);
      if (it != object.end() && (it->is_null() || it->empty())) object.erase(it);
    }
  }
  if (secret) normalise_secret(object);
  if (is(resource, "namespaces")) label_namespace(object);
  if (is(resource, "customresourcedefinitions.apiextensions.k8s.io")) {
    KW_TRY(normalise_crd(object));
  }
  return {};
}

void prepare_create(const Resource& resource, Json& object) {
  // A kubelet registers its Node together with its status.
  if (resource.has_status() && !is(resource, "nodes")) object.erase("status");
  if (is(resource, "namespaces")) prepare_namespace(object);
  if (is(resource, "customresourcedefinitions.apiextensions.k8s.io")) prepare_crd(object);
  const auto phase = first_phases().find(resource.storage_id);
  if (phase != first_phases().end()) object["status"] = {{"phase", phase->second}};
}

void prepare_update(const Resource& resource, const Json& live, Json& object,
                    const std::string& subresource) {
  const auto keep = [&](const std::string& key) {
    const auto it = live.find(key);
    if (it == live.end()) {
      object.erase(key);
    } else {
      object[key] = *it;
    }
  };
  if (subresource == "status") {
    std::set<std::string> keys;
    for (const auto* side : {&live, static_cast<const Json*>(&object)}) {
      for (const auto& [key, value] : side->items()) keys.insert(key);
    }
    for (const auto& key : keys) {
      if (key != "status" && key != "metadata" && key != "apiVersion" && key != "kind") keep(key);
    }
    if (!resource.custom) return;
    // Of metadata the status endpoint of a custom resource writes nothing.
    const Json version = object["metadata"].value("resourceVersion", Json());
    const Json managed = object["metadata"].value("managedFields", Json());
    const Json uid = object["metadata"].value("uid", Json());
    object["metadata"] = live.at("metadata");
    for (const auto& [key, value] : {std::pair{"resourceVersion", version},
                                     std::pair{"managedFields", managed}, std::pair{"uid", uid}}) {
      if (value.is_null()) {
        object["metadata"].erase(key);
      } else {
        object["metadata"][key] = value;
      }
    }
    return;
  }
  if (subresource == "finalize") {
    const Json spec = object.value("spec", Json::object());
    const Json version = object["metadata"].value("resourceVersion", Json());
    object = live;
    object["spec"] = spec;
    if (!version.is_null()) object["metadata"]["resourceVersion"] = version;
    return;
  }
  if (resource.has_status()) keep("status");
  if (is(resource, "namespaces")) {
    keep("spec");
    label_namespace(object);
  }
}

schema::FieldSet ignored_fields(const Resource& resource, const Json& object,
                                const std::string& subresource) {
  schema::FieldSet set;
  const auto add = [&](const std::string& key) {
    set.insert({schema::PathElement::of_field(key)});
  };
  if (subresource != "status") {
    if (resource.has_status()) add("status");
    return set;
  }
  for (const auto& [key, value] : object.items()) {
    if (key == "apiVersion" || key == "kind" || key == "status") continue;
    if (key == "metadata" && !resource.custom) continue;
    add(key);
  }
  return set;
}

void validate_kind(const Resource& resource, const Json* live, const Json& object,
                   const std::string& subresource, FieldErrors& errors) {
  if (resource.custom && live != nullptr && subresource == "status") {
    resource.custom->compiled->validate_status(object, *live, errors);
    return;
  }
  if (resource.custom) {
    resource.custom->compiled->validate(object, live, errors);
    return;
  }
  if (is(resource, "configmaps") || is(resource, "secrets")) {
    check_data(object, is(resource, "secrets"), errors);
  }
  if (is(resource, "namespaces")) check_namespace_finalizers(object, errors);
  if (is(resource, "customresourcedefinitions.apiextensions.k8s.io")) {
    validate_crd(live, object, subresource, errors);
  }
  if (live != nullptr) check_immutable(resource, *live, object, errors);
}

bool needs_version(const Resource& resource) {
  static const std::set<std::string> kinds = {
      "leases.coordination.k8s.io",
      "customresourcedefinitions.apiextensions.k8s.io",
      "poddisruptionbudgets.policy",
      "runtimeclasses.node.k8s.io",
      "csidrivers.storage.k8s.io",
      "csinodes.storage.k8s.io",
      "csistoragecapacities.storage.k8s.io",
      "volumeattachments.storage.k8s.io",
      "mutatingwebhookconfigurations.admissionregistration.k8s.io",
      "validatingwebhookconfigurations.admissionregistration.k8s.io",
      "validatingadmissionpolicies.admissionregistration.k8s.io",
      "validatingadmissionpolicybindings.admissionregistration.k8s.io",
  };
  return resource.custom || kinds.count(resource.storage_id) != 0;
}

bool creates_on_update(const Resource& resource) {
  static const std::set<std::string> kinds = {
      "endpoints",
      "events",
      "limitranges",
      "services",
      "leases.coordination.k8s.io",
      "runtimeclasses.node.k8s.io",
      "clusterrolebindings.rbac.authorization.k8s.io",
      "clusterroles.rbac.authorization.k8s.io",
      "rolebindings.rbac.authorization.k8s.io",
      "roles.rbac.authorization.k8s.io",
  };
  return kinds.count(resource.storage_id) != 0;
}

std::string counted_metadata(const Resource& resource) {
  if (is(resource, "deployments.apps")) return "annotations";
  return is(resource, "endpointslices.discovery.k8s.io") ? "labels" : "";
}

}  // namespace kubewatch::apiserver
