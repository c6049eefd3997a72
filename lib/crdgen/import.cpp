#include "crdgen/import.hpp"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "base/json_pointer.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "crdgen/generate.hpp"
#include "crdgen/keywords.hpp"
#include "crdgen/schema_flag.hpp"
#include "crdgen/schema_walk.hpp"
#include "crdgen/type_expander.hpp"
#include "schema/crd_check.hpp"
#include "schema/crd_fields.hpp"

namespace kubewatch::crdgen {

namespace {

using Notes = std::vector<std::string>;

// Unknown fields that are told one by one.
constexpr std::size_t kMostDropped = 100;

bool is_disabled(const Json& root) {
  return root == Json{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
}

Json plain_head(const std::string& name) {
  return {{"type", name == "metadata" ? "object" : "string"}};
}

void write_root(const Json& root, const std::string& path, Json& version, Notes& notes) {
  static const std::set<std::string> kHead = {"apiVersion", "kind", "metadata"};
  if (is_disabled(root)) {
    version["schema"] = "disabled";
    return;
  }
  const Json* properties = base::find(root, {"properties"});
  bool has_head = properties != nullptr;
  for (const std::string& name : kHead) has_head = has_head && properties->contains(name);
  if (!has_head) version["head"] = "none";
  std::set<std::string> required;
  for (const Json& name : root.value("required", Json::array())) {
    if (name.is_string()) required.insert(name.get<std::string>());
  }
  if (properties != nullptr && properties->is_object()) {
    for (const auto& [name, schema] : properties->items()) {
      const bool needed = required.count(name) != 0;
      if (has_head && kHead.count(name) != 0 && !needed && schema == plain_head(name)) continue;
      Json field = field_of_schema(schema, needed, path + "." + name, notes);
      const bool own_key = name == "spec" || name == "status";
      (own_key ? version[name] : version["fields"][name]) = std::move(field);
    }
  }
  if (const std::string text = base::string_at(root, {"description"}); !text.empty()) {
    version["description"] = text;
  }
  if (root.contains("x-kubernetes-validations")) {
    version["validations"] = root["x-kubernetes-validations"];
  }
  if (flag(root, kPreserve)) {
    version["preserveUnknown"] = true;
  }
}

Json column_of(const Json& column) {
  const std::string name = base::string_at(column, {"name"});
  const std::string path = base::string_at(column, {"jsonPath"});
  Json rest = column;
  for (const char* key : {"name", "type", "jsonPath"}) rest.erase(key);
  const std::string description = base::string_at(rest, {"description"});
  if (name.find(": ") != std::string::npos || path.find('|') != std::string::npos ||
      path.find(' ') != std::string::npos || !path.starts_with('.') || description.size() > 60) {
    return column;
  }
  std::string out = fmt::format("{}: {} {}", name, base::string_at(column, {"type"}), path);
  std::string markers;
  for (const auto& [key, value] : rest.items()) {
    markers += fmt::format(" {}={}", key,
                           value.is_string() ? base::dump_json(value) : base::dump_json(value));
  }
  return markers.empty() ? out : out + " |" + markers;
}

void write_subresources(const Json& version, Json& out, const std::string& path, Notes& notes) {
  const Json subresources = version.value("subresources", Json::object());
  const bool has_status = subresources.contains("status");
  if (has_status != out.contains("status")) out["statusSubresource"] = has_status;
  for (const auto& [name, value] : subresources.items()) {
    if (name != "status" && name != "scale") {
      notes.push_back(fmt::format("{}: subresource {} is unknown and lost", path, name));
    }
  }
  if (!subresources.contains("scale")) return;
  const Json& scale = subresources["scale"];
  for (const auto& [key, from] : {std::pair("specReplicas", "specReplicasPath"),
                                  {"statusReplicas", "statusReplicasPath"},
                                  {"labelSelector", "labelSelectorPath"}}) {
    if (scale.contains(from)) out["scale"][key] = scale[from];
  }
}

// One version, with its name under `name_key`.
Json version_of(const Json& version, const std::string& name_key, bool alone, Notes& notes) {
  const std::string name = base::string_at(version, {"name"});
  const std::string path = fmt::format("spec.versions[{}]", name);
  Json out = {{name_key, name}};
  if (version.value("served", Json(true)) == false) out["served"] = false;
  if (!alone && version.value("storage", Json()) == true) out["storage"] = true;
  if (version.value("deprecated", Json()) == true) {
    const std::string warning = base::string_at(version, {"deprecationWarning"});
    out["deprecated"] = warning.empty() ? Json(true) : Json(warning);
  }
  if (const Json* root = base::find(version, {"schema", "openAPIV3Schema"})) {
    write_root(*root, path, out, notes);
  } else {
    notes.push_back(path +
                    ": has no schema, which no v1 CRD may lack: it becomes `schema: disabled`");
    out["schema"] = "disabled";
  }
  write_subresources(version, out, path, notes);
  for (const Json& column : version.value("additionalPrinterColumns", Json::array())) {
    out["columns"].push_back(column_of(column));
  }
  for (const Json& field : version.value("selectableFields", Json::array())) {
    out["selectable"].push_back(base::string_at(field, {"jsonPath"}));
  }
  return out;
}

Json conversion_of(const Json& conversion) {
  Json out = Json::object();
  const Json* client = base::find(conversion, {"webhook", "clientConfig"});
  if (client != nullptr && client->is_object()) out = *client;
  if (Json* service = base::find(out, {"service"});
      service && service->is_object() && service->value("port", Json()) == 443) {
    service->erase("port");
  }
  const Json* versions = base::find(conversion, {"webhook", "conversionReviewVersions"});
  if (versions != nullptr && *versions != Json::array({"v1"})) out["reviewVersions"] = *versions;
  return out;
}

void write_head(const Json& crd, Json& spec) {
  const Json& from = crd["spec"];
  const Json& names = from["names"];
  spec["group"] = from["group"];
  spec["kind"] = names["kind"];
  const std::string kind = base::string_at(names, {"kind"});
  spec["plural"] = names.value("plural", Json(""));
  if (names["singular"] != base::to_lower(kind)) spec["singular"] = names["singular"];
  if (names["listKind"] != kind + "List") spec["listKind"] = names["listKind"];
  for (const char* key : {"shortNames", "categories"}) {
    if (names.contains(key)) spec[key] = names[key];
  }
  if (from.value("scope", "") != "Namespaced") spec["scope"] = from.value("scope", Json(""));
  for (const char* key : {"annotations", "labels"}) {
    if (const Json* map = base::find(crd, {"metadata", key})) spec[key] = *map;
  }
  if (base::string_at(from, {"conversion", "strategy"}) == "Webhook") {
    spec["conversion"] = conversion_of(from["conversion"]);
  }
}

// Outside of schemas every null is as if it were not there.
void drop_nulls(Json& value) {
  if (!value.is_structured()) return;
  for (auto it = value.begin(); it != value.end();) {
    if (it->is_null()) {
      it = value.erase(it);
      continue;
    }
    const bool schema = value.is_object() && it.key() == "openAPIV3Schema";
    if (!schema) drop_nulls(*it);
    ++it;
  }
}

// A property without a schema is one that takes nothing; values in default, example and enum stay.
void drop_nulls_of_schema(Json& root) {
  walk_schemas(root, [](Json& schema) {
    for (auto it = schema.begin(); it != schema.end();) {
      const bool absent = it->is_null() && it.key() != "default" && it.key() != "example";
      it = absent ? schema.erase(it) : std::next(it);
    }
    if (Json* properties = base::find(schema, {"properties"}); properties != nullptr) {
      for (Json& property : *properties) {
        if (property.is_null()) property = Json::object();
      }
    }
    if (Json* rules = base::find(schema, {"x-kubernetes-validations"}); rules != nullptr) {
      drop_nulls(*rules);
    }
  });
}

// Fields that the server has none of, of which a document can say nothing.
void drop_unknown(Json& crd, Notes& notes) {
  const auto found = schema::unknown_crd_fields(crd, std::numeric_limits<std::size_t>::max());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<std::string>& steps = found[i].steps;
    Json* at = &crd;
    for (const std::string& step : steps) {
      if (&step == &steps.back()) {
        at->erase(step);  // a key: the indexes in the steps of others stay right
      } else {
        at = at->is_array() ? &(*at)[std::stoul(step)] : &(*at)[step];
      }
    }
    if (i < kMostDropped) notes.push_back("not kept: " + base::pointer_to(steps));
  }
  if (found.size() > kMostDropped) {
    notes.push_back(
        fmt::format("not kept: and {} more fields that no CRD has", found.size() - kMostDropped));
  }
}

// The server stores it as it is, and it means what none means.
void note_empty_subresources(const Json& crd, Notes& notes) {
  const Json& versions = crd["spec"]["versions"];
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Json* said = base::find(versions[i], {"subresources"});
    if (said == nullptr || !said->is_object() || !said->empty()) continue;
    notes.push_back(
        fmt::format("not kept: /spec/versions/{}/subresources: it is empty and says nothing", i));
  }
}

// Where the CRD and what comes out of the document differ.
Json differences(const Json& crd, const Json& document) {
  const Generated again = generate(document, "the imported document");
  if (!again.problems.empty()) return {{{"op", "problem"}, {"path", again.problems.front().str()}}};
  if (again.crds.size() != 1) return {{{"op", "problem"}, {"path", "no CRD"}}};
  return Json::diff(crd, normalised(again.crds.front()));
}

// Whether the document of this version alone gives its schema again.
bool root_reads_back(const Json& version, const Json& root) {
  Json alone = {{"apiVersion", "kubewatch.dev/v1"}, {"kind", "TypeDefinitions"}};
  alone["spec"] = {{"group", "a.b"}, {"kind", "K"}};
  Notes ignored;
  alone["spec"].update(version_of(version, "version", true, ignored));
  alone["spec"]["served"] = true;
  const Generated again = generate(alone, "one version");
  if (!again.problems.empty() || again.crds.size() != 1) return false;
  const Json crd = normalised(again.crds.front());
  return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == root;
}

// The root schemas that could not be said are kept as a whole.
void keep_raw_roots(const Json& crd, Json& spec, Notes& notes) {
  const Json& versions = crd["spec"]["versions"];
  for (std::size_t i = 0; i < versions.size(); ++i) {
    Json& version = spec.contains("versions") ? spec["versions"][i] : spec;
    const Json* root = base::find(versions[i], {"schema", "openAPIV3Schema"});
    if (root == nullptr || version.contains("schema")) continue;
    if (root_reads_back(versions[i], *root)) continue;
    for (const char* key :
         {"spec", "fields", "head", "description", "validations", "preserveUnknown"}) {
      version.erase(key);
    }
    const bool had_status = version.erase("status") != 0;
    version["raw"] = *root;
    if (had_status && !version.contains("statusSubresource")) version["statusSubresource"] = true;
    notes.push_back(
        fmt::format("spec.versions[{}]: the whole schema is kept as raw OpenAPI: its "
                    "root has what the shorthand has no word for",
                    base::string_at(versions[i], {"name"})));
  }
}

std::string indented(const std::string& yaml, const std::string& by) {
  std::string out;
  for (const std::string& line : base::split(yaml, '\n')) {
    if (!line.empty()) out += by + line;
    out += "\n";
  }
  while (out.size() > 1 && out[out.size() - 2] == '\n') out.pop_back();
  return out;
}

const std::vector<std::string>& written_order() {
  static const std::vector<std::string> order = {
      "group",      "kind",    "plural",      "singular", "listKind",   "shortNames",
      "categories", "scope",   "annotations", "labels",   "conversion", "descriptions",
      "name",       "version", "served",      "storage",  "deprecated", "description",
      "head",       "types",   "spec",        "status",   "fields",     "validations"};
  return order;
}

// Each key by itself, in the order of the list and then by name.
std::string in_order(const Json& object) {
  std::string out;
  std::set<std::string> done = {"versions"};
  for (const std::string& key : written_order()) {
    if (object.contains(key) && done.insert(key).second)
      out += base::dump_yaml({{key, object[key]}});
  }
  for (const auto& [key, value] : object.items()) {
    if (done.insert(key).second) out += base::dump_yaml({{key, value}});
  }
  if (!object.contains("versions")) return out;
  out += "versions:\n";
  for (const Json& version : object["versions"]) {
    std::string item = indented(in_order(version), "    ");
    item[2] = '-';
    out += item;
  }
  return out;
}

}  // namespace

