#include "crdgen/version_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "base/utf8.hpp"
#include "crdgen/immutable.hpp"
#include "crdgen/schema_walk.hpp"

namespace kubewatch::crdgen {

namespace {

// A DNS-1035 label: "1" and "1a" are none.
bool is_version_name(const std::string& name) {
  if (name.empty() || name.front() < 'a' || name.front() > 'z') return false;
  const bool chars = std::all_of(name.begin(), name.end(), [](char c) {
    return base::is_lower(c) || base::is_digit(c) || c == '-';
  });
  return chars && name.size() <= 63 && name.back() != '-';
}

Json head_properties() {
  return {{"apiVersion", {{"type", "string"}}},
          {"kind", {{"type", "string"}}},
          {"metadata", {{"type", "object"}}}};
}

// `word` gives the schema as a whole: what other keys say about it would be lost.
void refuse_schema_keys(const Node& node, const std::string& word) {
  std::vector<std::string> keys = {"spec", "status",      "fields",
                                   "head", "description", "preserveUnknown"};
  for (const std::string& key : TypeExpander::object_keys()) keys.push_back(key);
  for (const std::string& key : keys) {
    if (!node.has(key)) continue;
    // Which says something about the subresource.
    if (key == "status" && node.value()[key].is_boolean()) continue;
    node.child(key).problem_at_key("does not go with `" + word + "`");
  }
}

// {type: object, properties: {apiVersion, kind, metadata, spec, status}}.
Json root_schema(const Node& node, TypeExpander& types) {
  if (node.has("schema")) {
    if (node.text("schema") != "disabled") {
      node.child("schema").problem("the only value is \"disabled\": whatever is there is kept");
    }
    refuse_schema_keys(node, "schema: disabled");
    if (node.has("raw")) node.child("raw").problem_at_key("does not go with `schema: disabled`");
    return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  }
  if (node.has("raw")) {
    refuse_schema_keys(node, "raw");
    return read_raw(node.child("raw"));
  }
  Json out = {{"type", "object"}};
  const std::string head = node.has("head") ? node.text("head").value_or("") : "plain";
  if (head == "plain") {
    out["properties"] = head_properties();
  } else if (head != "none") {
    node.child("head").problem(
        "is \"plain\" (apiVersion, kind and metadata are in the schema) or \"none\"");
  }
  for (const char* key : {"spec", "status"}) {
    const bool switched = node.has(key) && node.value()[key].is_boolean();
    if (node.has(key) && !switched) types.add_property(out, key, node.child(key));
  }
  if (node.has("fields")) {
    const Node fields = node.child("fields");
    if (!fields.value().is_object()) fields.problem("must be a mapping of field names to types");
    for (const auto& [name, type] : fields.value().items()) {
      types.add_property(out, name, fields.child(name));
    }
  }
  types.apply_object_keys(out, node);
  if (node.has("description")) out["description"] = node.text("description").value_or("");
  if (node.flag("preserveUnknown").value_or(false)) {
    out["x-kubernetes-preserve-unknown-fields"] = true;
  }
  drop_marks(out);
  return out;
}

void cap_descriptions(Json& schema, std::size_t limit) {
  walk_schemas(schema, [limit](Json& one) {
    const auto it = one.find("description");
    if (it == one.end() || !it->is_string()) return;
    const std::string text = capped(it->get<std::string>(), limit);
    if (text.empty()) {
      one.erase(it);
    } else {
      *it = text;
    }
  });
}

// "Phase: string .status.phase | priority=1"
std::optional<Json> column_of_text(const Node& node) {
  const std::string text = node.value().get<std::string>();
  const auto colon = text.find(": ");
  if (colon == std::string::npos) {
    node.problem("is no column: write \"NAME: TYPE .json.path | priority=1\"");
    return std::nullopt;
  }
  Json out = {{"name", text.substr(0, colon)}};
  std::size_t bar = text.find(" | ", colon);
  const std::string rest(base::trim(
      std::string_view(text).substr(colon + 2, bar == std::string::npos ? bar : bar - colon - 2)));
  const auto space = rest.find(' ');
  if (space == std::string::npos ||
      !std::string(base::trim(std::string_view(rest).substr(space))).starts_with(".")) {
    node.problem_inside(colon + 2, "a column is TYPE and a JSONPath that begins with a dot");
    return std::nullopt;
  }
  out["type"] = rest.substr(0, space);
  out["jsonPath"] = std::string(base::trim(std::string_view(rest).substr(space)));
  if (bar == std::string::npos) return out;
  // What stands after the bar has the form of markers.
  FieldText parsed;
  const bool ok = parse_field_text(
      "string " + text.substr(bar + 1), parsed, [&](std::size_t at, const std::string& message) {
        node.problem_inside(bar + 1 + at - std::min<std::size_t>(at, 7), message);
      });
  if (!ok) return std::nullopt;
  for (const Marker& marker : parsed.markers) {
    if (!out.emplace(marker.name, marker.value).second) {
      // The text that was parsed begins with "string " and the bar.
      node.problem_inside(bar + 1 + marker.at - std::min<std::size_t>(marker.at, 7),
                          marker.name + " is there twice");
    }
  }
  return out;
}

std::optional<Json> read_column(const Node& node) {
  static const std::vector<std::string> kKeys = {"name",        "type",   "jsonPath",
                                                 "description", "format", "priority"};
  static const std::vector<std::string> kTypes = {"integer", "number", "string", "boolean", "date"};
  std::optional<Json> column;
  if (node.value().is_string()) {
    column = column_of_text(node);
  } else if (node.only_keys(kKeys)) {
    column = node.value();
  }
  if (!column) return std::nullopt;
  for (const auto& [key, value] : column->items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      node.problem(
          fmt::format("unknown marker {} of a column{}", in_quotes(key), did_you_mean(key, kKeys)));
    } else if (key == "priority" ? !value.is_number_integer() : !value.is_string()) {
      node.problem(fmt::format("{} of a column must be {}", key,
                               key == "priority" ? "a whole number" : "text"));
    }
  }
  for (const char* key : {"name", "type", "jsonPath"}) {
    if (!column->contains(key)) node.problem(fmt::format("a column needs `{}`", key));
  }
  const std::string type =
      column->value("type", Json("")).is_string() ? column->value("type", "") : "";
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
    node.problem(fmt::format("{} is no type of a column; known: {}", in_quotes(type),
                             base::join(kTypes, ", ")));
  }
  // Not written by the server, which would make what it stores differ from what is made.
  if (column->value("priority", Json()) == 0) column->erase("priority");
  return column;
}

