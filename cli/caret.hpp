// Errors about a text that was given on the command line: the text below the message, and a caret
// under the place. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kubewatch::cli {

// `what`, then the line of `text` that `at` (a byte) stands in, with a caret under it. Escaped.
std::string with_caret(const std::string& what, std::string_view text, std::size_t at);

// "... at character 5", "character 5: ...": 4, the place from 0, where a message tells one.
std::optional<std::size_t> place_in(std::string_view message);

// `what`, then `text` as it is with a caret under the character that `what` names; `what` alone
// where it names none of the text, and where the text has several lines.
std::string with_named_caret(const std::string& what, std::string_view text);

}  // namespace kubewatch::cli
