#include "cli/printers/text_table.hpp"

#include <algorithm>

#include "base/strings.hpp"
#include "cli/terminal.hpp"

namespace kubewatch::cli {

std::string shown_cell(std::string_view text) {
  std::string out = base::escape_for_terminal(text);
  for (std::size_t at = 0; (at = out.find('\t', at)) != std::string::npos; at += 2) {
    out.replace(at, 1, "\\t");
  }
  return out;
}

void TextTable::start(std::vector<std::string> headers) {
  headers_ = std::move(headers);
  widths_.assign(headers_.size(), 0);
}

void TextTable::measure(const std::vector<std::string>& cells) {
  widths_.resize(std::max(widths_.size(), cells.size()));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    widths_[i] = std::max(widths_[i], display_width(shown_cell(cells[i])));
  }
}

std::string TextTable::render(const std::vector<std::string>& cells) {
  std::string out;
  widths_.resize(std::max(widths_.size(), cells.size()));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string text = shown_cell(cells[i]);
    const std::size_t width = display_width(text);
    widths_[i] = std::max(widths_[i], width);
    out += text;
    if (i + 1 < cells.size()) out.append(widths_[i] - width + kColumnGap, ' ');
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  out += '\n';
  return out;
}

}  // namespace kubewatch::cli
