#include "crdgen/markdown_text.hpp"

#include <algorithm>
#include <string_view>

#include "base/strings.hpp"

namespace kubewatch::crdgen {

namespace {

std::string without_breaks(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return base::escape_for_terminal(text);
}

std::string escaped(const std::string& text, std::string_view signs) {
  std::string out;
  for (const char c : without_breaks(text)) {
    if (signs.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string markdown_text(const std::string& text) {
  return escaped(text, "|<\\");
}

std::string markdown_exact(const std::string& text) {
  return escaped(text, "|<\\`*_[]!&~");
}

// In a code span a backslash is itself: only tables have an escape in it, for what ends a cell. A
// backtick is held by a longer fence.
std::string markdown_code(const std::string& text, MarkdownPlace place) {
  std::string inner;
  std::size_t longest = 0;
  std::size_t ticks = 0;
  for (const char c : without_breaks(text)) {
    ticks = c == '`' ? ticks + 1 : 0;
    longest = std::max(longest, ticks);
    if (c == '|' && place == MarkdownPlace::table) inner += '\\';
    inner += c;
  }
  const auto at_edge = [&inner](char c) { return inner.front() == c || inner.back() == c; };
  // One space at both ends is taken away by who reads it, but not where there is nothing else.
  const bool blank = inner.find_first_not_of(' ') == std::string::npos;
  if (inner.empty()) inner = " ";
  if (!blank && (at_edge('`') || at_edge(' '))) inner = " " + inner + " ";
  const std::string fence(longest + 1, '`');
  return fence + inner + fence;
}

}  // namespace kubewatch::crdgen
