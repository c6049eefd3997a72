#include "schema/number_range.hpp"

#include <cmath>

namespace kubewatch::schema {

// Of doubles the server looks at the shortest digits, which for -2^63 are smaller than any whole
// number of 64 bits.
bool in_number_range(double value, std::string_view type, std::string_view format) {
  constexpr double kWholeEnd = 9223372036854775808.0;  // 2^63
  if (type == "integer") {
    if (std::trunc(value) != value) return false;
    return format == "int32" ? value >= -2147483648.0 && value <= 2147483647.0
                             : value > -kWholeEnd && value < kWholeEnd;
  }
  return format != "float" || type != "number" || std::abs(value) <= 3.40282346638528859812e38;
}

}  // namespace kubewatch::schema
