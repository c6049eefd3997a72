// What a hook may print for its object: kinds listed in `owns` or `writes`, in its object's
// namespace or one listed. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "core/resource.hpp"
#include "hooks/ownership.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

// Whether the namespaceSelector of an `owns` stream means a namespace now. Asked for each object
// that is printed: it is not to be as slow as there are namespaces.
using SelectsNamespace = std::function<bool(const StreamRule&, const std::string& namespace_)>;
// Whether objects of a declared kind are in namespaces; absent: unknown.
using IsNamespaced = std::function<std::optional<bool>(const core::Gvk&)>;

bool is_declared(const Rule& rule, const core::Gvk& gvk);
// `namespace_` "" for cluster-scoped kinds. Errors: invalid, saying what to declare.
Result<void> check_rights(const Rule& rule, const Owner& owner, const core::Gvk& gvk,
                          const std::string& namespace_, const SelectsNamespace& selects = {});

// Where Events may be written that regard other objects: the object's namespace and those declared
// for any kind. Those that regard an object without a namespace are in `default`, where a rule may
// write them for a kind that it declares. Errors: invalid, saying what to declare.
Result<void> check_event_place(const Rule& rule, const Owner& owner, const core::Gvk& regarding,
                               const std::string& namespace_, const SelectsNamespace& selects = {},
                               const IsNamespaced& namespaced = {});

// A run of this rule may print children that Kubernetes would not remove by itself, so that its
// objects may come to carry our finalizer.
bool may_need_finalizer(const Rule& rule, bool owner_namespaced, const IsNamespaced& namespaced);

}  // namespace kubewatch::hooks
