// Gives every node of an expression its type and every call the overloads that it may mean.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cel/ast.hpp"
#include "cel/issues.hpp"

namespace kubewatch::cel {

struct Variable {
  std::string name;
  TypePtr type;
};

// The type of the whole; what is wrong is in `issues`, in cel-go's words.
TypePtr check(Ast& ast, const std::vector<Variable>& variables, Issues& issues);

// After a check without issues: literals of durations, timestamps and regular expressions that
// would fail whenever they are used, and lists and maps of mixed types.
void check_literals(const Ast& ast, Issues& issues);

}  // namespace kubewatch::cel
