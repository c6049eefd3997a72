// Small text helpers that the standard library lacks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::base {

std::vector<std::string> split(std::string_view text, char separator);
// The words between blanks of any kind and number.
std::vector<std::string> split_at_blanks(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);
// Takes what is before `separator` off the front of `text`, and it with it; all where there is
// none.
std::string_view take_until(std::string_view& text, char separator);
std::string to_lower(std::string_view text);

// Percent-encodes everything but RFC 3986 unreserved characters.
std::string percent_encode(std::string_view text);
// Errors: invalid on a broken escape.
Result<std::string> percent_decode(std::string_view text, bool plus_is_space = false);

std::string base64_encode(std::string_view bytes);
std::string base64url_encode(std::string_view bytes);  // no padding
// Standard and URL alphabets, padding optional. Errors: invalid.
Result<std::string> base64_decode(std::string_view text);

// For terminals: control characters, C1, ESC, bidi overrides and invalid UTF-8 become visible
// escapes, so that nothing a server or hook says is interpreted (CVE-2021-25743). Keeps \t; newline
// as given.
std::string escape_for_terminal(std::string_view text, bool keep_newlines = false);

// Line breaks, with the white space around them, become one space: of a message that comes from
// outside no line may begin with what a CI takes for a command ("::").
std::string one_line(std::string_view text);

bool is_valid_utf8(std::string_view text);

// Names closest to `wanted` (edit distance <= 2), best first; for "did you mean".
std::vector<std::string> suggest(std::string_view wanted, const std::vector<std::string>& known);

}  // namespace kubewatch::base
