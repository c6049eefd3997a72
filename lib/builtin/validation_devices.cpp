// Devices that are claimed (resource.k8s.io): classes, claims and their templates. What drivers
// offer is in validation_slices.cpp, the status of a claim in validation_claim_status.cpp.
#include "builtin/device_checks.hpp"
#include "builtin/device_expressions.hpp"
#include "builtin/go_values.hpp"
#include "builtin/validation_kinds.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::size_t kMostAlternatives = 8;
constexpr std::size_t kMostConstraints = 32;
constexpr std::size_t kMostSelectors = 32;
constexpr std::uint64_t kMostSelectorCost = 1000000;

void check_selectors(const Field& selectors) {
  check_list(selectors, kMostSelectors, [](const Field& selector) {
    const Field cel = selector["cel"];
    if (!cel.present()) return cel.required();
    const Field expression = cel["expression"];
    if (expression.size() > kMostDeviceText) return expression.too_long(kMostDeviceText);
    const DeviceSelector read = read_device_selector(expression.text());
    if (!read.problem.empty()) {
      expression.invalid_text(read.problem);
    } else if (read.cost > kMostSelectorCost) {
      expression.forbidden("too complex, exceeds cost limit");
    }
  });
}

void check_device_toleration(const Field& toleration) {
  const Field key = toleration["key"];
  const Field value = toleration["value"];
  const Field op = toleration["operator"];
  if (!key.empty()) key.invalid_each(qualified_problems(key.text()));
  if (op.is("Exists")) {
    if (!value.empty()) value.invalid("must be empty for operator `Exists`");
  } else if (op.is("Equal") || !op.present()) {
    value.invalid_each(label_value_problems(value.text()));
  } else {
    op.one_of_required({"Equal", "Exists"});
  }
  const Field effect = toleration["effect"];
  if (!effect.empty()) effect.one_of({"NoExecute", "NoSchedule", "None"});
}

void check_wanted(const Field& request) {
  const Field device_class = request["deviceClassName"];
  if (device_class.empty()) device_class.required();
  if (!device_class.empty()) device_class.invalid_each(subdomain_problems(device_class.text()));
  check_selectors(request["selectors"]);
  const Field mode = request["allocationMode"];
  const Field count = request["count"];
  if (mode.is("All")) {
    if (count.number_or(0) != 0) {
      count.invalid("must not be specified when allocationMode is 'All'");
    }
  } else if (mode.empty() || mode.is("ExactCount")) {
    if (count.number_or(1) <= 0) count.invalid("must be greater than zero");
  } else {
    mode.not_supported({"All", "ExactCount"});
  }
  for (const auto& one : request["tolerations"].items()) check_device_toleration(one);
}

void check_request(const Field& request) {
  check_device_label(request["name"]);
  const Field exactly = request["exactly"];
  const Field first = request["firstAvailable"];
  const std::string one = "exactly one of `exactly` or `firstAvailable` is required";
  if (!exactly.present() && first.empty()) return request.required(one);
  if (exactly.present() && !first.empty()) {
    return request.invalid_as("null", one + ", but multiple fields are set");
  }
  if (exactly.present()) return check_wanted(exactly);
  check_set(first, kMostAlternatives, "name", [](const Field& alternative) {
    check_device_label(alternative["name"]);
    check_wanted(alternative);
  });
}

void check_claimed(const Field& devices) {
  const RequestNames requests = request_names(devices);
  check_set(devices["requests"], kMostRequests, "name", check_request);
  check_list(devices["constraints"], kMostConstraints, [&](const Field& constraint) {
    check_request_names(constraint["requests"], requests);
    const Field same = constraint["matchAttribute"];
    const Field distinct = constraint["distinctAttribute"];
    if (same.present()) return check_attribute_name(same);
    if (distinct.present()) return check_attribute_name(distinct);
    constraint.required(
        "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple "
        "fields are set");
  });
  check_list(devices["config"], kMostConfigurations, [&](const Field& configuration) {
    check_request_names(configuration["requests"], requests);
    check_configuration(configuration);
  });
}

void check_kept_spec(const Field& object, const Json& live, const char* type) {
  const Json now = object["spec"].is_map() ? *object["spec"].json() : Json::object();
  const Field before = Field(live, object.errors())["spec"];
  if (same_go_value(type, now, before.is_map() ? *before.json() : Json::object())) return;
  object["spec"].invalid_as(go_value(type, now), "field is immutable");
}

}  // namespace

void check_resource_claim(const Field& object, const Json* live) {
  if (live != nullptr) return check_kept_spec(object, *live, "ResourceClaimSpec");
  check_claimed(object["spec"]["devices"]);
}

// Unlike a claim it is looked at again whole.
void check_resource_claim_template(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  check_template_metadata(spec["metadata"]);
  check_claimed(spec["spec"]["devices"]);
  if (live != nullptr) check_kept_spec(object, *live, "ResourceClaimTemplateSpec");
}

void check_device_class(const Field& object, const Json* /*live*/) {
  const Field spec = object["spec"];
  check_selectors(spec["selectors"]);
  check_list(spec["config"], kMostConfigurations, check_configuration);
  const Field name = spec["extendedResourceName"];
  if (name.present() && !is_extended_resource(name.text())) {
    name.invalid_text("must be a valid extended resource name");
  }
}

}  // namespace kubewatch::builtin
