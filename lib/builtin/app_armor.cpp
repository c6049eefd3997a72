#include "builtin/app_armor.hpp"

#include <fmt/format.h>

#include <functional>

#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kUnconfined = "unconfined";
constexpr const char* kRuntimeDefault = "runtime/default";
constexpr std::string_view kLocalhost = "localhost/";

// In the server's order.
void each_container(const Field& spec, const std::function<void(const Field&)>& visit) {
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const auto& container : spec[list].items()) visit(container);
  }
}

bool is_windows(const Field& spec) {
  return spec["os"]["name"].is("windows");
}

// The field that says the same as an annotation; null where there is none.
Json profile_of(const std::string& annotation) {
  if (annotation == kUnconfined) return {{"type", "Unconfined"}};
  if (annotation == kRuntimeDefault) return {{"type", "RuntimeDefault"}};
  if (!annotation.starts_with(kLocalhost)) return nullptr;
  Json profile = {{"type", "Localhost"},
                  {"localhostProfile", annotation.substr(kLocalhost.size())}};
  FieldErrors errors;
  check_app_armor(Field(profile, errors));
  return errors.empty() ? profile : nullptr;
}

// False: neither a profile nor a warning is due.
bool take_annotation(const std::string& annotation, const Json* of_pod, Json& container) {
  Json profile = profile_of(annotation);
  if (profile.is_null()) return true;
  if (of_pod != nullptr && *of_pod == profile) return false;
  Json& security = container["securityContext"];
  if (security.is_null()) security = Json::object();
  if (!security.is_object()) return false;
  security["appArmorProfile"] = std::move(profile);
  return true;
}

// What is wrong with an annotation beside a field; "" where they agree, else which part of it.
std::string disagreement(const std::string& annotation, const Field& profile) {
  const Field type = profile["type"];
  if (type.is("Unconfined")) return annotation == kUnconfined ? "" : "type";
  if (type.is("RuntimeDefault")) return annotation == kRuntimeDefault ? "" : "type";
  if (!type.is("Localhost")) return "";
  if (!annotation.starts_with(kLocalhost)) return "type";
  const Field file = profile["localhostProfile"];
  const bool same = file.present() && file.is(annotation.substr(kLocalhost.size()));
  return same ? "" : "localhostProfile";
}

}  // namespace

void take_app_armor_annotations(Json& pod, std::vector<std::string>& warnings) {
  FieldErrors none;
  const Field spec = Field(pod, none)["spec"];
  const Field annotations = Field(pod, none)["metadata"]["annotations"];
  if (annotations.empty() || is_windows(spec)) return;
  const Json* of_pod = base::find(pod, {"spec", "securityContext", "appArmorProfile"});
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    Json* containers = base::find(pod, {"spec", list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : *containers) {
      if (!container.is_object()) continue;
      const std::string key = kAppArmorAnnotation + base::string_at(container, {"name"});
      const Json* own = base::find(container, {"securityContext", "appArmorProfile"});
      const bool asked = annotations[key].is_text() && (own == nullptr || own->is_null());
      if (!asked || !take_annotation(annotations[key].text(), of_pod, container)) continue;
      warnings.push_back(
          fmt::format("{}[{}]: deprecated since v1.30; use the \"appArmorProfile\" field instead",
                      annotations.path(), key));
    }
  }
}

void check_app_armor_annotations(const Field& annotations, const Field& spec) {
  std::set<std::string> names;
  each_container(spec, [&](const Field& container) { names.insert(container["name"].text()); });
  for (const auto& [key, value] : annotations.entries()) {
    if (!key.starts_with(kAppArmorAnnotation)) continue;
    const std::string name = key.substr(std::string_view(kAppArmorAnnotation).size());
    if (names.count(name) == 0) value.invalid_as(go_quoted(name), "container not found");
    const std::string profile = value.text();
    const bool known = profile.empty() || profile == kUnconfined || profile == kRuntimeDefault ||
                       profile.starts_with(kLocalhost);
    if (!known) value.invalid("invalid AppArmor profile name: " + go_quoted(profile));
  }
}

void check_app_armor_agrees(const Field& annotations, const Field& spec) {
  if (annotations.empty() || is_windows(spec)) return;
  each_container(spec, [&](const Field& container) {
    const Field annotation = annotations[kAppArmorAnnotation + container["name"].text()];
    const Field own = container["securityContext"]["appArmorProfile"];
    const Field profile = own.present() ? own : spec["securityContext"]["appArmorProfile"];
    if (!annotation.present() || !profile.present()) return;
    const std::string part = disagreement(annotation.text(), profile);
    if (part.empty()) return;
    own[part].forbidden(fmt::format("apparmor {} in annotation and field must match",
                                    part == "type" ? part : "profile"));
  });
}

void check_kept_app_armor(const Field& annotations, const Field& before) {
  const auto told = [&](const std::string& key) {
    return annotations.at(fmt::format("{}[{}]", annotations.path(), key));
  };
  for (const auto& [key, value] : before.entries()) {
    const Field now = annotations[key];
    if (!key.starts_with(kAppArmorAnnotation) || (now.present() && now.is(value.text()))) continue;
    told(key).forbidden("may not remove or update AppArmor annotations");
  }
  for (const auto& [key, value] : annotations.entries()) {
    if (!key.starts_with(kAppArmorAnnotation) || before[key].present()) continue;
    told(key).forbidden("may not add AppArmor annotations");
  }
}

}  // namespace kubewatch::builtin
