#include "cel/lexer.hpp"

#include <array>

#include "base/ascii.hpp"
#include "base/utf8.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Token::Kind;

using base::is_digit;

bool is_ident_start(char c) {
  return base::is_letter(c) || c == '_';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

class Lexer {
 public:
  Lexer(std::string_view source, Issues& issues) : source_(source), issues_(issues) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (true) {
      skip();
      if (at_ >= source_.size()) break;
      if (auto token = next()) {
        tokens.push_back(*token);
      }
    }
    tokens.push_back({Kind::end, offset_, "<EOF>"});
    return tokens;
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void skip() {
    while (at_ < source_.size()) {
      if (is_space(source_[at_])) {
        move(1);
      } else if (peek() == '/' && peek(1) == '/') {
        const auto end = source_.find('\n', at_);
        move((end == std::string_view::npos ? source_.size() : end) - at_);
      } else {
        return;
      }
    }
  }

  // Bytes forward; code points are counted on the way.
  void move(std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      offset_ += (static_cast<unsigned char>(source_[at_ + i]) & 0xC0U) != 0x80U;
    }
    at_ += bytes;
  }

  Token take(Kind kind, std::size_t bytes) {
    const Token token{kind, offset_, source_.substr(at_, bytes)};
    move(bytes);
    return token;
  }

  std::optional<Token> next() {
    if (const auto length = string_length()) {
      const char first = peek();
      return take(first == 'b' || first == 'B' ? Kind::bytes : Kind::string, *length);
    }
    if (is_ident_start(peek())) {
      std::size_t length = 1;
      while (is_ident_start(peek(length)) || is_digit(peek(length))) ++length;
      return take(Kind::ident, length);
    }
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return number();
    if (peek() == '`') {
      const auto end = source_.find('`', at_ + 1);
      if (end != std::string_view::npos && end > at_ + 1) {
        return take(Kind::escaped_ident, end - at_ + 1);
      }
    }
    return symbol();
  }

  std::optional<Token> symbol() {
    static constexpr std::array<std::string_view, 25> kSymbols = {
        "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(",
        ")",  ".",  ",",  "-",  "!",  "?",  ":", "+", "*", "/", "%", ""};
    for (const auto wanted : kSymbols) {
      if (!wanted.empty() && source_.substr(at_, wanted.size()) == wanted) {
        return take(Kind::symbol, wanted.size());
      }
    }
    const auto size = base::next_utf8(source_, at_).size;
    std::string_view shown = source_.substr(at_, size);
    // Half of an operator is shown with what follows it.
    if (shown == "=" || shown == "&" || shown == "|") shown = source_.substr(at_, 2);
    if (shown == "'" || shown == "\"") shown = source_.substr(at_, source_.find('\n', at_) - at_);
    issues_.add(offset_, "Syntax error: token recognition error at: '" + std::string(shown) + "'");
    move(shown.size() > size ? shown.size() : size);
    return std::nullopt;
  }

  Token number() {
    std::size_t length = 0;
    if (peek() == '0' && peek(1) == 'x' && base::is_hex_digit(peek(2))) {
      length = 3;
      while (base::is_hex_digit(peek(length))) ++length;
      if (peek(length) == 'u' || peek(length) == 'U') return take(Kind::uinteger, length + 1);
      return take(Kind::integer, length);
    }
    while (is_digit(peek(length))) ++length;
    bool real = false;
    if (peek(length) == '.' && is_digit(peek(length + 1))) {
      real = true;
      ++length;
      while (is_digit(peek(length))) ++length;
    }
    if (peek(length) == 'e' || peek(length) == 'E') {
      std::size_t digits = length + 1;
      if (peek(digits) == '+' || peek(digits) == '-') ++digits;
      if (is_digit(peek(digits))) {
        real = true;
        length = digits;
        while (is_digit(peek(length))) ++length;
      }
    }
    if (real) return take(Kind::real, length);
    if (peek(length) == 'u' || peek(length) == 'U') return take(Kind::uinteger, length + 1);
    return take(Kind::integer, length);
  }

  // How long the string or bytes literal is that begins here, if one does and ends.
  std::optional<std::size_t> string_length() const {
    std::size_t at = 0;
    bool raw = false;
    if (peek(at) == 'b' || peek(at) == 'B') ++at;
    if (peek(at) == 'r' || peek(at) == 'R') {
      raw = true;
      ++at;
    }
    const char quote = peek(at);
    if (quote != '"' && quote != '\'') return std::nullopt;
    const bool triple = peek(at + 1) == quote && peek(at + 2) == quote;
    at += triple ? 3 : 1;
    for (; at_ + at < source_.size(); ++at) {
      const char c = peek(at);
      if (!raw && c == '\\') {
        ++at;
        continue;
      }
      if (triple && c == quote && peek(at + 1) == quote && peek(at + 2) == quote) return at + 3;
      if (!triple && c == quote) return at + 1;
      if (!triple && (c == '\n' || c == '\r')) break;
    }
    // Three quotes that do not end may still be an empty string.
    return triple ? std::optional(at_of_quote() + 2) : std::nullopt;
  }

  std::size_t at_of_quote() const {
    std::size_t at = 0;
    while (peek(at) != '"' && peek(at) != '\'') ++at;
    return at;
  }

  std::string_view source_;
  Issues& issues_;
  std::size_t at_ = 0;
  std::uint32_t offset_ = 0;
};

