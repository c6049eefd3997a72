// Whole files in and out.
#include "base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace kubewatch::base {

namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// Not `forbidden`, which is told as "not logged in".
Error system_error(std::string_view what, const std::string& path, int code) {
  ErrorKind kind = ErrorKind::invalid;
  if (code == ENOENT) kind = ErrorKind::not_found;
  if (code == EACCES || code == EPERM || code == EROFS) kind = ErrorKind::unavailable;
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) kind = ErrorKind::too_large;
  return Error(kind, fmt::format("{} {}: {}", what, path, std::strerror(code))).as_no_room(code);
}

Error too_large(const std::string& path, std::size_t max_bytes) {
  return Error(ErrorKind::too_large,
               fmt::format("{} is larger than the limit of {} bytes", path, max_bytes));
}

Error no_regular_file(const std::string& path) {
  return Error(ErrorKind::invalid, fmt::format("cannot read {}: it is no regular file", path));
}

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("cannot write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> wait_for_disk(int fd, const std::string& path) {
  if (::fsync(fd) != 0 && errno != EINVAL) return system_error("cannot write", path, errno);
  return {};
}

// Whether something has come, or whoever wrote has gone; neither before there was a writer.
bool heard_of_writer(int fd, bool wait) {
  pollfd pipe{fd, POLLIN, 0};
  int count = 0;
  do {
    count = ::poll(&pipe, 1, wait ? -1 : 0);
  } while (count < 0 && errno == EINTR);
  return count > 0;
}

enum class Takes { any, awaited, regular_files };

Result<std::string> read_whole(const std::string& path, std::size_t max_bytes, Takes takes) {
  // O_NONBLOCK: opening a FIFO without a writer must not hang. O_NOCTTY: nor make a terminal ours.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) return system_error("cannot read", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return system_error("cannot read", path, errno);
  if (S_ISDIR(info.st_mode)) {
    return Error(ErrorKind::invalid, fmt::format("cannot read {}: it is a folder", path));
  }
  if (takes == Takes::regular_files && !S_ISREG(info.st_mode)) return no_regular_file(path);
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (S_ISREG(info.st_mode)) {
    if (static_cast<std::uintmax_t>(info.st_size) > max_bytes) return too_large(path, max_bytes);
  } else if (::fcntl(fd.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return system_error("cannot read", path, errno);
  }
  const bool pipe = S_ISFIFO(info.st_mode);
  if (pipe && takes == Takes::awaited) (void)heard_of_writer(fd.get(), true);
  std::string out;
  char buffer[65536];
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("cannot read", path, errno);
    if (count == 0 && out.empty() && pipe && !heard_of_writer(fd.get(), false)) {
      return Error(ErrorKind::invalid,
                   fmt::format("cannot read {}: it is a pipe that nobody writes to", path));
    }
    if (count == 0) return out;
    // The size of a growing file, a pipe or /proc is not known before.
    if (out.size() + static_cast<std::size_t>(count) > max_bytes) return too_large(path, max_bytes);
    out.append(buffer, static_cast<std::size_t>(count));
  }
}

Result<void> replace_file(const std::string& path, std::string_view content, unsigned mode,
                          bool wait) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Error(ErrorKind::invalid, fmt::format("cannot write {}: it is a folder", path));
  }
  std::string temporary = path + ".XXXXXX";
  const Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0) return system_error("cannot write", path, errno);
  Result<void> written = write_all(fd.get(), content, path);
  if (written.ok() && wait) written = wait_for_disk(fd.get(), path);
  if (written.ok() && ::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) {
    written = system_error("cannot set the mode of", path, errno);
  }
  if (written.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = system_error("cannot write", path, errno);
  }
  if (!written.ok()) ::unlink(temporary.c_str());
  return written;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  return read_whole(path, max_bytes, Takes::any);
}

Result<std::string> read_awaited_file(const std::string& path, std::size_t max_bytes) {
  return read_whole(path, max_bytes, Takes::awaited);
}

Result<std::string> read_regular_file(const std::string& path, std::size_t max_bytes) {
  // To open a device may do something already.
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return no_regular_file(path);
  }
  return read_whole(path, max_bytes, Takes::regular_files);
}

Result<void> write_file_atomic(const std::string& path, std::string_view content, unsigned mode) {
  return replace_file(path, content, mode, true);
}

Result<void> write_generated_file(const std::string& path, std::string_view content,
                                  unsigned mode) {
  return replace_file(path, content, mode, false);
}

bool holds_documents(const std::string& path) {
  const auto ending = std::filesystem::path(path).extension();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

}  // namespace kubewatch::base
