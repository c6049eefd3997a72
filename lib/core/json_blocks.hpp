// Values in brackets, sixty-four bytes at a time: where one ends and how deep it is. What json_scan
// walks over long values with. Internal to lib/core.
#pragma once

#include <cstddef>
#include <string_view>

namespace kubewatch::core {

constexpr std::size_t kJsonBlock = 64;

// Where a reader of one value stands between two pieces of it.
struct JsonBrackets {
  static constexpr std::size_t kGoesOn = static_cast<std::size_t>(-1);

  bool escaped = false;  // the next byte is escaped
  bool in_string = false;
  bool spaced = false;  // white space outside strings was seen
  std::size_t depth = 0;
  std::size_t deepest = 0;

  // How many of `bytes` belong to the value when it ends among them, else kGoesOn. The value's
  // first bracket comes first. With the widest instructions that this processor has.
  std::size_t feed(std::string_view bytes);
  // The same without vector instructions: what other processors run, and what tests compare with.
  std::size_t feed_portably(std::string_view bytes);
  // With those that every processor of this architecture has.
  std::size_t feed_commonly(std::string_view bytes);
};

// The first quote or backslash in [at, end), or `end`.
const char* find_quote_or_backslash(const char* at, const char* end);

// The first of " , : [ ] { } in `text` from `from` on, inside strings, too; text.size() when there
// is none.
std::size_t find_json_punctuation(std::string_view text, std::size_t from);

}  // namespace kubewatch::core
