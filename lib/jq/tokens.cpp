#include "jq/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.hpp"
#include "base/utf8.hpp"

namespace kubewatch::jq {

namespace {

using base::hex_value;
using base::is_digit;

bool is_name_start(char c) {
  return base::is_letter(c) || c == '_';
}

bool is_name_char(char c) {
  return is_name_start(c) || is_digit(c);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    while (true) {
      skip_space();
      if (at_ >= text_.size()) break;
      KW_TRY(step());
    }
    if (!open_.empty()) return fail(open_.back().at, "a string is not closed");
    put(TokenKind::end, "", text_.size());
    return std::move(tokens_);
  }

 private:
  // An interpolation that is open, with the parentheses opened inside it.
  struct Interpolation {
    std::size_t at;
    std::size_t parentheses = 0;
  };

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void put(TokenKind kind, std::string text, std::size_t at) {
    tokens_.push_back({kind, std::move(text), at});
  }

  Error fail(std::size_t at, std::string_view what) const {
    return error_at(ErrorKind::invalid, text_, at, what);
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  Result<void> step() {
    const char c = peek();
    if (c == '"') {
      put(TokenKind::string_begin, "", at_);
      open_.push_back({at_});
      ++at_;
      return string_rest();
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_name_start(c)) {
      const std::size_t begin = at_;
      put(TokenKind::name, take_name(true), begin);
      return {};
    }
    if ((c == '.' || c == '@') && is_name_start(peek(1))) {
      const std::size_t begin = at_++;
      put(c == '.' ? TokenKind::field : TokenKind::format, take_name(false), begin);
      return {};
    }
    return punctuation();
  }

  std::string take_name(bool with_modules) {
    const std::size_t begin = at_;
    while (is_name_char(peek()) ||
           (with_modules && peek() == ':' && peek(1) == ':' && is_name_start(peek(2)))) {
      at_ += peek() == ':' ? 2 : 1;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<void> number() {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    if (peek() == '.') ++at_;
    while (is_digit(peek())) ++at_;
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        at_ += 1 + sign;
        while (is_digit(peek())) ++at_;
      }
    }
    put(TokenKind::number, std::string(text_.substr(begin, at_ - begin)), begin);
    return {};
  }

  Result<void> punctuation() {
    static constexpr std::array<std::string_view, 14> kLongOnes = {
        "?//", "//=", "!=", "==", "//", "|=", "+=", "-=", "*=", "/=", "%=", "<=", ">=", ".."};
    const std::size_t begin = at_;
    for (const std::string_view op : kLongOnes) {
      if (text_.substr(at_).starts_with(op)) {
        at_ += op.size();
        put(TokenKind::op, std::string(op), begin);
        return {};
      }
    }
    const char c = peek();
    if (std::string_view(".|,:;=<>+-*/%?$()[]{}").find(c) == std::string_view::npos) {
      return fail(at_, "unexpected character");
    }
    ++at_;
    if (!open_.empty() && c == '(') ++open_.back().parentheses;
    if (!open_.empty() && c == ')') {
      if (open_.back().parentheses == 0) {
        put(TokenKind::interpolation_end, "", begin);
        return string_rest();
      }
      --open_.back().parentheses;
    }
    put(TokenKind::op, std::string(1, c), begin);
    return {};
  }

  // From inside a string to its end or to the next interpolation.
  Result<void> string_rest() {
    std::string piece;
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || (c == '\\' && peek(1) == '(')) {
        if (!piece.empty()) put(TokenKind::string_text, std::move(piece), begin);
        put(c == '"' ? TokenKind::string_end : TokenKind::interpolation_begin, "", at_);
        at_ += c == '"' ? 1 : 2;
        if (c == '"') open_.pop_back();
        return {};
      }
      if (c == '\\') {
        KW_TRY(escape(piece));
      } else {
        piece.push_back(c);
        ++at_;
      }
    }
    return fail(open_.back().at, "a string is not closed");
  }

