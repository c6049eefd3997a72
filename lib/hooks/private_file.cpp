#include "hooks/private_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "loop/memfd.hpp"

namespace kubewatch::hooks {
namespace {

Error cannot_write(const std::string& path) {
  return Error(ErrorKind::unavailable,
               fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

}  // namespace

Result<void> write_private(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  unlink(fresh.c_str());
  const loop::Fd fd(open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return cannot_write(fresh);
  const ssize_t written = ::write(fd.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) return cannot_write(fresh);
  if (rename(fresh.c_str(), path.c_str()) != 0) return cannot_write(path);
  return {};
}

}  // namespace kubewatch::hooks
