// JSON that is built or changed (nlohmann). Not for the hot path: the store and the watch stream
// keep bytes. The only place that parses untrusted text into a Json: depth and size are limited
// here.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

// Instantiated once, in json_instance.cpp: each file that uses it compiles a second faster.
extern template class nlohmann::basic_json<>;

namespace kubewatch::base {

struct JsonLimits {
  std::size_t max_bytes = 64U << 20U;
  std::size_t max_depth = 200;
};

// Errors: invalid (with the byte offset), too_large (size or depth). Refuses invalid UTF-8, NaN
// and trailing garbage; of duplicate keys the last wins, as in Go's decoder.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// Compact, keys sorted; invalid UTF-8 is replaced, so it never throws.
std::string dump_json(const Json& value);
// Two spaces of indent.
std::string dump_json_pretty(const Json& value);

// "\"text\"", as JSON escapes it.
std::string json_quoted(std::string_view text);

// The value at a path of object keys, or null pointer when any step is absent or not an object.
const Json* find(const Json& value, std::initializer_list<std::string_view> path);
Json* find(Json& value, std::initializer_list<std::string_view> path);

// The string at a path, "" when absent or not a string.
std::string string_at(const Json& value, std::initializer_list<std::string_view> path);
// The list at a path, an empty one when absent or of another type. `value` must outlive it.
const Json& items_at(const Json& value, std::initializer_list<std::string_view> path);
// The strings in the list at a path, without what is none.
std::vector<std::string> strings_at(const Json& value,
                                    std::initializer_list<std::string_view> path);
// The integer at a path; absent when missing or not an integer.
std::optional<std::int64_t> int_at(const Json& value, std::initializer_list<std::string_view> path);
// Whether there is `true` at a path.
bool bool_at(const Json& value, std::initializer_list<std::string_view> path);
// As find(), and null pointer for a null as well: to most readers it is the same as nothing.
const Json* present_at(const Json& value, std::initializer_list<std::string_view> path);
// The value at a path, null when absent. `value` must outlive it.
const Json& value_at(const Json& value, std::initializer_list<std::string_view> path);

}  // namespace kubewatch::base
