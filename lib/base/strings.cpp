// Text helpers: splitting, terminal escaping, suggestions. Encodings are in encoding.cpp, files in
// files.cpp.
#include "base/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/ascii.hpp"
#include "base/utf8.hpp"

namespace kubewatch::base {

namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Characters that a terminal interprets or that reorder the text around them.
bool needs_escape(char32_t c) {
  if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return true;
  if (c == 0x061c || c == 0x200e || c == 0x200f || c == 0xfeff) return true;
  if (c >= 0x2028 && c <= 0x202e) return true;
  return (c >= 0x2066 && c <= 0x206f) || (c >= 0xfff9 && c <= 0xfffb) ||
         (c >= 0xe0000 && c <= 0xe007f);
}

std::string visible_escape(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  const auto code = static_cast<std::uint32_t>(c);
  if (code < 0x80) return fmt::format("\\x{:02x}", code);
  if (code <= 0xffff) return fmt::format("\\u{:04x}", code);
  return fmt::format("\\U{:08x}", code);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, substitute});
    }
  }
  return row[b.size()];
}

// Printable ASCII at the front, which is nearly all of most texts.
std::size_t plain_length(std::string_view text) {
  const auto end =
      std::find_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; });
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    if (end == std::string_view::npos) break;
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::vector<std::string> split_at_blanks(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trim(text)).empty()) {
    const auto end = std::find_if(text.begin(), text.end(), is_space);
    const auto length = static_cast<std::size_t>(end - text.begin());
    words.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return head;
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

std::string one_line(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::string out;
  while (true) {
    const std::size_t end = text.find_first_of("\r\n");
    if (end == std::string_view::npos) return out.append(text);
    out += text.substr(0, text.find_last_not_of(kSpace, end) + 1);
    const std::size_t next = text.find_first_not_of(kSpace, end);
    if (next == std::string_view::npos) return out;
    if (!out.empty()) out += ' ';
    text.remove_prefix(next);
  }
}

std::string escape_for_terminal(std::string_view text, bool keep_newlines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t plain = plain_length(text.substr(at)); plain > 0) {
      out += text.substr(at, plain);
      at += plain;
      continue;
    }
    const Utf8Char c = next_utf8(text, at);
    if (!c.valid) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    } else if (c.code == '\t' || (c.code == '\n' && keep_newlines) || !needs_escape(c.code)) {
      out += text.substr(at, c.size);
    } else {
      out += visible_escape(c.code);
    }
    at += c.size;
  }
  return out;
}

std::vector<std::string> suggest(std::string_view wanted, const std::vector<std::string>& known) {
  constexpr std::size_t kMaxLength = 200;  // the distance is quadratic; no name is this long
  constexpr std::size_t kMaxDistance = 2;
  if (wanted.size() > kMaxLength) return {};
  const std::string lower = to_lower(wanted);
  std::vector<std::pair<std::size_t, std::string>> close;
  for (const std::string& name : known) {
    if (name.size() > wanted.size() + kMaxDistance || wanted.size() > name.size() + kMaxDistance) {
      continue;
    }
    const std::size_t distance = edit_distance(lower, to_lower(name));
    // "ab" is two edits from everything short: the distance must leave something in common.
    if (distance <= kMaxDistance && distance < std::max(wanted.size(), name.size())) {
      close.emplace_back(distance, name);
    }
  }
  std::stable_sort(close.begin(), close.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& entry : close) out.push_back(std::move(entry.second));
  return out;
}

}  // namespace kubewatch::base
