#include "crdgen/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.hpp"
#include "crdgen/keywords.hpp"

namespace kubewatch::crdgen {

namespace {

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return base::escape_for_terminal(text);
}

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '|' || c == '<' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

enum class Where { table, text };

// In a code span a backslash is itself: only tables have an escape in it, for what ends a cell. A
// backtick is held by a longer fence.
std::string code(const std::string& text, Where where) {
  std::string inner;
  std::size_t longest = 0;
  std::size_t ticks = 0;
  for (const char c : one_line(text)) {
    ticks = c == '`' ? ticks + 1 : 0;
    longest = std::max(longest, ticks);
    if (c == '|' && where == Where::table) inner += '\\';
    inner += c;
  }
  const auto at_edge = [&inner](char c) { return inner.front() == c || inner.back() == c; };
  // One space at both ends is taken away by who reads it, but not where there is nothing else.
  const bool blank = inner.find_first_not_of(' ') == std::string::npos;
  if (inner.empty()) inner = " ";
  if (!blank && (at_edge('`') || at_edge(' '))) inner = " " + inner + " ";
  const std::string fence(longest + 1, '`');
  return fence + inner + fence;
}

std::string type_words(const Json& schema) {
  if (!schema.is_object()) return "any";
  if (schema.value("x-kubernetes-int-or-string", Json()) == true) return "integer or string";
  const std::string type = base::string_at(schema, {"type"});
  if (type.empty()) return "any";
  if (type == "array" && schema.contains("items")) return "[]" + type_words(schema["items"]);
  if (const Json* values = base::find(schema, {"additionalProperties"});
      values && values->is_object()) {
    return "map[string]" + type_words(*values);
  }
  const std::string format = base::string_at(schema, {"format"});
  return format.empty() ? type : type + " (" + format + ")";
}

// "minimum 0, one of a, b; `self > 0`"
std::string limits_of(const Json& schema, Where where) {
  std::vector<std::string> parts;
  if (!schema.is_object()) return "";
  for (const Keyword& keyword : keywords()) {
    const std::string key(keyword.schema_key);
    if (!schema.contains(key) || key == "description" || key == "default" || key == "format")
      continue;
    const Json& value = schema[key];
    if (value == false || value.is_null()) continue;
    const std::string name(keyword.name);
    parts.push_back(value == true ? name
                                  : name + " " +
                                        code(value.is_string() ? value.get<std::string>()
                                                               : base::dump_json(value),
                                             where));
  }
  for (const Json& rule : schema.value("x-kubernetes-validations", Json::array())) {
    const std::string message = base::string_at(rule, {"message"});
    parts.push_back(message.empty() ? "rule " + code(base::string_at(rule, {"rule"}), where)
                                    : cell(message));
  }
  return base::join(parts, "; ");
}

void rows(const Json& schema, const std::string& path, int depth, std::string& out);

void row(const Json& schema, const std::string& path, bool required, int depth, std::string& out) {
  const std::string text = base::string_at(schema, {"description"});
  const std::string by_default =
      schema.contains("default") ? code(base::dump_json(schema["default"]), Where::table) : "";
  out += fmt::format("| {} | {} | {} | {} | {} |\n", code(path, Where::table),
                     cell(type_words(schema)) + (required ? ", required" : ""), by_default,
                     limits_of(schema, Where::table), cell(text));
  rows(schema, path, depth + 1, out);
}

void rows(const Json& schema, const std::string& path, int depth, std::string& out) {
  constexpr int kMaxDepth = 60;
  if (depth > kMaxDepth || !schema.is_object()) return;
  if (const Json* items = base::find(schema, {"items"})) rows(*items, path + "[]", depth + 1, out);
  if (const Json* values = base::find(schema, {"additionalProperties"});
      values && values->is_object()) {
    rows(*values, path + ".*", depth + 1, out);
  }
  const Json* properties = base::find(schema, {"properties"});
  if (properties == nullptr || !properties->is_object()) return;
  const Json required = schema.value("required", Json::array());
  for (const auto& [name, property] : properties->items()) {
    const bool head = depth == 0 && (name == "apiVersion" || name == "kind" || name == "metadata");
    if (head) continue;
    const bool needed = std::find(required.begin(), required.end(), Json(name)) != required.end();
    row(property, path.empty() ? name : path + "." + name, needed, depth, out);
  }
}

void write_version(const Json& version, std::string& out) {
  std::string state = version.value("served", Json(true)) == true ? "served" : "not served";
  if (version.value("storage", Json()) == true) state += ", stored";
  if (version.value("deprecated", Json()) == true) state += ", deprecated";
  out += fmt::format("\n## {}\n\n{}", cell(base::string_at(version, {"name"})), state);
  const std::string warning = base::string_at(version, {"deprecationWarning"});
  if (!warning.empty()) out += ": " + cell(warning);
  out += "\n";
  const Json* root = base::find(version, {"schema", "openAPIV3Schema"});
  if (root == nullptr) return;
  if (const std::string text = base::string_at(*root, {"description"}); !text.empty())
    out += "\n" + cell(text) + "\n";
  if (const std::string limits = limits_of(*root, Where::text); !limits.empty())
    out += "\n" + limits + "\n";
  out += "\n| field | type | default | limits | meaning |\n|---|---|---|---|---|\n";
  rows(*root, "", 0, out);
  const Json columns = version.value("additionalPrinterColumns", Json::array());
  if (columns.empty()) return;
  out += "\n| column of kubectl get | path |\n|---|---|\n";
  for (const Json& column : columns) {
    out += fmt::format("| {} | {} |\n", cell(base::string_at(column, {"name"})),
                       code(base::string_at(column, {"jsonPath"}), Where::table));
  }
}

}  // namespace

std::string markdown_of(const Json& crd) {
  const Json& spec = crd["spec"];
  const std::string plural = base::string_at(spec, {"names", "plural"});
  std::string out = fmt::format("# {}\n\n", cell(base::string_at(spec, {"names", "kind"})));
  out +=
      fmt::format("{}.{}, {}", cell(plural), cell(base::string_at(spec, {"group"})),
                  base::string_at(spec, {"scope"}) == "Cluster" ? "cluster-scoped" : "namespaced");
  for (const auto& [key, words] :
       {std::pair("shortNames", "short names"), {"categories", "categories"}}) {
    std::vector<std::string> names;
    for (const Json& name : spec["names"].value(key, Json::array())) {
      if (name.is_string()) names.push_back(cell(name.get<std::string>()));
    }
    if (!names.empty()) out += fmt::format("; {} {}", words, base::join(names, ", "));
  }
  out += "\n";
  for (const Json& version : spec["versions"]) write_version(version, out);
  return out;
}

}  // namespace kubewatch::crdgen
