// By encoding/json's scanner: https://pkg.go.dev/encoding/json.
#include "apiserver/go_json_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/ascii.hpp"
#include "base/utf8.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::size_t kDeepestOfGo = 10000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kNoCharacter = "\xEF\xBF\xBD";
constexpr const char kUnexpectedEnd[] = "unexpected end of JSON input";

bool is_json_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// A byte as Go shows the character of that number.
std::string shown_byte(char c) {
  constexpr std::string_view kLettered = "\a\b\f\n\r\t\v\\'";
  constexpr std::string_view kLetters = "abfnrtv\\'";
  if (const std::size_t at = kLettered.find(c); at != std::string_view::npos) {
    return fmt::format("'\\{}'", kLetters[at]);
  }
  const auto code = static_cast<unsigned char>(c);
  if (code < 0x20 || code == 0x7F) return fmt::format("'\\x{:02x}'", code);
  if ((code > 0x7F && code <= 0xA0) || code == 0xAD) return fmt::format("'\\u{:04x}'", code);
  std::string out = "'";
  base::append_utf8(out, code);
  return out + "'";
}

// Reads on past the end of the text as if a blank stood there, as its model does.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) {}

  std::optional<std::string> why() {
    for (;;) {
      while (!ended() && is_json_space(here())) ++at_;
      if (ended() && next_ == Next::nothing) return std::nullopt;
      if (ended()) return kUnexpectedEnd;
      if (!step()) return why_;
    }
  }

 private:
  enum class Next { value, first_value, key, first_key, colon, after_member, after_item, nothing };

  bool ended() const { return at_ >= text_.size(); }
  char here() const { return ended() ? ' ' : text_[at_]; }
  bool refuse(std::string_view where) {
    why_ = fmt::format("invalid character {} {}", shown_byte(here()), where);
    return false;
  }

  bool step() {
    const char c = here();
    switch (next_) {
      case Next::first_value:
        if (c == ']') return close();
        return begin();
      case Next::value: return begin();
      case Next::first_key:
        if (c == '}') return close();
        return key();
      case Next::key: return key();
      case Next::colon: return pass(':', Next::value, "after object key");
      case Next::after_member:
        if (c == '}') return close();
        return pass(',', Next::key, "after object key:value pair");
      case Next::after_item:
        if (c == ']') return close();
        return pass(',', Next::value, "after array element");
      case Next::nothing: break;
    }
    return refuse("after top-level value");
  }

  bool pass(char wanted, Next next, std::string_view where) {
    if (here() != wanted) return refuse(where);
    ++at_;
    next_ = next;
    return true;
  }

  bool open() {
    if (open_.size() == kDeepestOfGo) return refuse("exceeded max depth");
    open_.push_back(here());
    next_ = here() == '{' ? Next::first_key : Next::first_value;
    ++at_;
    return true;
  }

  bool close() {
    open_.pop_back();
    ++at_;
    return done();
  }

  // A value ends.
  bool done() {
    next_ = open_.empty()         ? Next::nothing
            : open_.back() == '{' ? Next::after_member
                                  : Next::after_item;
    return true;
  }

  bool key() {
    if (here() != '"') return refuse("looking for beginning of object key string");
    if (!string()) return false;
    next_ = Next::colon;
    return true;
  }

  bool begin() {
    const char c = here();
    if (c == '{' || c == '[') return open();
    if (c == '"') return string() && done();
    if (c == '-' || base::is_digit(c)) return number() && done();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (c == word[0]) return literal(word) && done();
    }
    return refuse("looking for beginning of value");
  }

  bool literal(std::string_view word) {
    for (const char wanted : word) {
      if (here() != wanted) {
        return refuse(fmt::format("in literal {} (expecting '{}')", word, wanted));
      }
      ++at_;
    }
    return true;
  }

  bool string() {
    for (++at_; !ended() && here() != '"'; ++at_) {
      if (static_cast<unsigned char>(here()) < 0x20) return refuse("in string literal");
      if (here() == '\\' && !escape()) return false;
    }
    if (ended()) {
      why_ = kUnexpectedEnd;
      return false;
    }
    ++at_;
    return true;
  }

  // Up to its last character.
  bool escape() {
    ++at_;
    if (here() != 'u') {
      return std::string_view("bfnrt\\/\"").find(here()) != std::string_view::npos ||
             refuse("in string escape code");
    }
    for (int i = 0; i < 4; ++i) {
      ++at_;
      if (!base::is_hex_digit(here())) return refuse("in \\u hexadecimal character escape");
    }
    return true;
  }

  bool digits(std::string_view where) {
    if (!base::is_digit(here())) return refuse(where);
    while (base::is_digit(here())) ++at_;
    return true;
  }

  bool number() {
    if (here() == '-') ++at_;
    if (here() == '0') {
      ++at_;
    } else if (!digits("in numeric literal")) {
      return false;
    }
    if (here() == '.') {
      ++at_;
      if (!digits("after decimal point in numeric literal")) return false;
    }
    if (here() != 'e' && here() != 'E') return true;
    ++at_;
    if (here() == '+' || here() == '-') ++at_;
    return digits("in exponent of numeric literal");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Next next_ = Next::value;
  std::vector<char> open_;
  std::string why_;
};

// The code of \uXXXX at that place; absent where there is none.
std::optional<unsigned> unit_at(std::string_view text, std::size_t at) {
  if (text.size() < at + 6 || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned code = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    if (!base::is_hex_digit(text[i])) return std::nullopt;
    code = code * 16 + static_cast<unsigned>(base::hex_value(text[i]));
  }
  return code;
}

// Of a text that is JSON but for its characters: bytes that are no UTF-8 and halves of pairs are
// U+FFFD. Outside of strings there is neither.
std::string with_characters(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\\') {
      constexpr std::size_t kUnit = 6;
      const auto unit = unit_at(text, at);
      const bool high = unit && *unit >= 0xD800 && *unit < 0xDC00;
      const auto second = high ? unit_at(text, at + kUnit) : std::nullopt;
      const bool pair = second && *second >= 0xDC00 && *second < 0xE000;
      const bool half = unit && *unit >= 0xD800 && *unit < 0xE000 && !pair;
      const std::size_t size = pair ? 2 * kUnit : unit ? kUnit : 2;
      out += half ? kNoCharacter : text.substr(at, size);
      at += size;
      continue;
    }
    const base::Utf8Char one = base::next_utf8(text, at);
    out += one.valid ? text.substr(at, one.size) : kNoCharacter;
    at += one.size;
  }
  return out;
}

}  // namespace

std::optional<std::string> why_no_go_json(std::string_view text) {
  return TextScanner(text).why();
}

Result<Json> parse_go_json(std::string_view text) {
  // Our parser passes over the mark, and ends at a NUL.
  if (!text.starts_with(kByteOrderMark) && text.find('\0') == std::string_view::npos) {
    auto value = base::parse_json(text);
    if (value) return value;
  }
  // Also of what is past our limits: what is no JSON, or too deep for Go, is told as there.
  if (auto why = why_no_go_json(text)) return Error(ErrorKind::invalid, std::move(*why));
  return base::parse_json(with_characters(text));
}

}  // namespace kubewatch::apiserver
