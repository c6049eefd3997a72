// The CRD as the server stores it, and as YAML.
#include <algorithm>

#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "core/server_fields.hpp"
#include "crdgen/generate.hpp"
#include "crdgen/schema_walk.hpp"

namespace kubewatch::crdgen {

namespace {

void drop_if_empty(Json& object, const char* key) {
  const auto it = object.find(key);
  if (it != object.end() && (it->empty() || *it == "")) object.erase(it);
}

void normalise_metadata(Json& metadata) {
  for (const char* key :
       {"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid", "selfLink"}) {
    metadata.erase(key);
  }
  if (Json* annotations = base::find(metadata, {"annotations"});
      annotations && annotations->is_object()) {
    annotations->erase(core::kLastAppliedAnnotation);
  }
  drop_if_empty(metadata, "annotations");
  drop_if_empty(metadata, "labels");
}

void normalise_names(Json& names) {
  if (!names.is_object()) return;
  const std::string kind = base::string_at(names, {"kind"});
  if (base::string_at(names, {"singular"}).empty()) names["singular"] = base::to_lower(kind);
  if (base::string_at(names, {"listKind"}).empty()) names["listKind"] = kind + "List";
  drop_if_empty(names, "shortNames");
  drop_if_empty(names, "categories");
}

void normalise_conversion(Json& spec) {
  Json& conversion = spec["conversion"];
  if (!conversion.is_object()) conversion = Json::object();
  if (base::string_at(conversion, {"strategy"}).empty()) conversion["strategy"] = "None";
  Json* service = base::find(conversion, {"webhook", "clientConfig", "service"});
  if (service != nullptr && service->is_object() && !service->contains("port")) {
    (*service)["port"] = 443;
  }
}

void normalise_version(Json& version) {
  if (!version.is_object()) return;
  drop_if_empty(version, "additionalPrinterColumns");
  drop_if_empty(version, "selectableFields");
  drop_if_empty(version, "subresources");
  if (version.value("deprecated", Json()) == false) version.erase("deprecated");
  if (Json* columns = base::find(version, {"additionalPrinterColumns"});
      columns && columns->is_array()) {
    for (Json& column : *columns) {
      if (column.is_object() && column.value("priority", Json()) == 0) column.erase("priority");
    }
  }
  Json* schema = base::find(version, {"schema", "openAPIV3Schema"});
  if (schema == nullptr) return;
  walk_schemas(*schema, [](Json& one) {
    if (Json* required = base::find(one, {"required"}); required && required->is_array()) {
      std::sort(required->begin(), required->end());
    }
  });
  drop_unstored(*schema);
}

// yaml-cpp and JSON sort keys; people look for these first.
Json without_head(const Json& crd) {
  Json rest = crd;
  for (const char* key : {"apiVersion", "kind", "metadata"}) rest.erase(key);
  return rest;
}

}  // namespace

Json normalised(Json crd) {
  if (!crd.is_object()) return crd;
  crd.erase("status");
  if (crd.contains("metadata") && crd["metadata"].is_object()) normalise_metadata(crd["metadata"]);
  Json* spec = base::find(crd, {"spec"});
  if (spec == nullptr || !spec->is_object()) return crd;
  if (spec->contains("names")) normalise_names((*spec)["names"]);
  normalise_conversion(*spec);
  if (spec->value("preserveUnknownFields", Json()) == false) spec->erase("preserveUnknownFields");
  if (Json* versions = base::find(*spec, {"versions"}); versions && versions->is_array()) {
    for (Json& version : *versions) normalise_version(version);
  }
  return crd;
}

std::string crd_yaml(const std::vector<Json>& crds) {
  std::string out;
  for (const Json& crd : crds) {
    if (crds.size() > 1) out += "---\n";
    for (const char* key : {"apiVersion", "kind", "metadata"}) {
      if (crd.contains(key)) out += base::dump_yaml({{key, crd[key]}});
    }
    if (const Json rest = without_head(crd); !rest.empty()) out += base::dump_yaml(rest);
  }
  return out;
}

std::string crd_file_name(const Json& crd) {
  return base::string_at(crd, {"spec", "group"}) + "_" +
         base::string_at(crd, {"spec", "names", "plural"}) + ".yaml";
}

}  // namespace kubewatch::crdgen
