// JSON texts of requests as the server's decoder reads them: what is no text in a string becomes
// U+FFFD, and what is no JSON is refused in its words. Pure. Not for texts of our own:
// base/json.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// Errors: invalid, as the decoder words it ("unexpected end of JSON input"); too_large, past the
// limits of base::parse_json.
Result<Json> parse_go_json(std::string_view text);

// What the decoder says of a text that is no JSON; absent of one that is.
std::optional<std::string> why_no_go_json(std::string_view text);

}  // namespace kubewatch::apiserver
