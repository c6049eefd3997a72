// What limits and ranks Pods: quotas, ranges of limits, priority classes, runtime classes.
#include <fmt/format.h>

#include <map>

#include "builtin/go_values.hpp"
#include "builtin/system_priorities.hpp"
#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

void check_quota_name(const Field& amount, const std::string& name) {
  check_resource_name(amount, name);
  if (name.find('/') != std::string::npos || is_quota_resource(name)) return;
  amount.invalid_as(json_text(name), "must be a standard resource for quota");
}

const Values kScopes = {"Terminating",
                        "NotTerminating",
                        "BestEffort",
                        "NotBestEffort",
                        "PriorityClass",
                        "VolumeAttributesClass",
                        "CrossNamespacePodAffinity"};

bool is_scope(const std::string& scope) {
  return is_one(scope, kScopes);
}

bool limits_scope(const std::string& scope, const std::string& resource) {
  static const Values compute = {"cpu",           "memory",       "limits.cpu",
                                 "limits.memory", "requests.cpu", "requests.memory"};
  if (scope == "VolumeAttributesClass") {
    return resource == "persistentvolumeclaims" || resource == "requests.storage";
  }
  return resource == "pods" || (scope != "BestEffort" && is_one(resource, compute));
}

// How many of the resources each scope cannot limit: asked once, as there may be as many scopes as
// resources.
std::map<std::string, std::size_t> misfits_of(const Field& hard) {
  std::map<std::string, std::size_t> out;
  for (const auto& [resource, amount] : hard.entries()) {
    if (!is_quota_resource(resource)) continue;
    for (const std::string& scope : kScopes) {
      if (!limits_scope(scope, resource)) ++out[scope];
    }
  }
  return out;
}

// `shown`: the whole list, which each is told with.
void tell_misfits(const Field& list, const std::string& shown, std::size_t count) {
  for (std::size_t i = 0; i < count && !list.errors().full(); ++i) {
    list.invalid_as(shown, "unsupported scope applied to resource");
  }
}

void check_conflicts(const Field& told, const std::string& shown,
                     const std::set<std::string>& scopes) {
  for (const auto& [one, other] :
       {std::pair{"BestEffort", "NotBestEffort"}, std::pair{"Terminating", "NotTerminating"}}) {
    if (scopes.count(one) == 0 || scopes.count(other) == 0) continue;
    told.invalid_as(shown, "conflicting scopes");
  }
}

void check_scopes(const Field& spec) {
  const Field scopes = spec["scopes"];
  auto misfits = misfits_of(spec["hard"]);
  const std::string shown = scopes.shown();
  std::set<std::string> seen;
  for (const auto& scope : scopes.items()) {
    if (scopes.errors().full()) break;
    const std::string name = scope.text();
    if (!is_scope(name)) scopes.invalid_as(shown, "unsupported scope");
    tell_misfits(scopes, shown, misfits[name]);
    seen.insert(name);
  }
  check_conflicts(scopes, shown, seen);
}

bool only_exists(const std::string& scope) {
  return is_scope(scope) && scope != "PriorityClass" && scope != "VolumeAttributesClass";
}

// In the form of the server's own type.
std::string scope_selector_text(const Field& list) {
  std::string out;
  for (const auto& one : list.items()) {
    if (!out.empty()) out += ",";
    out += fmt::format("{{\"ScopeName\":{},\"Operator\":{},\"Values\":{}}}",
                       json_text(one["scopeName"].text()), json_text(one["operator"].text()),
                       one["values"].shown());
  }
  return "{\"MatchExpressions\":[" + out + "]}";
}

