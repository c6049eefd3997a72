// One character of UTF-8 at a time. Strict: no overlong forms, no surrogates, nothing past
// U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kubewatch::base {

struct Utf8Char {
  char32_t code = 0;
  std::size_t size = 1;  // bytes; 1 when invalid
  bool valid = false;
};

// Precondition: at < text.size().
Utf8Char next_utf8(std::string_view text, std::size_t at);

// The characters of a text; each byte that is in none counts as one.
inline std::size_t count_utf8(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += next_utf8(text, at).size;
  return count;
}

// Appends the character. Precondition: a Unicode scalar value.
void append_utf8(std::string& out, char32_t code);

}  // namespace kubewatch::base
