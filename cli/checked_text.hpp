// The head of a saved file, a JSON text, with its checksum behind it: "{...}#0123456789abcdef". A
// text without one, as files of before have it, is taken as it is: no byte that a disk changes
// makes the one of the other, since the rest of a broken mark is no JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kubewatch::cli {

std::string with_checksum(std::string json);
// The text alone; absent where the checksum is another one.
std::optional<std::string_view> checked_text(std::string_view text);

}  // namespace kubewatch::cli
