// The kind that a hook names, in what the server has. Pure.
#pragma once

#include <string>

#include "base/result.hpp"
#include "client/discovery.hpp"

namespace kubewatch::compat {

// `kind`: kind in any case, plural, singular or short name; `api_version` "" = the best one.
// Errors: not_found; unavailable (a group did not answer, and it may be there).
Result<core::ResourceType> find_kind(const client::ResourceMap& resources,
                                     const std::string& api_version, const std::string& kind);

}  // namespace kubewatch::compat
