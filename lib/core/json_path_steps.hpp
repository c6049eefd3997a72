// The parsed form of a JSONPath, between its parser and its evaluation. Internal to lib/core.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.hpp"
#include "core/json_path.hpp"

namespace kubewatch::core {

struct PathField {
  std::string name;
  // kubectl reads ['a.b'] as .a.b; a key that is really called so goes first. Empty: no dots.
  std::vector<std::string> parts;
};

// [n] is single; [from:to:step] is not.
struct PathSlice {
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::int64_t step = 1;
  bool single = false;
};

struct PathAll {};
struct PathRecursive {};

struct PathUnion {
  std::vector<JsonPath> parts;
};

// One side of a comparison.
struct PathOperand {
  enum class From { item, root, literal } from = From::item;
  JsonPath path;
  Json literal;
};

struct PathCondition {
  enum class Op {
    exists,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    all,
    any,
    no
  };
  Op op = Op::exists;
  PathOperand left;
  PathOperand right;
  std::vector<PathCondition> parts;  // of all, any, no
};

struct PathFilter {
  PathCondition condition;
};

struct PathStep {
  std::variant<PathField, PathSlice, PathAll, PathRecursive, PathUnion, PathFilter> what;
};

struct PathProblem {
  std::string what;
  std::size_t at = 0;  // byte of the text
};

// A path as part of a longer text: begins at `at`, and ends before an unquoted '}' or at the end of
// the text; `at` is moved there. Empty steps are the value itself.
std::optional<PathProblem> parse_path(std::string_view text, std::size_t& at, PathSteps& into);

// Adds what a path reads that starts at `from`. Returns where it leads; absent behind ".." or a
// union.
std::optional<PathRead> add_reads(const PathSteps& steps, const PathRead& from,
                                  std::vector<PathRead>& into);

// A literal has the escapes of Go's, and no other letter or digit may follow a backslash; in a name
// these are \n, \t, \r and \uXXXX alone. Another escaped character is itself.
enum class Quoted { literal, name };
// 'x' or "x" at `at`, which is moved behind it. The bytes of a literal may be any (\xff).
std::optional<PathProblem> parse_quoted(std::string_view text, std::size_t& at, Quoted what,
                                        std::string& into);

}  // namespace kubewatch::core
