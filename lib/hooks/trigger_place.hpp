// How far a file of `triggers` is read, and whether what is there now is still that file: it may
// have been replaced, cut, or overwritten in place. Pure.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace kubewatch::hooks {

// What a file system says about it at one moment.
struct FileMoment {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t changed = 0;  // its mtime, in nanoseconds
};
FileMoment moment_of(const struct stat& info);

class TriggerPlace {
 public:
  // From where to read on.
  off_t offset() const { return offset_; }
  // What stood right before that: to be compared with what stands there now.
  std::size_t kept() const { return tail_.size(); }
  // `before`: the kept() bytes before offset(), as they are now. What was there is all read, so an
  // appended text changes neither them nor only the time.
  bool is_another(const FileMoment& now, std::string_view before) const;
  // Everything is to be read again.
  void restart();
  // All up to `offset` counts as read; `before`: what stands before it, at least kMostKept bytes of
  // it or all.
  void skip_to(off_t offset, std::string_view before);
  // These bytes at offset() have been read.
  void read(std::string_view bytes);
  // Before reading: what is appended after it makes the file longer than that.
  void looked(const FileMoment& now) { last_ = now; }

  static constexpr std::size_t kMostKept = 64;

 private:
  FileMoment last_;
  off_t offset_ = 0;
  std::string tail_;
};

}  // namespace kubewatch::hooks
