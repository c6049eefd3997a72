#include "apiserver/openapi_v2.hpp"

#include <map>
#include <set>
#include <utility>

#include "apiserver/discovery.hpp"
#include "apiserver/openapi_types.hpp"
#include "apiserver/openapi_v2_protobuf.hpp"

namespace kubewatch::apiserver {

namespace {

// Beside a reference v2 may say more, which v3 has to wrap.
void unwrap_reference(Json& schema) {
  const auto all = schema.find("allOf");
  if (all == schema.end()) return;
  Json reference;
  if (all->is_array() && all->size() == 1 && all->front().is_object()) {
    reference = all->front().value("$ref", Json());
  }
  schema.erase(all);
  if (reference.is_string()) schema["$ref"] = std::move(reference);
}

// Who may be null cannot be told, so it cannot be told either that it has to be there.
void drop_required_nulls(Json& schema) {
  const auto required = schema.find("required");
  if (required == schema.end() || !required->is_array()) return;
  const auto fields = schema.find("properties");
  if (fields != schema.end() && fields->is_object()) {
    std::erase_if(required->get_ref<Json::array_t&>(), [&](const Json& name) {
      const auto field =
          name.is_string() ? fields->find(name.get_ref<const std::string&>()) : fields->end();
      return field != fields->end() && field->is_object() && base::bool_at(*field, {"nullable"});
    });
  }
  const auto values = schema.find("additionalProperties");
  const bool null_values =
      values != schema.end() && values->is_object() && base::bool_at(*values, {"nullable"});
  if (null_values || required->empty()) schema.erase(required);
}

// kubectl takes what has fields, or a type of which nothing more is said, for all that there is.
void drop_half_said(Json& schema) {
  const bool nullable = base::bool_at(schema, {"nullable"});
  const bool open = base::bool_at(schema, {kKeepsUnknown});
  schema.erase("nullable");
  if (nullable || open) {
    schema.erase("items");
    schema.erase("properties");
  }
  const std::string type = base::string_at(schema, {"type"});
  const bool bare_list = type == "array" && !schema.contains("items");
  if (nullable || bare_list || (open && type == "object")) schema.erase("type");
}

Json parameter_v2(const Json& v3) {
  Json out = v3;
  out.erase("schema");
  out.update(v3.at("schema"));
  return out;
}

Json list_of_keys(const Json& object) {
  Json out = Json::array();
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

Json schema_in(const Json& content) {
  Json schema = content.front().value("schema", Json::object());
  to_openapi_v2(schema);
  return schema;
}

Json operation_v2(const Json& v3) {
  Json out = {{"schemes", Json::array({"https"})}, {"responses", Json::object()}};
  Json parameters = Json::array();
  for (const auto& [key, value] : v3.items()) {
    if (key.starts_with("x-")) out[key] = value;
  }
  if (const Json* content = base::find(v3, {"requestBody", "content"})) {
    Json body = {{"name", "body"}, {"in", "body"}, {"schema", schema_in(*content)}};
    if (base::bool_at(v3.at("requestBody"), {"required"})) body["required"] = true;
    parameters.push_back(std::move(body));
    out["consumes"] = list_of_keys(*content);
  }
  if (const auto more = v3.find("parameters"); more != v3.end()) {
    for (const Json& one : *more) parameters.push_back(parameter_v2(one));
  }
  if (!parameters.empty()) out["parameters"] = std::move(parameters);
  for (const auto& [code, response] : v3.at("responses").items()) {
    const Json& content = response.at("content");
    out["responses"][code] = {{"description", response.at("description")},
                              {"schema", schema_in(content)}};
    out["produces"] = list_of_keys(content);
  }
  return out;
}

// What has been told of each name, encoded: whole documents are too large to be held as values.
class Parts {
 public:
  explicit Parts(OpenApiEncoding encoding) : json_(encoding == OpenApiEncoding::json) {}

  void add(Json v3) {
    for (const auto& [name, path] : v3.at("paths").items()) {
      const Json v2 = openapi_v2_path(path);
      paths_.emplace(name, json_ ? base::dump_json(v2) : path_message(v2));
    }
    for (auto& [name, schema] : v3.at("components").at("schemas").items()) {
      // Each document says that of the kinds of its own.
      if (name == options_name_) {
        for (const Json& kind : schema.value(kKindsOf, Json::array())) option_kinds_.insert(kind);
        options_ = std::move(schema);
      } else if (!definitions_.contains(name)) {
        add_definition(name, std::move(schema));
      }
    }
    info_ = v3.at("info");
  }

  std::string document() {
    if (options_.is_object()) {
      options_[kKindsOf] = option_kinds_;
      add_definition(options_name_, std::move(options_));
    }
    if (!json_) return document_message(info_, paths_, definitions_);
    std::string out = "{\"swagger\":\"2.0\",\"info\":" + base::dump_json(info_);
    add_members("paths", paths_, out);
    add_members("definitions", definitions_, out);
    return out + "}";
  }

 private:
  using Texts = std::map<std::string, std::string>;

  void add_definition(const std::string& name, Json schema) {
    to_openapi_v2(schema);
    definitions_.emplace(name, json_ ? base::dump_json(schema) : schema_message(schema));
  }

  static void add_members(const char* key, const Texts& members, std::string& out) {
    out += ",\"" + std::string(key) + "\":{";
    const char* separator = "";
    for (const auto& [name, text] : members) {
      out += separator + base::json_quoted(name) + ":" + text;
      separator = ",";
    }
    out += "}";
  }

  const bool json_;
  const std::string options_name_ = shared_type_name("DeleteOptions");
  Json options_;
  std::set<Json> option_kinds_;
  Json info_;
  Texts paths_;
  Texts definitions_;
};

}  // namespace

void to_openapi_v2(Json& schema) {
  if (!schema.is_object()) return;
  unwrap_reference(schema);
  if (const auto it = schema.find("$ref"); it != schema.end() && it->is_string()) {
    const std::string from = reference_to("");
    std::string name = it->get<std::string>();
    if (name.starts_with(from)) *it = "#/definitions/" + name.substr(from.size());
  }
  const bool any_type = !schema.contains("type");
  for (const char* key : {"default", "anyOf", "not"}) schema.erase(key);
  // Of built-in types: what may be written as text or as a number is text there.
  if (schema.erase("oneOf") != 0 && any_type && !base::bool_at(schema, {"nullable"}) &&
      !schema.contains("x-kubernetes-int-or-string") && !schema.contains(kKeepsUnknown)) {
    schema["type"] = "string";
  }
  drop_half_said(schema);
  drop_required_nulls(schema);
  if (const auto fields = schema.find("properties"); fields != schema.end()) {
    for (Json& field : *fields) to_openapi_v2(field);
  }
  for (const char* key : {"items", "additionalProperties"}) {
    if (const auto below = schema.find(key); below != schema.end()) to_openapi_v2(*below);
  }
}

Json openapi_v2_path(const Json& v3) {
  Json out = Json::object();
  for (const auto& [key, value] : v3.items()) {
    if (key != "parameters") {
      out[key] = operation_v2(value);
      continue;
    }
    out[key] = Json::array();
    for (const Json& one : value) out[key].push_back(parameter_v2(one));
  }
  return out;
}

std::string openapi_v2_document(const Registry& registry, OpenApiEncoding encoding) {
  Parts parts(encoding);
  std::set<core::GroupVersion> seen;
  for (const auto& resource : registry.all()) {
    const core::Gvk& gvk = resource->type.gvk;
    if (!seen.insert({gvk.group, gvk.version}).second) continue;
    parts.add(openapi_document(registry, gvk.group, gvk.version, OpenApi::v2));
  }
  return parts.document();
}

}  // namespace kubewatch::apiserver
