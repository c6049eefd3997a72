// Conditions of a status in the form that newer kinds share.
#include <algorithm>

#include "base/ascii.hpp"
#include "builtin/checks.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::size_t kMostConditionReason = 1024;
constexpr std::size_t kMostConditionMessage = std::size_t{32} << 10U;

void check_condition_reason(const Field& reason) {
  const std::string text = reason.text();
  if (text.empty()) return reason.required();
  const auto fits = [](char c) {
    return base::is_alphanumeric(c) || c == '_' || c == ',' || c == ':';
  };
  const bool good = std::all_of(text.begin(), text.end(), fits) && base::is_letter(text.front()) &&
                    (base::is_alphanumeric(text.back()) || text.back() == '_');
  if (!good) {
    reason.invalid(shape_sentence(
        "a condition reason must start with alphabetic character, optionally followed by a string "
        "of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
        {"my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"},
        "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"));
  }
  if (text.size() > kMostConditionReason) reason.too_long(kMostConditionReason);
}

}  // namespace

void check_conditions(const Field& conditions) {
  std::set<std::string> types;
  for (const auto& condition : conditions.items()) {
    const Field type = condition["type"];
    if (!types.insert(type.text()).second) type.duplicate();
    type.invalid_each(qualified_problems(type.text()));
    const Field status = condition["status"];
    if (!status.is("True") && !status.is("False") && !status.is("Unknown")) {
      status.not_supported({"False", "True", "Unknown"});
    }
    const Field generation = condition["observedGeneration"];
    if (generation.number_or(0) < 0) {
      generation.invalid("must be greater than or equal to zero");
    }
    if (condition["lastTransitionTime"].empty()) condition["lastTransitionTime"].required();
    check_condition_reason(condition["reason"]);
    if (condition["message"].size() > kMostConditionMessage)
      condition["message"].too_long(kMostConditionMessage);
  }
}

}  // namespace kubewatch::builtin