Result<void> check_is_crd(const Json& value) {
  const auto wrong = [](std::string what) { return Error(ErrorKind::invalid, std::move(what)); };
  if (base::string_at(value, {"kind"}) != "CustomResourceDefinition") {
    return wrong("this is no CustomResourceDefinition");
  }
  if (base::string_at(value, {"apiVersion"}) != "apiextensions.k8s.io/v1") {
    return wrong("only apiextensions.k8s.io/v1 is known: convert it by applying it to a server");
  }
  for (const auto& path : {std::vector<std::string>{"spec", "group"}, {"spec", "names", "kind"}}) {
    const Json* at = &value;
    for (const std::string& step : path) {
      at = at->is_object() && at->contains(step) ? &(*at)[step] : nullptr;
      if (at == nullptr) return wrong(base::join(path, ".") + " is missing");
    }
    if (!at->is_string()) return wrong(base::join(path, ".") + " must be text");
  }
  const Json* versions = base::find(value, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array() || versions->empty()) {
    return wrong("spec.versions is missing");
  }
  for (const Json& version : *versions) {
    if (base::string_at(version, {"name"}).empty()) return wrong("a version has no name");
  }
  return {};
}

Result<Json> readable_crd(const Json& value) {
  KW_TRY(check_is_crd(value));
  KW_TRY(schema::check_crd_shape(value));
  Json crd = value;
  if (Json* metadata = base::find(crd, {"metadata"}); metadata != nullptr) drop_nulls(*metadata);
  drop_nulls(crd["spec"]);
  for (Json& version : crd["spec"]["versions"]) {
    if (Json* root = base::find(version, {"schema", "openAPIV3Schema"}); root != nullptr) {
      drop_nulls_of_schema(*root);
    }
  }
  return crd;
}

