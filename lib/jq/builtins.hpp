// The functions that the evaluator knows. What is not here goes to libjq.
#pragma once

#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "jq/ast.hpp"
#include "jq/evaluator.hpp"

namespace kubewatch::jq {

struct Call {
  const Node& node;
  const Json& input;
  const Scope* scope;
  Sink sink;
};

struct Builtin {
  std::string_view name;
  std::size_t arity;
  // One output from the input and, with arity 1, each output of the argument.
  Result<Json> (*plain)(const Json& input, const Json& argument);
  // Everything else: evaluates its arguments itself. Exactly one of both is set.
  bool (*closure)(Evaluator& evaluator, const Call& call);
  // Of a closure, for who reads programs (reads.hpp): its first so many arguments have its own
  // input, the others items of it; and what it gives, if anything, is its input.
  std::size_t own_input = 0;
  bool passes = false;
};

// Null when there is none. Lives for ever.
const Builtin* find_builtin(std::string_view name, std::size_t arity);

// The two halves of the table.
const Builtin* find_plain_builtin(std::string_view name, std::size_t arity);
const Builtin* find_closure_builtin(std::string_view name, std::size_t arity);

// Shared by both: sort_by and its kin order `values` by `keys`, two arrays of the same length.
Json sorted_by(const Json& values, const Json& keys);
Json grouped_by(const Json& values, const Json& keys);
// The first of the smallest or the last of the largest; null of nothing.
Json extreme_by(const Json& values, const Json& keys, bool largest);
Result<Json> to_entries(const Json& input);
Result<Json> from_entries(const Json& input);

}  // namespace kubewatch::jq
