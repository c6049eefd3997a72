#include "hooks/record_mask.hpp"

#include <algorithm>

#include "base/strings.hpp"
#include "core/server_fields.hpp"
#include "hooks/recorded_request.hpp"
#include "hooks/secret_parts.hpp"

namespace kubewatch::hooks {

namespace {

constexpr std::string_view kPlaceholderPrefix = "secret-";

bool is_secret_path(const std::string& path) {
  const auto target = api_target(path);
  return target && target->group.empty() && target->plural == "secrets";
}

}  // namespace

bool is_placeholder(std::string_view text) {
  return text.size() == kPlaceholderPrefix.size() + 16 && text.starts_with(kPlaceholderPrefix) &&
         text.find_first_not_of("0123456789abcdef", kPlaceholderPrefix.size()) ==
             std::string_view::npos;
}

std::string RecordMask::hidden(const std::string& plain) const {
  if (keep_placeholders_ && is_placeholder(plain)) return plain;
  return hash_.placeholder(plain);
}

void RecordMask::hide_secret(Json& secret) const {
  for_each_secret_value(secret, [this](Json& value, bool encoded) {
    if (value.is_null()) return;  // of a patch: the value goes
    const std::string text = value.is_string() ? value.get<std::string>() : base::dump_json(value);
    const std::string shown = hidden(secret_meaning(text, encoded));
    value = encoded ? base::base64_encode(shown) : shown;
  });
}

void RecordMask::hide_values(Json& value) const {
  if (value.is_string()) {
    value = mask_.mask(value.get_ref<const std::string&>());
  } else if (value.is_structured()) {
    for (Json& item : value) hide_values(item);
  }
}

void RecordMask::hide(Json& object) const {
  if (!object.is_object()) return hide_values(object);
  const bool secret = base::string_at(object, {"kind"}) == "Secret";
  if (secret) hide_secret(object);
  for (auto& [key, value] : object.items()) {
    if (key == "apiVersion" || key == "kind") continue;
    if (secret && (key == "data" || key == "stringData" || key == "type")) continue;
    if (key != "metadata") {
      hide_values(value);
      continue;
    }
    Json* annotations = base::find(value, {"annotations"});
    if (annotations == nullptr) continue;
    if (secret) hide_last_applied(*annotations);
    hide_values(*annotations);
  }
}

void RecordMask::learn_write(const Json& entry) {
  const Json* body = base::find(entry, {"body"});
  if (body == nullptr) return;
  if (!is_secret_path(base::string_at(entry, {"path"}))) return learn(*body);
  if (body->is_object()) {
    Json secret = *body;
    secret["kind"] = "Secret";
    return learn(secret);
  }
  if (!body->is_array()) return;
  for (const Json& operation : *body) {
    const Json* value = base::find(operation, {"value"});
    const std::string path = base::string_at(operation, {"path"});
    if (value == nullptr) continue;
    for (const SecretMap& map : kSecretMaps) {
      const std::string key(map.key);
      if (path == "/" + key) learn({{"kind", "Secret"}, {key, *value}});
      if (path.starts_with("/" + key + "/")) learn({{"kind", "Secret"}, {key, {{"k", *value}}}});
    }
  }
}

// Of a JSON patch of a Secret.
void RecordMask::hide_operation(Json& operation) const {
  Json* value = base::find(operation, {"value"});
  if (value == nullptr) return;
  const std::string path = base::string_at(operation, {"path"});
  if (path != "/metadata" && !path.starts_with("/metadata/")) {
    *value = hidden(value->is_string() ? value->get<std::string>() : base::dump_json(*value));
    return;
  }
  if (path == core::kLastAppliedPointer) *value = "secret";
  Json* annotations = path == "/metadata" ? base::find(*value, {"annotations"}) : value;
  if (annotations != nullptr) hide_last_applied(*annotations);
  hide_values(*value);
}

void RecordMask::hide_write(Json& entry) const {
  Json* body = base::find(entry, {"body"});
  if (body == nullptr) return;
  if (!is_secret_path(base::string_at(entry, {"path"}))) return hide(*body);
  if (body->is_object()) {
    const bool unnamed = !body->contains("kind");
    if (unnamed) (*body)["kind"] = "Secret";
    hide(*body);
    if (unnamed) body->erase("kind");
    return;
  }
  if (!body->is_array()) return;
  for (Json& operation : *body) hide_operation(operation);
}

}  // namespace kubewatch::hooks
