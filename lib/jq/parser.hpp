// Tokens to a tree, for the subset of jq 1.6 that we evaluate ourselves.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "jq/ast.hpp"
#include "jq/tokens.hpp"

namespace kubewatch::jq {

// Errors: unsupported (jq, perhaps, but not of our subset), invalid (a syntax error),
// too_large (nested too deep); "character N: what".
Result<NodePtr> parse_program(std::string_view text, const std::vector<Token>& tokens);

}  // namespace kubewatch::jq
