// What an unquoted YAML scalar means: the rules of sigs.k8s.io/yaml (YAML 1.1 as Go reads it),
// shared by the reader and the writer. No library code.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::base {

// The value of a plain, untagged scalar. .nan and .inf come back as non-finite floats: JSON has no
// such numbers, so the caller refuses them.
Json resolve_plain_scalar(std::string_view text);

// The value of a scalar with an explicit tag: the core ones convert, all others give a string.
// Errors: invalid, when the text is not what the tag says.
Result<Json> resolve_tagged_scalar(std::string_view tag, std::string_view text);

}  // namespace kubewatch::base
