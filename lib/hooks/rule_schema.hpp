// The JSON Schema of a Controller document, for editors (`run-controller check --schema`). It
// refuses what is wrong by its shape alone; the reader (rule_document.cpp) checks more. Tests
// compare the keys and words that the reader asks for with it, and put documents through both.
// Pure.
#pragma once

#include "base/json_fwd.hpp"

namespace kubewatch::hooks {

// Draft 2020-12.
Json rule_schema();

}  // namespace kubewatch::hooks
