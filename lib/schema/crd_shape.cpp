// The JSON types of a CustomResourceDefinition, before anything is read of it: check_crd_shape.
#include "schema/crd_check.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {

namespace {

Error misread(const Json& found, const std::string& where, const char* type) {
  return Error(ErrorKind::invalid,
               misread_field(json_word(found), "CustomResourceDefinitionSpec." + where, type));
}

enum class Form { text, flag, number, object, list, texts };

struct Member {
  const char* key;
  Form form;
  const char* type;
};

Result<void> check_members(const Json& object, const std::string& where,
                           std::initializer_list<Member> members) {
  if (object.is_null()) return {};
  if (!object.is_object()) return misread(object, where, "object");
  for (const auto& [key, form, type] : members) {
    const auto it = object.find(key);
    if (it == object.end() || it->is_null()) continue;
    const std::string at = where.empty() ? key : where + "." + key;
    const bool list = form == Form::list || form == Form::texts;
    const bool fits = form == Form::text     ? it->is_string()
                      : form == Form::flag   ? it->is_boolean()
                      : form == Form::number ? it->is_number_integer()
                      : list                 ? it->is_array()
                                             : it->is_object();
    if (!fits) return misread(*it, at, type);
    if (form != Form::texts) continue;
    for (const auto& one : *it) {
      if (!one.is_string()) return misread(one, at, "string");
    }
  }
  return {};
}

Result<void> check_version(const Json& version) {
  KW_TRY(check_members(
      version, "versions",
      {{"name", Form::text, "string"},
       {"served", Form::flag, "bool"},
       {"storage", Form::flag, "bool"},
       {"deprecated", Form::flag, "bool"},
       {"deprecationWarning", Form::text, "string"},
       {"schema", Form::object, "v1.CustomResourceValidation"},
       {"subresources", Form::object, "v1.CustomResourceSubresources"},
       {"additionalPrinterColumns", Form::list, "[]v1.CustomResourceColumnDefinition"},
       {"selectableFields", Form::list, "[]v1.SelectableField"}}));
  if (version.is_null()) return {};
  if (const Json* schema = base::find(version, {"schema", "openAPIV3Schema"})) {
    KW_TRY(parse_structural(*schema));
  }
  if (const Json* columns = base::find(version, {"additionalPrinterColumns"});
      columns != nullptr && columns->is_array()) {
    for (const auto& column : *columns) {
      KW_TRY(check_members(column, "versions.additionalPrinterColumns",
                           {{"name", Form::text, "string"},
                            {"type", Form::text, "string"},
                            {"format", Form::text, "string"},
                            {"description", Form::text, "string"},
                            {"priority", Form::number, "int32"},
                            {"jsonPath", Form::text, "string"}}));
    }
  }
  if (const Json* scale = base::find(version, {"subresources", "scale"})) {
    KW_TRY(check_members(*scale, "versions.subresources.scale",
                         {{"specReplicasPath", Form::text, "string"},
                          {"statusReplicasPath", Form::text, "string"},
                          {"labelSelectorPath", Form::text, "string"}}));
  }
  return {};
}

}  // namespace

bool bool_at(const Json& object, const char* key) {
  const Json* value = base::find(object, {key});
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

Result<void> check_crd_shape(const Json& crd) {
  const Json* spec = base::find(crd, {"spec"});
  if (spec == nullptr) return {};
  KW_TRY(check_members(*spec, "",
                       {{"group", Form::text, "string"},
                        {"scope", Form::text, "v1.ResourceScope"},
                        {"names", Form::object, "v1.CustomResourceDefinitionNames"},
                        {"versions", Form::list, "[]v1.CustomResourceDefinitionVersion"},
                        {"conversion", Form::object, "v1.CustomResourceConversion"},
                        {"preserveUnknownFields", Form::flag, "bool"}}));
  if (const Json* names = base::find(*spec, {"names"})) {
    KW_TRY(check_members(*names, "names",
                         {{"plural", Form::text, "string"},
                          {"singular", Form::text, "string"},
                          {"kind", Form::text, "string"},
                          {"listKind", Form::text, "string"},
                          {"shortNames", Form::texts, "[]string"},
                          {"categories", Form::texts, "[]string"}}));
  }
  const Json* versions = base::find(*spec, {"versions"});
  if (versions == nullptr || !versions->is_array()) return {};
  for (const auto& version : *versions) {
    if (!version.is_object()) return misread(version, "versions", "object");
    KW_TRY(check_version(version));
  }
  return {};
}

}  // namespace kubewatch::schema
