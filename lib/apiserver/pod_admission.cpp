#include "apiserver/pod_admission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "apiserver/status.hpp"
#include "base/quantity.hpp"
#include "base/strings.hpp"
#include "builtin/checks.hpp"

namespace kubewatch::apiserver {

namespace {

using base::int_at;
using base::string_at;

constexpr const char* kPods = "pods";
constexpr const char* kPriorityClasses = "priorityclasses.scheduling.k8s.io";
constexpr const char* kRuntimeClasses = "runtimeclasses.node.k8s.io";
constexpr const char* kPreempts = "PreemptLowerPriority";

struct Priority {
  std::string name;
  std::int64_t value = 0;
  std::string preemption = kPreempts;
};

Priority priority_of(const Json& priority_class) {
  Priority out;
  out.name = string_at(priority_class, {"metadata", "name"});
  out.value = int_at(priority_class, {"value"}).value_or(0);
  out.preemption = string_at(priority_class, {"preemptionPolicy"});
  return out;
}

// Of several, which only a race makes, the lowest.
std::optional<Priority> default_priority(const Storage& storage) {
  std::optional<Priority> out;
  storage.each(kPriorityClasses, "", "", [&out](const ObjectPtr& object) {
    const Json* is_default = base::find(object->json(), {"globalDefault"});
    if (is_default == nullptr || *is_default != true) return true;
    Priority one = priority_of(object->json());
    if (!out || one.value < out->value) out = std::move(one);
    return true;
  });
  return out;
}

std::optional<Priority> find_priority(const Storage& storage, const std::string& name) {
  if (name.empty()) return default_priority(storage).value_or(Priority());
  const ObjectPtr object = storage.get(kPriorityClasses, object_key("", name));
  return object ? std::optional(priority_of(object->json())) : std::nullopt;
}

Result<void> admit_priority(const Storage& storage, const Subject& subject, Json& spec) {
  const std::string name = string_at(spec, {"priorityClassName"});
  const auto priority = find_priority(storage, name);
  if (!priority) {
    return forbidden(subject, fmt::format("no PriorityClass with name {} was found", name));
  }
  const auto given = int_at(spec, {"priority"});
  if (given && *given != priority->value) {
    return forbidden(
        subject, fmt::format("the integer value of priority ({}) must not be provided in pod spec; "
                             "priority admission controller computed {} from the given "
                             "PriorityClass name",
                             *given, priority->value));
  }
  const Json* policy = base::find(spec, {"preemptionPolicy"});
  const bool says = policy != nullptr && policy->is_string();
  if (says && !priority->preemption.empty() && *policy != priority->preemption) {
    return forbidden(
        subject,
        fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod spec; "
                    "priority admission controller computed {} from the given PriorityClass name",
                    string_at(spec, {"preemptionPolicy"}), priority->preemption));
  }
  if (!priority->name.empty()) spec["priorityClassName"] = priority->name;
  spec["priority"] = priority->value;
  if (!priority->preemption.empty()) spec["preemptionPolicy"] = priority->preemption;
  return {};
}

bool is_given(const Json* value) {
  return value != nullptr && !value->is_null();
}

// The name that a Pod was sent with, before one was made of its generateName.
std::string sent_name(const Json& object) {
  constexpr std::size_t kMostBase = 58;
  constexpr std::size_t kSuffix = 5;
  std::string name = string_at(object, {"metadata", "name"});
  std::string base_name = string_at(object, {"metadata", "generateName"});
  const std::string start = base_name.substr(0, kMostBase);
  const bool made =
      !start.empty() && name.starts_with(start) && name.size() == start.size() + kSuffix;
  return made ? base_name : name;
}

// Null where the Pod wants none.
Result<ObjectPtr> runtime_class(const Storage& storage, const Subject& subject, const Json& spec) {
  const Json* name = base::find(spec, {"runtimeClassName"});
  if (!is_given(name)) return ObjectPtr();
  const std::string text = string_at(spec, {"runtimeClassName"});
  if (text.empty()) return api_error(500, "", "resource name may not be empty", std::nullopt);
  if (const auto problems = builtin::path_segment_problems(text); !problems.empty()) {
    const std::string all = base::join(problems, " ");
    return api_error(500, "", fmt::format("invalid resource name \"{}\": [{}]", text, all),
                     std::nullopt);
  }
  ObjectPtr found = storage.get(kRuntimeClasses, object_key("", text));
  if (found) return found;
  return forbidden(subject, fmt::format("pod rejected: RuntimeClass \"{}\" not found", text));
}

bool is_same_amount(const Json& a, const Json& b) {
  const auto amount = [](const Json& value) {
    return value.is_string() ? base::Quantity::parse(value.get_ref<const std::string&>())
                             : base::Quantity::parse(base::dump_json(value));
  };
  const auto left = amount(a);
  const auto right = amount(b);
  return left && right ? left->compare(*right) == 0 : a == b;
}

bool is_same_overhead(const Json* fixed, const Json& given) {
  if (!is_given(fixed) || !fixed->is_object() || fixed->size() != given.size()) return false;
  for (const auto& [name, amount] : given.items()) {
    if (!fixed->contains(name) || !is_same_amount(fixed->at(name), amount)) return false;
  }
  return true;
}

Result<void> admit_overhead(const Subject& subject, const Json& runtime, Json& spec) {
  if (!is_given(base::find(runtime, {"overhead"}))) return {};
  const Json* fixed = base::find(runtime, {"overhead", "podFixed"});
  const Json* given = base::find(spec, {"overhead"});
  const bool says = given != nullptr && given->is_object() && !given->empty();
  if (says && !is_same_overhead(fixed, *given)) {
    return forbidden(subject,
                     "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  if (is_given(fixed)) {
    spec["overhead"] = *fixed;
  } else {
    spec.erase("overhead");
  }
  return {};
}

struct Toleration {
  std::string key;
  std::string op;
  std::string value;
  std::string effect;
  std::optional<std::int64_t> seconds;
  auto operator<=>(const Toleration&) const = default;
};

Toleration read_toleration(const Json& one) {
  Toleration out;
  out.key = string_at(one, {"key"});
  out.op = string_at(one, {"operator"});
  out.value = string_at(one, {"value"});
  out.effect = string_at(one, {"effect"});
  out.seconds = int_at(one, {"tolerationSeconds"});
  return out;
}

// How long: without a time it is for ever, and other effects know none.
std::optional<std::int64_t> reach(const Toleration& one) {
  return one.effect == "NoExecute" ? one.seconds : std::nullopt;
}

bool is_longer(const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b) {
  return a && b ? *a > *b : !a && b;
}

// Asked whether another toleration tolerates all that one does. There may be many thousands: they
// are kept by what they match, and of those that match the same only the two that last longest,
// as the one that is asked for may be the first.
class WideTolerations {
 public:
  void add(const Toleration& one) {
    if (one.op != "Exists" && one.op != "Equal" && !one.op.empty()) return;
    auto& longest = by_match_[{one.key, one.effect, matched(one)}];
    if (std::find(longest.begin(), longest.end(), one) != longest.end()) return;
    const auto at = std::find_if(longest.begin(), longest.end(), [&](const Toleration& other) {
      return is_longer(reach(one), reach(other));
    });
    longest.insert(at, one);
    if (longest.size() > 2) longest.pop_back();
  }

  bool cover(const Toleration& one) const {
    const bool any_key = one.key.empty();
    if (one.op == "Equal" && has(one, one.key, one.value)) return true;
    return has(one, one.key, std::nullopt) || (!any_key && has(one, "", std::nullopt));
  }

 private:
  using Value = std::optional<std::string>;  // none: any

  static Value matched(const Toleration& one) {
    return one.op == "Exists" ? Value() : Value(one.value);
  }

  bool has(const Toleration& one, const std::string& key, const Value& value) const {
    return has(one, key, one.effect, value) || has(one, key, "", value);
  }

  bool has(const Toleration& one, const std::string& key, const std::string& effect,
           const Value& value) const {
    const auto found = by_match_.find({key, effect, value});
    if (found == by_match_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const Toleration& wide) {
      return wide != one && !is_longer(one.seconds, reach(wide));
    });
  }

  std::map<std::tuple<std::string, std::string, Value>, std::vector<Toleration>> by_match_;
};

// Those of both that no other covers; of equal ones the first.
Json merged_tolerations(const Json& first, const Json& second) {
  Json all = Json::array();
  for (const Json* list : {&first, &second}) {
    for (const Json& one : *list) all.push_back(one);
  }
  std::vector<Toleration> read;
  for (const Json& one : all) read.push_back(read_toleration(one));
  WideTolerations later;
  std::vector<bool> covered(read.size());
  for (std::size_t i = read.size(); i-- > 0;) {
    covered[i] = later.cover(read[i]);
    later.add(read[i]);
  }
  WideTolerations wide;
  std::set<Toleration> kept;
  Json out = Json::array();
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (covered[i] || wide.cover(read[i]) || !kept.insert(read[i]).second) continue;
    wide.add(read[i]);
    out.push_back(all[i]);
  }
  return out;
}

