// Ends of values, sixty-four bytes at a time, and a cursor over whole text; see the header for what
// they do not check.
#include "core/json_scan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/json.hpp"
#include "core/json_blocks.hpp"

namespace kubewatch::core {
namespace {

bool ends_scalar(char c) {
  return c == ',' || c == ']' || c == '}' || c == ':' || c == '"' || is_json_space(c);
}

// Bits of the bytes that a backslash escapes. `carry`: the first byte is escaped by the block
// before; afterwards the same for the next block.
std::uint64_t escaped_bits(std::uint64_t backslashes, bool& carry) {
  std::uint64_t escaped = carry ? 1 : 0;
  carry = false;
  while (backslashes != 0) {
    const std::uint64_t one = backslashes & (~backslashes + 1);
    backslashes ^= one;
    if ((one & escaped) != 0) continue;  // itself escaped: means nothing
    if ((one >> 63U) != 0) {
      carry = true;
    } else {
      escaped |= one << 1U;
    }
  }
  return escaped;
}

// Bit i of the result: an odd number of bits up to and with i are set.
std::uint64_t odd_up_to(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
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
    case Form::brackets: return feed_brackets(bytes);
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

std::size_t JsonValueEnd::feed_brackets(std::string_view bytes) {
  std::size_t at = 0;
  for (; bytes.size() - at >= kJsonBlock; at += kJsonBlock) {
    const std::size_t length = block(bytes.data() + at, kJsonBlock);
    if (length != kGoesOn) return at + length;
  }
  const std::size_t rest = bytes.size() - at;
  if (rest == 0) return kGoesOn;
  char padded[kJsonBlock];
  // Anything that is no bracket, quote, backslash or space: a value that ends here ends before it.
  std::memset(padded, 'x', sizeof(padded));
  std::memcpy(padded, bytes.data() + at, rest);
  const std::size_t length = block(padded, rest);
  return length == kGoesOn ? kGoesOn : at + length;
}

// Only the last block of a piece is shorter than kJsonBlock.
std::size_t JsonValueEnd::block(const char* bytes, std::size_t size) {
  const JsonBlock found = classify_json_block(bytes);
  std::uint64_t quotes = found.quotes;
  if (found.backslashes != 0 || escaped_) {
    bool carry = escaped_;
    const std::uint64_t escaped = escaped_bits(found.backslashes, carry);
    quotes &= ~escaped;
    // In a short block the byte behind its end is the first of the next piece.
    escaped_ = size == kJsonBlock ? carry : ((escaped >> size) & 1U) != 0;
  }
  // From an opening quote to the byte before its closing one.
  std::uint64_t inside = odd_up_to(quotes);
  if (in_string_) inside = ~inside;
  in_string_ = (inside >> 63U) != 0;
  const std::uint64_t opens = found.opens & ~inside;
  const std::uint64_t closes = found.closes & ~inside;
  if ((found.spaces & ~inside) != 0) spaced_ = true;
  const auto opened = static_cast<std::size_t>(std::popcount(opens));
  const auto closed = static_cast<std::size_t>(std::popcount(closes));
  // Neither the end nor a new depth can be in here: most blocks.
  if (depth_ > closed && depth_ + opened <= deepest_) {
    depth_ = depth_ + opened - closed;
    return kGoesOn;
  }
  return walk(opens, closes);
}

std::size_t JsonValueEnd::walk(std::uint64_t opens, std::uint64_t closes) {
  for (std::uint64_t left = opens | closes; left != 0; left &= left - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(left));
    if (((opens >> at) & 1U) != 0) {
      deepest_ = std::max(deepest_, ++depth_);
    } else if (--depth_ == 0) {
      return at + 1;
    }
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
