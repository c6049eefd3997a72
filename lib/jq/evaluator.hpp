// Runs a tree over a value. Outputs are handed to a sink one by one, by reference into the input
// wherever possible; a sink may stop the evaluation. Budgets on steps, bytes and time bound every
// program.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "jq/ast.hpp"

namespace kubewatch::jq {

// A callback that lives on the caller's stack: takes one output, returns false to stop.
class Sink {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Sink>) Sink(F&& function)  // NOLINT: implicit
      : object_(const_cast<void*>(static_cast<const void*>(&function))),
        call_([](void* object, const Json& value) {
          return (*static_cast<std::remove_reference_t<F>*>(object))(value);
        }) {}

  bool operator()(const Json& value) const { return call_(object_, value); }

 private:
  void* object_;
  bool (*call_)(void*, const Json&);
};

// Variables in sight, innermost first.
struct Scope {
  const std::string& name;
  const Json& value;
  const Scope* outer;
};

class Evaluator {
 public:
  explicit Evaluator(Duration deadline);

  // True when all outputs were produced; false when the sink stopped it or something failed:
  // failed() tells which. `input` must not change meanwhile.
  bool eval(const Node& node, const Json& input, const Scope* scope, Sink sink);

  // The failure of the last eval(): a jq error (invalid), timeout or too_large. Absent: no failure.
  std::optional<Error> failure() const;

  // For builtins: raises a jq error; returns false, to be passed on.
  bool raise(const Error& error);
  bool raise_value(Json value);
  bool failed() const { return raised_.has_value() || fatal_.has_value(); }
  // Counts work; false when a budget is used up.
  bool charge(std::size_t bytes);
  // Counts one step and looks at the clock; false when a budget is used up.
  bool step();
  // Hands a made value on, after charging for it.
  bool emit(const Result<Json>& value, Sink sink);

 private:
  bool eval_field(const Node& node, const Json& input, const Scope* scope, Sink sink);
  bool eval_index(const Node& node, const Json& input, const Scope* scope, Sink sink);
  bool eval_slice(const Node& node, const Json& input, const Scope* scope, Sink sink);
  bool slice_of(const Node& node, const Json& input, const Scope* scope, const Json& from,
                const Json& to, Sink sink);
  bool eval_iterate(const Node& node, const Json& input, const Scope* scope, Sink sink);
  bool eval_text(const Node& node, std::size_t count, const std::string& tail, const Json& input,
                 const Scope* scope, Sink sink);
  bool eval_array(const Node& node, const Json& input, const Scope* scope, Sink sink);
  bool eval_object(const Node& node, std::size_t at, Json& partial, const Json& input,
                   const Scope* scope, Sink sink);
  bool eval_binary(const Node& node, const Json& input, const Scope* scope, Sink sink);
  bool eval_logic(const Node& node, const Json& input, const Scope* scope, Sink sink);
  bool eval_alternative(const Node& node, const Json& input, const Scope* scope, Sink sink);
  bool eval_attempt(const Node& node, const Json& input, const Scope* scope, Sink sink);
  bool eval_binding(const Node& node, const Json& input, const Scope* scope, Sink sink);
  bool eval_call(const Node& node, const Json& input, const Scope* scope, Sink sink);

  std::optional<Json> raised_;  // a jq error: may be caught by the program
  std::optional<Error> fatal_;  // a budget: may not
  std::size_t steps_ = 0;
  std::size_t bytes_ = 0;
  Duration deadline_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace kubewatch::jq
