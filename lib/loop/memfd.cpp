// memfd_create, write, seal. Nothing else in lib makes memory files.
#include "loop/memfd.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace kubewatch::loop {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Fd::release() {
  return std::exchange(fd_, -1);
}

void Fd::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

namespace {

Error failed(const char* what) {
  return Error(ErrorKind::unavailable, std::string("cannot prepare a child's input: ") + what +
                                           ": " + std::strerror(errno));
}

// Leaves the offset where it is, for who reads it.
Result<void> write_all(int fd, std::string_view content) {
  off_t at = 0;
  while (!content.empty()) {
    const ssize_t written = pwrite(fd, content.data(), content.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed("write");
    content.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
  return {};
}

}  // namespace

Result<Fd> sealed_input(std::string_view content) {
  Fd memory(memfd_create("kubewatch-input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return failed("memfd_create");
  KW_TRY(write_all(memory.get(), content));
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) return failed("seal");
  return memory;
}

std::optional<std::string> path_for_children(const Fd& open) {
  static const bool dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
  if (!dumpable) return std::nullopt;
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(open.get());
}

}  // namespace kubewatch::loop
