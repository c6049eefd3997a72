// "%s is %d".format([a, b]).
#pragma once

#include <string_view>

#include "cel/allowance.hpp"
#include "cel/value.hpp"

namespace kubewatch::cel {

// Precondition: a list. An error value when a clause and its argument do not fit, or when nothing
// is left of the allowance.
Value format_text(std::string_view format, const Value& arguments, Allowance& allowance);

}  // namespace kubewatch::cel
