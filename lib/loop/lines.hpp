// Bytes to lines, with a limit on the length of one: the rest of a longer line is dropped.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kubewatch::loop {

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line) : max_line_(max_line) {}
  // `emit` returns false to stop: this may be gone then.
  using Emit = std::function<bool(std::string_view)>;
  bool feed(std::string_view bytes, const Emit& emit);
  // A last line without a newline.
  bool finish(const Emit& emit);

 private:
  void keep(std::string_view part);
  std::string take();

  std::size_t max_line_;
  std::string line_;
  bool cut_ = false;
};

}  // namespace kubewatch::loop
