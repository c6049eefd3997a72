// Values as the server's sentences show them, and numbers as it reads them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::schema {

// What Go's JSON decoder calls a value that it did not expect: "number", "bool", "string".
std::string json_word(const Json& value);
// What that decoder then says: "json: cannot unmarshal number into Go value of type string".
// `found` is json_word of the value; of a number that does not fit, the number behind it.
std::string misread_value(std::string_view found, std::string_view type);
// Of a member of a struct: "... into Go struct field JobStatus.status.startTime of type string".
std::string misread_field(std::string_view found, std::string_view field, std::string_view type);
// The type that it has once it is decoded, as fmt prints it (%T): "map[string]interface {}".
std::string go_type(const Json& value);
// As fmt prints it (%v): map[a:5 b:<nil> c:[x y]].
std::string go_text(const Json& value);
// As fmt prints it in the syntax of Go (%#v): map[string]interface {}{"a":5}.
std::string go_literal(const Json& value);
// As %q in Go: what shows nothing and has no letter of its own as \xNN, \uNNNN or \UNNNNNNNN. So
// are texts of fields whose type is string; those of a type made of it (an enumeration) are shown
// as JSON.
std::string go_quoted(std::string_view text);
// As an error of a field shows a value: a text as a plain string, all else as JSON.
std::string shown_value(const Json& value);
// Decimal digits only. Errors: invalid, in the words of strconv.ParseUint.
Result<std::uint64_t> parse_uint(const std::string& text);

}  // namespace kubewatch::schema