Result<Imported> import_crd(const Json& input) {
  KW_ASSIGN(Json readable, readable_crd(input));
  Imported out;
  note_empty_subresources(readable, out.notes);
  drop_unknown(readable, out.notes);
  const Json crd = normalised(std::move(readable));
  out.document = {{"apiVersion", "kubewatch.dev/v1"}, {"kind", "TypeDefinitions"}};
  Json& spec = out.document["spec"];
  write_head(crd, spec);
  const Json& versions = crd["spec"]["versions"];
  const bool alone = versions.size() == 1 && versions[0].value("storage", Json()) == true;
  for (const Json& version : versions) {
    if (alone) {
      spec.update(version_of(version, "version", true, out.notes));
    } else {
      spec["versions"].push_back(version_of(version, "name", false, out.notes));
    }
  }
  if (differences(crd, out.document).empty()) return out;
  keep_raw_roots(crd, spec, out.notes);
  for (const Json& one : differences(crd, out.document)) {
    out.notes.push_back("not kept: " + base::string_at(one, {"path"}));
  }
  return out;
}

std::string types_yaml(const Json& document) {
  std::string out;
  for (const char* key : {"apiVersion", "kind"}) out += base::dump_yaml({{key, document[key]}});
  return out + "spec:\n" + indented(in_order(document["spec"]), "  ");
}

}  // namespace kubewatch::crdgen
