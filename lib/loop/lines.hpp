// Bytes to lines, with a limit on the length of one: how everything that is read line by line is
// cut (hooks' stderr, workers, triggers, sockets). A line that fits is handed on without a copy
// where it came in one piece.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kubewatch::loop {

class LineSplitter {
 public:
  // Of a longer line the rest is dropped and the cut told in it, or it ends the reading.
  enum class Longer { cut, refused };
  enum class Fed { all, stopped, too_long };

  explicit LineSplitter(std::size_t max_line, Longer longer = Longer::cut)
      : max_line_(max_line), longer_(longer) {}
  // `rest` came behind the line. Returns false to stop, which drops `rest`: this may be gone then.
  using Emit = std::function<bool(std::string_view line, std::string_view rest)>;
  Fed feed(std::string_view bytes, const Emit& emit);
  // A last line without a newline.
  Fed finish(const Emit& emit);

  // Of a line that has not ended.
  const std::string& begun() const { return line_; }
  void clear();

 private:
  void keep(std::string_view part);
  std::string take();

  std::size_t max_line_;
  Longer longer_;
  std::string line_;
  bool cut_ = false;
};

// Where a splitter's words begin at the end of a line that it cut; npos: it was not cut.
std::size_t cut_words_at(std::string_view line);

}  // namespace kubewatch::loop
