// Percent-encoding and base64 of base/strings.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/ascii.hpp"
#include "base/strings.hpp"

namespace kubewatch::base {

namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

bool is_unreserved(char c) {
  return is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

std::string encode_base64(std::string_view bytes, std::string_view alphabet, bool pad) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const bool present = i + j < bytes.size();
      group = (group << 8U) | (present ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 4; ++j) {
      if (j <= have) {
        out.push_back(alphabet[(group >> (18U - 6U * j)) & 0x3fU]);
      } else if (pad) {
        out.push_back('=');
      }
    }
  }
  return out;
}

int base64_digit(char c) {
  if (is_upper(c)) return c - 'A';
  if (is_lower(c)) return c - 'a' + 26;
  if (is_digit(c)) return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

Error bad_base64(std::size_t at) {
  return Error(ErrorKind::invalid, fmt::format("not valid base64 at character {}", at + 1));
}

}  // namespace

std::string percent_encode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return Error(ErrorKind::invalid,
                     fmt::format("broken percent escape at character {}", i + 1));
      }
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return out;
}

std::string base64_encode(std::string_view bytes) {
  return encode_base64(bytes, kBase64, true);
}

std::string base64url_encode(std::string_view bytes) {
  return encode_base64(bytes, kBase64Url, false);
}

Result<std::string> base64_decode(std::string_view text) {
  std::size_t end = text.size();
  if (end % 4 == 0 && end > 0) {
    for (int i = 0; i < 2 && text[end - 1] == '='; ++i) --end;
  }
  // One left-over digit has only six bits: no byte.
  if (end % 4 == 1) return bad_base64(end - 1);
  std::string out;
  out.reserve(end / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (std::size_t i = 0; i < end; ++i) {
    const int digit = base64_digit(text[i]);
    if (digit < 0) return bad_base64(i);
    bits = ((bits << 6U) | static_cast<std::uint32_t>(digit)) & 0xffffffU;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>((bits >> count) & 0xffU));
    }
  }
  return out;
}

}  // namespace kubewatch::base
