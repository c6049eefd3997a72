#include "base/utf8.hpp"

#include "base/strings.hpp"

namespace kubewatch::base {

Utf8Char next_utf8(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1, true};
  std::size_t size = 0;
  char32_t code = 0;
  char32_t least = 0;
  if (first >= 0xc2 && first <= 0xdf) {
    size = 2, code = first & 0x1fU, least = 0x80;
  } else if (first >= 0xe0 && first <= 0xef) {
    size = 3, code = first & 0x0fU, least = 0x800;
  } else if (first >= 0xf0 && first <= 0xf4) {
    size = 4, code = first & 0x07U, least = 0x10000;
  } else {
    return {};
  }
  if (text.size() - at < size) return {};
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return {};
    code = (code << 6U) | (byte(at + i) & 0x3fU);
  }
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, size, true};
}

void append_utf8(std::string& out, char32_t code) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0U | (code >> 6U));
    put(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    put(0xe0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3fU));
    put(0x80U | (code & 0x3fU));
  } else {
    put(0xf0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3fU));
    put(0x80U | ((code >> 6U) & 0x3fU));
    put(0x80U | (code & 0x3fU));
  }
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Utf8Char c = next_utf8(text, at);
    if (!c.valid) return false;
    at += c.size;
  }
  return true;
}

}  // namespace kubewatch::base
