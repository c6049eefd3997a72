#include "crdgen/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.hpp"
#include "crdgen/junctor.hpp"
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

std::string limits_of(const Json& schema, MarkdownPlace place);

// "`a`, `b` with `c`" of branches that want fields and say nothing else, as unions are made; "" of
// others.
std::string choices_of(const Json& branches, MarkdownPlace place) {
  std::vector<std::string> out;
  for (const Json& branch : branches) {
    const Json* names = base::find(branch, {"required"});
    if (names == nullptr || branch.size() != 1 || !names->is_array() || names->empty()) return "";
    std::vector<std::string> together;
    for (const Json& name : *names) {
      if (!name.is_string()) return "";
      together.push_back(markdown_code(name.get<std::string>(), place));
    }
    out.push_back(base::join(together, " with "));
  }
  return base::join(out, ", ");
}

// Nothing but what limits_of() shows.
bool says_only_limits(const Json& schema) {
  static const std::set<std::string> kJunctors = {"allOf", "anyOf", "oneOf", "not"};
  if (!schema.is_object()) return false;
  for (const auto& [key, value] : schema.items()) {
    const bool hidden = key == "description" || key == "default" || key == "format";
    if (kJunctors.count(key) == 0 && (hidden || find_by_schema_key(key) == nullptr)) return false;
  }
  return true;
}

// Those that a line cannot show are named at least.
void add_conditions(const Json& schema, MarkdownPlace place, std::vector<std::string>& parts) {
  std::vector<std::string> more;
  for (const auto& [key, words] :
       {std::pair("oneOf", "exactly one of "), {"anyOf", "at least one of "}}) {
    const Json branches = junctor_of(schema, key);
    if (!branches.is_array() || branches.empty()) continue;
    const std::string choices = choices_of(branches, place);
    choices.empty() ? more.emplace_back(key) : parts.emplace_back(words + choices);
  }
  const Json all = junctor_of(schema, "allOf");
  if (all.is_array()) {
    const bool plain = std::all_of(all.begin(), all.end(), says_only_limits);
    if (!plain) more.emplace_back("allOf");
    for (const Json& one : all) {
      const std::string limits = plain ? limits_of(one, place) : "";
      if (!limits.empty()) parts.push_back(limits);
    }
  }
  if (junctor_of(schema, "not").is_object()) more.emplace_back("not");
  if (!more.empty()) parts.push_back("more conditions (" + base::join(more, ", ") + ")");
}

// "minimum `0`; rule `self > 0`; exactly one of `a`, `b`"
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
  add_conditions(schema, place, parts);
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

// An item or a value: its type stands at the list or map, so that it has a row only where there is
// more to say of it.
void inner_row(const Json& schema, const std::string& path, int depth, std::string& out) {
  const bool more = schema.is_object() && (schema.contains("default") ||
                                           !limits_of(schema, MarkdownPlace::table).empty() ||
                                           !base::string_at(schema, {"description"}).empty());
  more ? row(schema, path, false, depth, out) : rows(schema, path, depth + 1, out);
}

// apiVersion, kind and metadata are those of any object, but where they are limited.
bool is_limited_head(const Json& schema) {
  if (!limits_of(schema, MarkdownPlace::table).empty()) return true;
  const Json* properties = base::find(schema, {"properties"});
  return properties != nullptr &&
         std::any_of(properties->begin(), properties->end(), is_limited_head);
}

void rows(const Json& schema, const std::string& path, int depth, std::string& out) {
  constexpr int kMaxDepth = 60;
  if (depth > kMaxDepth || !schema.is_object()) return;
  if (const Json* items = base::find(schema, {"items"})) inner_row(*items, path + "[]", depth, out);
  if (const Json* values = base::find(schema, {"additionalProperties"});
      values && values->is_object()) {
    inner_row(*values, path + ".*", depth, out);
  }
  const Json* properties = base::find(schema, {"properties"});
  if (properties == nullptr || !properties->is_object()) return;
  const Json required = schema.value("required", Json::array());
  for (const auto& [name, property] : properties->items()) {
    const bool head = depth == 0 && (name == "apiVersion" || name == "kind" || name == "metadata");
    if (head && !is_limited_head(property)) continue;
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
