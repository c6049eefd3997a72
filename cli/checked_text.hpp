// The head of a saved file, a JSON text, with its checksum behind it: "{...}#0123456789abcdef".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kubewatch::cli {

inline constexpr std::size_t kChecksumSize = 17;
std::string with_checksum(std::string json);
// The text alone; absent where the checksum is none, or another one.
std::optional<std::string_view> checked_text(std::string_view text);

}  // namespace kubewatch::cli
