// What the cache, ownership, the finalizer and whoever names an object are built on: what no
// `strip` of a rule file and no --strip may take.
#pragma once

#include <string_view>

namespace kubewatch::runtime {

// A JSON pointer.
bool is_needed(std::string_view pointer);

}  // namespace kubewatch::runtime
