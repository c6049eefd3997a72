// What the server takes for the same: the comparisons of checks.hpp.
#include <algorithm>

#include "builtin/checks.hpp"

namespace kubewatch::builtin {

namespace {

// How the values of a map are to be compared: "1" and "1000m" may be the same, and of the labels of
// a selector an empty one is there.
enum class Compared { plain, amounts, exact };

Compared members_of(const std::string& key, Compared around) {
  static const std::set<std::string> amounts = {"limits",   "requests", "overhead",
                                                "capacity", "hard",     "sizeLimit"};
  static const std::set<std::string> exact = {"matchLabels", "labels",     "annotations",
                                              "selector",    "parameters", "nodeSelector"};
  if (amounts.count(key) != 0) return Compared::amounts;
  return exact.count(key) != 0 ? Compared::exact : around;
}

// Of what the server keeps as a plain truth or number: false and 0 are what absent is, as clients
// in Go leave them out. Of others (runAsUser, privileged) they are not.
bool is_zero(const std::string& key, const Json& value) {
  static const std::set<std::string> plain = {"chapAuthDiscovery",
                                              "chapAuthSession",
                                              "count",
                                              "hostIPC",
                                              "hostNetwork",
                                              "hostPID",
                                              "hostPort",
                                              "lun",
                                              "partition",
                                              "initialDelaySeconds",
                                              "readOnly",
                                              "seconds",
                                              "sslEnabled",
                                              "stdin",
                                              "stdinOnce",
                                              "tty"};
  return (value == false || value == 0) && plain.count(key) != 0;
}

bool is_nothing(const Json* value, Compared how) {
  if (value == nullptr || value->is_null()) return true;
  if (value->is_structured()) return value->empty();
  return how != Compared::exact && *value == "";
}

bool same_amount(const Json& a, const Json& b) {
  FieldErrors none;
  const auto one = Field(a, none).quantity();
  const auto other = Field(b, none).quantity();
  return one && other && one->compare(*other) == 0;
}

bool same_json(const Json* a, const Json* b, Compared how);

bool same_members(const Json& a, const Json& b, Compared how) {
  std::set<std::string> keys;
  for (const Json* side : {&a, &b}) {
    for (const auto& [key, value] : side->items()) keys.insert(key);
  }
  const auto member = [how](const Json& object, const std::string& key) {
    const auto it = object.find(key);
    const bool none = it == object.end() || (how != Compared::exact && is_zero(key, *it));
    return none ? nullptr : &*it;
  };
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const Compared below = how == Compared::exact ? how : members_of(key, how);
    return same_json(member(a, key), member(b, key), below);
  });
}

bool same_json(const Json* a, const Json* b, Compared how) {
  if (is_nothing(a, how) || is_nothing(b, how)) return is_nothing(a, how) && is_nothing(b, how);
  if (a->is_object() && b->is_object()) return same_members(*a, *b, how);
  if (!a->is_array() || !b->is_array()) {
    return *a == *b || (how == Compared::amounts && same_amount(*a, *b));
  }
  if (a->size() != b->size()) return false;
  for (std::size_t i = 0; i < a->size(); ++i) {
    if (!same_json(&(*a)[i], &(*b)[i], how)) return false;
  }
  return true;
}

}  // namespace

bool same_value(const Json* a, const Json* b) {
  return same_json(a, b, Compared::plain);
}

bool same_field(const Field& a, const Field& b) {
  return same_value(a.json(), b.json());
}

bool same_optional(const Field& a, const Field& b) {
  return a.present() == b.present() && same_field(a, b);
}

}  // namespace kubewatch::builtin
