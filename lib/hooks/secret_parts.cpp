// The one list of these places.
#include "hooks/secret_parts.hpp"

#include "base/json.hpp"
#include "core/object_rules.hpp"
#include "core/server_fields.hpp"

namespace kubewatch::hooks {

bool is_secret(const core::Gvk& gvk) {
  return gvk.group.empty() && gvk.kind == "Secret";
}

void for_each_secret_value(Json& secret, const SecretVisit& visit) {
  for (const SecretMap& map : kSecretMaps) {
    Json* values = base::find(secret, {map.key});
    if (values == nullptr || values->is_null()) continue;
    if (!values->is_object()) {
      visit(*values, map.encoded);
      continue;
    }
    for (Json& value : *values) visit(value, map.encoded);
  }
}

std::string secret_meaning(const std::string& value, bool encoded) {
  return encoded ? core::decoded_bytes(value).value_or(value) : value;
}

void hide_last_applied(Json& annotations) {
  if (!annotations.is_object()) return;
  const auto found = annotations.find(core::kLastAppliedAnnotation);
  if (found != annotations.end()) *found = "secret";
}

}  // namespace kubewatch::hooks
