#include "crdgen/server_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/json_pointer.hpp"
#include "base/number_text.hpp"
#include "base/strings.hpp"
#include "crdgen/lint.hpp"
#include "crdgen/shorthand.hpp"
#include "crdgen/unmeetable.hpp"
#include "schema/crd_check.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr const char* kRuleList = "x-kubernetes-validations";

std::vector<std::string> steps_of_pointer(const std::string& pointer) {
  std::vector<std::string> out;
  if (pointer.empty()) return out;
  for (const std::string& step : base::split(pointer.substr(1), '/')) {
    out.push_back(base::unescape_pointer(step));
  }
  return out;
}

// One level down in the long form of a type, where it stands there: what comes from a named type
// or from a text has no node of its own.
bool descend(Node& at, const std::string& step, const std::string& name) {
  if (step == "items" || step == "additionalProperties") {
    const char* key = step == "items" ? "items" : "values";
    if (!at.has(key)) return false;
    at = at.child(key);
    return true;
  }
  for (const char* key : {"fields", "union"}) {
    if (!at.has(key) || !at.child(key).has(name)) continue;
    at = at.child(key).child(name);
    return true;
  }
  return false;
}

// Where a problem is told: a node, or a marker inside its text.
struct Spot {
  Node node;
  std::optional<std::size_t> inside;

  void problem(const std::string& message) const {
    if (inside) {
      node.problem_inside(*inside, message);
    } else {
      node.problem(message);
    }
  }
};

struct Reached {
  Node node;
  std::size_t next;  // the first step that leads on from there, and has no node
};

Reached in_schema(Node at, const std::vector<std::string>& steps, std::size_t from) {
  bool root = true;
  for (std::size_t i = from; i < steps.size(); ++i) {
    const bool property = steps[i] == "properties" && i + 1 < steps.size();
    if (!property && steps[i] != "items" && steps[i] != "additionalProperties") return {at, i};
    const std::size_t begin = i;
    const std::string name = property ? steps[++i] : "";
    const bool part = root && (name == "spec" || name == "status") && at.has(name);
    root = false;
    if (part) {
      at = at.child(name);
    } else if (!descend(at, steps[begin], name)) {
      return {at, begin};
    }
  }
  return {at, steps.size()};
}

std::string text_of_rule(const Json& rule) {
  return rule.is_string() ? rule.get<std::string>() : base::string_at(rule, {"rule"});
}

// A rule of the CRD, to be found again where somebody wrote it: those that are generated stand
// among the written ones, so that its index there says nothing.
struct WrittenRule {
  std::string text;
  std::size_t nth = 0;  // of the rules with this text
  std::string member;   // that the problem is about: "rule", "fieldPath"
};

// In a list of rules, or one rule, which `nth` counts.
std::optional<Spot> among(const Node& rules, WrittenRule& wanted) {
  for (const Node& one : rules.each()) {
    if (text_of_rule(one.value()) != wanted.text || wanted.nth-- > 0) continue;
    return Spot{one.has(wanted.member) ? one.child(wanted.member) : one, std::nullopt};
  }
  return std::nullopt;
}

std::optional<Spot> among_markers(const Node& text, const std::string& before,
                                  WrittenRule& wanted) {
  FieldText parsed;
  parse_field_text(text.value().get<std::string>(), parsed, [](std::size_t, const std::string&) {});
  for (const Marker& marker : parsed.markers) {
    if (marker.name != before + "validation" && marker.name != before + "validations") continue;
    const Json rules = marker.value.is_array() ? marker.value : Json::array({marker.value});
    for (const Json& one : rules) {
      if (text_of_rule(one) == wanted.text && wanted.nth-- == 0) return Spot{text, marker.at};
    }
  }
  return std::nullopt;
}

// At a type or in it: in the order in which they get into its schema.
std::optional<Spot> spot_of_rule(const Node& type, const std::string& before, WrittenRule wanted) {
  if (type.value().is_string()) return among_markers(type, before, wanted);
  if (type.has("type") && type.child("type").value().is_string()) {
    if (auto spot = among_markers(type.child("type"), before, wanted)) return spot;
  }
  if (!before.empty()) return std::nullopt;
  if (type.has("flatten")) {
    for (const Node& part : type.child("flatten").each()) {
      if (!part.has("validations")) continue;
      if (auto spot = among(part.child("validations"), wanted)) return spot;
    }
  }
  for (const char* key : {"validation", "validations"}) {
    if (!type.has(key)) continue;
    if (auto spot = among(type.child(key), wanted)) return spot;
  }
  if (type.has("raw") && type.child("raw").has(kRuleList)) {
    return among(type.child("raw").child(kRuleList), wanted);
  }
  return std::nullopt;
}

// "items.values." of the steps that a text has markers for; absent where they lead to a field.
std::optional<std::string> marker_prefix(const std::vector<std::string>& steps, std::size_t from,
                                         std::size_t end) {
  std::string out;
  for (std::size_t i = from; i < end; ++i) {
    if (steps[i] != "items" && steps[i] != "additionalProperties") return std::nullopt;
    out += steps[i] == "items" ? "items." : "values.";
  }
  return out;
}

