// What the other end of stdout or stderr is: whether it interprets escapes, shows colour, how wide
// it is; and text measured in the columns that a terminal gives it. Pure but for terminal_of().
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kubewatch::cli {

struct Terminal {
  bool tty = false;
  bool color = false;
  std::size_t width = 0;  // 0: no terminal, or it does not tell
};

// `choice`: --color's auto, always, never. auto: a terminal, no NO_COLOR, TERM not dumb.
bool wants_color(const std::string& choice, bool tty,
                 const std::function<const char*(const char*)>& getenv);
// Of a descriptor of this process; $COLUMNS goes before what the terminal says.
Terminal terminal_of(const std::string& color_choice, int fd);

enum class Style { plain, bold, dim, red, green, yellow, blue, magenta, cyan };
// The text itself where there is no colour. `text` is escaped already.
std::string styled(std::string_view text, Style style, const Terminal& terminal);

// Columns that a terminal gives to the text: 2 for wide East Asian characters, 0 for combining
// ones. Precondition: no control characters (base::escape_for_terminal).
std::size_t display_width(std::string_view text);
// At most `width` columns; what is cut ends in an ellipsis.
std::string cut_to_width(std::string_view text, std::size_t width);
// Filled up with blanks to `width` columns.
std::string padded(std::string_view text, std::size_t width);

}  // namespace kubewatch::cli
