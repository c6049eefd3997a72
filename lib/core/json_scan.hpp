// Walks JSON text without a tree: where values begin and end, as slices of the caller's bytes.
// Checks the structure it walks through, not what is inside the values it skips; no recursion,
// O(bytes).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::core {

class JsonCursor {
 public:
  // `text` must outlive the cursor and the slices it gives.
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // Calls `on_field(key, value)` for each field of the object that begins here; the key is decoded,
  // the value a raw slice. Errors: invalid, with the byte offset; those of on_field.
  Result<void> each_field(
      const std::function<Result<void>(std::string_view key, std::string_view value)>& on_field);
  // The same for the elements of an array.
  Result<void> each_element(const std::function<Result<void>(std::string_view value)>& on_element);
  // Only whitespace is left.
  Result<void> expect_end();

 private:
  Result<std::string_view> value();
  Result<std::string_view> string();  // with its quotes
  Result<void> expect(char c, std::string_view what);
  bool accept(char c);
  void skip_space();
  Error error(std::string_view what) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

// The text of a JSON string literal. Errors: invalid (not a string).
Result<std::string> decode_json_string(std::string_view literal);

// Where the bracketed value that begins at `text[0]` ends: its length, or npos when it is cut off.
std::size_t bracketed_length(std::string_view text);

}  // namespace kubewatch::core
