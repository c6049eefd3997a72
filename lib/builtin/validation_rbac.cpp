// Roles, and who has them.
#include <fmt/format.h>

#include "builtin/validation_kinds.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kGroup = "rbac.authorization.k8s.io";

void check_rule(const Field& rule, bool namespaced) {
  if (rule["verbs"].empty()) rule["verbs"].required("verbs must contain at least one value");
  const Field urls = rule["nonResourceURLs"];
  const Field groups = rule["apiGroups"];
  const Field resources = rule["resources"];
  if (!urls.empty()) {
    if (namespaced) urls.invalid("namespaced rules cannot apply to non-resource URLs");
    if (!groups.empty() || !resources.empty() || !rule["resourceNames"].empty()) {
      urls.invalid("rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (groups.empty()) groups.required("resource rules must supply at least one api group");
  if (resources.empty()) resources.required("resource rules must supply at least one resource");
}

// Of a plain string, unlike the enumerations of Field::one_of.
void check_word(const Field& word, const Values& supported) {
  if (is_one(word.text(), supported)) return;
  word.errors().push_back(field_not_supported(word.path(), go_quoted(word.text()), supported));
}

// Where it is given: what is not is filled in.
void check_group(const Field& group, const char* expected) {
  if (group.present()) check_word(group, {expected});
}

void check_subject(const Field& subject, bool namespaced) {
  const Field name = subject["name"];
  const Field kind = subject["kind"];
  if (name.empty()) name.required();
  if (kind.is("ServiceAccount")) {
    if (!name.empty()) name.invalid_each(subdomain_problems(name.text()));
    check_group(subject["apiGroup"], "");
    if (!namespaced && subject["namespace"].empty()) subject["namespace"].required();
  } else if (kind.is("User") || kind.is("Group")) {
    check_group(subject["apiGroup"], kGroup);
  } else {
    check_word(kind, {"ServiceAccount", "User", "Group"});
  }
}

void check_binding(const Field& object, const Json* live, const Values& roles, bool namespaced) {
  const Field ref = object["roleRef"];
  const Field kind = ref["kind"];
  const Field name = ref["name"];
  check_group(ref["apiGroup"], kGroup);
  check_word(kind, roles);
  if (name.empty()) {
    name.required();
  } else {
    name.invalid_each(path_segment_problems(name.text()));
  }
  for (const auto& subject : object["subjects"].items()) check_subject(subject, namespaced);
  if (live == nullptr || same_field(ref, Field(*live, object.errors())["roleRef"])) return;
  const Field group = ref["apiGroup"];
  ref.invalid_as(fmt::format("{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
                             group.present() ? group.shown() : json_text(kGroup),
                             json_text(kind.text()), json_text(name.text())),
                 "cannot change roleRef");
}

}  // namespace

void check_role(const Field& object, const Json* /*live*/) {
  for (const auto& rule : object["rules"].items()) check_rule(rule, true);
}

void check_cluster_role(const Field& object, const Json* /*live*/) {
  for (const auto& rule : object["rules"].items()) check_rule(rule, false);
  const Field aggregation = object["aggregationRule"];
  if (!aggregation.present()) return;
  const Field selectors = aggregation["clusterRoleSelectors"];
  if (selectors.empty()) {
    selectors.required("at least one clusterRoleSelector required if aggregationRule is non-nil");
  }
  for (const auto& selector : selectors.items()) {
    const std::size_t told = selector.errors().size();
    check_label_selector(selector);
    if (selector.errors().size() != told) selector.invalid_as("null", "invalid label selector.");
  }
}

void check_role_binding(const Field& object, const Json* live) {
  check_binding(object, live, {"Role", "ClusterRole"}, true);
}

void check_cluster_role_binding(const Field& object, const Json* live) {
  check_binding(object, live, {"ClusterRole"}, false);
}

}  // namespace kubewatch::builtin
