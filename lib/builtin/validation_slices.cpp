// What drivers offer (resource.k8s.io): slices of pools of devices, with what those can do and
// which nodes have them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/device_checks.hpp"
#include "builtin/go_values.hpp"
#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

using base::Quantity;

constexpr std::size_t kMostDevices = 128;
constexpr std::size_t kMostDevicesWithMore = 64;
constexpr std::size_t kMostCounterSets = 8;
constexpr std::size_t kMostCounters = 32;
constexpr std::size_t kMostConsumedSets = 2;
constexpr std::size_t kMostAttributes = 32;  // with capacities
constexpr std::size_t kMostAttributeValues = 48;
constexpr std::size_t kMostAttributeText = 64;
constexpr std::size_t kMostAttributeKey = 63 + 1 + 32;
constexpr std::size_t kMostTaints = 16;
constexpr std::size_t kMostOptions = 10;

void check_pool(const Field& pool) {
  check_pool_name(pool["name"]);
  const Field count = pool["resourceSliceCount"];
  if (count.number_or(0) <= 0) {
    count.invalid_as(std::to_string(count.number_or(0)), "must be greater than zero");
  }
  const Field generation = pool["generation"];
  if (generation.number_or(0) < 0) generation.invalid("must be greater than or equal to zero");
}

// Entries are told by their keys, of which long ones lack their middle.
template <class Key, class Value>
void check_entries(const Field& map, const Key& check_key, const Value& check_value) {
  for (const auto& [key, value] : map.entries()) {
    check_key(map, key);
    std::string shown = key;
    if (key.size() > kMostAttributeKey) {
      const std::size_t kept = kMostAttributeKey - 3;
      shown = key.substr(0, (kept + 1) / 2) + "..." + key.substr(key.size() - kept / 2);
    }
    check_value(value.at(fmt::format("{}[{}]", map.path(), shown)));
  }
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), base::is_digit) &&
         (text.size() == 1 || text.front() != '0');
}

bool is_build_part(const std::string& text) {
  return is_word(text, "-");
}

bool is_release_part(const std::string& text) {
  return is_build_part(text) &&
         (is_number(text) || !std::all_of(text.begin(), text.end(), base::is_digit));
}

// "1.2.3-rc.1+build", without limits to its numbers.
bool is_semantic_version(const std::string& text) {
  const std::size_t plus = std::min(text.find('+'), text.size());
  const std::string released = text.substr(0, plus);
  const std::size_t dash = std::min(released.find('-'), released.size());
  const auto all = [](const std::string& of, bool (*good)(const std::string&)) {
    const auto parts = base::split(of, '.');
    return std::all_of(parts.begin(), parts.end(), good);
  };
  const std::string numbers = released.substr(0, dash);
  return base::split(numbers, '.').size() == 3 && all(numbers, is_number) &&
         (dash == released.size() || all(released.substr(dash + 1), is_release_part)) &&
         (plus == text.size() || all(text.substr(plus + 1), is_build_part));
}

// Lists of values are not kept: their feature is off.
void check_attribute(const Field& attribute) {
  constexpr const char* one = "exactly one value must be specified";
  const Field text = attribute["string"];
  const Field version = attribute["version"];
  if (text.size() > kMostAttributeText) text.too_long(kMostAttributeText);
  if (version.present() && !is_semantic_version(version.text())) {
    version.invalid("must be a string compatible with semver.org spec 2.0.0");
  }
  if (version.size() > kMostAttributeText) version.too_long(kMostAttributeText);
  int values = 0;
  for (const char* key : {"bool", "int", "string", "version"}) {
    if (attribute[key].present()) ++values;
  }
  if (values == 0) attribute.invalid_as("\"\"", one);
  if (values > 1) attribute.invalid_as(go_value("DeviceAttribute", *attribute.json()), one);
}

std::string shown(const Quantity& quantity) {
  return go_quoted(quantity_text(quantity));
}

// Fractions count as the next whole number away from zero.
std::int64_t whole(const Quantity& quantity) {
  if (const auto number = quantity.as_int64()) return *number;
  const double exact = quantity.as_double();
  return static_cast<std::int64_t>(exact < 0 ? std::floor(exact) : std::ceil(exact));
}

void check_options(const Field& options, const Quantity& usual, const Quantity& capacity) {
  const auto items = options.items();
  for (std::size_t i = 1; i < items.size(); ++i) {
    const Quantity here = items[i].quantity_or_zero();
    if (items[i - 1].quantity_or_zero().compare(here) <= 0) continue;
    items[i].invalid_as(shown(here), "values must be sorted in ascending order");
  }
  bool found = false;
  check_list(options, kMostOptions, [&](const Field& option) {
    const Quantity here = option.quantity_or_zero();
    found = found || here.compare(usual) == 0;
    if (here.compare(capacity) <= 0) return;
    option.invalid_as(shown(here),
                      "option is larger than capacity value: " + quantity_text(capacity));
  });
  if (items.size() <= kMostOptions) {
    check_distinct(options, [](const Field& option) {
      return go_quoted(std::to_string(whole(option.quantity_or_zero())));
    });
  }
  if (found) return;
  options.invalid_as(shown(usual), "default value is not valid according to the requestPolicy");
}

void check_steps(const Field& step, const Quantity& from, const Quantity& to) {
  const std::int64_t by = whole(step.quantity_or_zero());
  // The server breaks off at a step of nothing, and answers nothing at all.
  if (by == 0 || by == -1) return;
  const auto distance = static_cast<std::int64_t>(static_cast<std::uint64_t>(whole(to)) -
                                                  static_cast<std::uint64_t>(whole(from)));
  if (distance % by == 0) return;
  step.invalid_as(shown(to),
                  fmt::format("value is not a multiple of a given step ({}) from ({})",
                              quantity_text(step.quantity_or_zero()), quantity_text(from)));
}

