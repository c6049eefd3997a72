// Writes to a stdout whose reader may stop reading without going away (a pager, Ctrl-S, a full
// pipe): the wait for it notices the signals and the deadline that end the command, which the loop
// cannot tell of meanwhile. How long it waits is decided without I/O; writing is thin.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace kubewatch::cli {

class WritePatience {
 public:
  // A reader that only was behind has so long to take the rest once an end was asked for.
  static constexpr Duration kGrace{1000};

  void end_at(TimePoint deadline) { deadline_ = deadline; }
  // The command ends: what asked for it was heard, and a signal from now on is another one.
  void ending();
  // Whether to wait no longer. `signals`: came, and the loop has not told of them yet.
  bool over(TimePoint now, unsigned signals);

 private:
  std::optional<TimePoint> deadline_;
  std::optional<TimePoint> asked_;
  unsigned heard_ = 1;  // signals that ask for an end with grace; further ones for one at once
  bool ending_ = false;
};

// How much of `bytes` to write at once: whole lines where they fit, never more than a pipe that
// says that it can be written has room for.
std::size_t next_piece(std::string_view bytes);

class StdoutWriter {
 public:
  enum class End { written, given_up, broken };
  explicit StdoutWriter(int fd);
  WritePatience& patience() { return patience_; }
  // Takes what was written off `bytes`.
  End write(std::string_view& bytes);
  // errno of a write that was broken, 0 before.
  int error() const { return error_; }

 private:
  int fd_;
  int error_ = 0;
  bool never_waits_ = false;  // a file
  WritePatience patience_;
};

}  // namespace kubewatch::cli
