// The libjq process, seen from outside: one child, made when first needed, killed and made again
// when it overruns its deadline. Nothing of this process but memory and one socket is open to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "jq/jq.hpp"

namespace kubewatch::jq {

// Whether libjq compiles the text. Errors: invalid (its words), timeout, unavailable (no process).
Result<void> helper_compile(const std::string& text);

// All outputs; the deadline is for the run alone, a start of the process and the compilation have
// their own. Errors: invalid (a jq error), timeout, too_large (outputs), unavailable (no process),
// helper_ended()'s.
Result<std::vector<Json>> helper_run(const std::string& text, const Json& input,
                                     const Limits& limits, bool first_only = false);

// What its end says of the program that it ran. `status` is waitpid()'s; absent: it was not ours to
// wait for. too_large: the program's doing; unavailable: somebody ended it.
Error helper_ended(std::optional<int> status);

// The process id of the running helper, 0 when there is none. For tests.
int helper_pid();

}  // namespace kubewatch::jq
