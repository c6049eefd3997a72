#include "cli/apply/manifest_notes.hpp"

#include "cli/apply/field_conflict.hpp"
#include "core/field_text.hpp"
#include "core/server_fields.hpp"
#include "schema/managed_entries.hpp"

namespace kubewatch::cli {

namespace {

constexpr const char* kKeptMetadata[] = {
    "resourceVersion", "uid",      "creationTimestamp", "generation",
    "managedFields",   "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"};

}  // namespace

std::vector<std::string> strip_server_fields(Json& manifest, bool keep_status) {
  std::vector<std::string> out;
  if (Json* metadata = base::find(manifest, {"metadata"}); metadata && metadata->is_object()) {
    for (const char* field : kKeptMetadata) {
      if (metadata->erase(field) > 0) out.push_back(std::string(".metadata.") + field);
    }
    Json* annotations = base::find(*metadata, {"annotations"});
    if (annotations != nullptr && annotations->is_object() &&
        annotations->erase(core::kLastAppliedAnnotation) > 0) {
      out.push_back(std::string(".metadata.annotations[\"") + core::kLastAppliedAnnotation + "\"]");
      if (annotations->empty()) metadata->erase("annotations");
    }
  }
  if (!keep_status && manifest.is_object() && manifest.erase("status") > 0)
    out.push_back(".status");
  return out;
}

std::vector<std::string> server_fields_of(const Json& manifest, bool keep_status) {
  Json copy = {{"metadata", manifest.value("metadata", Json())}};
  if (manifest.contains("status")) copy["status"] = true;
  return strip_server_fields(copy, keep_status);
}

std::vector<std::string> taken_defaults(const Json& before, const Json& after,
                                        const std::string& manager, std::size_t most) {
  const auto was = schema::decode_managed(schema::managed_fields_of(before));
  const auto is = schema::decode_managed(schema::managed_fields_of(after));
  if (!was.ok() || !is.ok() || was->empty()) return {};
  schema::FieldSet owned;
  for (const auto& [identity, entry] : *was) owned.merge_in(entry.fields);
  std::vector<std::string> out;
  for (const auto& [identity, entry] : *is) {
    if (!entry.applied || entry.manager != manager || !entry.subresource.empty()) continue;
    for (const auto& path : entry.fields.difference(owned).leaves().paths()) {
      const std::string text = schema::path_str(path);
      const Json* old_value = core::value_at_field(before, text);
      const Json* new_value = core::value_at_field(after, text);
      if (old_value == nullptr || new_value == nullptr || *old_value != *new_value) continue;
      if (old_value->is_structured()) continue;
      if (out.size() < most) out.push_back(text);
    }
  }
  return out;
}

}  // namespace kubewatch::cli
