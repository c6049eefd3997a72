// The formats of strings that the API server checks; others are passed over. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::schema {

// Whether the server checks strings against it ("date-time" and "datetime" are the same).
bool is_known_string_format(const std::string& format);
// Whether the server knows the format for that type ("" as string): others get a warning.
bool is_known_format(const std::string& type, const std::string& format);
// Unknown formats fit everything.
bool fits_format(const std::string& format, std::string_view text);

}  // namespace kubewatch::schema
