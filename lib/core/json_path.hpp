// kubectl's JSONPath: what follows the braces of conditions, printer columns, sort keys, scale
// paths. Fields, ['x'], [n], [from:to:step], [*], unions, "..", filters like [?(@.type=="Ready")].
// Text around paths, {range} and {end} are json_template.hpp. Pure; no path runs for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::core {

struct PathStep;  // core/json_path_steps.hpp
using PathSteps = std::vector<PathStep>;

// Where a path leads, by the names of fields; absent: an element of a list, or each member.
using PathRead = std::vector<std::optional<std::string>>;

// Cheap to copy, never changes.
class JsonPath {
 public:
  // "{.a.b}", ".a.b", "a.b", "$.a", "@.a"; "." and "$" are the value itself. Errors: invalid,
  // saying what and where; `problem_at`, where given, gets the byte of `text` that is wrong.
  static Result<JsonPath> parse(std::string_view text, std::size_t* problem_at = nullptr);

  // What it leads to, in order; empty when nothing is there, or when it fails. The views live as
  // long as `value`.
  std::vector<const Json*> find(const Json& value) const;
  struct Limits {
    bool allow_missing = true;  // false: a field that is nowhere is an error, as in a template
    std::size_t max_found = 1'000'000;
  };
  // The same, with what kubectl calls an error. Errors: invalid (an index out of bounds, an index
  // or a filter on something that is no array, a comparison of two types or of what has no order, a
  // missing key), too_large (it finds more than max_found values, or looks at ten times as many,
  // filters included).
  Result<std::vector<const Json*>> evaluate(const Json& value, const Limits& limits) const;
  Result<std::vector<const Json*>> evaluate(const Json& value) const {
    return evaluate(value, Limits());
  }

  // Sets the value at a path of plain fields, making objects on the way. False when the path has
  // anything else, or meets something that is no object.
  bool set(Json& value, Json what) const;
  // The name of the first step, "" when that is no field.
  std::string first_field() const;
  // What it reads of any value, that of its filters too. One that goes on behind ".." or a union
  // ends there: what it meets may be anything.
  std::vector<PathRead> reads() const;

  explicit JsonPath(PathSteps steps);
  JsonPath() = default;
  const PathSteps& steps() const;

 private:
  std::shared_ptr<const PathSteps> steps_;
};

// Of an error of evaluate(): a filter compares a number with a text, or anything with a list. That
// is a mistake in the path, which no other value of the object mends.
bool is_type_mistake(const Error& error);

// The same for a path as text: a CRD's, which may be wrong; then nothing is found, nothing set.
std::vector<const Json*> find_at(const Json& value, std::string_view path);
bool set_at(Json& value, std::string_view path, Json what);

// A scalar as kubectl prints it: strings bare, booleans and whole numbers of 64 bits as JSON, other
// numbers as Go's %v has them (1.5, 3, 1.25e+06); objects and arrays as Go's compact JSON, with <,
// > and & as \u003c, \u003e and \u0026.
std::string scalar_text(const Json& value);

}  // namespace kubewatch::core
