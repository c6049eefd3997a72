// How messages about a document that a person wrote speak of its values: shortened, safe to print,
// with what may have been meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"

namespace kubewatch::base {

// At most so many characters, escaped for terminals, "..." after a cut.
std::string shortened(std::string_view text, std::size_t characters = 80);
// "\"text\"", shortened.
std::string in_quotes(std::string_view text);
// ", did you mean \"x\"?", or "".
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& known);
// How YAML 1.1 comes to a name that may be a plain y, n, on, off or the like; "" for others. One
// that is known to stand in quotes (YamlMarks::key_is_text) means what it says.
std::string_view misread_name(std::string_view name);
// "text", "a list", "nothing".
std::string_view type_name(const Json& value);

}  // namespace kubewatch::base