void check_scope_selector(const Field& spec) {
  const Field list = spec["scopeSelector"]["matchExpressions"];
  auto misfits = misfits_of(spec["hard"]);
  const std::string shown = scope_selector_text(list);
  std::set<std::string> seen;
  for (const auto& one : list.items()) {
    const auto told = [&](const char* key) { return one[key].at(list.path() + "." + key); };
    const Field scope = told("scopeName");
    const Field op = told("operator");
    const Field values = told("values");
    if (!is_scope(scope.text())) scope.invalid_text("unsupported scope");
    tell_misfits(list, shown, misfits[scope.text()]);
    if (only_exists(scope.text()) && !op.is("Exists")) {
      op.invalid_text(
          "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
          "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
          "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity");
    }
    if (op.is("In") || op.is("NotIn")) {
      if (values.empty()) {
        values.required(
            "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
      }
    } else if (op.is("Exists") || op.is("DoesNotExist")) {
      if (!values.empty()) {
        values.invalid(
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
      }
    } else {
      op.invalid_text("not a valid selector operator");
    }
    seen.insert(scope.text());
  }
  check_conflicts(list, spec["scopes"].shown(), seen);
}

}  // namespace

void check_resource_quota(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  for (const auto& [name, amount] : spec["hard"].entries()) {
    check_quota_name(amount, name);
    check_resource_amount(name, amount);
  }
  check_scopes(spec);
  check_scope_selector(spec);
  if (live == nullptr) return;
  const Field scopes = spec["scopes"];
  if (scopes.texts() == Field(*live, object.errors())["spec"]["scopes"].texts()) return;
  scopes.invalid("field is immutable");
}

void check_resource_quota_status(const Field& object, const Json* /*live*/) {
  for (const char* key : {"hard", "used"}) {
    const Field amounts = object["status"][key];
    for (const auto& [name, amount] : amounts.entries()) {
      check_quota_name(amount, name);
      check_resource_amount(name, amount);
    }
  }
}

namespace {

// One amount of a limit, or none.
class Amount {
 public:
  Amount(const Field& limit, const char* key, const std::string& name)
      : place_(limit[key][name].at(fmt::format("{}[{}]", limit[key].path(), name))),
        quantity_(place_.quantity()) {}

  bool exceeds(const Amount& other) const {
    return quantity_ && other.quantity_ && quantity_->compare(*other.quantity_) > 0;
  }
  bool differs(const Amount& other) const {
    return quantity_ && other.quantity_ && quantity_->compare(*other.quantity_) != 0;
  }
  std::string text() const { return quantity_ ? quantity_text(*quantity_) : ""; }
  double value() const { return quantity_ ? quantity_->as_double() : 0; }
  explicit operator bool() const { return quantity_.has_value(); }
  const Field& place() const { return place_; }

 private:
  Field place_;
  std::optional<base::Quantity> quantity_;
};

void tell(const Amount& at, const Amount& shown, const std::string& detail) {
  at.place().invalid_as(go_quoted(shown.text()), detail);
}

void check_order(const Amount& less, const char* name, const Amount& more, const char* other,
                 const Amount& at, const Amount& shown) {
  if (!less.exceeds(more)) return;
  tell(at, shown,
       fmt::format("{} value {} is greater than {} value {}", name, less.text(), other,
                   more.text()));
}

void check_ratio(const Amount& ratio, const Amount& min, const Amount& max) {
  if (!ratio) return;
  if (ratio.value() < 1) tell(ratio, ratio, fmt::format("ratio {} is less than 1", ratio.text()));
  if (!min || !max || min.value() == 0) return;
  const double most = max.value() / min.value();
  if (ratio.value() <= most) return;
  tell(ratio, ratio, fmt::format("ratio {} is greater than max/min = {:f}", ratio.text(), most));
}

void check_amounts(const Field& limit, const std::string& name) {
  const bool pod = limit["type"].is("Pod");
  const Amount min(limit, "min", name);
  const Amount max(limit, "max", name);
  const Amount ratio(limit, "maxLimitRequestRatio", name);
  check_order(min, "min", max, "max", min, min);
  if (!pod) {
    const Amount most(limit, "default", name);
    const Amount least(limit, "defaultRequest", name);
    check_order(min, "min", least, "default request", least, least);
    check_order(least, "default request", max, "max", least, least);
    check_order(least, "default request", most, "default limit", least, least);
    check_order(min, "min", most, "default", most, min);
    check_order(most, "default", max, "max", most, max);
    check_ratio(ratio, min, max);
    if (may_overcommit(name) || !most.differs(least)) return;
    return tell(least, least,
                fmt::format("default value {} must equal to defaultRequest value {} in {}",
                            most.text(), least.text(), name));
  }
  check_ratio(ratio, min, max);
}

void check_limit_type(const Field& type) {
  const std::string text = type.text();
  const auto problems = qualified_problems(text);
  type.invalid_each(problems);
  if (!problems.empty() || text.find('/') != std::string::npos) return;
  if (is_one(text, {"Pod", "Container", "PersistentVolumeClaim"})) return;
  type.invalid_text("must be a standard limit type or fully qualified");
}

// Adds the resources that are named.
void check_limit_names(const Field& limit, const char* key, std::set<std::string>& names) {
  const bool pods = limit["type"].is("Pod") || limit["type"].is("Container");
  for (const auto& [name, amount] : limit[key].entries()) {
    if (pods) {
      check_container_resource_name(amount, name);
    } else {
      check_resource_name(amount, name);
    }
    names.insert(name);
  }
}

void check_limit(const Field& limit) {
  std::set<std::string> names;
  check_limit_names(limit, "max", names);
  check_limit_names(limit, "min", names);
  for (const char* key : {"default", "defaultRequest"}) {
    if (!limit["type"].is("Pod")) {
      check_limit_names(limit, key, names);
    } else if (!limit[key].empty()) {
      limit[key].forbidden("may not be specified when `type` is 'Pod'");
    }
  }
  const bool sized = limit["min"]["storage"].present() || limit["max"]["storage"].present();
  if (limit["type"].is("PersistentVolumeClaim") && !sized) {
    limit["limits"].required(
        "either minimum or maximum storage value is required, but neither was provided");
  }
  check_limit_names(limit, "maxLimitRequestRatio", names);
  for (const auto& name : names) check_amounts(limit, name);
}

}  // namespace

void check_limit_range(const Field& object, const Json* /*live*/) {
  std::set<std::string> types;
  for (const auto& limit : object["spec"]["limits"].items()) {
    const Field type = limit["type"];
    check_limit_type(type);
    if (!types.insert(type.text()).second) type.duplicate();
    check_limit(limit);
  }
}

namespace {

constexpr std::int64_t kMostPriority = 1000000000;
constexpr const char* kReserved =
    "priority class names with 'system-' prefix are reserved for system use only. error: ";

// "" where it is one.
std::string why_no_system_priority(const Field& object, const std::string& name) {
  const SystemPriority* known = system_priority(name);
  if (known == nullptr) return name + " is not a known system priority class";
  if (object["value"].number_or(0) != known->value) {
    return fmt::format("value of {} PriorityClass must be {}", name, known->value);
  }
  if (object["globalDefault"].is_true()) {
    return fmt::format("globalDefault of {} PriorityClass must be false", name);
  }
  return "";
}

}  // namespace

void check_priority_class(const Field& object, const Json* live) {
  const Field value = object["value"];
  if (live != nullptr) {
    const Field before(*live, object.errors());
    if (value.number_or(0) != before["value"].number_or(0)) {
      value.forbidden("may not be changed in an update.");
    }
    return object["preemptionPolicy"].immutable(before["preemptionPolicy"]);
  }
  const Field name = object["metadata"]["name"];
  const std::string text = name.text();
  if (text.starts_with("system-")) {
    const std::string why = why_no_system_priority(object, text);
    if (!why.empty()) name.forbidden(kReserved + why);
  } else if (value.number_or(0) > kMostPriority) {
    value.forbidden(
        fmt::format("maximum allowed value of a user defined priority is {}", kMostPriority));
  }
  object["preemptionPolicy"].one_of_required({"PreemptLowerPriority", "Never"});
}

namespace {

// As limits of containers.
void check_overhead(const Field& overhead) {
  Json limits = Json::object();
  if (const Json* fixed = overhead["podFixed"].json()) limits["limits"] = *fixed;
  check_resources(Field(&limits, overhead.path(), overhead.errors()), {});
}

void check_tolerations_once(const Field& tolerations) {
  check_tolerations(tolerations);
  std::set<std::string> seen;
  for (const auto& one : tolerations.items()) {
    Json key = *one.json();
    if (key.is_object()) key.erase("tolerationSeconds");
    if (seen.insert(go_value("Toleration", key)).second) continue;
    one.errors().push_back(field_duplicate(one.path(), go_value("Toleration", *one.json())));
  }
}

}  // namespace

void check_runtime_class(const Field& object, const Json* live) {
  const Field handler = object["handler"];
  if (handler.empty()) {
    handler.required();
  } else {
    handler.invalid_each(label_problems(handler.text()));
  }
  check_overhead(object["overhead"]);
  check_labels(object["scheduling"]["nodeSelector"]);
  check_tolerations_once(object["scheduling"]["tolerations"]);
  if (live != nullptr) handler.immutable(Field(*live, object.errors())["handler"]);
}

}  // namespace kubewatch::builtin