void read_columns(const Node& node, Json& version) {
  if (!node.has("columns")) return;
  const Node columns = node.child("columns");
  if (!columns.value().is_array()) {
    columns.problem("must be a list: the columns stand in this order");
    return;
  }
  for (std::size_t i = 0; i < columns.value().size(); ++i) {
    if (auto column = read_column(columns.item(i))) {
      version["additionalPrinterColumns"].push_back(std::move(*column));
    }
  }
}

void read_scale(const Node& node, Json& version) {
  if (!node.has("scale")) return;
  const Node scale = node.child("scale");
  if (!scale.only_keys({"specReplicas", "statusReplicas", "labelSelector"})) return;
  Json out = Json::object();
  for (const auto& [key, into, needed] : {std::tuple("specReplicas", "specReplicasPath", true),
                                          {"statusReplicas", "statusReplicasPath", true},
                                          {"labelSelector", "labelSelectorPath", false}}) {
    if (const auto path = scale.text(key)) {
      out[into] = *path;
    } else if (needed && !scale.has(key)) {
      scale.problem(fmt::format("`{}` is missing: a path like .spec.replicas", key));
    }
  }
  version["subresources"]["scale"] = std::move(out);
}

void read_status(const Node& node, Json& version) {
  bool wanted = node.has("status") &&
                !(node.value()["status"].is_boolean() && !node.value()["status"].get<bool>());
  if (const auto said = node.flag("statusSubresource")) wanted = *said;
  if (wanted) version["subresources"]["status"] = Json::object();
}

}  // namespace

std::string capped(const std::string& text, std::size_t limit) {
  if (text.size() <= limit) return text;
  constexpr std::string_view kMark = "...";
  if (limit <= kMark.size()) return "";
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t next = end + base::next_utf8(text, end).size;
    if (next + kMark.size() > limit) break;
    end = next;
  }
  return text.substr(0, end) + std::string(kMark);
}

const std::vector<std::string>& version_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> out = {
        "served", "storage", "deprecated",        "description", "spec",    "status",
        "fields", "head",    "statusSubresource", "scale",       "columns", "selectable",
        "schema", "raw",     "preserveUnknown"};
    for (const std::string& key : TypeExpander::object_keys()) out.push_back(key);
    return out;
  }();
  return keys;
}

ReadVersion read_version(const Node& node, const std::string& name_key, TypeExpander& types,
                         const VersionDefaults& defaults) {
  ReadVersion out;
  Json& version = out.version;
  const auto name = node.text(name_key);
  if (!name && !node.has(name_key)) node.problem(fmt::format("`{}` is missing", name_key));
  if (name && !is_version_name(*name))
    node.child(name_key).problem("is no name of a version, like v1 or v1beta1");
  version["name"] = name.value_or("");
  version["served"] = node.flag("served").value_or(true);
  out.storage = node.flag("storage");
  if (node.has("deprecated")) {
    const Json& said = node.value()["deprecated"];
    if (said.is_string()) version["deprecationWarning"] = said;
    if (said.is_string() || said == true) version["deprecated"] = true;
    if (!said.is_string() && !said.is_boolean()) {
      node.child("deprecated").problem("must be true, or the warning that clients are shown");
    }
  }
  Json schema = root_schema(node, types);
  if (defaults.max_description) cap_descriptions(schema, *defaults.max_description);
  version["schema"]["openAPIV3Schema"] = std::move(schema);
  read_status(node, version);
  read_scale(node, version);
  read_columns(node, version);
  for (const std::string& path : node.texts("selectable").value_or(std::vector<std::string>())) {
    version["selectableFields"].push_back({{"jsonPath", path}});
  }
  return out;
}

}  // namespace kubewatch::crdgen
