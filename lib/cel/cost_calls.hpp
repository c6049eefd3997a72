// The cost of a call when the sizes of what it is given are known: one function per library.
// Part of cost.cpp, which knows sizes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cel/cost.hpp"

namespace kubewatch::cel {

// A value that a call is given, as far as the estimate knows it.
struct Given {
  const Expr* node = nullptr;
  std::vector<std::string> path;  // from self to it; empty: not from self
  std::optional<Range> size;
};

struct CallCost {
  Range cost;
  std::optional<Range> result;  // the size of what it returns
};

// What the declared bounds of a type below self say of the size at a path.
std::optional<Range> declared_size(const DataType& root, const std::vector<std::string>& path);

// Absent: no function of an extension.
std::optional<CallCost> extension_cost(std::string_view function, std::string_view overload,
                                       const Given* target, const std::vector<Given>& arguments,
                                       const DataType& root);

}  // namespace kubewatch::cel