const Json* at_steps(const Json& root, const std::vector<std::string>& steps, std::size_t end) {
  const Json* at = &root;
  for (std::size_t i = 0; i < end && at != nullptr; ++i) {
    if (at->is_array()) {
      const auto index = base::read_number<std::size_t>(steps[i]);
      at = index && *index < at->size() ? &(*at)[*index] : nullptr;
    } else {
      at = base::find(*at, {steps[i]});
    }
  }
  return at;
}

Spot in_version_schema(const Json& crd, const Node& version,
                       const std::vector<std::string>& steps) {
  constexpr std::size_t kSchema = 5;  // spec, versions, the index, schema, openAPIV3Schema
  const Reached found = in_schema(version, steps, kSchema);
  // The last: a property may have the same name.
  std::size_t rules = steps.size() - 1;
  std::optional<std::size_t> index;
  for (; rules >= kSchema; --rules) {
    if (steps[rules] != kRuleList || rules + 1 >= steps.size()) continue;
    if (steps[rules - 1] == "properties") continue;
    index = base::read_number<std::size_t>(steps[rules + 1]);
    if (index) break;
  }
  if (!index) return {found.node, std::nullopt};
  const Json* list = at_steps(crd, steps, rules + 1);
  const auto before = marker_prefix(steps, std::min(found.next, rules), rules);
  if (list == nullptr || *index >= list->size() || !before) return {found.node, std::nullopt};
  WrittenRule wanted{text_of_rule((*list)[*index]), 0,
                     rules + 2 < steps.size() ? steps[rules + 2] : ""};
  for (std::size_t i = 0; i < *index; ++i) wanted.nth += text_of_rule((*list)[i]) == wanted.text;
  return spot_of_rule(found.node, *before, wanted).value_or(Spot{found.node, std::nullopt});
}

// What stands beside the schema: the key of the version, and the item or member of it.
Node beside_schema(const Node& version, const std::vector<std::string>& steps, std::size_t from) {
  const auto& [key, inner] =
      steps[from] == "subresources"
          ? std::pair("scale", from + 2)
          : std::pair(steps[from] == "selectableFields" ? "selectable" : "columns", from + 1);
  if (!version.has(key)) return version;
  Node at = version.child(key);
  if (inner >= steps.size()) return at;
  if (at.value().is_array()) {
    const auto index = base::read_number<std::size_t>(steps[inner]);
    return index && *index < at.value().size() ? at.item(*index) : at;
  }
  // specReplicasPath is of specReplicas.
  const std::string name = steps[inner].substr(0, steps[inner].rfind("Path"));
  return at.has(name) ? at.child(name) : at;
}

Spot in_version(const Json& crd, const Node& version, const std::vector<std::string>& steps) {
  constexpr std::size_t kBelow = 3;  // spec, versions, the index
  if (steps.size() > kBelow + 1 && steps[kBelow] == "schema") {
    return in_version_schema(crd, version, steps);
  }
  for (const char* key : {"additionalPrinterColumns", "selectableFields", "subresources"}) {
    if (steps.size() > kBelow && steps[kBelow] == key) {
      return {beside_schema(version, steps, kBelow), std::nullopt};
    }
  }
  return {version, std::nullopt};
}

Spot place_of(const Json& crd, const std::string& pointer, const Node& head,
              const std::vector<Node>& versions) {
  const std::vector<std::string> steps = steps_of_pointer(pointer);
  if (steps.size() > 2 && steps[1] == "versions") {
    const auto at = base::read_number<std::size_t>(steps[2]);
    if (at && *at < versions.size()) return in_version(crd, versions[*at], steps);
  }
  for (std::size_t i = 1; i < steps.size() && i < 3; ++i) {
    if (head.has(steps[i])) return {head.child(steps[i]), std::nullopt};
  }
  return {head, std::nullopt};
}

// Taken by the server, but of no use to anyone.
void check_unmeetable(const Json& crd, const Node& head, const std::vector<Node>& versions) {
  const Json& all = crd["spec"]["versions"];
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Json* root = base::find(all[i], {"schema", "openAPIV3Schema"});
    if (root == nullptr) continue;
    const std::string pointer = fmt::format("/spec/versions/{}/schema/openAPIV3Schema", i);
    for (const Unmeetable& found : unmeetable_in(*root, pointer)) {
      place_of(crd, found.pointer, head, versions).problem(found.message + ": " + found.fix);
    }
  }
}

}  // namespace

void check_as_server(const Json& crd, const Node& head, const std::vector<Node>& versions) {
  if (const auto shape = schema::check_crd_shape(crd); !shape.ok()) {
    head.problem("the server cannot read the CRD: " + shape.error().message());
    return;
  }
  Json complete = crd;
  schema::crd_defaults(complete);
  schema::CrdCheckOptions options;
  options.rules = &schema::rule_checker();
  for (const schema::Finding& found : schema::check_crd(complete, options)) {
    const std::string pointer = pointer_of_field(complete, found.error.field);
    const std::string_view meant = what_is_meant(found.error.message);
    place_of(complete, pointer, head, versions)
        .problem("the server refuses this: " + schema::sentence(found.error) +
                 (meant.empty() ? "" : ": " + std::string(meant)));
  }
  check_unmeetable(crd, head, versions);
}

}  // namespace kubewatch::crdgen
