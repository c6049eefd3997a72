// Devices that are claimed (resource.k8s.io): classes, claims, their templates, and what drivers
// offer. The main rules: expressions are parsed alone; not looked at are of a device all but its
// name and its nodes, and the status of a claim.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/go_values.hpp"
#include "builtin/policy_expressions.hpp"
#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::size_t kMostRequests = 32;
constexpr std::size_t kMostAlternatives = 8;
constexpr std::size_t kMostParts = 32;  // constraints, configurations, selectors
constexpr std::size_t kMostText = std::size_t{10} << 10U;
constexpr std::size_t kMostIdentifier = 32;
constexpr std::size_t kMostDevices = 128;
constexpr std::size_t kMostDevicesWithMore = 64;
constexpr std::size_t kMostCounterSets = 8;
constexpr std::size_t kMostPoolName = 253;

// Of a list that is too long nothing else is told.
template <class Check>
void check_list(const Field& list, std::size_t most, const Check& check) {
  if (list.size() > most) return list.too_many(static_cast<std::int64_t>(most));
  for (const auto& item : list.items()) check(item);
}

// `key` is what no two have in common; "" is the text itself.
template <class Check>
void check_set(const Field& list, std::size_t most, const char* key, const Check& check) {
  check_list(list, most, check);
  if (list.size() > most) return;
  std::set<std::string> seen;
  for (const auto& item : list.items()) {
    const std::string text = *key == '\0' ? item.text() : item[key].text();
    if (seen.insert(text).second) continue;
    item.errors().push_back(field_duplicate(item.path(), quoted_text(text)));
  }
}

void check_label(const Field& name) {
  name.invalid_each(label_problems(name.text()));
}

void check_identifier(const Field& told, const std::string& id) {
  if (id.size() > kMostIdentifier) told.too_long(kMostIdentifier);
  const bool good = !id.empty() && !base::is_digit(id.front()) &&
                    std::all_of(id.begin(), id.end(),
                                [](char c) { return base::is_alphanumeric(c) || c == '_'; });
  if (good) return;
  told.invalid_as(quoted_text(id),
                  shape_sentence("a valid C identifier must start with alphabetic character or "
                                 "'_', followed by a string of alphanumeric characters or '_'",
                                 {"my_name", "MY_NAME", "MyName"}, "[A-Za-z_][A-Za-z0-9_]*"));
}

// "domain/name".
void check_attribute_name(const Field& name) {
  const auto parts = base::split(name.text(), '/');
  if (parts.size() == 2) {
    const Json domain = parts[0];
    if (parts[0].empty()) name.invalid_as("\"\"", "the domain must not be empty");
    if (!parts[0].empty()) check_csi_driver_name(Field(&domain, name.path(), name.errors()));
    if (parts[1].empty()) name.invalid_as("\"\"", "the name must not be empty");
    if (!parts[1].empty()) check_identifier(name, parts[1]);
  } else if (parts.size() < 2) {
    check_identifier(name, name.text());
    name.invalid_text("a fully qualified name must be a domain and a name separated by a slash");
  }
}

