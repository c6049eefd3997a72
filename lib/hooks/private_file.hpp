// Files that only their owner may read: credentials of hooks.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::hooks {

// Mode 0600, in place of what was there; whole or not at all, for a worker may be reading it.
// Errors: unavailable.
Result<void> write_private(const std::string& path, std::string_view text);

}  // namespace kubewatch::hooks
