#include "cli/watch/stdout_reader.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace kubewatch::cli::watch {

StdoutReader::StdoutReader(int fd) : fd_(fd) {
  struct stat status {};
  pipe_ = ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

bool StdoutReader::gone() const {
  pollfd look{fd_, 0, 0};
  return pipe_ && ::poll(&look, 1, 0) == 1 && (look.revents & POLLERR) != 0;
}

std::size_t StdoutReader::unread() const {
  int bytes = 0;
  if (!pipe_ || ::ioctl(fd_, FIONREAD, &bytes) != 0 || bytes < 0) return 0;
  return static_cast<std::size_t>(bytes);
}

}  // namespace kubewatch::cli::watch
