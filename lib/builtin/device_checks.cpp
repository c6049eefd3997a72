#include "builtin/device_checks.hpp"

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::size_t kMostIdentifier = 32;
constexpr std::size_t kMostPoolName = 253;
constexpr std::size_t kMostBindingConditions = 4;

void check_identifier(const Field& told, const std::string& id) {
  if (id.size() > kMostIdentifier) told.too_long(kMostIdentifier);
  const bool good = is_word(id, "_") && !base::is_digit(id.front());
  if (good) return;
  told.invalid_as(go_quoted(id),
                  shape_sentence("a valid C identifier must start with alphabetic character or "
                                 "'_', followed by a string of alphanumeric characters or '_'",
                                 {"my_name", "MY_NAME", "MyName"}, "[A-Za-z_][A-Za-z0-9_]*"));
}

void check_condition_name(const Field& name) {
  name.invalid_each(qualified_problems(name.text()));
}

}  // namespace

void check_device_label(const Field& name) {
  name.invalid_each(label_problems(name.text()));
}

void check_pool_name(const Field& name) {
  if (name.empty()) return name.required();
  if (name.size() > kMostPoolName) name.too_long(kMostPoolName);
  for (const auto& part : base::split(name.text(), '/')) {
    for (const auto& problem : subdomain_problems(part)) {
      name.invalid_as(go_quoted(part), problem);
    }
  }
}

void check_attribute_key(const Field& told, const std::string& key) {
  const auto parts = base::split(key, '/');
  if (parts.size() > 2) return;  // the server takes it
  if (parts.size() < 2) return check_identifier(told, key);
  const Json domain = parts[0];
  if (parts[0].empty()) told.invalid_as("\"\"", "the domain must not be empty");
  if (!parts[0].empty()) check_csi_driver_name(Field(&domain, told.path(), told.errors()));
  if (parts[1].empty()) told.invalid_as("\"\"", "the name must not be empty");
  if (!parts[1].empty()) check_identifier(told, parts[1]);
}

void check_attribute_name(const Field& name) {
  check_attribute_key(name, name.text());
  if (name.text().find('/') != std::string::npos) return;
  name.invalid_text("a fully qualified name must be a domain and a name separated by a slash");
}

void check_binding_conditions(const Field& device) {
  const Field binding = device["bindingConditions"];
  const Field failure = device["bindingFailureConditions"];
  check_list(binding, kMostBindingConditions, check_condition_name);
  check_list(failure, kMostBindingConditions, check_condition_name);
  check_distinct(binding, [](const Field& one) { return go_quoted(one.text()); });
  std::set<std::string> known;
  for (const auto& one : binding.items()) known.insert(one.text());
  std::set<std::string> seen;
  for (const auto& one : failure.items()) {
    if (!seen.insert(one.text()).second) one.duplicate();
    if (known.count(one.text()) == 0) continue;
    one.invalid_text("bindingFailureConditions must not overlap with bindingConditions");
  }
  if (binding.empty() && !failure.empty()) {
    binding.invalid("bindingConditions are required to use bindingFailureConditions");
  }
  if (failure.empty() && !binding.empty()) {
    failure.invalid("bindingFailureConditions are required to use bindingConditions");
  }
}

void check_json_object(const Field& value) {
  if (!value.present()) return value.required();
  if (base::dump_json(*value.json()).size() > kMostDeviceText) {
    return value.too_long(kMostDeviceText);
  }
  if (!value.is_map()) value.invalid_as("\"<value omitted>\"", "must be a valid JSON object");
}

void check_configuration(const Field& configuration) {
  const Field opaque = configuration["opaque"];
  if (!opaque.present()) return opaque.required();
  check_csi_driver_name(opaque["driver"]);
  check_json_object(opaque["parameters"]);
}

RequestNames request_names(const Field& claimed) {
  RequestNames out;
  for (const auto& request : claimed["requests"].items()) {
    auto& names = out[request["name"].text()];
    for (const auto& one : request["firstAvailable"].items()) names.insert(one["name"].text());
  }
  return out;
}

void check_request_name(const Field& name, const RequestNames& requests) {
  constexpr const char* unknown =
      "must be the name of a request in the claim or the name of a request and a subrequest "
      "separated by '/'";
  const auto parts = base::split(name.text(), '/');
  if (parts.size() > 2) return name.invalid_text(unknown);
  for (const auto& part : parts) {
    for (const auto& problem : label_problems(part)) name.invalid_as(go_quoted(part), problem);
  }
  const auto found = requests.find(parts[0]);
  const bool known =
      found != requests.end() && (parts.size() < 2 || found->second.count(parts[1]) != 0);
  if (!known) name.invalid_text(unknown);
}

void check_request_names(const Field& names, const RequestNames& requests) {
  check_set(names, kMostRequests, "",
            [&requests](const Field& name) { check_request_name(name, requests); });
}

}  // namespace kubewatch::builtin
