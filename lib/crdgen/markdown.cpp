#include "crdgen/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.hpp"
#include "crdgen/keywords.hpp"
#include "crdgen/markdown_text.hpp"

namespace kubewatch::crdgen {

namespace {

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
std::string limits_of(const Json& schema, MarkdownPlace place) {
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
                                        markdown_code(value.is_string() ? value.get<std::string>()
                                                                        : base::dump_json(value),
                                                      place));
  }
  for (const Json& rule : schema.value("x-kubernetes-validations", Json::array())) {
    const std::string message = base::string_at(rule, {"message"});
    parts.push_back(message.empty()
                        ? "rule " + markdown_code(base::string_at(rule, {"rule"}), place)
                        : markdown_text(message));
  }
  return base::join(parts, "; ");
}

void rows(const Json& schema, const std::string& path, int depth, std::string& out);

void row(const Json& schema, const std::string& path, bool required, int depth, std::string& out) {
  const std::string text = base::string_at(schema, {"description"});
  const std::string by_default =
      schema.contains("default")
          ? markdown_code(base::dump_json(schema["default"]), MarkdownPlace::table)
          : "";
  out += fmt::format("| {} | {} | {} | {} | {} |\n", markdown_code(path, MarkdownPlace::table),
                     markdown_text(type_words(schema)) + (required ? ", required" : ""), by_default,
                     limits_of(schema, MarkdownPlace::table), markdown_text(text));
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
  out += fmt::format("\n## {}\n\n{}", markdown_text(base::string_at(version, {"name"})), state);
  const std::string warning = base::string_at(version, {"deprecationWarning"});
  if (!warning.empty()) out += ": " + markdown_text(warning);
  out += "\n";
  const Json* root = base::find(version, {"schema", "openAPIV3Schema"});
  if (root == nullptr) return;
  if (const std::string text = base::string_at(*root, {"description"}); !text.empty())
    out += "\n" + markdown_text(text) + "\n";
  if (const std::string limits = limits_of(*root, MarkdownPlace::text); !limits.empty())
    out += "\n" + limits + "\n";
  out += "\n| field | type | default | limits | meaning |\n|---|---|---|---|---|\n";
  rows(*root, "", 0, out);
  const Json columns = version.value("additionalPrinterColumns", Json::array());
  if (columns.empty()) return;
  out += "\n| column of kubectl get | path |\n|---|---|\n";
  for (const Json& column : columns) {
    out += fmt::format("| {} | {} |\n", markdown_text(base::string_at(column, {"name"})),
                       markdown_code(base::string_at(column, {"jsonPath"}), MarkdownPlace::table));
  }
}

}  // namespace

std::string markdown_of(const Json& crd) {
  const Json& spec = crd["spec"];
  const std::string plural = base::string_at(spec, {"names", "plural"});
  std::string out =
      fmt::format("# {}\n\n", markdown_text(base::string_at(spec, {"names", "kind"})));
  out += fmt::format(
      "{}.{}, {}", markdown_text(plural), markdown_text(base::string_at(spec, {"group"})),
      base::string_at(spec, {"scope"}) == "Cluster" ? "cluster-scoped" : "namespaced");
  for (const auto& [key, words] :
       {std::pair("shortNames", "short names"), {"categories", "categories"}}) {
    std::vector<std::string> names;
    for (const Json& name : spec["names"].value(key, Json::array())) {
      if (name.is_string()) names.push_back(markdown_text(name.get<std::string>()));
    }
    if (!names.empty()) out += fmt::format("; {} {}", words, base::join(names, ", "));
  }
  out += "\n";
  for (const Json& version : spec["versions"]) write_version(version, out);
  return out;
}

}  // namespace kubewatch::crdgen
