// JSON values with jq's names, order and text form.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::jq {

// "null", "boolean", "number", "string", "array", "object".
std::string_view type_name(const Json& value);
// Everything but null and false.
bool is_truthy(const Json& value);
// null < false < true < numbers < strings < arrays < objects; negative, 0 or positive.
int compare(const Json& a, const Json& b);

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
