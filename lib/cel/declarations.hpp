// Which functions there are and for what types: the standard ones, the extensions for strings,
// lists, sets and optionals, and Kubernetes' own libraries, as an API server of 1.35 and later has
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cel/type.hpp"

namespace kubewatch::cel {

struct Function;

struct Overload {
  std::string id;  // "add_int64": what costs are told apart by
  bool on_value = false;
  std::vector<TypePtr> arguments;
  TypePtr result;
  std::vector<std::string> variables;  // type variables in them
};

struct Function {
  std::string name;
  std::vector<Overload> overloads;
};

// Null when there is no such function.
const Function* find_function(std::string_view name);
// "int" as a value: its type; null when the name is no type.
TypePtr find_type_name(std::string_view name);

}  // namespace kubewatch::cel