void check_range(const Field& range, const Quantity& usual, const Quantity& capacity) {
  const Field least = range["min"];
  const Field most = range["max"];
  const Field step = range["step"];
  if (!least.present()) return least.required("required when validRange is defined");
  const Quantity min = least.quantity_or_zero();
  const Quantity max = most.quantity_or_zero();
  const auto larger = [](const Field& at, const Quantity& what, const Quantity& than,
                         const char* words) {
    if (what.compare(than) > 0) at.invalid_as(shown(what), words + quantity_text(than));
  };
  larger(least, min, capacity, "min is larger than capacity value: ");
  if (usual.compare(min) < 0) {
    least.invalid_as(shown(usual), "default is less than min: " + quantity_text(min));
  }
  if (most.present()) {
    larger(most, min, max, "min is larger than max: ");
    larger(most, max, capacity, "max is larger than capacity value: ");
    larger(most, usual, max, "default is more than max: ");
  }
  if (!step.present()) return;
  const Quantity first = min.plus(step.quantity_or_zero());
  if (first.compare(capacity) > 0) {
    step.invalid_as(shown(step.quantity_or_zero()),
                    fmt::format("one step {} is larger than capacity value: {}",
                                quantity_text(first), quantity_text(capacity)));
  }
  check_steps(step, min, usual);
  if (most.present()) check_steps(step, min, max);
}

// `shared`: several claims may have parts of the device.
void check_capacity(const Field& capacity, bool shared) {
  const Field policy = capacity["requestPolicy"];
  if (!policy.present()) return;
  if (!shared) return policy.forbidden("allowMultipleAllocations must be true");
  const Field options = policy["validValues"];
  const Field range = policy["validRange"];
  if (!options.empty() && range.present()) {
    return policy.forbidden(
        "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at "
        "the same time");
  }
  if (options.empty() && !range.present()) return;
  const Field usual = policy["default"];
  if (!usual.present()) {
    return usual.required(
        fmt::format("required when {} is defined", options.empty() ? "validRange" : "validValues"));
  }
  if (!options.empty())
    return check_options(options, usual.quantity_or_zero(), capacity["value"].quantity_or_zero());
  check_range(range, usual.quantity_or_zero(), capacity["value"].quantity_or_zero());
}

void check_taint(const Field& taint) {
  const Field key = taint["key"];
  const Field value = taint["value"];
  key.invalid_each(qualified_problems(key.text()));
  if (!value.empty()) value.invalid_each(label_value_problems(value.text()));
  const Field effect = taint["effect"];
  if (effect.empty()) return effect.required();
  effect.one_of({"NoExecute", "NoSchedule", "None"});
}

// Of a set of counters, and of what a device takes of one. `name`: of the field with its name.
void check_counters(const Field& set, const char* name) {
  if (set[name].empty()) set[name].required();
  if (!set[name].empty()) check_device_label(set[name]);
  const Field counters = set["counters"];
  if (counters.empty()) return counters.required();
  if (counters.size() > kMostCounters) return counters.too_many(kMostCounters);
  for (const auto& [key, value] : counters.entries()) {
    for (const auto& problem : label_problems(key)) {
      counters.invalid_as(go_quoted(key), problem);
    }
  }
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
  spec.invalid_as(go_quoted("{" + base::join(ways, ", ") + "}"),
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
  device.invalid_as(go_quoted("{" + base::join(ways, ", ") + "}"), one);
}

// `before`: the devices of the live slice. `each`: as above.
void check_device(const Field& device, const std::vector<Field>& before, bool each) {
  check_device_label(device["name"]);
  const Field attributes = device["attributes"];
  const Field capacity = device["capacity"];
  const auto limit = [&device](std::size_t count, std::size_t most, const char* what) {
    if (count <= most) return;
    device.invalid_as(std::to_string(count),
                      fmt::format("the total number of {} must not exceed {}", what, most));
  };
  limit(attributes.size() + capacity.size(), kMostAttributes, "attributes and capacities");
  limit(attributes.size(), kMostAttributeValues, "attribute values");
  check_entries(attributes, check_attribute_key, check_attribute);
  const bool shared = device["allowMultipleAllocations"].is_true();
  check_entries(capacity, check_attribute_key,
                [shared](const Field& one) { check_capacity(one, shared); });
  const bool same_taints = std::any_of(before.begin(), before.end(), [&device](const Field& one) {
    return one["name"].text() == device["name"].text() &&
           same_field(one["taints"], device["taints"]);
  });
  if (!same_taints) check_list(device["taints"], kMostTaints, check_taint);
  check_set(device["consumesCounters"], kMostConsumedSets, "counterSet",
            [](const Field& consumed) { check_counters(consumed, "counterSet"); });
  check_nodes_of_device(device, each);
  check_binding_conditions(device);
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
  std::vector<Field> before;
  if (live != nullptr) {
    const Field old = Field(*live, object.errors())["spec"];
    spec["pool"]["name"].immutable(old["pool"]["name"]);
    spec["driver"].immutable(old["driver"]);
    spec["nodeName"].immutable(old["nodeName"]);
    before = old["devices"].items();
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
            [&](const Field& device) { check_device(device, before, each); });
  check_set(counters, kMostCounterSets, "name",
            [](const Field& set) { check_counters(set, "name"); });
}

}  // namespace kubewatch::builtin
