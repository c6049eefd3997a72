// A recording as it is written: lines are gathered into blocks and appended, so that what was
// flushed can be read after any end of the process. Bounded: the last line of a full file says that
// it is full. The file is the owner's only (0600). What the lines say is recorder's business.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "hooks/recording_format.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::hooks {

inline constexpr std::size_t kRecordingBlock = 256U << 10U;  // bytes of lines

// A replay must be able to read it: some room is left for the last line.
struct RecordingLimits {
  std::size_t packed = 64U << 20U;
  std::size_t text = kMaxRecordedText - (1U << 20U);
  std::size_t lines = kMaxRecordedLines - 16;
};

class RecordingFile {
 public:
  // A recording that is there is kept as PATH.1, in place of an earlier one. Errors: already_exists
  // (one of the two is something else), or of the system.
  static Result<std::unique_ptr<RecordingFile>> create(const std::string& path,
                                                       RecordingLimits limits = {});

  // Without the newline. Nothing any more once it has ended.
  void add(const std::string& line);
  void flush();
  // Writes `line` as the last one, whatever the limit.
  void end(const std::string& line);

  bool ended() const { return !fd_; }
  // Why it ended by itself: too large, a disk that is full; "" = it did not.
  const std::string& problem() const { return problem_; }
  // That was its limit: what it has can be read, and its last line says so.
  bool full() const { return full_; }
  const std::string& path() const { return path_; }

 private:
  RecordingFile(std::string path, RecordingLimits limits, loop::Fd fd)
      : path_(std::move(path)), limits_(limits), fd_(std::move(fd)) {}
  bool append(std::string_view bytes);
  void give_up(std::string why);

  std::string path_;
  RecordingLimits limits_;
  loop::Fd fd_;
  std::string lines_;
  std::size_t written_ = 0;
  std::size_t text_ = 0;   // of all lines
  std::size_t count_ = 0;  // of lines
  std::string problem_;
  bool full_ = false;
};

// {"t":"end","why":"full"}: of a recording that has reached its limit.
inline constexpr std::string_view kFullLine = R"({"t":"end","why":"full"})";

}  // namespace kubewatch::hooks
