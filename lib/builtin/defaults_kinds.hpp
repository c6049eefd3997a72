// The defaults of single kinds that defaults.cpp hands out. Not for others.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::builtin {

// The annotation of apps/v1's DaemonSets from before generations.
inline constexpr const char* kTemplateGeneration = "deprecated.daemonset.template.generation";

void default_pod(Json& pod);
// Of a PodTemplateSpec: what a Pod gets besides is left to its own creation.
void default_pod_template(Json& pod_template);
// Of the sources that PersistentVolumes share with the volumes of Pods.
void default_volume_source(Json& source);
// Of a PersistentVolumeClaim's or a claim template's spec.
void default_claim_spec(Json& spec);

// False: none of them.
bool default_workload(const std::string& storage_id, Json& object);

}  // namespace kubewatch::builtin
