// The JSON types of a CustomResourceDefinition, before anything is read of it: check_crd_shape.
#include "schema/crd_check.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {

namespace {

Error misread(const Json& found, const std::string& where, const char* type) {
  return Error(ErrorKind::invalid,
               misread_field(json_word(found), "CustomResourceDefinitionSpec." + where, type));
}

enum class MemberForm { text, flag, number, object, list, texts };

struct Member {
  const char* key;
  MemberForm form;
  const char* type;
};

Result<void> check_members(const Json& object, const std::string& where,
                           std::initializer_list<Member> members) {
  if (object.is_null()) return {};
  if (!object.is_object()) return misread(object, where, "object");
  for (const auto& [key, form, type] : members) {
    const Json* it = base::present_at(object, {key});
    if (it == nullptr) continue;
    const std::string at = where.empty() ? key : where + "." + key;
    const bool list = form == MemberForm::list || form == MemberForm::texts;
    const bool fits = form == MemberForm::text     ? it->is_string()
                      : form == MemberForm::flag   ? it->is_boolean()
                      : form == MemberForm::number ? it->is_number_integer()
                      : list                       ? it->is_array()
                                                   : it->is_object();
    if (!fits) return misread(*it, at, type);
    if (form != MemberForm::texts) continue;
    for (const auto& one : *it) {
      if (!one.is_string()) return misread(one, at, "string");
    }
  }
  return {};
}

Result<void> check_version(const Json& version) {
  KW_TRY(check_members(
      version, "versions",
      {{"name", MemberForm::text, "string"},
       {"served", MemberForm::flag, "bool"},
       {"storage", MemberForm::flag, "bool"},
       {"deprecated", MemberForm::flag, "bool"},
       {"deprecationWarning", MemberForm::text, "string"},
       {"schema", MemberForm::object, "v1.CustomResourceValidation"},
       {"subresources", MemberForm::object, "v1.CustomResourceSubresources"},
       {"additionalPrinterColumns", MemberForm::list, "[]v1.CustomResourceColumnDefinition"},
       {"selectableFields", MemberForm::list, "[]v1.SelectableField"}}));
  if (version.is_null()) return {};
  if (const Json* schema = base::find(version, {"schema", "openAPIV3Schema"})) {
    KW_TRY(parse_structural(*schema));
  }
  for (const auto& column : base::items_at(version, {"additionalPrinterColumns"})) {
    KW_TRY(check_members(column, "versions.additionalPrinterColumns",
                         {{"name", MemberForm::text, "string"},
                          {"type", MemberForm::text, "string"},
                          {"format", MemberForm::text, "string"},
                          {"description", MemberForm::text, "string"},
                          {"priority", MemberForm::number, "int32"},
                          {"jsonPath", MemberForm::text, "string"}}));
  }
  if (const Json* scale = base::find(version, {"subresources", "scale"})) {
    KW_TRY(check_members(*scale, "versions.subresources.scale",
                         {{"specReplicasPath", MemberForm::text, "string"},
                          {"statusReplicasPath", MemberForm::text, "string"},
                          {"labelSelectorPath", MemberForm::text, "string"}}));
  }
  return {};
}

}  // namespace

Result<void> check_crd_shape(const Json& crd) {
  const Json* spec = base::find(crd, {"spec"});
  if (spec == nullptr) return {};
  KW_TRY(check_members(*spec, "",
                       {{"group", MemberForm::text, "string"},
                        {"scope", MemberForm::text, "v1.ResourceScope"},
                        {"names", MemberForm::object, "v1.CustomResourceDefinitionNames"},
                        {"versions", MemberForm::list, "[]v1.CustomResourceDefinitionVersion"},
                        {"conversion", MemberForm::object, "v1.CustomResourceConversion"},
                        {"preserveUnknownFields", MemberForm::flag, "bool"}}));
  if (const Json* names = base::find(*spec, {"names"})) {
    KW_TRY(check_members(*names, "names",
                         {{"plural", MemberForm::text, "string"},
                          {"singular", MemberForm::text, "string"},
                          {"kind", MemberForm::text, "string"},
                          {"listKind", MemberForm::text, "string"},
                          {"shortNames", MemberForm::texts, "[]string"},
                          {"categories", MemberForm::texts, "[]string"}}));
  }
  for (const auto& version : base::items_at(*spec, {"versions"})) {
    if (!version.is_object()) return misread(version, "versions", "object");
    KW_TRY(check_version(version));
  }
  return {};
}

}  // namespace kubewatch::schema
