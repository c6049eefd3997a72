// The tree of a program that we evaluate ourselves. Plain data, shared and never changed once
// parsed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::jq {

struct Builtin;

enum class NodeKind {
  identity,
  field,        // kids[0] . text
  index,        // kids[0] [ kids[1] ]
  slice,        // kids[0] [ kids[1] : kids[2] ], either may be null
  iterate,      // kids[0] []
  literal,      // value
  text,         // "..\(..)..": kids, each output as text
  array,        // [ kids[0] ], kids empty for []
  object,       // kids: key, value, key, value
  negate,       // - kids[0]
  pipe,         // kids[0] | kids[1]
  comma,        // kids in order
  arithmetic,   // kids[0] op kids[1], op in `op`
  comparison,   // the same
  conjunction,  // and
  disjunction,  // or
  alternative,  // kids[0] // kids[1]
  conditional,  // if kids[0] then kids[1] else kids[2]
  attempt,      // try kids[0] catch kids[1]; without kids[1]: no handler
  binding,      // kids[0] as $text | kids[1]
  variable,     // $text
  call,         // builtin with kids as arguments
};

enum class Operator { add, subtract, multiply, divide, modulo, eq, ne, lt, le, gt, ge };

struct Node;
using NodePtr = std::unique_ptr<const Node>;

struct Node {
  NodeKind kind = NodeKind::identity;
  Operator op = Operator::add;
  bool optional = false;  // field, index, slice, iterate: their own error gives no output
  std::string text;
  Json value;
  std::vector<NodePtr> kids;
  const Builtin* builtin = nullptr;
};

}  // namespace kubewatch::jq
