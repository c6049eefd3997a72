#include "crdgen/json_schema.hpp"

#include <algorithm>

#include "crdgen/schema_flag.hpp"
#include "crdgen/schema_walk.hpp"

namespace kubewatch::crdgen {

namespace {

void exclusive(Json& schema, const char* flag_key, const char* bound_key) {
  const bool is_exclusive = flag(schema, flag_key);
  schema.erase(flag_key);
  if (!is_exclusive || !schema.contains(bound_key)) return;
  schema[flag_key] = schema[bound_key];
  schema.erase(bound_key);
}

// The server knows all of metadata itself, whatever few fields of it a schema limits. Said before
// the walk comes to it.
void open_metadata(Json& schema) {
  Json* metadata = base::find(schema, {"properties", "metadata"});
  if (metadata != nullptr && metadata->is_object()) {
    (*metadata)[kPreserve] = true;
  }
}

void require(Json& schema, std::initializer_list<const char*> names) {
  Json& required = schema["required"];
  if (!required.is_array()) required = Json::array();
  for (const char* name : names) {
    if (std::find(required.begin(), required.end(), name) == required.end())
      required.push_back(name);
  }
}

// What a structural schema says of int-or-string beside its mark, in anyOf or in one of allOf: it
// says the same as the type, but that null is refused.
void drop_either(Json& schema) {
  static const Json kEither = Json::parse(R"([{"type":"integer"},{"type":"string"}])");
  if (schema.value("anyOf", Json()) == kEither) schema.erase("anyOf");
  Json* all = base::find(schema, {"allOf"});
  if (all == nullptr || !all->is_array()) return;
  for (Json& one : *all) {
    if (one.is_object() && one.value("anyOf", Json()) == kEither) one.erase("anyOf");
  }
}

// OpenAPI 3.0 and the extensions into what draft 7 has for them.
void translate(Json& schema) {
  const bool open = flag(schema, kPreserve);
  const bool embedded = flag(schema, "x-kubernetes-embedded-resource");
  const bool either = flag(schema, "x-kubernetes-int-or-string");
  const bool nullable = flag(schema, "nullable");
  exclusive(schema, "exclusiveMinimum", "minimum");
  exclusive(schema, "exclusiveMaximum", "maximum");
  const std::string type =
      schema.value("type", Json("")).is_string() ? schema.value("type", "") : "";
  const bool closed =
      type == "object" && !open && !embedded && !schema.contains("additionalProperties");
  if (closed && schema.contains("properties")) schema["additionalProperties"] = false;
  if (either) schema["type"] = {"integer", "string"};
  if (embedded) {
    require(schema, {"apiVersion", "kind"});
    open_metadata(schema);
  }
  if (nullable && either) {
    schema["type"].push_back("null");
    drop_either(schema);
  } else if (nullable && !type.empty()) {
    schema["type"] = {type, "null"};
  }
  if (schema.contains("example")) schema["examples"] = Json::array({schema["example"]});
  for (const char* key :
       {"nullable", "example", "externalDocs", "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-validations"}) {
    schema.erase(key);
  }
}

Json version_schema(const Json& crd, const Json& version) {
  const Json* root = base::find(version, {"schema", "openAPIV3Schema"});
  Json out = root != nullptr && root->is_object() ? *root : Json{{"type", "object"}};
  open_metadata(out);
  walk_schemas(out, translate);
  const std::string api_version =
      base::string_at(crd, {"spec", "group"}) + "/" + base::string_at(version, {"name"});
  out["properties"]["apiVersion"] = {{"const", api_version}};
  out["properties"]["kind"] = {{"const", base::string_at(crd, {"spec", "names", "kind"})}};
  out["properties"]["metadata"]["type"] = "object";
  require(out, {"apiVersion", "kind"});
  return out;
}

}  // namespace

Json json_schema_of(const Json& crd, const std::string& version) {
  Json found = Json::array();
  for (const Json& one : crd["spec"]["versions"]) {
    const std::string name = base::string_at(one, {"name"});
    if (version.empty() ? one.value("served", Json(true)) == true : name == version) {
      found.push_back(version_schema(crd, one));
    }
  }
  Json out = found.size() == 1 ? found.front() : Json{{"oneOf", found}};
  out["$schema"] = "http://json-schema.org/draft-07/schema#";
  out["title"] = base::string_at(crd, {"spec", "names", "kind"});
  return out;
}

}  // namespace kubewatch::crdgen
