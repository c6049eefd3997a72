// Classes of ASCII characters: what grammars of names, numbers and URLs are made of, whatever the
// locale says. Other characters belong to none of them. Pure.
#pragma once

namespace kubewatch::base {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

constexpr bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}

constexpr bool is_alphanumeric(char c) {
  return is_letter(c) || is_digit(c);
}

constexpr bool is_control(char c) {
  return (c >= '\0' && c < ' ') || c == '\x7f';
}

constexpr char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr char to_upper(char c) {
  return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
}

// Of a hexadecimal digit in either case; -1 for what is none.
constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool is_hex_digit(char c) {
  return hex_value(c) >= 0;
}

}  // namespace kubewatch::base
