#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "base/number_text.hpp"
#include "base/utf8.hpp"

namespace kubewatch::cli {

namespace {

struct Range {
  char32_t from;
  char32_t to;
};

// Characters that add no column: combining marks, joiners, variation selectors.
constexpr std::array<Range, 24> kZero = {{
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},   {0x064b, 0x065f},
    {0x0670, 0x0670}, {0x06d6, 0x06dc}, {0x0711, 0x0711}, {0x0730, 0x074a},   {0x0900, 0x0902},
    {0x093c, 0x093c}, {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31},   {0x0e34, 0x0e3a},
    {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d},   {0x20d0, 0x20ff},
    {0x302a, 0x302d}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
}};
// Two columns: East Asian wide and fullwidth, and emoji.
constexpr std::array<Range, 22> kWide = {{
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x26aa, 0x26ab},   {0x2705, 0x2705}, {0x270a, 0x270b}, {0x274c, 0x274e},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6},
    {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
}};

template <std::size_t N>
bool in(const std::array<Range, N>& ranges, char32_t c) {
  for (const auto& range : ranges) {
    if (c >= range.from && c <= range.to) return true;
  }
  return false;
}

std::size_t width_of(char32_t c) {
  if (c < 0x300) return 1;
  if (in(kZero, c)) return 0;
  return in(kWide, c) ? 2 : 1;
}

std::size_t width_of_tty(int fd) {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    const auto width = base::read_number<std::size_t>(columns);
    if (width && *width > 0) return *width;
  }
  struct winsize size {};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

bool wants_color(const std::string& choice, bool tty,
                 const std::function<const char*(const char*)>& getenv) {
  if (choice != "auto") return choice == "always";
  const char* no_color = getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = getenv("TERM");
  return tty && (term == nullptr || std::string_view(term) != "dumb");
}

Terminal terminal_of(const std::string& color_choice, int fd) {
  Terminal out;
  out.tty = ::isatty(fd) != 0;
  out.color =
      wants_color(color_choice, out.tty, [](const char* name) { return std::getenv(name); });
  if (out.tty) out.width = width_of_tty(fd);
  return out;
}

std::string styled(std::string_view text, Style style, const Terminal& terminal) {
  if (!terminal.color || style == Style::plain || text.empty()) return std::string(text);
  const char* code = "";
  switch (style) {
    case Style::plain: break;
    case Style::bold: code = "1"; break;
    case Style::dim: code = "2"; break;
    case Style::red: code = "31"; break;
    case Style::green: code = "32"; break;
    case Style::yellow: code = "33"; break;
    case Style::blue: code = "34"; break;
    case Style::magenta: code = "35"; break;
    case Style::cyan: code = "36"; break;
  }
  std::string out = "\x1b[";
  out += code;
  out += 'm';
  out += text;
  out += "\x1b[0m";
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = base::next_utf8(text, at);
    width += c.valid ? width_of(c.code) : 1;
    at += c.size;
  }
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t taken = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto c = base::next_utf8(text, at);
    const std::size_t next = c.valid ? width_of(c.code) : 1;
    if (taken + next > width - 1) break;
    taken += next;
    at += c.size;
  }
  return std::string(text.substr(0, at)) + "\u2026";
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  const std::size_t has = display_width(text);
  if (has < width) out.append(width - has, ' ');
  return out;
}

}  // namespace kubewatch::cli
