// A checked expression as steps: what the evaluator walks. Part of program.cpp.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/regex.hpp"
#include "base/result.hpp"
#include "cel/ast.hpp"
#include "cel/checker.hpp"
#include "cel/functions.hpp"

namespace kubewatch::cel {

// How a call is charged for when it runs; the numbers are in charge.cpp.
enum class Charge : std::uint8_t {
  none,
  one,
  traverse_list,  // every string in it is read
  first,          // the first argument is read
  first_twice,    // and written
  result_twice,   // the result is written
  pattern,        // the first is matched against the second
  product,        // the first is searched for the second
  both,           // both are read
  shorter,        // as much of both as the shorter one has
  second_size,    // every element of the second
  network,        // containsIP
  network_text,
  subnet,  // containsCIDR
  subnet_text,
  format,  // validate()
  sets,
  sets_twice,
  output,  // a list is made
  flatten,
  compare_first,  // every element of the first with every other
  compare_second,
};

struct Step {
  enum class Op : std::uint8_t {
    constant,
    variable,
    take,  // a variable that is not needed again
    field,
    has_field,
    optional_field,
    index,
    optional_index,
    call,
    logical_and,
    logical_or,
    conditional,
    not_strictly_false,
    list,
    map,
    fold,
    bind,
    or_value,
    or_optional,
  };
  Op op = Op::constant;
  Charge charge = Charge::one;
  bool on_name = false;       // field, index: of a name or of another field: one charge less
  bool has_optional = false;  // list, map: see optional
  std::uint32_t slot = 0;     // variable; fold, bind: of the accumulator
  std::uint32_t first = 0;    // fold: slot of the first variable; the second is behind it
  bool two = false;           // fold: two variables
  Value constant;             // field: its name; call of sum(): what the sum of nothing is
  Prepared prepared;
  Implementation run = nullptr;
  std::vector<std::uint32_t> parts;
  std::vector<bool> optional;
};

class Plan {
 public:
  // Errors: invalid (a literal regular expression that does not compile).
  static Result<Plan> make(const Ast& ast, const std::vector<Variable>& variables);

  const Step& step(std::uint32_t index) const { return steps_[index]; }
  std::uint32_t root() const { return root_; }
  std::size_t slots() const { return slots_; }

 private:
  friend class Planner;
  std::vector<Step> steps_;
  std::deque<base::Regex> regexes_;
  std::uint32_t root_ = 0;
  std::size_t slots_ = 0;
};

Charge charge_of(std::string_view function, const std::vector<const Overload*>& overloads);
// What a call costs. `result` is null before it has run; then only charges that look at it wait.
// Means nothing when the allowance is over.
bool looks_at_result(Charge charge);
std::uint64_t call_cost(Charge charge, std::span<const Value> arguments, const Value* result,
                        Allowance& allowance);

}  // namespace kubewatch::cel