Result<void> admit_nodes(const Subject& subject, const Json& wanted, Json& spec) {
  const Json* given = base::find(spec, {"nodeSelector"});
  Json selector = given != nullptr && given->is_object() ? *given : Json::object();
  const Json* labels = base::find(wanted, {"nodeSelector"});
  if (labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      if (selector.contains(key) && selector[key] != value) {
        return forbidden(
            subject, fmt::format("conflict: runtimeClass.scheduling.nodeSelector[{}] "
                                 "= {}; pod.spec.nodeSelector[{}] = {}",
                                 key, string_at(*labels, {key}), key, string_at(selector, {key})));
      }
      selector[key] = value;
    }
    spec["nodeSelector"] = std::move(selector);
  }
  spec["tolerations"] = merged_tolerations(base::items_at(spec, {"tolerations"}),
                                           base::items_at(wanted, {"tolerations"}));
  return {};
}

Result<void> check_overhead(const Storage& storage, const Resource& resource, const Json& pod,
                            bool sent) {
  const Json* spec = base::find(pod, {"spec"});
  if (spec == nullptr || (!sent && !is_given(base::find(*spec, {"overhead"})))) return {};
  const Subject subject = resource.subject(string_at(pod, {"metadata", "name"}));
  KW_ASSIGN(const ObjectPtr runtime, runtime_class(storage, subject, *spec));
  if (runtime && is_given(base::find(runtime->json(), {"overhead"}))) return {};
  return forbidden(
      subject,
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
}

Result<void> check_one_default(const Storage& storage, const Resource& resource, const Json* live,
                               const Json& object) {
  const Json* is_default = base::find(object, {"globalDefault"});
  if (is_default == nullptr || *is_default != true) return {};
  const auto other = default_priority(storage);
  const std::string name = string_at(object, {"metadata", "name"});
  if (!other || (live != nullptr && other->name == name)) return {};
  return forbidden(
      resource.subject(name),
      fmt::format("PriorityClass {} is already marked as default. Only one default can exist",
                  other->name));
}

}  // namespace

