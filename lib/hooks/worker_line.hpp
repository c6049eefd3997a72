// The lines between us and a worker (`mode: worker`): one invocation in, one answer out. Pure.
//   in:  the Invocation document on one line, with "env": {NAME: VALUE}
//   out: {"id": ID, "exit": 0, "documents": [...]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::hooks {

// `document` is a JSON object; `variables` are "K=V". No newline at the end, and none inside.
std::string worker_line(std::string document, const std::vector<std::string>& variables);

// Slices of the line they came from.
struct WorkerAnswer {
  std::string id;
  int exit = 0;                  // 0 when the line says nothing
  std::string_view documents{};  // a JSON list, not looked into; "" = none
};

// Errors: invalid, saying what is wrong with the line.
Result<WorkerAnswer> parse_worker_answer(std::string_view line);

// A member or an id of a line, for a message: in quotes, or how long it is. Never a part of
// something longer: a mask of secrets would not know it.
std::string shown_part(std::string_view text);

}  // namespace kubewatch::hooks
