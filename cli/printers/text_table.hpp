// Rows of cells as aligned text, in the columns of a terminal. Knows no kinds. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::cli {

inline constexpr std::size_t kColumnGap = 3;  // as kubectl has it

// A cell as it is printed: no byte of it is interpreted by a terminal, and neither a newline nor a
// tab moves what follows.
std::string shown_cell(std::string_view text);

// kubectl's look: three blanks between columns, the last one not filled up. Cells are shown_cell.
class TextTable {
 public:
  // Widths that rows get at least; what came before this is forgotten.
  void start(std::vector<std::string> headers);
  const std::vector<std::string>& headers() const { return headers_; }

  // For a finished table: measure all rows first, then render them. Widths only grow.
  void measure(const std::vector<std::string>& cells);
  void measure_headers() { measure(headers_); }
  // With the newline. A cell that is wider than its column widens it from here on, so that the
  // rows of a stream stay aligned once the widest cell was seen.
  std::string render(const std::vector<std::string>& cells);
  std::string render_headers() { return render(headers_); }

 private:
  std::vector<std::string> headers_;
  std::vector<std::size_t> widths_;
};

}  // namespace kubewatch::cli
