#include "crdgen/immutable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/strings.hpp"
#include "crdgen/schema_flag.hpp"
#include "crdgen/schema_walk.hpp"
#include "schema/cel_types.hpp"

namespace kubewatch::crdgen {

namespace {
constexpr const char* kMark = "x-kubewatch-immutable";
constexpr const char* kRules = "x-kubernetes-validations";
}  // namespace

bool always_there(const Json& object, const std::string& name) {
  const auto required = object.find("required");
  const Json* property = base::find(object, {"properties", name});
  return required != object.end() && required->is_array() && property != nullptr &&
         std::find(required->begin(), required->end(), Json(name)) != required->end() &&
         !flag(*property, "nullable");
}

bool holds_immutable(const Json& property) {
  if (!property.is_object()) return false;
  if (property.contains(kMark)) return true;
  const auto fields = property.find("properties");
  return fields != property.end() && fields->is_object() &&
         std::any_of(fields->begin(), fields->end(), holds_immutable);
}

namespace {

constexpr const char* kAlways = "true";
// A longer rule says less well what it is about; then whatever holds such fields has to stay.
constexpr std::size_t kLongestRule = 2000;

// In CEL, whether an immutable field is set in what stands at `at`; "" where there is none.
std::string is_set_in(const Json& schema, const std::string& at) {
  if (!schema.is_object()) return "";
  if (schema.contains(kMark)) return kAlways;
  const Json* properties = base::find(schema, {"properties"});
  if (properties == nullptr || !properties->is_object()) return "";
  std::vector<std::string> terms;
  for (const auto& [name, property] : properties->items()) {
    const auto in_cel = schema::escape_name(name);
    if (!in_cel) continue;
    const std::string below = at + "." + *in_cel;
    const std::string inner = is_set_in(property, below);
    if (inner.empty()) continue;
    if (!always_there(schema, name)) {
      terms.push_back(fmt::format("has({})", below) +
                      (inner == kAlways ? "" : fmt::format(" && ({})", inner)));
    } else if (inner == kAlways) {
      return inner;
    } else {
      terms.push_back(inner);
    }
  }
  std::string all = base::join(terms, " || ");
  return all.size() > kLongestRule ? kAlways : all;
}

}  // namespace

void mark_immutable(Json& property) {
  property[kMark] = true;
}

void drop_marks(Json& root) {
  walk_schemas(root, [](Json& schema) {
    schema.erase(kMark);
    const auto rules = schema.find(kRules);
    if (rules == schema.end() || !rules->is_array()) return;
    for (Json& rule : *rules) {
      if (rule.is_object()) rule.erase(kMark);
    }
  });
}

void add_keep_rule(Json& object, const std::string& name) {
  const auto in_cel = schema::escape_name(name);
  const Json* property = base::find(object, {"properties", name});
  if (!in_cel || property == nullptr) return;
  const std::string held = is_set_in(*property, "oldSelf." + *in_cel);
  if (held.empty()) return;
  const bool itself = property->contains(kMark);
  object[kRules].push_back(
      {{"rule", fmt::format("!has(oldSelf.{0}) || has(self.{0}){1}", *in_cel,
                            held == kAlways ? "" : fmt::format(" || !({})", held))},
       {"message", fmt::format("{} {}: it cannot be removed", name,
                               itself ? "is immutable" : "holds immutable fields")},
       {kMark, true}});
}

bool is_keep_rule(const Json& rule) {
  return rule.is_object() && rule.contains(kMark);
}

}  // namespace kubewatch::crdgen
