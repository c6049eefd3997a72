#include "hooks/unquoted.hpp"

#include <algorithm>
#include <optional>

#include "base/ascii.hpp"
#include "base/utf8.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kLongestEscape = 9;  // \U and seven digits
constexpr std::size_t kHalf = 6;           // \uD83D

struct Read {
  std::string bytes;  // without one: a backslash that was written as a code
  std::size_t end = 0;
};

// Reads one character, however it is written.
class EscapeReader {
 public:
  explicit EscapeReader(std::string_view text) : text_(text) {}

  // One that a URL escapes is read at once; the % of an escape may itself be escaped, also twice.
  Read unit(std::size_t at) const {
    if (text_[at] != '%') return {std::string(1, text_[at]), at + 1};
    std::size_t percent = at + 1;
    while (text_.substr(percent, 2) == "25") percent += 2;
    const auto code = number(percent, 2, 16);
    if (!code) return {"%", percent};
    return {std::string(1, static_cast<char>(*code)), percent + 2};
  }

  std::size_t behind_backslashes(std::size_t at) const {
    while (at < text_.size()) {
      const Read next = unit(at);
      if (next.bytes != "\\") break;
      at = next.end;
    }
    return at;
  }

  Read escaped(std::size_t at) const {
    const char c = text_[at];
    if (c == 'x') {
      if (const auto code = number(at + 1, 2, 16)) return byte(*code, at + 3);
    } else if (c == 'u' || c == 'U') {
      return unicode(at, c == 'u' ? 4 : 8);
    } else if (c == 'C' && text_.substr(at + 1, 1) == "-" && at + 2 < text_.size()) {
      const char key = text_[at + 2];
      return byte(key == '?' ? 0x7f : static_cast<unsigned char>(key) & 0x1fU, at + 3);
    } else if (c >= '0' && c <= '3') {
      if (const auto code = number(at, 3, 8)) return byte(*code, at + 3);
    }
    return unit(at);
  }

 private:
  std::optional<std::uint32_t> number(std::size_t at, std::size_t digits, int base) const {
    if (at + digits > text_.size()) return std::nullopt;
    std::uint32_t out = 0;
    for (const char c : text_.substr(at, digits)) {
      const int digit = base::hex_value(c);
      if (digit < 0 || digit >= base) return std::nullopt;
      out = out * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit);
    }
    return out;
  }

  static Read byte(std::uint32_t code, std::size_t end) {
    return {code == '\\' ? "" : std::string(1, static_cast<char>(code)), end};
  }

  // A pair of surrogates is one character. Half of one, and what is none, stands for itself.
  Read unicode(std::size_t at, std::size_t digits) const {
    const auto code = number(at + 1, digits, 16);
    std::size_t end = at + 1 + digits;
    if (!code || *code > 0x10ffff) return {std::string(1, text_[at]), at + 1};
    if (*code < 0x80) return byte(*code, end);
    char32_t one = *code;
    if (one >= 0xd800 && one < 0xdc00) {
      const std::size_t second = behind_backslashes(end);
      const auto low =
          second > end && text_.substr(second, 1) == "u" ? number(second + 1, 4, 16) : std::nullopt;
      if (!low || *low < 0xdc00 || *low >= 0xe000) return {std::string(1, text_[at]), at + 1};
      one = 0x10000 + ((one - 0xd800) << 10U) + (*low - 0xdc00);
      end = second + 5;
    } else if (one >= 0xdc00 && one < 0xe000) {
      return {std::string(1, text_[at]), at + 1};
    }
    Read out{{}, end};
    base::append_utf8(out.bytes, one);
    return out;
  }

  std::string_view text_;
};

bool is_mark(char c) {
  return c == '"' || c == '\'';
}

char plain(char c) {
  constexpr std::string_view kControls = "+\a\b\t\n\v\f\r\x1b";
  constexpr std::string_view kLetters = " abtnvfrE";
  const std::size_t at = kControls.find(c);
  return at == std::string_view::npos ? c : kLetters[at];
}

// The first half of a character that takes two escapes, the second of which is missing.
bool ends_in_half(std::string_view text) {
  if (text.size() < kHalf) return false;
  const std::string_view code = text.substr(text.size() - kHalf);
  return code.starts_with("\\u") && (code[2] == 'd' || code[2] == 'D') &&
         std::string_view("89abAB").find(code[3]) != std::string_view::npos;
}

}  // namespace

Unquoted::Unquoted(std::string_view text) {
  const EscapeReader reader(text);
  text_.reserve(text.size());
  places_.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t letter = reader.behind_backslashes(at);
    if (letter == text.size()) return;
    const Read read = letter == at ? reader.unit(at) : reader.escaped(letter);
    add(read.bytes, at, read.end);
    at = read.end;
  }
}

void Unquoted::add(std::string_view bytes, std::size_t begin, std::size_t end) {
  const Place place{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  if (bytes.size() == 1 && is_mark(bytes[0])) {
    const bool again =
        !places_.empty() && text_.back() == '\'' && places_.back().end == place.begin;
    if (again) {
      places_.back().end = place.end;
      return;
    }
    bytes = "'";
  }
  for (const char c : bytes) {
    text_ += plain(c);
    places_.push_back(place);
  }
}

bool Unquoted::may_differ(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return base::is_control(c) || c == '\\' || c == '"' || c == '\'' || c == '%' || c == '+';
  });
}

std::string_view without_begun_escape(std::string_view text) {
  std::size_t begun = text.find_last_of("\\%");
  if (begun == std::string_view::npos || begun + kLongestEscape < text.size()) return text;
  const std::string_view code = text.substr(begun + 1);
  if (code.find_first_not_of("xuUC-0123456789abcdefABCDEF") != std::string_view::npos) return text;
  while (begun > 0 && text[begun - 1] == '\\') --begun;
  if (ends_in_half(text.substr(0, begun))) begun -= kHalf;
  while (begun > 0 && text[begun - 1] == '\\') --begun;
  return text.substr(0, begun);
}

}  // namespace kubewatch::hooks
