// The built-in kinds by name and scope, for who asks for nothing else of them: a Registry makes
// their merge schemas as well, megabytes that a process keeps.
#pragma once

#include <vector>

#include "core/resource.hpp"

namespace kubewatch::apiserver {

struct BuiltinKind {
  core::Gvk gvk;
  bool namespaced = true;
};

// In discovery order, as kube-apiserver 1.36 has them.
std::vector<BuiltinKind> builtin_kinds();

}  // namespace kubewatch::apiserver
