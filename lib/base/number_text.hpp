// A whole text read as one number. No quantities, no other bases and no signs that are let go: who
// takes such things reads them before.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace kubewatch::base {

// Decimal, with a minus for types that have one; absent where the text is none, has more than one,
// or one that does not fit.
template <class Number>
std::optional<Number> read_number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace kubewatch::base