Result<void> admit_new(const Storage& storage, const Resource& resource, Json& object) {
  Json* spec = base::find(object, {"spec"});
  if (resource.storage_id != kPods || spec == nullptr || !spec->is_object()) return {};
  const Subject subject = resource.subject(sent_name(object));
  KW_TRY(admit_priority(storage, subject, *spec));
  KW_ASSIGN(const ObjectPtr runtime, runtime_class(storage, subject, *spec));
  if (!runtime) return {};
  KW_TRY(admit_overhead(subject, runtime->json(), *spec));
  const Json* wanted = base::find(runtime->json(), {"scheduling"});
  if (!is_given(wanted)) return {};
  return admit_nodes(subject, *wanted, *spec);
}

bool sends_overhead(const Resource& resource, const Json& sent) {
  const Json* overhead = base::find(sent, {"spec", "overhead"});
  return resource.storage_id == kPods && overhead != nullptr && overhead->is_object();
}

Result<void> check_admitted(const Storage& storage, const Resource& resource, const Json* live,
                            const Json& object, bool sent_overhead) {
  if (resource.storage_id == kPriorityClasses) {
    return check_one_default(storage, resource, live, object);
  }
  if (resource.storage_id != kPods || live != nullptr) return {};
  return check_overhead(storage, resource, object, sent_overhead);
}

}  // namespace kubewatch::apiserver
