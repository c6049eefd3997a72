// What an expression may cost at worst, before it has run once: the estimate by which an API server
// accepts or refuses rules. Every constant and every oddity of it is part of that verdict.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "cel/ast.hpp"
#include "cel/data_type.hpp"

namespace kubewatch::cel {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();
constexpr double kTraversal = 0.1;  // of a character of a string
constexpr double kPattern = 0.25;   // of a character of a regular expression
constexpr std::uint64_t kListCost = 10;
constexpr std::uint64_t kMapCost = 30;

inline std::uint64_t add_bounded(std::uint64_t left, std::uint64_t right) {
  return left > kUnbounded - right ? kUnbounded : left + right;
}
inline std::uint64_t times_bounded(std::uint64_t left, std::uint64_t right) {
  return right != 0 && left > kUnbounded / right ? kUnbounded : left * right;
}
// Rounded up.
inline std::uint64_t scaled(std::uint64_t amount, double factor) {
  const double exact = std::ceil(static_cast<double>(amount) * factor);
  return exact >= 18446744073709551616.0 ? kUnbounded : static_cast<std::uint64_t>(exact);
}

// From at least to at most; of costs and of sizes.
struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = 0;

  Range operator+(const Range& other) const {
    return {add_bounded(min, other.min), add_bounded(max, other.max)};
  }
  Range operator*(const Range& other) const {
    return {times_bounded(min, other.min), times_bounded(max, other.max)};
  }
  Range operator*(double factor) const { return {scaled(min, factor), scaled(max, factor)}; }
  Range or_else(const Range& other) const {
    return {min < other.min ? min : other.min, max > other.max ? max : other.max};
  }
};

// `root` is what self (and oldSelf) is. Precondition: checked without issues.
Range estimate_cost(const Ast& ast, const DataType& root);

}  // namespace kubewatch::cel