  Result<void> escape(std::string& piece) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const char c = peek(1);
    if (c == 'u') return unicode_escape(piece);
    const std::size_t index = c == '\0' ? std::string_view::npos : kNames.find(c);
    if (index == std::string_view::npos) return fail(at_, "unknown escape in a string");
    piece.push_back(kValues[index]);
    at_ += 2;
    return {};
  }

  // "\uXXXX" at the current position as a number; -1 when it is none.
  int code_unit() const {
    if (peek() != '\\' || peek(1) != 'u') return -1;
    int code = 0;
    for (std::size_t i = 2; i < 6; ++i) {
      const int digit = hex_value(peek(i));
      if (digit < 0) return -1;
      code = code * 16 + digit;
    }
    return code;
  }

  Result<void> unicode_escape(std::string& piece) {
    int code = code_unit();
    if (code < 0) return fail(at_, "\\u needs four hexadecimal digits");
    at_ += 6;
    if (code >= 0xd800 && code < 0xdc00) {
      const int low = code_unit();
      if (low >= 0xdc00 && low < 0xe000) {
        at_ += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      }
    }
    // A lone half of a pair is no character.
    if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
    base::append_utf8(piece, static_cast<char32_t>(code));
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
  std::vector<Interpolation> open_;
};

// Whether the name at `i` is an object key rather than a call: {env: 1}, {env}.
bool is_object_key(const std::vector<Token>& tokens, std::size_t i, bool in_object) {
  if (!in_object || i == 0) return false;
  const Token& before = tokens[i - 1];
  return before.kind == TokenKind::op && (before.text == "{" || before.text == ",");
}

}  // namespace

Error error_at(ErrorKind kind, std::string_view text, std::size_t offset, std::string_view what) {
  std::size_t character = 1;
  for (std::size_t at = 0; at < offset && at < text.size(); ++character) {
    at += base::next_utf8(text, at).size;
  }
  return Error(kind, fmt::format("character {}: {}", character, what));
}

Result<std::vector<Token>> tokenize(std::string_view text) {
  return Lexer(text).run();
}

Result<void> refuse_forbidden(std::string_view text, const std::vector<Token>& tokens) {
  static constexpr std::array<std::string_view, 17> kNames = {"input",
                                                              "inputs",
                                                              "debug",
                                                              "stderr",
                                                              "input_filename",
                                                              "input_line_number",
                                                              "halt",
                                                              "halt_error",
                                                              "import",
                                                              "include",
                                                              "env",
                                                              "modulemeta",
                                                              "get_search_list",
                                                              "module",
                                                              "getenv",
                                                              "_input",
                                                              "get_prog_origin"};
  static constexpr std::array<std::string_view, 3> kVariables = {"ENV", "__loc__", "__prog_args"};
  const auto refuse = [&](const Token& token, std::string_view word) {
    return error_at(ErrorKind::invalid, text, token.at,
                    fmt::format("\"{}\" must not be used in a rule", word));
  };
  std::vector<char> brackets;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind == TokenKind::op && token.text.size() == 1) {
      const char c = token.text[0];
      if (c == '(' || c == '[' || c == '{') brackets.push_back(c);
      if ((c == ')' || c == ']' || c == '}') && !brackets.empty()) brackets.pop_back();
    }
    if (token.kind == TokenKind::interpolation_begin) brackets.push_back('(');
    if (token.kind == TokenKind::interpolation_end && !brackets.empty()) brackets.pop_back();
    if (token.kind != TokenKind::name) continue;
    if (i > 0 && tokens[i - 1].kind == TokenKind::op && tokens[i - 1].text == "$") {
      const bool known = std::count(kVariables.begin(), kVariables.end(), token.text) != 0;
      if (known) return refuse(token, "$" + token.text);
      continue;
    }
    if (is_object_key(tokens, i, !brackets.empty() && brackets.back() == '{')) continue;
    if (token.text.find("::") != std::string::npos) return refuse(token, token.text);
    if (std::count(kNames.begin(), kNames.end(), token.text) != 0) return refuse(token, token.text);
  }
  return {};
}

}  // namespace kubewatch::jq
