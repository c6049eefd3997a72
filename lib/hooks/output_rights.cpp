// Declared kinds and namespaces.
#include "hooks/output_rights.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kubewatch::hooks {
namespace {

// Calls visit(gvk, namespaces) for each declared kind.
template <class Visit>
void each_declared(const Rule& rule, Visit visit) {
  for (const OwnsRule& owns : rule.owns) {
    if (!owns.stream.namespace_selector.empty()) continue;  // live: see is_selected
    visit(owns.stream.gvk, owns.stream.namespaces);
  }
  for (const WritesRule& writes : rule.writes) visit(writes.gvk, writes.namespaces);
}

bool same_kind(const core::Gvk& a, const core::Gvk& b) {
  return a.group == b.group && a.kind == b.kind;
}

bool holds(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

bool is_selected(const OwnsRule& owns, const std::string& namespace_,
                 const SelectsNamespace& selects) {
  return !owns.stream.namespace_selector.empty() && selects && selects(owns.stream, namespace_);
}

// Precondition: the kind is declared.
bool is_allowed_in(const Rule& rule, const Owner& owner, const core::Gvk& gvk,
                   const std::string& namespace_, const SelectsNamespace& selects) {
  bool allowed = owner.namespaced && namespace_ == owner.key.namespace_;
  each_declared(rule, [&](const core::Gvk& declared, const std::vector<std::string>& namespaces) {
    if (allowed || !same_kind(declared, gvk)) return;
    allowed = namespaces.empty() ? !owner.namespaced : holds(namespaces, namespace_);
  });
  return allowed || std::any_of(rule.owns.begin(), rule.owns.end(), [&](const OwnsRule& owns) {
           return same_kind(owns.stream.gvk, gvk) && is_selected(owns, namespace_, selects);
         });
}

}  // namespace

bool is_declared(const Rule& rule, const core::Gvk& gvk) {
  bool found = std::any_of(rule.owns.begin(), rule.owns.end(),
                           [&](const OwnsRule& owns) { return same_kind(owns.stream.gvk, gvk); });
  each_declared(rule, [&](const core::Gvk& declared, const std::vector<std::string>&) {
    found = found || same_kind(declared, gvk);
  });
  return found;
}

Result<void> check_rights(const Rule& rule, const Owner& owner, const core::Gvk& gvk,
                          const std::string& namespace_, const SelectsNamespace& selects) {
  if (!is_declared(rule, gvk)) {
    return Error(ErrorKind::invalid,
                 fmt::format("{} is a kind that controller {} does not declare: list it in `owns` "
                             "or `writes`",
                             gvk.str(), rule.name));
  }
  if (namespace_.empty() || is_allowed_in(rule, owner, gvk, namespace_, selects)) return {};
  return Error(ErrorKind::invalid,
               fmt::format("{} in namespace {}, which controller {} does not declare: list the "
                           "namespace under `namespaces` of this kind in `owns` or `writes`",
                           gvk.str(), namespace_, rule.name));
}

Result<void> check_event_place(const Rule& rule, const Owner& owner, const core::Gvk& regarding,
                               const std::string& namespace_, const SelectsNamespace& selects,
                               const IsNamespaced& namespaced) {
  if (owner.namespaced && namespace_ == owner.key.namespace_) return {};
  const bool has_none = namespace_.empty();
  if (has_none && (is_declared(rule, regarding) || (rule.has_for && !owner.namespaced))) return {};
  const std::string place = has_none ? "default" : namespace_;
  bool declared = false;
  each_declared(rule, [&](const core::Gvk& gvk, const std::vector<std::string>& namespaces) {
    const bool has_places = !namespaced || namespaced(gvk).value_or(true);
    const bool anywhere = has_places && !owner.namespaced && namespaces.empty();
    declared = declared || anywhere || holds(namespaces, place);
  });
  for (const OwnsRule& owns : rule.owns) {
    declared = declared || is_selected(owns, place, selects);
  }
  if (declared) return {};
  return Error(ErrorKind::invalid,
               fmt::format("an Event in namespace {}, which controller {} does not declare: list "
                           "the namespace under `namespaces` of a kind in `owns` or `writes`, as "
                           "of events.k8s.io/v1 Event",
                           place, rule.name));
}

bool may_need_finalizer(const Rule& rule, bool owner_namespaced, const IsNamespaced& namespaced) {
  if (rule.finalize || rule.apply.owner_reference == OwnerRef::none) return true;
  if (!owner_namespaced) return false;
  bool needed = std::any_of(rule.owns.begin(), rule.owns.end(), [](const OwnsRule& owns) {
    return !owns.stream.namespace_selector.empty();
  });
  each_declared(rule, [&](const core::Gvk& gvk, const std::vector<std::string>& namespaces) {
    if (!namespaced(gvk).value_or(true)) needed = true;
    for (const std::string& other : namespaces) {
      const std::vector<std::string>& own = rule.for_.namespaces;
      if (own.size() != 1 || own.front() != other) needed = true;
    }
  });
  return needed;
}

}  // namespace kubewatch::hooks
