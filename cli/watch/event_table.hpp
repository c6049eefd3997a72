// Rows under a header, in columns that stay aligned: as wide as the first rows need, wider from the
// row on that needs it, never narrower. Every cell is escaped; the first may have a colour. Pure:
// gathers rows, gives text.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cli/terminal.hpp"

namespace kubewatch::cli::watch {

class EventTable {
 public:
  // `first_width`: at least, of the first column.
  explicit EventTable(std::vector<std::string> headers, bool with_headers = true,
                      std::size_t first_width = 0, const Terminal& terminal = {});

  // Fewer cells than headers leave the rest empty. Precondition: not more.
  void add(std::vector<std::string> cells, Style first = Style::plain) {
    add_row(std::move(cells), true, first);
  }
  // A row that says something else in its last cell: no column becomes wider for it.
  void add_mark(std::vector<std::string> cells, Style first = Style::plain) {
    add_row(std::move(cells), false, first);
  }
  // Rows that wait for text(); a caller with many asks for it before there are too many.
  std::size_t waiting() const { return rows_.size(); }
  // The text of what was added since. The header comes before the first row, but marks alone come
  // without it: nothing is known yet of how wide it has to be.
  std::string text();

 private:
  struct Row {
    std::vector<std::string> cells;
    bool counts = true;
    Style first = Style::plain;
    bool ascii = true;  // then a cell is as wide as it has bytes
  };
  void add_row(std::vector<std::string> cells, bool counts, Style first);
  void append_row(const Row& row, std::string& out) const;

  std::vector<std::string> headers_;
  std::vector<std::size_t> widths_;
  std::vector<Row> rows_;
  bool header_due_;
  Terminal terminal_;
};

inline constexpr std::size_t kMostWaitingRows = 500;  // that wait to be aligned together

// "MODIFIED": of the column EVENT.
inline constexpr std::size_t kEventWidth = 8;

}  // namespace kubewatch::cli::watch
