#include "crdgen/server_check.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/json_pointer.hpp"
#include "base/strings.hpp"
#include "crdgen/lint.hpp"
#include "crdgen/unmeetable.hpp"
#include "schema/crd_check.hpp"

namespace kubewatch::crdgen {

namespace {

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

Node in_schema(Node at, const std::vector<std::string>& steps, std::size_t from) {
  bool root = true;
  for (std::size_t i = from; i < steps.size(); ++i) {
    const bool property = steps[i] == "properties" && i + 1 < steps.size();
    if (!property && steps[i] != "items" && steps[i] != "additionalProperties") break;
    const std::string name = property ? steps[++i] : "";
    const bool part = root && (name == "spec" || name == "status") && at.has(name);
    root = false;
    if (part) {
      at = at.child(name);
    } else if (!descend(at, steps[property ? i - 1 : i], name)) {
      break;
    }
  }
  return at;
}

Node in_version(const Node& version, const std::vector<std::string>& steps) {
  constexpr std::size_t kBelow = 3;  // spec, versions, the index
  if (steps.size() > kBelow + 1 && steps[kBelow] == "schema") {
    return in_schema(version, steps, kBelow + 2);
  }
  if (steps.size() > kBelow && steps[kBelow] == "additionalPrinterColumns" &&
      version.has("columns")) {
    return version.child("columns");
  }
  if (steps.size() > kBelow && steps[kBelow] == "selectableFields" && version.has("selectable")) {
    return version.child("selectable");
  }
  return version;
}

Node place_of(const std::string& pointer, const Node& head, const std::vector<Node>& versions) {
  const std::vector<std::string> steps = steps_of_pointer(pointer);
  if (steps.size() > 2 && steps[1] == "versions") {
    const std::string& index = steps[2];
    if (index.size() < 7 && index.find_first_not_of("0123456789") == std::string::npos) {
      const std::size_t at = std::stoul(index);
      if (at < versions.size()) return in_version(versions[at], steps);
    }
  }
  for (std::size_t i = 1; i < steps.size() && i < 3; ++i) {
    if (head.has(steps[i])) return head.child(steps[i]);
  }
  return head;
}

// Taken by the server, but of no use to anyone.
void check_unmeetable(const Json& crd, const Node& head, const std::vector<Node>& versions) {
  const Json& all = crd["spec"]["versions"];
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Json* root = base::find(all[i], {"schema", "openAPIV3Schema"});
    if (root == nullptr) continue;
    const std::string pointer = fmt::format("/spec/versions/{}/schema/openAPIV3Schema", i);
    for (const Unmeetable& found : unmeetable_in(*root, pointer)) {
      place_of(found.pointer, head, versions).problem(found.message + ": " + found.fix);
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
    const Node at = place_of(pointer_of_field(complete, found.error.field), head, versions);
    at.problem("the server refuses this: " + schema::sentence(found.error));
  }
  check_unmeetable(crd, head, versions);
}

}  // namespace kubewatch::crdgen
