#include "crdgen/lint_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ascii.hpp"
#include "base/json_pointer.hpp"
#include "base/strings.hpp"
#include "crdgen/unmeetable.hpp"
#include "schema/cel_types.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr int kLintDepth = 100;

bool has_rules(const Json& schema) {
  const auto it = schema.find("x-kubernetes-validations");
  return it != schema.end() && it->is_array() && !it->empty();
}

bool rules_below(const Json& schema, int depth) {
  if (!schema.is_object() || depth > kLintDepth) return false;
  if (has_rules(schema)) return true;
  for (const char* key : {"items", "additionalProperties"}) {
    const auto it = schema.find(key);
    if (it != schema.end() && rules_below(*it, depth + 1)) return true;
  }
  const Json* properties = base::find(schema, {"properties"});
  if (properties == nullptr || !properties->is_object()) return false;
  return std::any_of(properties->begin(), properties->end(),
                     [&](const Json& one) { return rules_below(one, depth + 1); });
}

bool in_identifier(char c) {
  return base::is_alphanumeric(c) || c == '_';
}

enum class Behind { anything, dot };

// Whether the rule has the name as a word of its own: "name" is not in "self.hostname".
bool names(const std::string& rule, const std::string& name, Behind behind) {
  for (auto at = rule.find(name); at != std::string::npos; at = rule.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = behind == Behind::dot ? at > 0 && rule[at - 1] == '.'
                                              : at == 0 || !in_identifier(rule[at - 1]);
    if (begins && (end == rule.size() || !in_identifier(rule[end]))) return true;
  }
  return false;
}

// Where a schema stands, and the rules above it.
struct At {
  std::string pointer;
  std::string path;
  std::string name;  // of the field that it is, or is in as item or value; "" of the root
  std::vector<std::string> rules;
  int depth = 0;
};

class SchemaLint {
 public:
  SchemaLint(std::string version, std::vector<LintFinding>& out)
      : version_(std::move(version)), out_(out) {}

  void look(const Json& schema, const At& at) {
    if (!schema.is_object() || at.depth > kLintDepth) return;
    const std::string type = base::string_at(schema, {"type"});
    std::vector<std::string> own_rules;
    rules(schema, at, own_rules);
    bounds(schema, type, at, own_rules);
    if (type == "array") list_type(schema, at);
    if (type == "number") {
      add("float", at, "floating point values are not exact and differ between languages",
          "use integer with a unit in the name, or Quantity");
    }
    if (type == "object") empty_object(schema, at);
    if (at.path == ".status.conditions") conditions(schema, at);
    children(schema, at, own_rules);
  }

 private:
  void add(const char* id, const At& at, std::string message, std::string fix) {
    LintFinding found;
    found.id = id;
    for (const LintRule& rule : lint_rules()) {
      if (rule.id == found.id) found.level = rule.level;
    }
    found.pointer = at.pointer;
    found.path = version_ + " " + (at.path.empty() ? "." : at.path);
    found.message = std::move(message);
    found.fix = std::move(fix);
    out_.push_back(std::move(found));
  }

  void rules(const Json& schema, const At& at, std::vector<std::string>& texts) {
    if (!has_rules(schema)) return;
    const Json& list = schema["x-kubernetes-validations"];
    for (std::size_t i = 0; i < list.size(); ++i) {
      texts.push_back(base::string_at(list[i], {"rule"}));
      if (list[i].contains("message") || list[i].contains("messageExpression")) continue;
      At rule = at;
      rule.pointer += fmt::format("/x-kubernetes-validations/{}", i);
      add("rule-without-message", rule, "users are shown the CEL text when the rule does not hold",
          "add message: what is wrong, in their words");
    }
  }

  // Whether a rule at or above reads this place: its own rule does, one above if it names it.
  static bool is_read(const At& at, const std::vector<std::string>& own_rules) {
    if (!own_rules.empty()) return true;
    const auto in_cel = schema::escape_name(at.name);
    if (!in_cel) return false;
    // A reserved word may be written as it is too; as an operator ("in") it is no field.
    const bool reserved = *in_cel == "__" + at.name + "__";
    return std::any_of(at.rules.begin(), at.rules.end(), [&](const std::string& rule) {
      return names(rule, *in_cel, Behind::anything) ||
             (reserved && names(rule, at.name, Behind::dot));
    });
  }

  void bounds(const Json& schema, const std::string& type, const At& at,
              const std::vector<std::string>& own_rules) {
    const bool read = is_read(at, own_rules);
    if (type == "string" && read && !schema.contains("maxLength") && !schema.contains("enum") &&
        !bounded_by_format(schema)) {
      add("unbounded-string", at, "a rule reads it: its cost is estimated for 3 MiB of text",
          "add maxLength");
    }
    const bool map = type == "object" && schema.contains("additionalProperties") &&
                     schema["additionalProperties"].is_object();
    if (type != "array" && !map) return;
    const Json& inner =
        type == "array" ? schema.value("items", Json()) : schema["additionalProperties"];
    if (!read && !rules_below(inner, 0)) return;
    const char* key = map ? "maxProperties" : "maxItems";
    if (schema.contains(key)) return;
    add(map ? "unbounded-map" : "unbounded-list", at,
        "rules in it or about it are taken to run once for each of as many items as fit into 3 MiB",
        fmt::format("add {}", key));
  }

