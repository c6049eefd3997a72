#include "loop/file_watch.hpp"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

namespace kubewatch::loop {

namespace {

namespace fs = std::filesystem;

// Not IN_MODIFY: a file that is being written is not read in the middle, but when it is closed.
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                  IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                                  IN_ONLYDIR;

// The folder itself, or the nearest one above that exists.
std::string existing_folder(fs::path path) {
  std::error_code ignored;
  while (!fs::is_directory(path, ignored) && path.has_parent_path() && path != path.parent_path()) {
    path = path.parent_path();
  }
  return path.string();
}

std::set<std::string> folders_of(const std::vector<std::string>& paths) {
  std::set<std::string> out;
  for (const std::string& path : paths) {
    std::error_code failed;
    fs::path full = fs::absolute(path, failed).lexically_normal();
    if (!full.has_filename()) full = full.parent_path();  // "rules/"
    out.insert(existing_folder(full));
    out.insert(existing_folder(full.parent_path()));
    // Behind a link the file may change in another folder than the one that names it.
    const fs::path real = fs::weakly_canonical(full, failed);
    if (!failed) out.insert(existing_folder(real.parent_path()));
  }
  return out;
}

// "No space left on device" is how the kernel says it.
Error no_watch(const std::string& folder, int code) {
  return Error(ErrorKind::unavailable,
               code == ENOSPC
                   ? fmt::format("cannot watch {}: all inotify watches of this user are taken "
                                 "(sysctl fs.inotify.max_user_watches)",
                                 folder)
                   : fmt::format("cannot watch {}: {}", folder, std::strerror(code)));
}

}  // namespace

Result<std::unique_ptr<FileWatch>> FileWatch::open(EventLoop& loop,
                                                   std::function<void()> on_change) {
  Fd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!fd) {
    return Error(ErrorKind::unavailable,
                 fmt::format("cannot watch files: {}", std::strerror(errno)));
  }
  std::unique_ptr<FileWatch> self(new FileWatch(std::move(fd), std::move(on_change)));
  self->watch_ = loop.on_readable(self->fd_.get(), [raw = self.get()] { raw->read(); });
  return self;
}

Result<void> FileWatch::follow(const std::vector<std::string>& paths) {
  const auto folders = folders_of(paths);
  std::map<std::string, int> now;
  Result<void> out;
  for (const std::string& folder : folders) {
    // Watching once more gives the same number while it is the same folder.
    const int id = ::inotify_add_watch(fd_.get(), folder.c_str(), kEvents);
    if (id >= 0) {
      now[folder] = id;
    } else if (errno == ENOSPC || errno == ENOMEM) {
      out = no_watch(folder, errno);
    }
  }
  std::set<int> kept;
  for (const auto& [folder, id] : now) kept.insert(id);
  for (const auto& [folder, id] : watched_) {
    if (!kept.contains(id)) ::inotify_rm_watch(fd_.get(), id);
  }
  watched_ = std::move(now);
  return out;
}

void FileWatch::read() {
  alignas(inotify_event) char buffer[16384];
  bool any = false;
  while (::read(fd_.get(), buffer, sizeof buffer) > 0) any = true;
  if (!any) return;
  const auto call = on_change_;  // which may destroy this
  call();
}

}  // namespace kubewatch::loop
