// AppArmor profiles of containers in both their forms, the old annotations of a Pod and the fields:
// what a new Pod takes over, and where they may not disagree. Not what a field may say
// (check_app_armor). Pure.
#pragma once

#include <string>
#include <vector>

#include "builtin/checks.hpp"

namespace kubewatch::builtin {

inline constexpr const char* kAppArmorAnnotation =
    "container.apparmor.security.beta.kubernetes.io/";

// Containers of a new Pod without a profile get the one that its annotations name; who still writes
// annotations is warned.
void take_app_armor_annotations(Json& pod, std::vector<std::string>& warnings);

// They name containers of the spec, and profiles.
void check_app_armor_annotations(const Field& annotations, const Field& spec);
void check_app_armor_agrees(const Field& annotations, const Field& spec);
// A Pod's never change.
void check_kept_app_armor(const Field& annotations, const Field& before);

}  // namespace kubewatch::builtin
