// kubectl's -o jsonpath: text with JSONPath in braces, {range}..{end}, {"literals"}. What the paths
// find is joined by blanks. Pure; bounded in nesting and in what it prints.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/json_path.hpp"

namespace kubewatch::core {

struct TemplateNode;

// Cheap to copy, never changes.
class JsonTemplate {
 public:
  // A text without any brace is taken for one path: kubectl would print it as it is. Errors:
  // invalid, saying what and where; `problem_at`, where given, gets the byte that is wrong.
  static Result<JsonTemplate> parse(std::string_view text, std::size_t* problem_at = nullptr);

  struct Limits {
    bool allow_missing = true;
    std::size_t max_bytes = 256U << 20U;
  };
  // No newline at the end but the template's own. Errors: invalid (as JsonPath::evaluate),
  // too_large.
  Result<std::string> render(const Json& value, const Limits& limits) const;
  Result<std::string> render(const Json& value) const { return render(value, Limits()); }

  // As JsonPath::reads, all from the value that is rendered: inside of a {range} they begin with
  // where that leads, and are left out where nobody knows.
  std::vector<PathRead> reads() const;

 private:
  std::shared_ptr<const std::vector<TemplateNode>> nodes_;
};

// "{.a.b}", "{a.b}", ".a.b" and "a.b" -> ".a.b", kubectl's relaxed form of custom columns, sort
// keys and conditions. Errors: invalid.
Result<std::string> relaxed_path(std::string_view text, std::size_t* problem_at = nullptr);

}  // namespace kubewatch::core
