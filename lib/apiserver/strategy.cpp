#include "apiserver/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <variant>

#include "apiserver/convert.hpp"
#include "apiserver/crd.hpp"
#include "base/keep_member.hpp"
#include "base/strings.hpp"
#include "base/time.hpp"
#include "builtin/aggregation.hpp"
#include "builtin/certificate_requests.hpp"
#include "builtin/defaults.hpp"
#include "builtin/device_writes.hpp"
#include "builtin/pod_subresources.hpp"
#include "builtin/validation.hpp"
#include "core/object_rules.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::apiserver {

namespace {

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
  Json finalizers = base::items_at(object, {"spec", "finalizers"});
  if (std::find(finalizers.begin(), finalizers.end(), kNamespaceFinalizer) == finalizers.end()) {
    finalizers.push_back(kNamespaceFinalizer);
  }
  object["spec"] = {{"finalizers", std::move(finalizers)}};
  object["status"] = {{"phase", "Active"}};
}

// Bytes come as base64 and are kept in its usual form.
Result<void> normalise_bytes(const Resource& resource, Json& text) {
  const auto read = core::decode_bytes(text.get_ref<const std::string&>());
  if (const auto* place = std::get_if<std::size_t>(&read)) {
    return undecodable(resource.type.gvk,
                       fmt::format("illegal base64 data at input byte {}", *place));
  }
  text = base::base64_encode(std::get<std::string>(read));
  return {};
}

// A map of strings, of bytes where `bytes`.
Result<void> normalise_map(const Resource& resource, const char* key, bool bytes, Json& object) {
  const auto data = object.find(key);
  if (data == object.end() || data->is_null()) return {};
  std::string wrong = data->is_object() ? "" : schema::json_word(*data);
  for (auto it = data->begin(); wrong.empty() && it != data->end(); ++it) {
    if (it->is_null()) *it = "";
    if (!it->is_string()) {
      wrong = schema::json_word(*it);
    } else if (bytes) {
      KW_TRY(normalise_bytes(resource, *it));
    }
  }
  if (wrong.empty()) return {};
  const char* type = !data->is_object() ? (bytes ? "map[string][]uint8" : "map[string]string")
                     : bytes            ? "[]uint8"
                                        : "string";
  return undecodable(
      resource.type.gvk,
      schema::misread_field(wrong, fmt::format("{}.{}", resource.type.gvk.kind, key), type));
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
  const Json* type = base::find(object, {"type"});
  if (type == nullptr || type->is_null() || *type == "") object["type"] = "Opaque";
}

// The one part of metadata that the status endpoint of these does not write; "" = none.
std::string kept_with_status(const Resource& resource) {
  if (is(resource, "deployments.apps")) return "labels";
  return is(resource, "pods") ? "ownerReferences" : "";
}

// Old kubelets leave it out.
void keep_service_class(const Json& live, Json& pod) {
  const std::string kept = base::string_at(live, {"status", "qosClass"});
  if (!kept.empty() && base::string_at(pod, {"status", "qosClass"}).empty()) {
    pod["status"]["qosClass"] = kept;
  }
}

bool is_pod_part(const Resource& resource, const std::string& subresource) {
  return is(resource, "pods") && builtin::is_pod_part(subresource);
}

bool is_certificate_request(const Resource& resource) {
  return is(resource, builtin::kCertificateRequests);
}

// What belongs to the status of an autoscaler shows in the form that it is stored in.
void prepare_scaler(const Resource& resource, const Json& live, Json& object,
                    const std::string& subresource) {
  Json stored = to_stored(resource, std::move(object));
  keep_other_part(resource, to_stored(resource, live), stored, subresource);
  builtin::apply_defaults(resource.storage_id, stored);
  object = to_served(resource, std::move(stored));
}

}  // namespace

void keep_other_part(const Resource& resource, const Json& live, Json& stored,
                     const std::string& subresource) {
  if (!is_autoscaler(resource)) return;
  const char* kept = subresource == "status" ? "spec" : "status";
  stored[kept] = live.value(kept, Json::object());
}

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
  return {};
}

void prepare_create(const Resource& resource, Json& object) {
  // A kubelet registers its Node together with its status.
  if (is_autoscaler(resource)) return prepare_scaler(resource, Json::object(), object, "");
  if (resource.has_status() && !is(resource, "nodes")) object.erase("status");
  // What no server is behind is available at once.
  if (is(resource, builtin::kApiServices) && base::find(object, {"spec", "service"}) == nullptr) {
    builtin::set_availability(object, builtin::availability(object, nullptr, {}),
                              base::string_at(object, {"metadata", "creationTimestamp"}));
  }
  if (is(resource, "namespaces")) prepare_namespace(object);
  if (is(resource, kCrds)) prepare_crd(object);
}

