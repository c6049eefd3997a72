// The part of kubectl's JSONPath that conditions, printer columns and scale paths use: fields,
// ['x'], [n], [*], and filters like [?(@.type=="Ready")]. Not its templates: no range, no text
// between braces, no "..". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::core {

class JsonPath {
 public:
  // "{.a.b}", ".a.b", "a.b". Errors: invalid, saying what and where.
  static Result<JsonPath> parse(std::string_view text);

  // What it leads to, in order; empty when nothing is there. The views live as long as `value`.
  std::vector<const Json*> find(const Json& value) const;
  // Sets the value at a path of plain fields, making objects on the way. False when the path has
  // anything else, or meets something that is no object.
  bool set(Json& value, Json what) const;
  // The name of the first step, "" when that is no field.
  std::string first_field() const;

  struct Field {
    std::string name;
  };
  struct Index {
    std::int64_t at = 0;
  };  // negative: from the end
  struct All {};
  struct Filter {
    enum class Op { exists, equal, not_equal } op = Op::exists;
    std::vector<std::string> path;  // below @
    // What to compare with, as text; and whether it was quoted: "1" and 1 differ.
    std::string value;
    bool quoted = false;
  };
  using Step = std::variant<Field, Index, All, Filter>;

 private:
  std::vector<Step> steps_;
};

// The same for a path as text: a CRD's, which may be wrong; then nothing is found, nothing set.
std::vector<const Json*> find_at(const Json& value, std::string_view path);
bool set_at(Json& value, std::string_view path, Json what);

// A scalar as kubectl prints it: strings bare, numbers and booleans as JSON.
std::string scalar_text(const Json& value);

}  // namespace kubewatch::core
