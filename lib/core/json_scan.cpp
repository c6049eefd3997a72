// Ends of values, sixty-four bytes at a time, and a cursor over whole text; see the header for what
// they do not check.
#include "core/json_scan.hpp"

#include <utility>

#include "base/json.hpp"

namespace kubewatch::core {
namespace {

bool ends_scalar(char c) {
  return c == ',' || c == ']' || c == '}' || c == ':' || c == '"' || is_json_space(c);
}

// `bytes` begins a number, true, false or null, or is in the middle of one.
std::size_t scalar_length(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (ends_scalar(bytes[i])) return i;
  }
  return JsonValueEnd::kGoesOn;
}

// `bytes` from `at` on are in a string. `escaped`: the first of them is escaped, or afterwards,
// when the string goes on, the first byte behind them.
std::size_t string_length(std::string_view bytes, std::size_t at, bool& escaped) {
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  const char* next = begin + at;
  if (escaped && next != end) {
    escaped = false;
    ++next;
  }
  while (next != end) {
    next = find_quote_or_backslash(next, end);
    if (next == end) break;
    if (*next == '"') return static_cast<std::size_t>(next - begin) + 1;
    if (++next == end) {
      escaped = true;
      break;
    }
    ++next;
  }
  return JsonValueEnd::kGoesOn;
}

}  // namespace

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
    case Form::string: return string_length(bytes, std::exchange(opened_, true) ? 0 : 1, escaped_);
    case Form::brackets: return brackets_.feed(bytes);
    default: return scalar_length(bytes);
  }
}

// ---------------------------------------------------------------- JsonCursor

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

// As JsonValueEnd, for text that is all there: most values are a few bytes long.
JsonCursor::Value JsonCursor::take_value() {
  const char first = peek();
  const std::string_view rest(text_.data() + at_, text_.size() - at_);
  JsonBrackets brackets;
  bool escaped = false;
  std::size_t length = JsonValueEnd::kGoesOn;
  if (first == '"') {
    length = string_length(rest, 1, escaped);
  } else if (first == '{' || first == '[') {
    length = brackets.feed(rest);
  } else {
    length = scalar_length(rest);
  }
  if (length == JsonValueEnd::kGoesOn) {
    at_ = text_.size();
    return {};
  }
  at_ += length;
  return {{rest.data(), length}, brackets.deepest, brackets.spaced};
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
