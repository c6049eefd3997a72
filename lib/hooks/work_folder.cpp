// mkdtemp and flock: the lock ends with the process, however it ends.
#include "hooks/work_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "hooks/hook_homes.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::string_view kFolderPrefix = "kubewatch-work-";
// No rule, and so no folder in it, has a name that begins with a dot.
constexpr const char* kFolderLock = ".lock";
constexpr const char* kNewFolderLock = ".lock.new";

bool take(const loop::Fd& lock) {
  return lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
}

// Of somebody who is gone. Holding its lock: a second one that cleans up leaves it alone.
bool abandoned(const std::string& path, loop::Fd& lock) {
  const loop::Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!folder || ::fstat(folder.get(), &facts) != 0 || facts.st_uid != ::geteuid()) return false;
  lock = loop::Fd(::openat(folder.get(), kFolderLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  return take(lock);
}

void remove_abandoned(const std::string& base) {
  std::vector<std::string> found;
  if (DIR* folder = ::opendir(base.c_str()); folder != nullptr) {
    while (const dirent* entry = ::readdir(folder)) {
      const std::string_view name = entry->d_name;
      if (name.starts_with(kFolderPrefix)) found.push_back(base + "/" + std::string(name));
    }
    ::closedir(folder);
  }
  for (const std::string& path : found) {
    loop::Fd lock;
    if (abandoned(path, lock)) remove_private_folder(path);
  }
}

}  // namespace

Result<WorkFolder> WorkFolder::make(const std::string& base) {
  remove_abandoned(base);
  WorkFolder out;
  std::string pattern = base + "/" + std::string(kFolderPrefix) + "XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return Error(
        ErrorKind::unavailable,
        fmt::format("cannot make a private folder for the hooks in {}: {}; TMPDIR says where", base,
                    std::strerror(errno)));
  }
  out.path_ = pattern;
  // It has its name only once it is held: what is named and free has no owner.
  const std::string fresh = pattern + "/" + kNewFolderLock;
  out.lock_ =
      loop::Fd(::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!take(out.lock_) || ::rename(fresh.c_str(), (pattern + "/" + kFolderLock).c_str()) != 0) {
    return Error(ErrorKind::unavailable, "cannot lock the private folder " + pattern);
  }
  return out;
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

WorkFolder& WorkFolder::operator=(WorkFolder&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  lock_ = std::move(other.lock_);
  return *this;
}

void WorkFolder::remove() {
  if (path_.empty()) return;
  remove_private_folder(path_);
  path_.clear();
}

std::string temporary_base() {
  const char* base = std::getenv("TMPDIR");
  return base == nullptr || *base == '\0' ? "/tmp" : base;
}

}  // namespace kubewatch::hooks
