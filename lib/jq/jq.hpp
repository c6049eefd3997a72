// jq programs for rule files: filters, maps, env. The common subset is evaluated here, the rest by
// libjq in a helper process with a deadline and without environment, inputs, modules and halt.
// Objects iterate in key order. Integers beyond 2^53 stay exact here; libjq rounds them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace kubewatch::jq {

struct Limits {
  Duration deadline{1000};
  std::size_t max_output_bytes = 1U << 20U;
  std::size_t max_outputs = 10000;
};

struct ProgramState;

// A compiled program; cheap to copy, never changes. run() blocks for at most the deadline; what
// used it up a few times in a row is not run at all for a while, by any of its copies
// (overruns.hpp).
class Program {
 public:
  // Errors: invalid, with a message that says what and at which character; unavailable when the
  // helper process cannot be started.
  static Result<Program> compile(std::string_view text);

  // All outputs. Errors: invalid (a jq runtime error, its words), timeout (now or the last times),
  // too_large, unavailable (the helper process cannot be started, or somebody ended it).
  Result<std::vector<Json>> run(const Json& input, const Limits& limits = {}) const;
  // jq truth of the first output; no output is false. Errors: as run().
  Result<bool> test(const Json& input, const Limits& limits = {}) const;

  const std::string& text() const;
  // Evaluated here, not by libjq.
  bool native() const;
  // The keys when the program is a plain path: .a.b["c"] is {a, b, c}, "." is {}. For `changed` and
  // `strip`, see paths.hpp.
  std::optional<std::vector<std::string>> as_path() const;
  // Paths of its input that it looks at (reads.hpp): not all of them, and none where libjq runs it.
  std::vector<std::vector<std::string>> reads() const;

 private:
  explicit Program(std::shared_ptr<const ProgramState> state) : state_(std::move(state)) {}
  std::shared_ptr<const ProgramState> state_;
};

}  // namespace kubewatch::jq
