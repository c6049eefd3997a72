// The last lines of a text that comes line by line, within a limit of lines and bytes. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

namespace kubewatch::hooks {

class LineTail {
 public:
  explicit LineTail(std::size_t lines = 20, std::size_t bytes = 4096)
      : lines_(lines), bytes_(bytes) {}
  struct Line {
    std::string text;
    bool cut = false;  // its end is missing
  };
  void add(std::string line, bool cut = false);
  const std::deque<Line>& lines() const { return tail_; }

 private:
  std::size_t lines_;
  std::size_t bytes_;
  std::size_t held_ = 0;
  std::deque<Line> tail_;
};

}  // namespace kubewatch::hooks
