// The formats of -o that print objects one by one: name, jsonpath=, jq=, custom-columns=.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "cli/printers/output_format.hpp"
#include "cli/terminal.hpp"
#include "cli/watch/views.hpp"

namespace kubewatch::cli::watch {

// Of the options: headers, show_managed_fields, terminal. Precondition: one of these formats.
// Errors: invalid, with a caret where a path or program is wrong.
Result<std::unique_ptr<View>> make_object_view(const OutputFormat& format,
                                               const ViewOptions& options);

}  // namespace kubewatch::cli::watch
