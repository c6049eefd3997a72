// Errors of programs, paths and templates quote what they met. Of a Secret that is nobody's
// business but the reader's of stdout: not shown on stderr, in logs, in reports. Pure.
#pragma once

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::cli {

// The error as it is, or, where `object` is a Secret or a list that has one, the same without its
// text.
Error without_quoted_values(Error error, const Json& object);

}  // namespace kubewatch::cli
