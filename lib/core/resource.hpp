// Names of kinds and objects: GVK, GVR, the resource type that discovery yields, object keys. No
// I/O.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::core {

struct GroupVersion {
  std::string group;  // "" is the core group
  std::string version;
  std::string str() const;  // "v1", "apps/v1"
  auto operator<=>(const GroupVersion&) const = default;
};
// "v1", "apps/v1". Errors: invalid.
Result<GroupVersion> parse_group_version(std::string_view api_version);
// The group alone, of an apiVersion that is taken as it is; "" for the core group and no text.
std::string_view group_of(std::string_view api_version);

struct Gvk {
  std::string group;
  std::string version;
  std::string kind;
  std::string api_version() const;
  std::string str() const;         // "apps/v1 Deployment"
  std::string group_kind() const;  // "Deployment.apps", "ConfigMap"
  auto operator<=>(const Gvk&) const = default;
};
// From apiVersion and kind of a manifest. Errors: invalid when one is missing.
Result<Gvk> gvk_of(const Json& object);

struct Subresource {
  std::string name;  // "status", "scale"
  Gvk kind;
  std::vector<std::string> verbs;
};

// What discovery says of one resource in one version.
struct ResourceType {
  Gvk gvk;
  std::string plural;
  std::string singular;
  bool namespaced = true;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;
  std::vector<Subresource> subresources;

  bool has_verb(std::string_view verb) const;
  bool has_subresource(std::string_view name) const;
  // "pods", "deployments.apps": as kubectl names it.
  std::string qualified_plural() const;
};

// Names, scope, short names and categories, for files of ours.
Json to_json(const ResourceType& type);
// What is absent, or of another type, is empty or false.
ResourceType resource_type_of(const Json& json);

struct ObjectKey {
  std::string namespace_;  // "" for cluster-scoped
  std::string name;
  std::string str() const;  // "shop/web", "web"
  auto operator<=>(const ObjectKey&) const = default;
};

// "" where the object does not say it.
ObjectKey object_key(const Json& object);

struct ObjectKeyHash {
  std::size_t operator()(const ObjectKey& key) const noexcept;
};

// RFC 1123 subdomain (most names) and label (namespaces); "" when valid, else the API server's
// sentence.
std::string check_dns_subdomain(std::string_view name);
std::string check_dns_label(std::string_view name);
// All that is wrong, not only the first; the server counts in characters or, of some fields, in
// bytes.
std::vector<std::string> dns_subdomain_problems(std::string_view name,
                                                const char* unit = "characters");
std::vector<std::string> dns_label_problems(std::string_view name);
// Label keys and values, as the API server checks them; "" when valid.
std::string check_label_key(std::string_view key);
std::string check_label_value(std::string_view value);

}  // namespace kubewatch::core
