#include "cli/watch/event_table.hpp"

#include <algorithm>
#include <utility>

#include "base/strings.hpp"
#include "cli/printers/text_table.hpp"

namespace kubewatch::cli::watch {

namespace {

constexpr std::size_t kMostWidth = 80;  // a longer cell moves its own row only

bool is_printable_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

std::size_t width_of(const std::string& cell, bool ascii) {
  return ascii ? cell.size() : display_width(cell);
}

}  // namespace

EventTable::EventTable(std::vector<std::string> headers, bool with_headers, std::size_t first_width,
                       const Terminal& terminal)
    : headers_(std::move(headers)), header_due_(with_headers), terminal_(terminal) {
  for (std::string& header : headers_) {
    if (!is_printable_ascii(header)) header = shown_cell(header);
    widths_.push_back(display_width(header));
  }
  if (!widths_.empty()) widths_.front() = std::max(widths_.front(), first_width);
}

void EventTable::append_row(const Row& row, std::string& out) const {
  const auto& cells = row.cells;
  std::size_t last = cells.size();
  while (last > 0 && cells[last - 1].empty()) --last;
  for (std::size_t i = 0; i < last; ++i) {
    if (i == 0 && terminal_.color) {
      out += styled(cells[i], row.first, terminal_);
    } else {
      out += cells[i];
    }
    if (i + 1 == last) break;
    const std::size_t used = width_of(cells[i], row.ascii);
    out.append(std::max(widths_[i], used) - used + kColumnGap, ' ');
  }
  out += '\n';
}

void EventTable::add_row(std::vector<std::string> cells, bool counts, Style first) {
  cells.resize(headers_.size());
  bool ascii = true;
  for (std::string& cell : cells) {
    if (is_printable_ascii(cell)) continue;
    cell = shown_cell(cell);
    ascii = false;
  }
  rows_.push_back({std::move(cells), counts, first, ascii});
}

std::string EventTable::text() {
  std::string out;
  if (rows_.empty()) return out;
  for (const Row& row : rows_) {
    for (std::size_t i = 0; row.counts && i < row.cells.size(); ++i) {
      const std::size_t width = width_of(row.cells[i], row.ascii);
      if (width <= kMostWidth) widths_[i] = std::max(widths_[i], width);
    }
  }
  const bool only_marks =
      std::none_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.counts; });
  if (!only_marks && std::exchange(header_due_, false))
    append_row({headers_, true, Style::plain, false}, out);
  for (const Row& row : rows_) append_row(row, out);
  rows_.clear();
  return out;
}

}  // namespace kubewatch::cli::watch