// One escape after the backslash; `at` goes behind it.
class Escapes {
 public:
  Escapes(std::string_view text, bool bytes) : text_(text), bytes_(bytes) {}

  Result<void> read(std::size_t& at, std::string& out) const {
    static constexpr std::string_view kNames = "abfnrtv\"'\\?`";
    static constexpr std::string_view kMeaning = "\a\b\f\n\r\t\v\"'\\?`";
    if (at >= text_.size())
      return broken("unable to unescape string, found '\\' as last character");
    const char kind = text_[at++];
    if (const auto simple = kNames.find(kind); simple != std::string_view::npos) {
      out += kMeaning[simple];
      return {};
    }
    if (kind == 'x' || kind == 'X') return number(at, 2, 16, out);
    if (kind == 'u' && !bytes_) return number(at, 4, 16, out);
    if (kind == 'U' && !bytes_) return number(at, 8, 16, out);
    if (kind >= '0' && kind <= '3') return number(--at, 3, 8, out);
    return broken("unable to unescape string");
  }

 private:
  static Error broken(const char* message) { return Error(ErrorKind::invalid, message); }

  Result<void> number(std::size_t& at, std::size_t digits, unsigned base, std::string& out) const {
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < digits; ++i, ++at) {
      if (at >= text_.size() || !base::is_hex_digit(text_[at]) || (base == 8 && text_[at] > '7')) {
        return broken("unable to unescape string");
      }
      code = code * base + static_cast<std::uint32_t>(base::hex_value(text_[at]));
    }
    if (bytes_) {
      if (code > 0xFF) return broken("unable to unescape string");
      out += static_cast<char>(code);
      return {};
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      return broken("invalid unicode code point");
    }
    base::append_utf8(out, code);
    return {};
  }

  std::string_view text_;
  bool bytes_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, Issues& issues) {
  return Lexer(source, issues).run();
}

Result<std::string> unquote(std::string_view literal, bool bytes) {
  if (bytes) literal.remove_prefix(1);
  bool raw = false;
  if (!literal.empty() && (literal[0] == 'r' || literal[0] == 'R')) {
    raw = true;
    literal.remove_prefix(1);
  }
  const bool triple = literal.size() >= 6 && literal.substr(0, 3) == std::string(3, literal[0]);
  const std::size_t quotes = triple ? 3 : 1;
  literal = literal.substr(quotes, literal.size() - 2 * quotes);
  std::string out;
  const Escapes escapes(literal, bytes);
  for (std::size_t at = 0; at < literal.size();) {
    const char c = literal[at++];
    if (c == '\r') {  // newlines are one kind
      if (at < literal.size() && literal[at] == '\n') ++at;
      out += '\n';
    } else if (c == '\\' && !raw) {
      KW_TRY(escapes.read(at, out));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace kubewatch::cel
