// An expression as it was written, macros expanded, and what the checker has found out of it.
// Owned by its Ast; nodes point to each other and live as long.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "cel/type.hpp"
#include "cel/value.hpp"

namespace kubewatch::cel {

struct Overload;

struct Expr {
  enum class Kind { literal, ident, select, call, list, map, message, comprehension };

  Kind kind = Kind::literal;
  std::uint32_t offset = 0;  // code points from the start; where messages point to
  Value literal;
  // ident: its name; select: the field; call: the function; message: its type;
  // comprehension: the name of the accumulator.
  std::string name;
  Expr* target = nullptr;  // select: the operand; call: the value that it is called on, or null
  // call: arguments; list: elements; map: keys and values by turns;
  // comprehension: range, init, condition, step, result.
  std::vector<Expr*> parts;
  std::vector<bool> optional;  // list, map: which elements or entries were written with '?'
  bool test_only = false;      // select: has()
  std::string variable;        // comprehension: what goes over the elements, or over the keys
  std::string variable2;       // over the values, "" when there is one variable

  // By the checker.
  TypePtr type;
  std::vector<const Overload*> overloads;  // that may be meant

  Expr* range() const { return parts[0]; }
  Expr* init() const { return parts[1]; }
  Expr* condition() const { return parts[2]; }
  Expr* step() const { return parts[3]; }
  Expr* result() const { return parts[4]; }
  // A name given to a value: optMap, sortBy.
  bool is_bind() const {
    return kind == Kind::comprehension && range()->kind == Kind::list && range()->parts.empty() &&
           condition()->kind == Kind::literal && condition()->literal.is_false() &&
           name != "@result";
  }
};

class Ast {
 public:
  Expr* add(Expr::Kind kind, std::uint32_t offset) {
    Expr& node = nodes_.emplace_back();
    node.kind = kind;
    node.offset = offset;
    return &node;
  }
  std::size_t size() const { return nodes_.size(); }
  Expr* root = nullptr;

 private:
  std::deque<Expr> nodes_;
};

// Names of operators as functions.
namespace op {
inline constexpr const char* kConditional = "_?_:_";
inline constexpr const char* kAnd = "_&&_";
inline constexpr const char* kOr = "_||_";
inline constexpr const char* kNot = "!_";
inline constexpr const char* kNegate = "-_";
inline constexpr const char* kAdd = "_+_";
inline constexpr const char* kEquals = "_==_";
inline constexpr const char* kNotEquals = "_!=_";
inline constexpr const char* kIn = "@in";
inline constexpr const char* kIndex = "_[_]";
inline constexpr const char* kOptIndex = "_[?_]";
inline constexpr const char* kOptSelect = "_?._";
inline constexpr const char* kNotStrictlyFalse = "@not_strictly_false";
}  // namespace op

}  // namespace kubewatch::cel
