// Text to expression tree, macros expanded. Limits: length, depth of nesting and of
// the tree, number of nodes.
#pragma once

#include <string_view>

#include "cel/ast.hpp"
#include "cel/issues.hpp"

namespace kubewatch::cel {

struct ParseLimits {
  std::size_t max_code_points = 100000;
  std::size_t max_depth = 250;
  std::size_t max_height = 1000;  // of the tree, which every later step walks by recursion
  std::size_t max_nodes = 200000;
};

// What is wrong is in `issues`; the tree is usable only when they are empty.
Ast parse(std::string_view source, Issues& issues, const ParseLimits& limits = {});

// Replaces a call of a macro. Null when the call is none; what is wrong with it is in `issues`.
Expr* expand_macro(Ast& ast, Expr& call, Issues& issues);

}  // namespace kubewatch::cel
