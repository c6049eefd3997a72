#include "cli/caret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/strings.hpp"
#include "cli/terminal.hpp"

namespace kubewatch::cli {

std::string with_caret(const std::string& what, std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  std::size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1);
  begin = begin == std::string_view::npos || begin >= at ? 0 : begin + 1;
  const std::string_view line = text.substr(begin, text.find('\n', at) - begin);
  // A long line is shown around the place.
  constexpr std::size_t kAround = 60;
  std::size_t shown = at - begin > kAround ? at - begin - kAround : 0;
  while (shown > 0 && (static_cast<unsigned char>(line[shown]) & 0xc0U) == 0x80U) --shown;
  std::size_t end = std::min(line.size(), shown + 2 * kAround);
  while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U) ++end;
  const auto visible = [](std::string_view part) {
    std::string out = base::escape_for_terminal(part);
    std::replace(out.begin(), out.end(), '\t', ' ');  // so that the caret stands right
    return out;
  };
  const std::string before = visible(line.substr(shown, at - begin - shown));
  const std::string after = visible(line.substr(at - begin, end - (at - begin)));
  return fmt::format("{}\n  {}{}\n  {}^", what, before, after,
                     std::string(display_width(before), ' '));
}

std::optional<std::size_t> place_in(std::string_view message) {
  constexpr std::string_view kWord = "character ";
  const auto found = message.rfind(kWord);
  if (found == std::string_view::npos) return std::nullopt;
  std::size_t out = 0;
  const char* begin = message.data() + found + kWord.size();
  const auto [stop, code] = std::from_chars(begin, message.data() + message.size(), out);
  if (code != std::errc() || out == 0) return std::nullopt;
  return out - 1;
}

std::string with_named_caret(const std::string& what, std::string_view text) {
  const auto at = place_in(what);
  if (!at || *at > text.size() || text.find('\n') != std::string_view::npos) return what;
  return fmt::format("{}\n  {}\n  {}^", what, text, std::string(*at, ' '));
}

}  // namespace kubewatch::cli
