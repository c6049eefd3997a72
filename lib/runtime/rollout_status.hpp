// Whether a rollout is done: kubectl rollout status's rules for Deployment, DaemonSet and
// StatefulSet, and for any other kind its counters of replicas beside kstatus (strict). Pure.
#pragma once

#include "runtime/kstatus.hpp"

namespace kubewatch::runtime {

// current: rolled out. failed: it never will be by itself. As kstatus() otherwise.
KStatus rollout_status(const Json* object, WallTime now, const KStatusOptions& options = {});

}  // namespace kubewatch::runtime
