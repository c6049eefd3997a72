// JSON values with jq's names, order and text form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::jq {

// "null", "boolean", "number", "string", "array", "object".
std::string_view type_name(const Json& value);
// Everything but null and false.
bool is_truthy(const Json& value);
// Counts what is compared, so that comparing each with each has an end: it takes the product of two
// sizes in one step, and the clock is looked at between steps only.
class Comparisons {
 public:
  static constexpr std::size_t kMost = 10'000'000;
  explicit Comparisons(std::size_t most = kMost) : left_(most) {}

  // False once they are used up.
  bool take(std::size_t count = 1) {
    left_ -= count < left_ ? count : left_;
    return left_ > 0;
  }
  bool spent() const { return left_ == 0; }
  // Of kind too_large.
  static Error too_many();

 private:
  std::size_t left_;
};

// null < false < true < numbers < strings < arrays < objects; negative, 0 or positive.
int compare(const Json& a, const Json& b);
// Not 0 once they are used up.
int compare(const Json& a, const Json& b, Comparisons& left);

// As tojson: compact, jq's number format and escapes.
std::string to_text(const Json& value);
// Strings as they are, everything else as tojson.
std::string to_display(const Json& value);

// "number (5)": kind and at most 14 bytes of the value, for error messages.
std::string describe(const Json& value);
// Kind invalid. "A cannot WHAT" and "A and B cannot WHAT".
Error type_error(const Json& value, std::string_view what);
Error type_error(const Json& a, const Json& b, std::string_view what);

// About how many bytes a copy takes, for budgets.
std::size_t cost_of(const Json& value);

}  // namespace kubewatch::jq
