// What a C++ type must have to stand for a kind, and the two ready-made shapes: Object, for kinds
// whose spec and status are structs, and DynamicObject, for kinds that are known at run time only.
// Header only; what reads and writes JSON is the type's own, by nlohmann's to_json and from_json.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "core/meta.hpp"
#include "core/object_ref.hpp"
#include "core/resource.hpp"

namespace kubewatch::client {

enum class Scope { namespaced, cluster };

// Anything that an Api can carry. from_json fills the object; its errors are `invalid`. Which
// object it was is for Api to say.
template <class T>
concept Resource = std::default_initializable<T> &&
    requires(T object, const T& read, const Json& json) {
  { object.from_json(json) } -> std::same_as<Result<void>>;
  { read.to_json() } -> std::same_as<Json>;
};

// A kind that is known when the program is compiled: generated structs, or
//   struct Website : client::Object<WebsiteSpec, WebsiteStatus> {
//     static constexpr const char* kGroup = "demo.example.com";  // kVersion, kKind, kPlural
//     static constexpr client::Scope kScope = client::Scope::namespaced;
//   };
template <class T>
concept StaticKind = Resource<T> && requires {
  {std::string_view(T::kGroup)};
  {std::string_view(T::kVersion)};
  {std::string_view(T::kKind)};
  {std::string_view(T::kPlural)};
  { T::kScope } -> std::convertible_to<Scope>;
};
template <class T>
concept NamespacedKind = StaticKind<T> && T::kScope == Scope::namespaced;
template <class T>
concept ClusterKind = StaticKind<T> && T::kScope == Scope::cluster;
// A kind that discovery yields: its scope is checked at run time.
template <class T>
concept DynamicKind = Resource<T> && !requires {
  T::kScope;
};

template <StaticKind T>
core::ResourceType resource_type_of() {
  core::ResourceType out;
  out.gvk = {T::kGroup, T::kVersion, T::kKind};
  out.plural = T::kPlural;
  out.namespaced = T::kScope == Scope::namespaced;
  return out;
}

// The value as a T. Errors: invalid; what nlohmann throws does not get further.
template <class T>
Result<T> read_as(const Json& value, const std::string& what) {
  try {
    return value.get<T>();
  } catch (const Json::exception& problem) {
    return Error(ErrorKind::invalid, what + ": " + problem.what());
  }
}

// The whole object as JSON: nothing is lost, nothing is typed.
struct DynamicObject {
  Json json = Json::object();

  Result<void> from_json(const Json& value) {
    if (!value.is_object()) return Error(ErrorKind::invalid, "this is no object");
    json = value;
    return {};
  }
  Json to_json() const { return json; }
  core::ObjectMeta meta() const { return core::meta_of(json); }
  core::ObjectKey key() const { return meta().key(); }
  core::ObjectRef ref() const { return core::object_ref(meta()); }
};

// Spec and Status: any type that nlohmann converts, Json itself included. Metadata stays JSON, so
// that what this program does not know survives a read and a replace; other top-level fields do
// not.
template <class Spec, class Status = Json>
struct Object {
  std::string api_version;
  std::string kind;
  Json metadata = Json::object();
  Spec spec{};
  std::optional<Status> status;

  Result<void> from_json(const Json& value) {
    const core::ObjectMeta head = core::meta_of(value);
    if (head.name.empty()) return Error(ErrorKind::invalid, "this is no object: it has no name");
    // null says as much as nothing.
    const Json* spec_json = base::present_at(value, {"spec"});
    const Json* status_json = base::present_at(value, {"status"});
    Spec read_spec{};
    std::optional<Status> read_status;
    if (spec_json != nullptr) {
      KW_ASSIGN(read_spec, read_as<Spec>(*spec_json, head.kind + ": spec"));
    }
    if (status_json != nullptr) {
      KW_ASSIGN(read_status, read_as<Status>(*status_json, head.kind + ": status"));
    }
    api_version = head.api_version;
    kind = head.kind;
    metadata = value["metadata"];
    spec = std::move(read_spec);
    status = std::move(read_status);
    return {};
  }
  Json to_json() const {
    Json out = {{"apiVersion", api_version}, {"kind", kind}, {"metadata", metadata}};
    out["spec"] = spec;
    if (status) out["status"] = *status;
    return out;
  }
  core::ObjectMeta meta() const {
    return core::meta_of({{"apiVersion", api_version}, {"kind", kind}, {"metadata", metadata}});
  }
  core::ObjectKey key() const { return meta().key(); }
  core::ObjectRef ref() const { return core::object_ref(meta()); }
};

}  // namespace kubewatch::client
