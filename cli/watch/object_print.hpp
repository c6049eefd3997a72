// The formats of -o that print objects one by one: name, yaml, jsonpath=, jq=, custom-columns=.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "cli/watch/views.hpp"

namespace kubewatch::cli::watch {

// Errors: invalid, naming the format, with a caret where a path or program is wrong.
Result<std::unique_ptr<View>> make_object_view(const std::string& format, bool headers);

}  // namespace kubewatch::cli::watch
