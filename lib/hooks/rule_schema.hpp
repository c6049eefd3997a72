// The JSON Schema of a Controller document, for editors (`run-controller check --schema`). It says
// which keys there are and of what type; the reader (rule_document.cpp) checks more. A test reads a
// rule with every key and compares what the reader asked for with this. Pure.
#pragma once

#include "base/json_fwd.hpp"

namespace kubewatch::hooks {

// Draft 2020-12.
Json rule_schema();

}  // namespace kubewatch::hooks
