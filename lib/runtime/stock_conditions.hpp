// Conditions that most waits are about. Each says `failed` where waiting longer is pointless, and
// none is met by a status that belongs to an older generation or by an empty list. Pure.
// Rules: the API reference of each kind; kubectl rollout status for the workloads.
#pragma once

#include <string>

#include "runtime/condition.hpp"

namespace kubewatch::runtime::conditions {

// Absent, or another object has the name now. uid "": whoever has the name must go.
Condition deleted(std::string uid = "");
Condition created();

// CustomResourceDefinition: Established is True, and it is not being deleted.
Condition crd_established();

// Pod: phase Running. Failed when it has ended (Succeeded or Failed).
Condition pod_running();
// Pod: Ready is True. Failed when it has ended.
Condition pod_ready();

// Job: Complete is True. Failed when the Job has failed.
Condition job_completed();

// Deployment: every replica is of the present template and available, and no old one is left.
// Failed at ProgressDeadlineExceeded.
Condition deployment_rolled_out();
// StatefulSet (with a partition: those at or above it). Failed with updateStrategy OnDelete, where
// nothing is rolled out.
Condition stateful_set_rolled_out();
// DaemonSet. Failed with updateStrategy OnDelete.
Condition daemon_set_rolled_out();

// Service of type LoadBalancer: it has at least one ingress point, each with an address. Failed
// for other types, which never get one.
Condition load_balancer_provisioned();
// Ingress: the same.
Condition ingress_provisioned();

// Namespace: phase Active. Failed when it is being deleted.
Condition namespace_active();
// PersistentVolumeClaim: phase Bound. Failed when its volume is Lost.
Condition claim_bound();

}  // namespace kubewatch::runtime::conditions
