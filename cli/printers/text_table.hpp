// Rows of cells as aligned text, in the columns of a terminal. Knows no kinds. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kubewatch::cli {

inline constexpr std::size_t kColumnGap = 3;  // as kubectl has it

// kubectl's look: three blanks between columns, the last one not filled up. Cells are escaped here:
// no byte of them is interpreted by a terminal, no newline breaks a row.
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
