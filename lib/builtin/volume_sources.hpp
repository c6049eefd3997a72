// What volumes of Pods and PersistentVolumes are made of, as far as both demand the same of it.
// What one of them alone demands is in validation_volumes.cpp and validation_storage.cpp. Pure.
#pragma once

#include <string>

#include "builtin/checks.hpp"

namespace kubewatch::builtin {

inline constexpr std::size_t kMostIscsiName = 64;
inline constexpr const char* kLongIscsiName =
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
    "iscsi.initiatorName is specified.";

// Whether the name of the volume and the portal are too long for an initiator.
bool is_long_iscsi_name(const Field& source, const std::string& volume);
// `no_form`: what is told of a name in none of the forms that there are.
void check_iscsi_name(const Field& name, const char* no_form);
void check_iscsi_secret(const Field& source);
// Of a kind that has no rules here nothing is told.
void check_shared_source(const std::string& kind, const Field& source);

}  // namespace kubewatch::builtin
