// An expression ready to run: steps in one array, names resolved to places, regular expressions
// and constant lists made once. Counts what it costs as an API server does and stops at a limit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cel/allowance.hpp"
#include "cel/checker.hpp"
#include "cel/cost.hpp"
#include "cel/value.hpp"

namespace kubewatch::cel {

class Plan;

// Immutable, may be run any number of times.
class Program {
 public:
  struct Outcome {
    Value value;  // an error when it failed
    std::uint64_t cost = 0;
    std::uint64_t used = 0;   // of its Allowance
    bool too_costly = false;  // stopped, by its cost or by its Allowance; the value says so
  };
  explicit Program(std::unique_ptr<const Plan> plan);
  ~Program();
  // `variables` in the order in which they were declared; `limit` is of the cost.
  Outcome run(std::span<const Value> variables, std::uint64_t limit,
              Allowance allowance = Allowance()) const;

 private:
  std::unique_ptr<const Plan> plan_;
};

struct Compiled {
  std::shared_ptr<const Program> program;
  TypePtr type;
  Range cost;                         // estimated
  std::vector<std::string> mentions;  // variables that it uses
  bool uses(std::string_view variable) const;
};

// `root` is what the variables stand for, for the estimate; it must outlive the program.
// Errors: invalid; the message is cel-go's, several lines with carets.
Result<Compiled> compile(std::string_view source, const std::vector<Variable>& variables,
                         const DataType& root);

}  // namespace kubewatch::cel
