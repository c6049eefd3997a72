#include "hooks/recording_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hooks/recording_format.hpp"

namespace kubewatch::hooks {

namespace {

Error recording_error(const std::string& what, const std::string& path) {
  return {ErrorKind::internal, fmt::format("{} {}: {}", what, path, std::strerror(errno))};
}

enum class There { nothing, empty, recording, other };

There what_is_at(const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) return There::nothing;
  if (!S_ISREG(there.st_mode)) return There::other;
  if (there.st_size == 0) return There::empty;
  const loop::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::string start(kRecordingMagic.size(), '\0');
  const auto size = fd ? ::read(fd.get(), start.data(), start.size()) : -1;
  return size > 0 && start.starts_with("kubewatch-recording ") ? There::recording : There::other;
}

Error occupied(const std::string& path) {
  return {ErrorKind::already_exists, path + " is there and is no recording: it is not overwritten"};
}

// Out of the way of a new one. Something else than a recording is left alone.
Result<void> set_aside(const std::string& path) {
  const There there = what_is_at(path);
  if (there == There::nothing) return {};
  if (there == There::other) return occupied(path);
  if (there == There::empty) {
    if (::unlink(path.c_str()) == 0) return {};
    return recording_error("cannot remove the empty", path);
  }
  const std::string aside = path + ".1";
  if (what_is_at(aside) == There::other) return occupied(aside);
  if (std::rename(path.c_str(), aside.c_str()) == 0) return {};
  return recording_error("cannot rename", path);
}

}  // namespace

Result<std::unique_ptr<RecordingFile>> RecordingFile::create(const std::string& path,
                                                             RecordingLimits limits) {
  KW_TRY(set_aside(path));
  loop::Fd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd || ::fchmod(fd.get(), 0600) != 0) return recording_error("cannot make", path);
  std::unique_ptr<RecordingFile> self(new RecordingFile(path, limits, std::move(fd)));
  if (!self->append(kRecordingMagic)) return Error(ErrorKind::internal, self->problem_);
  return self;
}

void RecordingFile::add(const std::string& line) {
  if (ended()) return;
  if (line.size() >= kMaxRecordedLine) {
    return give_up("an object is too large to be recorded");
  }
  if (++count_ > limits_.lines) return give_up("it has as many lines as can be read again");
  lines_ += line;
  lines_ += '\n';
  if (lines_.size() >= kRecordingBlock) flush();
}

void RecordingFile::flush() {
  if (ended() || lines_.empty()) return;
  text_ += lines_.size();
  if (text_ > limits_.text) return give_up("it is as long as can be read again, unpacked");
  const std::string block = recording_block(lines_);
  lines_.clear();
  if (block.empty()) return give_up("there is no memory to compress it");
  if (written_ + block.size() > limits_.packed) {
    return give_up(fmt::format("it has reached its limit of {} bytes", limits_.packed));
  }
  append(block);
}

void RecordingFile::end(const std::string& line) {
  flush();
  if (ended()) return;
  append(recording_block(line + "\n"));
  fd_.reset();
}

bool RecordingFile::append(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(fd_.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      problem_ = recording_error("cannot write", path_).message();
      fd_.reset();
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  written_ += bytes.size();
  return true;
}

void RecordingFile::give_up(std::string why) {
  lines_.clear();
  if (!append(recording_block(std::string(kFullLine) + "\n"))) return;
  fd_.reset();
  problem_ = std::move(why);
  full_ = true;
}

}  // namespace kubewatch::hooks
