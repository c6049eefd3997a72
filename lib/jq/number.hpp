// Numbers as jq has them, except that integers stay exact: arithmetic in 64 bits where the result
// fits, in doubles otherwise. Never NaN or infinite: JSON could not carry it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace kubewatch::jq {

// A double as a JSON number: an integer when it is one, infinities as the largest double (as jq
// prints them), NaN as null.
Json make_number(double value);

// Digits with sign, point and exponent, as jq's tonumber takes them. Absent when it is no number.
std::optional<Json> parse_number(std::string_view text);

// As jq prints it: 17 digits at most, 1e+20, 1e-05.
std::string dump_number(const Json& number);

// Preconditions: all arguments are numbers; the divisor is not zero.
int compare_numbers(const Json& a, const Json& b);
Json add_numbers(const Json& a, const Json& b);
Json subtract_numbers(const Json& a, const Json& b);
Json multiply_numbers(const Json& a, const Json& b);
Json divide_numbers(const Json& a, const Json& b);
// Both cut to integers first; the sign is the dividend's.
Json remainder_of(std::int64_t a, std::int64_t b);
Json negate_number(const Json& a);
// Cut towards zero and to the range of the type.
std::int64_t to_int64(const Json& number);

}  // namespace kubewatch::jq
