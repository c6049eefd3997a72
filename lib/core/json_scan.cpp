// Ends of values, sixty-four bytes at a time, and a cursor over whole text; see the header for what
// they do not check.
#include "core/json_scan.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace kubewatch::core {
namespace {

bool ends_scalar(char c) {
  return c == ',' || c == ']' || c == '}' || c == ':' || c == '"' || is_json_space(c);
}

}  // namespace

bool is_json_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// ---------------------------------------------------------------- JsonValueEnd

void JsonValueEnd::begin(char first) {
  if (first == '"') {
    form_ = Form::string;
  } else if (first == '{' || first == '[') {
    form_ = Form::brackets;
  } else {
    form_ = Form::scalar;
  }
}

std::size_t JsonValueEnd::feed(std::string_view bytes) {
  if (bytes.empty()) return kGoesOn;
  if (form_ == Form::none) begin(bytes.front());
  switch (form_) {
    case Form::string: return feed_string(bytes);
    case Form::brackets: return brackets_.feed(bytes);
    default: return feed_scalar(bytes);
  }
}

std::size_t JsonValueEnd::feed_scalar(std::string_view bytes) {
  const auto* end = std::find_if(bytes.begin(), bytes.end(), ends_scalar);
  return end == bytes.end() ? kGoesOn : static_cast<std::size_t>(end - bytes.begin());
}

std::size_t JsonValueEnd::feed_string(std::string_view bytes) {
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  const char* at = begin;
  if (!opened_) ++at;
  opened_ = true;
  if (escaped_ && at != end) {
    escaped_ = false;
    ++at;
  }
  while (at != end) {
    at = find_quote_or_backslash(at, end);
    if (at == end) break;
    if (*at == '"') return static_cast<std::size_t>(at - begin) + 1;
    if (++at == end) {
      escaped_ = true;
      break;
    }
    ++at;
  }
  return kGoesOn;
}

// ---------------------------------------------------------------- JsonCursor

char JsonCursor::peek() {
  while (at_ < text_.size() && is_json_space(text_[at_])) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonCursor::accept(char c) {
  if (peek() != c || at_ >= text_.size()) return false;
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

std::string_view JsonCursor::take_string() {
  if (peek() != '"') return {};
  return take_value().text;
}

JsonCursor::Value JsonCursor::take_value() {
  peek();
  const std::string_view rest = text_.substr(at_);
  JsonValueEnd end;
  std::size_t length = end.feed(rest);
  if (length == JsonValueEnd::kGoesOn) {
    at_ = text_.size();
    return {};
  }
  at_ += length;
  return {rest.substr(0, length), end.deepest(), end.spaced()};
}

Result<void> JsonCursor::each_field(
    const std::function<Result<void>(std::string_view, std::string_view)>& on_field) {
  KW_TRY(expect('{', "{"));
  if (accept('}')) return {};
  while (true) {
    const std::string_view literal = take_string();
    if (literal.empty()) return error("a string");
    KW_TRY(expect(':', ":"));
    const std::string_view field = take_value().text;
    if (field.empty()) return error("a value");
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

Result<void> JsonCursor::expect_end() {
  if (peek() != '\0' || at_ < text_.size()) return error("the end");
  return {};
}

Result<std::string> decode_json_string(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != '"') {
    return Error(ErrorKind::invalid, "not a JSON string");
  }
  KW_ASSIGN(const Json value, base::parse_json(literal));
  if (!value.is_string()) return Error(ErrorKind::invalid, "not a JSON string");
  return value.get<std::string>();
}

}  // namespace kubewatch::core
