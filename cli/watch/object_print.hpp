// The formats of -o that print objects one by one: name, jsonpath=, jq=, custom-columns=.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "cli/printers/output_format.hpp"
#include "cli/terminal.hpp"
#include "cli/watch/views.hpp"

namespace kubewatch::cli::watch {

// Precondition: one of these. Errors: invalid, with a caret where a path or program is wrong.
Result<std::unique_ptr<View>> make_object_view(const OutputFormat& format, bool headers,
                                               const Terminal& terminal);

}  // namespace kubewatch::cli::watch
