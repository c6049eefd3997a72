// The rule's jq programs applied to objects: the one place where hooks touches lib/jq for values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "jq/jq.hpp"

namespace kubewatch::hooks {

// All outputs. Errors: invalid with the program and its words.
Result<std::vector<Json>> evaluate(const jq::Program& program, const Json& input);
Result<std::vector<Json>> evaluate_text(const jq::Program& program, const std::string& json);
// No filter matches everything; else the first output decides: false, null and none do not match.
Result<bool> passes(const std::optional<jq::Program>& filter, const std::string& json);

}  // namespace kubewatch::hooks
