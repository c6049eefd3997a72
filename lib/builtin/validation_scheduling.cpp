// Where a Pod may run: affinity, tolerations, topology spread.
#include <fmt/format.h>

#include <map>

#include "base/strings.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

// Values of preferred terms are not looked at.
enum class Strictness { keys, values };

void check_node_requirement(const Field& requirement, Strictness strictness) {
  const Field op = requirement["operator"];
  const Field values = requirement["values"];
  if (op.is("Gt") || op.is("Lt")) {
    if (values.size() != 1) {
      values.required("must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else if (!check_set_operator(requirement)) {
    op.invalid_text("not a valid selector operator");
  }
  const Field key = requirement["key"];
  key.invalid_each(qualified_problems(key.text()));
  if (strictness == Strictness::keys) return;
  for (const auto& value : values.items()) value.invalid_each(label_value_problems(value.text()));
}

void check_node_field(const Field& requirement) {
  const Field op = requirement["operator"];
  const Field values = requirement["values"];
  if (!op.is("In") && !op.is("NotIn")) {
    op.invalid_text("not a valid selector operator");
  } else if (values.size() != 1) {
    values.required(
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  const Field key = requirement["key"];
  if (!key.is("metadata.name")) return key.invalid_text("not a valid field selector key");
  for (const auto& value : values.items()) value.invalid_each(subdomain_problems(value.text()));
}

void check_node_term(const Field& term, Strictness strictness) {
  for (const auto& one : term["matchExpressions"].items()) check_node_requirement(one, strictness);
  for (const auto& one : term["matchFields"].items()) check_node_field(one);
}

void check_label_keys(const Field& keys, const Field& selector) {
  if (keys.empty()) return;
  if (!selector.present()) {
    return keys.forbidden("must not be specified when labelSelector is not set");
  }
  for (const auto& key : keys.items()) key.invalid_each(qualified_problems(key.text()));
}

// Keys that are chosen by the value that the Pod has.
void check_match_keys(const Field& term) {
  const Field selector = term["labelSelector"];
  const Field match = term["matchLabelKeys"];
  const Field mismatch = term["mismatchLabelKeys"];
  check_label_keys(match, selector);
  check_label_keys(mismatch, selector);
  std::map<std::string, std::size_t> place;
  std::size_t index = 0;
  for (const auto& key : match.items()) place[key.text()] = index++;
  std::set<std::string> selected;
  for (const auto& [key, value] : selector["matchLabels"].entries()) selected.insert(key);
  for (const auto& one : selector["matchExpressions"].items()) {
    const std::string key = one["key"].text();
    const auto at = place.find(key);
    if (at != place.end() && selected.count(key) != 0) {
      one["key"]
          .at(fmt::format("{}[{}]", term.path(), at->second))
          .invalid("exists in both matchLabelKeys and labelSelector");
    }
    selected.insert(key);
  }
  std::set<std::string> mismatched;
  for (const auto& key : mismatch.items()) mismatched.insert(key.text());
  for (const auto& key : match.items()) {
    if (mismatched.count(key.text()) == 0) continue;
    key.invalid("exists in both matchLabelKeys and mismatchLabelKeys");
  }
}

void check_pod_term(const Field& term) {
  check_label_selector(term["labelSelector"]);
  check_label_selector(term["namespaceSelector"]);
  for (const auto& name : term["namespaces"].items()) {
    name.at(term.path() + ".namespace").invalid_each(label_problems(name.text()));
  }
  check_match_keys(term);
  const Field key = term["topologyKey"];
  if (key.empty()) key.required("can not be empty");
  key.invalid_each(qualified_problems(key.text()));
}

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

void check_weight(const Field& weight) {
  const std::int64_t value = weight.number_or(0);
  if (value >= 1 && value <= 100) return;
  weight.invalid_as(std::to_string(value), "must be in the range 1-100");
}

void check_pod_affinity(const Field& affinity) {
  for (const auto& term : affinity[kRequired].items()) check_pod_term(term);
  for (const auto& weighted : affinity[kPreferred].items()) {
    check_weight(weighted["weight"]);
    check_pod_term(weighted["podAffinityTerm"]);
  }
}

void check_toleration(const Field& toleration) {
  const Field key = toleration["key"];
  const Field op = toleration["operator"];
  const Field effect = toleration["effect"];
  const Field value = toleration["value"];
  if (!key.empty()) key.invalid_each(qualified_problems(key.text()));
  if (key.empty() && !op.is("Exists")) {
    op.invalid_text(
        "operator must be Exists when `key` is empty, which means \"match all values and all "
        "keys\"");
  }
  if (toleration["tolerationSeconds"].present() && !effect.is("NoExecute")) {
    effect.invalid_text("effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  const Field told = value.at(op.path());
  if (op.empty() || op.is("Equal")) {
    const auto problems = label_value_problems(value.text());
    if (!problems.empty()) told.invalid(base::join(problems, ";"));
  } else if (op.is("Exists")) {
    if (!value.empty()) told.invalid("value must be empty when `operator` is 'Exists'");
  } else {
    const bool ordered = op.is("Lt") || op.is("Gt");
    op.not_supported(ordered ? Values{"Equal", "Exists", "Lt", "Gt"} : Values{"Equal", "Exists"});
  }
  if (!effect.empty()) check_taint_effect(effect);
}

// The key of a constraint, which is to be there once.
std::string spread_key(const Field& constraint) {
  return fmt::format("{{{}, {}}}", constraint["topologyKey"].text(),
                     constraint["whenUnsatisfiable"].text());
}

}  // namespace

void check_node_selector(const Field& selector) {
  const Field terms = selector["nodeSelectorTerms"];
  if (terms.empty()) return terms.required("must have at least one node selector term");
  for (const auto& term : terms.items()) check_node_term(term, Strictness::values);
}

void check_affinity(const Field& affinity) {
  const Field nodes = affinity["nodeAffinity"];
  if (nodes[kRequired].present()) check_node_selector(nodes[kRequired]);
  for (const auto& term : nodes[kPreferred].items()) {
    check_weight(term["weight"]);
    check_node_term(term["preference"], Strictness::keys);
  }
  check_pod_affinity(affinity["podAffinity"]);
  check_pod_affinity(affinity["podAntiAffinity"]);
}

void check_taint_effect(const Field& effect) {
  effect.one_of({"NoSchedule", "PreferNoSchedule", "NoExecute"});
}

void check_tolerations(const Field& tolerations) {
  for (const auto& toleration : tolerations.items()) check_toleration(toleration);
}

void check_topology_spread(const Field& constraints) {
  const auto all = constraints.items();
  std::map<std::string, std::size_t> ahead;  // how many constraints with a key are still to come
  for (const auto& one : all) ++ahead[spread_key(one)];
  for (const auto& one : all) {
    const std::int64_t skew = one["maxSkew"].number_or(0);
    if (skew <= 0) one["maxSkew"].invalid_as(std::to_string(skew), "must be greater than zero");
    if (one["topologyKey"].empty()) one["topologyKey"].required("can not be empty");
    const Field action = one["whenUnsatisfiable"];
    if (!action.is("DoNotSchedule") && !action.is("ScheduleAnyway")) {
      action.not_supported({"DoNotSchedule", "ScheduleAnyway"});
    }
    const std::string once = spread_key(one);
    if (--ahead[once] > 0) {
      one.errors().push_back(
          field_duplicate(one.path() + ".{topologyKey, whenUnsatisfiable}", go_quoted(once)));
    }
    const Field domains = one["minDomains"];
    if (domains.number_or(1) <= 0) domains.invalid("must be greater than zero");
    if (domains.present() && !action.is("DoNotSchedule")) {
      domains.invalid(fmt::format(
          "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}", action.text()));
    }
    for (const char* key : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
      one[key].one_of({"Honor", "Ignore"});
    }
    check_match_keys(one);
    check_label_selector(one["labelSelector"]);
  }
}

}  // namespace kubewatch::builtin