void check_selectors(const Field& selectors) {
  check_list(selectors, kMostParts, [](const Field& selector) {
    const Field cel = selector["cel"];
    if (!cel.present()) return cel.required();
    const Field expression = cel["expression"];
    if (expression.size() > kMostText) return expression.too_long(kMostText);
    const std::string problem = syntax_problem(expression.text());
    if (!problem.empty()) expression.invalid_text(problem);
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
  check_label(request["name"]);
  const Field exactly = request["exactly"];
  const Field first = request["firstAvailable"];
  const std::string one = "exactly one of `exactly` or `firstAvailable` is required";
  if (!exactly.present() && first.empty()) return request.required(one);
  if (exactly.present() && !first.empty()) {
    return request.invalid_as("null", one + ", but multiple fields are set");
  }
  if (exactly.present()) return check_wanted(exactly);
  check_set(first, kMostAlternatives, "name", [](const Field& alternative) {
    check_label(alternative["name"]);
    check_wanted(alternative);
  });
}

// By name, with those of their alternatives.
using Requests = std::map<std::string, std::set<std::string>>;

Requests requests_of(const Field& devices) {
  Requests out;
  for (const auto& request : devices["requests"].items()) {
    auto& names = out[request["name"].text()];
    for (const auto& one : request["firstAvailable"].items()) names.insert(one["name"].text());
  }
  return out;
}

void check_named_requests(const Field& names, const Requests& requests) {
  constexpr const char* unknown =
      "must be the name of a request in the claim or the name of a request and a subrequest "
      "separated by '/'";
  check_set(names, kMostRequests, "", [&](const Field& name) {
    const auto parts = base::split(name.text(), '/');
    if (parts.size() > 2) return name.invalid_text(unknown);
    for (const auto& part : parts) {
      for (const auto& problem : label_problems(part)) name.invalid_as(quoted_text(part), problem);
    }
    const auto found = requests.find(parts.empty() ? "" : parts[0]);
    const bool known =
        found != requests.end() && (parts.size() < 2 || found->second.count(parts[1]) != 0);
    if (!known) name.invalid_text(unknown);
  });
}

void check_configuration(const Field& configuration) {
  const Field opaque = configuration["opaque"];
  if (!opaque.present()) return opaque.required();
  check_csi_driver_name(opaque["driver"]);
  const Field parameters = opaque["parameters"];
  if (!parameters.present()) return parameters.required();
  if (base::dump_json(*parameters.json()).size() > kMostText) {
    return parameters.too_long(kMostText);
  }
  if (parameters.is_map()) return;
  parameters.invalid_as("\"<value omitted>\"", "must be a valid JSON object");
}

void check_claimed(const Field& devices) {
  const Requests requests = requests_of(devices);
  check_set(devices["requests"], kMostRequests, "name", check_request);
  check_list(devices["constraints"], kMostParts, [&](const Field& constraint) {
    check_named_requests(constraint["requests"], requests);
    const Field same = constraint["matchAttribute"];
    const Field distinct = constraint["distinctAttribute"];
    if (same.present()) return check_attribute_name(same);
    if (distinct.present()) return check_attribute_name(distinct);
    constraint.required(
        "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple "
        "fields are set");
  });
  check_list(devices["config"], kMostParts, [&](const Field& configuration) {
    check_named_requests(configuration["requests"], requests);
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
  check_list(spec["config"], kMostParts, check_configuration);
  const Field name = spec["extendedResourceName"];
  if (name.present() && !is_extended_resource(name.text())) {
    name.invalid_text("must be a valid extended resource name");
  }
}

namespace {

void check_pool(const Field& pool) {
  const Field name = pool["name"];
  if (name.empty()) name.required();
  if (name.size() > kMostPoolName) name.too_long(kMostPoolName);
  for (const auto& part : base::split(name.text(), '/')) {
    if (name.empty()) break;
    for (const auto& problem : subdomain_problems(part)) {
      name.invalid_as(quoted_text(part), problem);
    }
  }
  const Field count = pool["resourceSliceCount"];
  if (count.number_or(0) <= 0) {
    count.invalid_as(std::to_string(count.number_or(0)), "must be greater than zero");
  }
  const Field generation = pool["generation"];
  if (generation.number_or(0) < 0) generation.invalid("must be greater than or equal to zero");
}

// In which ways a slice, or one of its devices, says which nodes have it.
Values ways_to_nodes(const Field& of, bool slice) {
  Values ways;
  const Field node = of["nodeName"];
  if (node.present() && node.empty()) {
    node.invalid(slice ? "must be either unset or set to a non-empty string" : "must not be empty");
  } else if (node.present()) {
    ways.emplace_back("`nodeName`");
    node.invalid_each(subdomain_problems(node.text()));
  }
  const Field selector = of["nodeSelector"];
  if (selector.present()) {
    ways.emplace_back("`nodeSelector`");
    check_node_selector(selector);
    if (slice && selector["nodeSelectorTerms"].size() != 1) {
      selector["nodeSelectorTerms"].invalid("must have exactly one node selector term");
    }
  }
  for (const std::string key : {"allNodes", "perDeviceNodeSelection"}) {
    if (!of[key].present() || (!slice && key != "allNodes")) continue;
    if (of[key].is_true()) ways.push_back("`" + key + "`");
    if (!of[key].is_true()) of[key].invalid("must be either unset or set to true");
  }
  return ways;
}

void check_nodes_of_slice(const Field& spec) {
  const Values ways = ways_to_nodes(spec, true);
  const std::string one =
      "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (ways.empty()) return spec.required(one);
  if (ways.size() == 1) return;
  spec.invalid_as(quoted_text("{" + base::join(ways, ", ") + "}"),
                  one + ", but multiple fields are set");
}

// `each`: the slice leaves it to its devices.
void check_nodes_of_device(const Field& device, bool each) {
  constexpr const char* of_slice = "is set to true in the ResourceSlice spec";
  if (!each) {
    if (!device["nodeName"].present() && !device["nodeSelector"].present() &&
        !device["allNodes"].present()) {
      return;
    }
    return device.invalid_as(
        "null", fmt::format("`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                            "`perDeviceNodeSelection` {}",
                            of_slice));
  }
  const Values ways = ways_to_nodes(device, false);
  const std::string one = fmt::format(
      "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
      "`perDeviceNodeSelection` {}",
      of_slice);
  if (ways.empty()) return device.required(one);
  if (ways.size() == 1) return;
  device.invalid_as(quoted_text("{" + base::join(ways, ", ") + "}"), one);
}

// More than a name and plain attributes makes room for fewer of them.
bool has_more(const Field& device) {
  return !device["taints"].empty() || !device["consumesCounters"].empty();
}

}  // namespace

void check_resource_slice(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  check_csi_driver_name(spec["driver"]);
  check_pool(spec["pool"]);
  if (live != nullptr) {
    const Field before = Field(*live, object.errors())["spec"];
    spec["pool"]["name"].immutable(before["pool"]["name"]);
    spec["driver"].immutable(before["driver"]);
    spec["nodeName"].immutable(before["nodeName"]);
  }
  check_nodes_of_slice(spec);
  const Field counters = spec["sharedCounters"];
  if (counters.present() && spec["devices"].present()) {
    spec.invalid_as("\"\"", "only one of `sharedCounters` or `devices` is allowed");
  }
  const auto devices = spec["devices"].items();
  const bool more = std::any_of(devices.begin(), devices.end(), has_more);
  const bool each = spec["perDeviceNodeSelection"].is_true();
  check_set(spec["devices"], more ? kMostDevicesWithMore : kMostDevices, "name",
            [each](const Field& device) {
              check_label(device["name"]);
              check_nodes_of_device(device, each);
            });
  check_set(counters, kMostCounterSets, "name", [](const Field& set) {
    if (set["name"].empty()) set["name"].required();
    if (!set["name"].empty()) check_label(set["name"]);
    if (set["counters"].empty()) set["counters"].required();
  });
}

}  // namespace kubewatch::builtin
