#include "cli/stdout_writer.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "cli/interrupt.hpp"

namespace kubewatch::cli {

namespace {

// POLLOUT promises so much room in a pipe (PIPE_BUF).
constexpr std::size_t kPipeRoom = 4096;
// A signal that comes between the look at it and the poll is seen after this.
constexpr int kStepMs = 50;

// The loop's clock stands still while this waits.
TimePoint now() {
  return std::chrono::floor<Duration>(std::chrono::steady_clock::now());
}

}  // namespace

void WritePatience::ending() {
  ending_ = true;
  heard_ = 0;
}

bool WritePatience::over(TimePoint now, unsigned signals) {
  if (signals > heard_) return true;
  const bool asked = ending_ || signals > 0 || (deadline_ && now >= *deadline_);
  if (!asked) return false;
  if (!asked_) asked_ = now;
  return now - *asked_ >= kGrace;
}

std::size_t next_piece(std::string_view bytes) {
  if (bytes.size() <= kPipeRoom) return bytes.size();
  const std::size_t line = bytes.rfind('\n', kPipeRoom - 1);
  return line == std::string_view::npos ? kPipeRoom : line + 1;
}

StdoutWriter::StdoutWriter(int fd) : fd_(fd) {
  struct stat status {};
  never_waits_ = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

StdoutWriter::End StdoutWriter::write(std::string_view& bytes) {
  while (!bytes.empty()) {
    pollfd look{fd_, POLLOUT, 0};
    if (!never_waits_ && ::poll(&look, 1, 0) != 1) {
      if (patience_.over(now(), Interrupt::untold())) return End::given_up;
      ::poll(&look, 1, kStepMs);
      continue;
    }
    const ssize_t written =
        ::write(fd_, bytes.data(), never_waits_ ? bytes.size() : next_piece(bytes));
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      if (patience_.over(now(), Interrupt::untold())) return End::given_up;
      ::poll(nullptr, 0, 1);
    } else if (errno != EINTR) {
      error_ = errno;
      return End::broken;
    }
  }
  return End::written;
}

}  // namespace kubewatch::cli
