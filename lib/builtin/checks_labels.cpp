// Labels, annotations and what selects by them: the checks of checks.hpp that many kinds share.
#include "base/strings.hpp"
#include "builtin/checks.hpp"
#include "builtin/go_values.hpp"
#include "core/object_rules.hpp"
#include "core/selector.hpp"

namespace kubewatch::builtin {

void check_labels(const Field& labels) {
  for (const auto& [key, value] : labels.entries()) {
    for (const auto& problem : qualified_problems(key)) {
      labels.invalid_as(go_quoted(key), problem);
    }
    value.at(labels.path()).invalid_each(label_value_problems(value.text()));
  }
}

void check_annotations(const Field& annotations) {
  std::size_t total = 0;
  for (const auto& [key, value] : annotations.entries()) {
    for (const auto& problem : qualified_problems(base::to_lower(key))) {
      annotations.invalid_as(go_quoted(key), problem);
    }
    total += key.size() + value.size();
  }
  if (total > core::kMaxAnnotations) annotations.too_long(core::kMaxAnnotations);
}

void check_template_metadata(const Field& metadata) {
  check_annotations(metadata["annotations"]);
  check_labels(metadata["labels"]);
  // In the order of the server's structure. Of lists and times it counts that they are there.
  for (const char* key :
       {"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences",
        "finalizers", "managedFields"}) {
    const Field field = metadata[key];
    const bool is_id = std::string_view(key) == "uid";
    const bool is_generation = std::string_view(key) == "generation";
    const bool nothing = field.is_text() ? field.empty() : is_generation && field.number_or(0) == 0;
    if (!field.present() || nothing) continue;
    field.at(metadata.path() + (is_id ? ".uID" : std::string(".") + key))
        .forbidden("cannot be set");
  }
}

bool check_set_operator(const Field& requirement) {
  const Field op = requirement["operator"];
  const Field values = requirement["values"];
  if (op.is("In") || op.is("NotIn")) {
    if (values.empty()) values.required("must be specified when `operator` is 'In' or 'NotIn'");
    return true;
  }
  if (!op.is("Exists") && !op.is("DoesNotExist")) return false;
  if (!values.empty()) {
    values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
  return true;
}

namespace {

void check_requirement(const Field& requirement) {
  const Field values = requirement["values"];
  if (!check_set_operator(requirement)) {
    requirement["operator"].invalid_text("not a valid selector operator");
  }
  const Field key = requirement["key"];
  key.invalid_each(qualified_problems(key.text()));
  for (const auto& value : values.items()) value.invalid_each(label_value_problems(value.text()));
}

}  // namespace

void check_label_selector(const Field& selector) {
  check_labels(selector["matchLabels"]);
  for (const auto& one : selector["matchExpressions"].items()) check_requirement(one);
}

std::string selector_text(const Field& selector) {
  return selector.present() ? go_value("metav1.LabelSelector", *selector.json()) : "null";
}

std::optional<bool> selects(const Field& selector, const Field& labels) {
  if (!selector.present()) return false;
  FieldErrors problems;
  check_label_selector(selector.into(problems));
  const auto parsed = core::LabelSelector::from_json(*selector.json());
  if (!problems.empty() || !parsed) return std::nullopt;
  core::Labels all;
  for (const auto& [key, value] : labels.entries()) all.emplace_back(key, value.text());
  return parsed.value().matches(all);
}

bool selects_all(const Field& selector) {
  return selector.present() && selector["matchLabels"].empty() &&
         selector["matchExpressions"].empty();
}

}  // namespace kubewatch::builtin