  static bool bounded_by_format(const Json& schema) {
    static const std::set<std::string> kBounded = {"date", "date-time", "duration"};
    return kBounded.count(base::string_at(schema, {"format"})) != 0;
  }

  void list_type(const Json& schema, const At& at) {
    if (schema.contains("x-kubernetes-list-type")) return;
    const Json items = schema.value("items", Json::object());
    const bool objects = base::string_at(items, {"type"}) == "object";
    std::string keys = "NAME";
    const Json* properties = base::find(items, {"properties"});
    for (const char* name : {"name", "type", "key", "id"}) {
      if (properties != nullptr && properties->contains(name)) {
        keys = name;
        break;
      }
    }
    add("list-type-missing", at, "server-side apply replaces the list as a whole",
        objects ? fmt::format("say listType=map listMapKeys={}, or listType=atomic", keys)
                : "say listType=set, or listType=atomic");
  }

  void empty_object(const Json& schema, const At& at) {
    for (const char* key :
         {"properties", "additionalProperties", "x-kubernetes-preserve-unknown-fields",
          "x-kubernetes-embedded-resource"}) {
      if (schema.contains(key)) return;
    }
    if (at.path == ".metadata") return;
    add("empty-object", at, "every field in it is dropped by the server",
        "name its fields, or say preserveUnknown");
  }

  void conditions(const Json& schema, const At& at) {
    std::vector<std::string> wrong;
    if (base::string_at(schema, {"type"}) != "array") wrong.push_back("is no list");
    if (base::string_at(schema, {"x-kubernetes-list-type"}) != "map" ||
        schema.value("x-kubernetes-list-map-keys", Json()) != Json::array({"type"})) {
      wrong.push_back(
          "is no listType=map with the key type, so that two controllers overwrite each other");
    }
    const Json items = schema.value("items", Json::object());
    const Json required =
        items.is_object() ? items.value("required", Json::array()) : Json::array();
    for (const char* name : {"type", "status"}) {
      if (base::find(items, {"properties", name}) == nullptr)
        wrong.push_back(fmt::format("has no field {}", name));
      if (std::find(required.begin(), required.end(), Json(name)) == required.end())
        wrong.push_back(fmt::format("does not require {}", name));
    }
    for (const char* name : {"reason", "message", "lastTransitionTime"}) {
      if (base::find(items, {"properties", name}) == nullptr)
        wrong.push_back(fmt::format("has no field {}", name));
    }
    if (!wrong.empty())
      add("conditions-shape", at, base::join(wrong, "; "), "use the type Conditions");
  }

  void children(const Json& schema, const At& at, const std::vector<std::string>& own_rules) {
    At below = at;
    below.depth = at.depth + 1;
    below.rules.insert(below.rules.end(), own_rules.begin(), own_rules.end());
    for (const auto& [key, mark] : {std::pair("items", "[]"), {"additionalProperties", "{}"}}) {
      const auto it = schema.find(key);
      if (it == schema.end() || !it->is_object()) continue;
      At inner = below;
      inner.pointer = at.pointer + "/" + key;
      inner.path = at.path + mark;
      look(*it, inner);
    }
    const Json* properties = base::find(schema, {"properties"});
    if (properties == nullptr || !properties->is_object()) return;
    for (const auto& [name, property] : properties->items()) {
      At inner = below;
      inner.pointer = at.pointer + "/properties/" + base::escape_pointer(name);
      inner.path = at.path + "." + name;
      inner.name = name;
      look(property, inner);
    }
  }

  std::string version_;
  std::vector<LintFinding>& out_;
};

// ".spec.hosts[]" of a pointer below the root; of a branch of allOf and the like where it stands.
std::string path_of_pointer(const std::string& pointer) {
  std::string path;
  const std::vector<std::string> steps = base::split(pointer, '/');
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i] == "properties" && i + 1 < steps.size()) {
      path += "." + base::unescape_pointer(steps[++i]);
    } else if (steps[i] == "items") {
      path += "[]";
    } else if (steps[i] == "additionalProperties") {
      path += "{}";
    } else {
      break;
    }
  }
  return path.empty() ? "." : path;
}

}  // namespace

void lint_schema(const Json& root, const std::string& version, const std::string& pointer,
                 std::vector<LintFinding>& out) {
  for (Unmeetable& one : unmeetable_in(root, "")) {
    out.push_back({std::move(one.id), LintLevel::warning, pointer + one.pointer,
                   version + " " + path_of_pointer(one.pointer), std::move(one.message),
                   std::move(one.fix)});
  }
  SchemaLint(version, out).look(root, {pointer, "", "", {}, 0});
}

}  // namespace kubewatch::crdgen
