#include "crdgen/merge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.hpp"
#include "crdgen/generate.hpp"

namespace kubewatch::crdgen {

namespace {

Result<void> check_same_kind(const Json& first, const Json& other) {
  for (const auto& path :
       {std::vector<std::string>{"group"}, {"names", "kind"}, {"names", "plural"}, {"scope"}}) {
    const Json* a = &first["spec"];
    const Json* b = &other["spec"];
    for (const std::string& step : path) {
      a = a != nullptr && a->contains(step) ? &(*a)[step] : nullptr;
      b = b != nullptr && b->contains(step) ? &(*b)[step] : nullptr;
    }
    const std::string one = a == nullptr ? "nothing" : base::dump_json(*a);
    const std::string two = b == nullptr ? "nothing" : base::dump_json(*b);
    if (one != two) {
      return Error(ErrorKind::invalid,
                   fmt::format("these are not versions of one kind: spec.{} is {} and {}",
                               base::join(path, "."), one, two));
    }
  }
  return {};
}

// A keyword's value in the form in which two that mean the same are equal; null is "not said".
Json meaning(const Json& schema, const char* key) {
  const auto it = schema.find(key);
  if (it == schema.end() || *it == false) return nullptr;
  const std::string_view name = key;
  if (name == "x-kubernetes-list-type" && *it == "atomic") return nullptr;
  if (name == "x-kubernetes-map-type" && *it == "granular") return nullptr;
  if (!it->is_array()) return *it;
  std::vector<Json> values(it->begin(), it->end());
  if (name == "x-kubernetes-validations") {
    for (Json& rule : values) rule = base::string_at(rule, {"rule"});  // not how it is worded
  }
  std::sort(values.begin(), values.end());
  return values.empty() ? Json() : Json(values);
}

// What decides whether a value is taken, what is filled in and what is kept.
constexpr const char* kDeciding[] = {"type",
                                     "format",
                                     "items",
                                     "additionalProperties",
                                     "nullable",
                                     "default",
                                     "enum",
                                     "pattern",
                                     "minimum",
                                     "maximum",
                                     "exclusiveMinimum",
                                     "exclusiveMaximum",
                                     "multipleOf",
                                     "minLength",
                                     "maxLength",
                                     "minItems",
                                     "maxItems",
                                     "minProperties",
                                     "maxProperties",
                                     "allOf",
                                     "anyOf",
                                     "oneOf",
                                     "not",
                                     "x-kubernetes-list-type",
                                     "x-kubernetes-list-map-keys",
                                     "x-kubernetes-map-type",
                                     "x-kubernetes-int-or-string",
                                     "x-kubernetes-embedded-resource",
                                     "x-kubernetes-preserve-unknown-fields",
                                     "x-kubernetes-validations"};

// Where reading an object of one version as the other would lose or refuse something: fields that
// only one has are fine as long as they are optional.
void compare(const Json& a, const Json& b, const std::string& path, std::vector<std::string>& out) {
  if (!a.is_object() || !b.is_object()) return;
  for (const char* key : kDeciding) {
    const bool inner =
        key == std::string_view("items") || key == std::string_view("additionalProperties");
    const bool both = a.contains(key) && b.contains(key);
    if (inner && both && a[key].is_object() && b[key].is_object()) {
      compare(a[key], b[key], path + (key == std::string_view("items") ? "[]" : "{}"), out);
    } else if (meaning(a, key) != meaning(b, key)) {
      out.push_back(fmt::format("{} has another {}", path.empty() ? "." : path, key));
    }
  }
  for (const Json& name : b.value("required", Json::array())) {
    const Json known = a.value("required", Json::array());
    if (std::find(known.begin(), known.end(), name) == known.end() && name.is_string()) {
      out.push_back(fmt::format("{}.{} is required in one only", path, name.get<std::string>()));
    }
  }
  const Json* ours = base::find(a, {"properties"});
  const Json* theirs = base::find(b, {"properties"});
  if (ours == nullptr || theirs == nullptr) return;
  for (const auto& [name, schema] : ours->items()) {
    if (theirs->contains(name)) compare(schema, (*theirs)[name], path + "." + name, out);
  }
}

void warn_of_pair(const Json& one, const Json& other, std::vector<std::string>& warnings) {
  const Json none = Json::object();
  const Json* a = base::find(one, {"schema", "openAPIV3Schema"});
  const Json* b = base::find(other, {"schema", "openAPIV3Schema"});
  std::vector<std::string> found;
  compare(a ? *a : none, b ? *b : none, "", found);
  compare(b ? *b : none, a ? *a : none, "", found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty()) return;
  constexpr std::size_t kShown = 5;
  const std::size_t more = found.size() > kShown ? found.size() - kShown : 0;
  found.resize(std::min(found.size(), kShown));
  warnings.push_back(fmt::format(
      "{} and {} differ by more than optional fields and no conversion webhook is named: {}{}",
      base::string_at(one, {"name"}), base::string_at(other, {"name"}), base::join(found, "; "),
      more > 0 ? fmt::format("; and {} more", more) : ""));
}

// Every one with every other: two may each add what the one between them lacks.
void warn_of_differences(const Json& versions, std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < versions.size(); ++i) {
    for (std::size_t j = i + 1; j < versions.size(); ++j) {
      warn_of_pair(versions[i], versions[j], warnings);
    }
  }
}

}  // namespace

Result<Merged> merge_crds(const std::vector<Json>& crds, const std::string& storage) {
  if (crds.empty()) return Error(ErrorKind::invalid, "there is nothing to merge");
  Json versions = Json::array();
  const Json* head = nullptr;
  for (const Json& crd : crds) {
    KW_TRY(check_same_kind(crds.front(), crd));
    for (Json version : crd["spec"]["versions"]) {
      const std::string name = base::string_at(version, {"name"});
      version["storage"] = name == storage;
      if (name == storage && head == nullptr) head = &crd;
      const auto known = std::find_if(versions.begin(), versions.end(),
                                      [&name](const Json& one) { return one["name"] == name; });
      if (known == versions.end()) {
        versions.push_back(std::move(version));
      } else if (*known != version) {
        return Error(
            ErrorKind::invalid,
            fmt::format("version {} is there twice, and not the same: leave one out", name));
      }
    }
  }
  if (head == nullptr) {
    std::vector<std::string> names;
    for (const Json& version : versions) names.push_back(version["name"].get<std::string>());
    return Error(ErrorKind::invalid, fmt::format("storage version \"{}\" is none of {}", storage,
                                                 base::join(names, ", ")));
  }
  Merged out;
  out.crd = normalised(*head);
  out.crd["spec"]["versions"] = versions;
  out.crd = normalised(std::move(out.crd));
  const bool converts = base::string_at(out.crd, {"spec", "conversion", "strategy"}) == "Webhook";
  if (!converts) warn_of_differences(out.crd["spec"]["versions"], out.warnings);
  return out;
}

}  // namespace kubewatch::crdgen
