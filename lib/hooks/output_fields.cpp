// The rules of core/object_rules on one manifest.
#include "hooks/output_fields.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

#include "base/json.hpp"
#include "core/object_rules.hpp"

namespace kubewatch::hooks {
namespace {

Error wrong_field(const std::string& field, const std::string& problem) {
  return Error(ErrorKind::invalid, field + ": " + problem);
}

// Groups of whose kinds the rule for names is known; elsewhere some may have others (a
// ClusterTrustBundle, an IPAddress, what an aggregated server has).
bool has_plain_names(const core::Gvk& gvk) {
  static const std::set<std::string> groups = {"",      "apps",   "autoscaling",
                                               "batch", "policy", "rbac.authorization.k8s.io"};
  return groups.contains(gvk.group) && gvk.kind != "Event";
}

Result<FieldsVerdict> check_name(const core::Gvk& gvk, const std::string& name) {
  const std::string problem = core::check_object_name(gvk, name);
  if (problem.empty()) return FieldsVerdict::fits;
  if (!has_plain_names(gvk)) return FieldsVerdict::to_ask;
  return wrong_field("metadata.name", problem);
}

const Json* map_at(const Json& parent, const std::string& key) {
  const Json* found = base::find(parent, {key});
  return found != nullptr && found->is_object() ? found : nullptr;
}

// Whatever is null the server takes for empty.
Result<void> check_text(const std::string& field, const Json& value) {
  if (value.is_string() || value.is_null()) return {};
  return wrong_field(field, fmt::format("must be text, not {}; quote it", value.type_name()));
}

Result<void> check_labels(const Json& metadata) {
  const Json* labels = map_at(metadata, "labels");
  if (labels == nullptr) return {};
  for (const auto& [key, value] : labels->items()) {
    const std::string field = "metadata.labels[" + base::json_quoted(key) + "]";
    if (const std::string problem = core::check_label_key(key); !problem.empty()) {
      return wrong_field(field, problem);
    }
    KW_TRY(check_text(field, value));
    if (value.is_null()) continue;
    const std::string problem = core::check_label_value(value.get_ref<const std::string&>());
    if (!problem.empty()) return wrong_field(field, problem);
  }
  return {};
}

Result<void> check_annotations(const Json& metadata) {
  const Json* annotations = map_at(metadata, "annotations");
  if (annotations == nullptr) return {};
  std::size_t total = 0;
  for (const auto& [key, value] : annotations->items()) {
    const std::string field = "metadata.annotations[" + base::json_quoted(key) + "]";
    if (const std::string problem = core::check_annotation_key(key); !problem.empty()) {
      return wrong_field(field, problem);
    }
    KW_TRY(check_text(field, value));
    total += key.size();
    if (value.is_string()) total += value.get_ref<const std::string&>().size();
  }
  if (total <= core::kMaxAnnotations) return {};
  return wrong_field("metadata.annotations",
                     fmt::format("may not be more than {} bytes", core::kMaxAnnotations));
}

Result<void> check_data(const Json& manifest, const char* key, bool bytes) {
  const Json* data = map_at(manifest, key);
  if (data == nullptr) return {};
  for (const auto& [name, value] : data->items()) {
    const std::string field = std::string(key) + "[" + base::json_quoted(name) + "]";
    if (const auto problems = core::data_key_problems(name); !problems.empty()) {
      return wrong_field(field, problems.front());
    }
    KW_TRY(check_text(field, value));
    if (!bytes || value.is_null()) continue;
    const auto read = core::decode_bytes(value.get_ref<const std::string&>());
    if (const auto* at = std::get_if<std::size_t>(&read)) {
      return wrong_field(field, fmt::format("illegal base64 data at input byte {}", *at));
    }
  }
  return {};
}

}  // namespace

Result<void> check_text_maps(const Json& metadata) {
  KW_TRY(check_labels(metadata));
  return check_annotations(metadata);
}

Result<FieldsVerdict> check_fields(const core::Gvk& gvk, const Json& manifest) {
  const Json& metadata = manifest.at("metadata");
  KW_ASSIGN(const FieldsVerdict verdict, check_name(gvk, base::string_at(metadata, {"name"})));
  KW_TRY(check_text_maps(metadata));
  const bool secret = gvk == core::Gvk{"", "v1", "Secret"};
  if (secret || gvk == core::Gvk{"", "v1", "ConfigMap"}) {
    KW_TRY(check_data(manifest, "data", secret));
    KW_TRY(check_data(manifest, secret ? "stringData" : "binaryData", !secret));
  }
  return verdict;
}

}  // namespace kubewatch::hooks
