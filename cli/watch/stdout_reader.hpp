// The reader of stdout where that is a pipe: whether it went away, and how much it has not taken
// yet, which is lost with it. Thin.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kubewatch::cli::watch {

class StdoutReader {
 public:
  explicit StdoutReader(int fd);
  bool is_pipe() const { return pipe_; }
  // Of what is no pipe nothing is known: never gone, and nothing unread.
  bool gone() const;
  std::size_t unread() const;

 private:
  int fd_;
  bool pipe_;
};

// Whether the first `mark` bytes of `written` were taken, where `unread` were not. What others
// write into the same pipe can only delay it.
inline bool was_read(std::uint64_t mark, std::uint64_t written, std::size_t unread) {
  return unread <= written - mark;
}

}  // namespace kubewatch::cli::watch
