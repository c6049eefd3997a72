// The roles and bindings that every cluster has from the start, as a kube-apiserver makes them. Who
// may do what is decided nowhere: nobody reads them here. Pure.
#pragma once

#include <vector>

#include "base/json_fwd.hpp"

namespace kubewatch::builtin {

// ClusterRoles, ClusterRoleBindings, Roles and RoleBindings as one creates them; those that gather
// the rules of others (admin, edit, view) without them, as that is the work of a controller.
std::vector<Json> bootstrap_policy();

}  // namespace kubewatch::builtin