void tell_caller(const Resource& resource, const Caller& caller, Json& object) {
  if (!is_certificate_request(resource) || !object["spec"].is_object()) return;
  Json& spec = object["spec"];
  for (const char* key : {"username", "uid", "groups", "extra"}) spec.erase(key);
  spec["username"] = caller.name;
  if (!caller.uid.empty()) spec["uid"] = caller.uid;
  if (!caller.groups.empty()) spec["groups"] = caller.groups;
}

void prepare_update(const Resource& resource, const Json& live, Json& object,
                    const std::string& subresource) {
  if (is_autoscaler(resource)) return prepare_scaler(resource, live, object, subresource);
  const auto keep = [&](const std::string& key) { base::keep_member(live, object, key); };
  if (is_pod_part(resource, subresource)) return;  // keep_rest
  if (is_certificate_request(resource)) builtin::prepare_request(live, object, subresource);
  if (subresource == "approval") return;
  if (subresource == "status") {
    std::set<std::string> keys;
    for (const auto* side : {&live, static_cast<const Json*>(&object)}) {
      for (const auto& [key, value] : side->items()) keys.insert(key);
    }
    for (const auto& key : keys) {
      if (key != "status" && key != "metadata" && key != "apiVersion" && key != "kind") keep(key);
    }
    if (is(resource, "pods")) keep_service_class(live, object);
    if (const std::string part = kept_with_status(resource); !part.empty()) {
      base::keep_member(live.at("metadata"), object["metadata"], part);
    }
    if (!resource.traits.status_keeps_metadata) return;
    Json metadata = live.at("metadata");
    for (const char* key : {"resourceVersion", "managedFields", "uid"}) {
      base::keep_member(object["metadata"], metadata, key);
    }
    object["metadata"] = std::move(metadata);
    return;
  }
  if (resource.has_status()) keep("status");
  if (is(resource, "namespaces")) {
    if (subresource != "finalize") keep("spec");
    label_namespace(object);
  }
}

void keep_rest(const Resource& resource, const Json& live, Json& object,
               const std::string& subresource) {
  if (is_pod_part(resource, subresource)) builtin::keep_other_parts(subresource, live, object);
}

void fill_times(const Resource& resource, const Json& live, Json& object,
                const std::string& subresource, WallTime now) {
  if (is(resource, "resourceslices.resource.k8s.io")) {
    builtin::fill_taint_times(base::format_rfc3339(now), object);
  }
  if (!is_certificate_request(resource) || subresource.empty()) return;
  builtin::fill_condition_times(live, object, base::format_rfc3339(now));
}

schema::FieldSet ignored_fields(const Resource& resource, const Json& object,
                                const std::string& subresource) {
  schema::FieldSet set;
  const auto add = [&](const std::string& key) {
    set.insert({schema::PathElement::of_field(key)});
  };
  if (is_certificate_request(resource)) {
    add("spec");
    const char* part = subresource == "status" ? "conditions" : "certificate";
    if (subresource.empty()) {
      add("status");
    } else {
      set.insert({schema::PathElement::of_field("status"), schema::PathElement::of_field(part)});
    }
    return set;
  }
  if (is_pod_part(resource, subresource)) return set;
  if (subresource != "status") {
    if (resource.has_status()) add("status");
    return set;
  }
  if (const std::string part = kept_with_status(resource); !part.empty()) {
    set.insert({schema::PathElement::of_field("metadata"), schema::PathElement::of_field(part)});
  }
  for (const auto& [key, value] : object.items()) {
    if (key == "apiVersion" || key == "kind" || key == "status") continue;
    if (key == "metadata" && !resource.traits.status_keeps_metadata) continue;
    add(key);
  }
  return set;
}

void validate_kind(const Resource& resource, const Json* live, const Json& object,
                   const std::string& subresource, FieldErrors& errors, FieldErrors* tolerated) {
  if (resource.custom && live != nullptr && subresource == "status") {
    resource.custom->compiled->validate_status(object, *live, errors, tolerated);
    return;
  }
  if (resource.custom) {
    resource.custom->compiled->validate(object, live, errors, tolerated);
    return;
  }
  if (is(resource, kCrds)) return validate_crd(live, object, subresource, errors);
  if (!is_autoscaler(resource)) {
    return builtin::validate(resource.storage_id, live, object, subresource, errors);
  }
  // Faults are told of the form that it is stored in.
  const Json before = live == nullptr ? Json() : to_stored(resource, *live);
  builtin::validate(resource.storage_id, live == nullptr ? nullptr : &before,
                    to_stored(resource, object), subresource, errors);
}

bool counts_changes(const Resource& resource) {
  return resource.traits.generation && !is(resource, "priorityclasses.scheduling.k8s.io");
}

std::string counted_metadata(const Resource& resource) {
  if (is(resource, "deployments.apps")) return "annotations";
  return is(resource, "endpointslices.discovery.k8s.io") ? "labels" : "";
}

}  // namespace kubewatch::apiserver
