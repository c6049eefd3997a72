// The checks that several kinds of resource.k8s.io share: lists with limits, names of pools and
// attributes, references to the requests of a claim. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "builtin/checks.hpp"

namespace kubewatch::builtin {

inline constexpr std::size_t kMostRequests = 32;
inline constexpr std::size_t kMostConfigurations = 32;
inline constexpr std::size_t kMostDeviceText = std::size_t{10} << 10U;

// Of a list that is too long nothing else is told.
template <class Check>
void check_list(const Field& list, std::size_t most, const Check& check) {
  if (list.size() > most) return list.too_many(static_cast<std::int64_t>(most));
  for (const auto& item : list.items()) check(item);
}

// `key(item)`, as it is shown, is what no two have in common.
template <class Key>
void check_distinct(const Field& list, const Key& key) {
  std::set<std::string> seen;
  for (const auto& item : list.items()) {
    const std::string shown = key(item);
    if (seen.insert(shown).second) continue;
    item.errors().push_back(field_duplicate(item.path(), shown));
  }
}

// Both. `key`: the name of the field that tells them apart; "" is the text itself.
template <class Check>
void check_set(const Field& list, std::size_t most, const char* key, const Check& check) {
  check_list(list, most, check);
  if (list.size() > most) return;
  check_distinct(list, [key](const Field& item) {
    return go_quoted(*key == '\0' ? item.text() : item[key].text());
  });
}

void check_device_label(const Field& name);
void check_pool_name(const Field& name);
// Of an attribute or a capacity: "name" or "domain/name".
void check_attribute_key(const Field& told, const std::string& key);
void check_attribute_name(const Field& name);  // with its domain
// Of the conditions that bind a Pod, and of those that keep it from that.
void check_binding_conditions(const Field& device);
// "opaque" of a configuration.
void check_configuration(const Field& configuration);
void check_json_object(const Field& value);

// By name, with those of their alternatives.
using RequestNames = std::map<std::string, std::set<std::string>>;
RequestNames request_names(const Field& claimed);
void check_request_name(const Field& name, const RequestNames& requests);
void check_request_names(const Field& names, const RequestNames& requests);

}  // namespace kubewatch::builtin
