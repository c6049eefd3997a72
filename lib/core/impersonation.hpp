// Requests to act as somebody else: the headers of user impersonation, as the API server reads
// them (Impersonate-User, -Uid, -Group, -Extra-*; kubernetes.io, "User impersonation"). Here for
// servers of ours that pass requests on under a login of their own, where to leave such a header
// out would be to act with more rights than were asked for.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.hpp"

namespace kubewatch::core {

inline bool asks_for_impersonation(
    const std::vector<std::pair<std::string, std::string>>& headers) {
  constexpr std::string_view kPrefix = "impersonate-";
  for (const auto& [name, value] : headers) {
    if (base::to_lower(name.substr(0, kPrefix.size())) == kPrefix) return true;
  }
  return false;
}

}  // namespace kubewatch::core
