// A cursor over JSON text; see the header for what it does not check.
#include "core/json_scan.hpp"

#include "base/json.hpp"

namespace kubewatch::core {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool ends_scalar(char c) {
  return c == ',' || c == ']' || c == '}' || is_space(c);
}

// Length of the string literal that begins at text[from], npos when it is cut off.
std::size_t string_end(std::string_view text, std::size_t from) {
  for (std::size_t i = from + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t bracketed_length(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        i = string_end(text, i);
        if (i == std::string_view::npos) return i;
        --i;
        break;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (--depth == 0) return i + 1;
        break;
      default: break;
    }
  }
  return std::string_view::npos;
}

Result<std::string> decode_json_string(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != '"') {
    return Error(ErrorKind::invalid, "not a JSON string");
  }
  KW_ASSIGN(const Json value, base::parse_json(literal));
  if (!value.is_string()) return Error(ErrorKind::invalid, "not a JSON string");
  return value.get<std::string>();
}

void JsonCursor::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool JsonCursor::accept(char c) {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

Error JsonCursor::error(std::string_view what) const {
  const std::string found = at_ >= text_.size() ? "the text ends at" : "wrong character at";
  return Error(ErrorKind::invalid, "not valid JSON: " + found + " byte " + std::to_string(at_) +
                                       ", where " + std::string(what) + " is expected");
}

Result<void> JsonCursor::expect(char c, std::string_view what) {
  if (accept(c)) return {};
  return error(what);
}

Result<std::string_view> JsonCursor::string() {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != '"') return error("a string");
  const std::size_t end = string_end(text_, at_);
  if (end == std::string_view::npos) {
    at_ = text_.size();
    return error("the end of a string");
  }
  const std::string_view out = text_.substr(at_, end - at_);
  at_ = end;
  return out;
}

Result<std::string_view> JsonCursor::value() {
  skip_space();
  if (at_ >= text_.size()) return error("a value");
  const char first = text_[at_];
  if (first == '"') return string();
  const std::string_view rest = text_.substr(at_);
  std::size_t length = 0;
  if (first == '{' || first == '[') {
    length = bracketed_length(rest);
    if (length == std::string_view::npos) {
      at_ = text_.size();
      return error("the end of an object or list");
    }
  } else {
    while (length < rest.size() && !ends_scalar(rest[length])) ++length;
    if (length == 0) return error("a value");
  }
  at_ += length;
  return rest.substr(0, length);
}

Result<void> JsonCursor::each_field(
    const std::function<Result<void>(std::string_view, std::string_view)>& on_field) {
  KW_TRY(expect('{', "{"));
  if (accept('}')) return {};
  while (true) {
    KW_ASSIGN(const std::string_view literal, string());
    KW_TRY(expect(':', ":"));
    KW_ASSIGN(const std::string_view field, value());
    if (literal.find('\\') == std::string_view::npos) {
      KW_TRY(on_field(literal.substr(1, literal.size() - 2), field));
    } else {
      KW_ASSIGN(const std::string key, decode_json_string(literal));
      KW_TRY(on_field(key, field));
    }
    if (accept('}')) return {};
    KW_TRY(expect(',', ", or }"));
  }
}

Result<void> JsonCursor::each_element(
    const std::function<Result<void>(std::string_view)>& on_element) {
  KW_TRY(expect('[', "["));
  if (accept(']')) return {};
  while (true) {
    KW_ASSIGN(const std::string_view element, value());
    KW_TRY(on_element(element));
    if (accept(']')) return {};
    KW_TRY(expect(',', ", or ]"));
  }
}

Result<void> JsonCursor::expect_end() {
  skip_space();
  if (at_ < text_.size()) return error("the end");
  return {};
}

}  // namespace kubewatch::core
