// Walks JSON text without a tree: where values begin and end, as slices of the caller's bytes.
// Checks the structure it walks through, not what is inside the values it skips; no recursion,
// O(bytes). The one place that knows where a JSON value ends.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/json_blocks.hpp"

namespace kubewatch::core {

// Where one value ends, in bytes that come in pieces.
class JsonValueEnd {
 public:
  static constexpr std::size_t kGoesOn = JsonBrackets::kGoesOn;

  // Forgets what it saw; the next byte fed begins a value.
  void reset() { *this = JsonValueEnd(); }
  bool begun() const { return form_ != Form::none; }
  // How many of `bytes` belong to the value when it ends among them, else kGoesOn. A number, true,
  // false or null ends in front of the byte that cannot belong to it, so it may be 0.
  std::size_t feed(std::string_view bytes);
  // Levels of brackets, counted from this value's own, which is 1.
  std::size_t deepest() const { return brackets_.deepest; }
  // White space outside strings was seen.
  bool spaced() const { return brackets_.spaced; }

 private:
  enum class Form { none, string, brackets, scalar };

  void begin(char first);

  Form form_ = Form::none;
  bool opened_ = false;   // string: behind the first quote
  bool escaped_ = false;  // string: the next byte is escaped
  JsonBrackets brackets_;
};

inline bool is_json_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

class JsonCursor {
 public:
  // `text` must outlive the cursor and the slices it gives.
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // Calls `on_field(key, value)` for each field of the object that begins here; the key is decoded,
  // the value a raw slice. Errors: invalid, with the byte offset; those of on_field.
  Result<void> each_field(
      const std::function<Result<void>(std::string_view key, std::string_view value)>& on_field);
  // Only whitespace is left.
  Result<void> expect_end();

  // --- step by step, for who writes another text from this one ---
  struct Value {
    std::string_view text;  // "" when it is cut short or nothing is there
    std::size_t deepest = 0;
    bool spaced = false;
  };
  // After white space; '\0' at the end.
  char peek() {
    while (at_ < text_.size() && is_json_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  // A string with its quotes; "" when there is none that ends.
  std::string_view take_string();
  Value take_value();
  std::size_t position() const { return at_; }

 private:
  Result<void> expect(char c, std::string_view what);
  Error error(std::string_view what) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

// The text of a JSON string literal. Errors: invalid (not a string).
Result<std::string> decode_json_string(std::string_view literal);

}  // namespace kubewatch::core
