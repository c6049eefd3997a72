// Whether a folder was used is seen by its time of change, which is set to one that no clock gives.
#include "hooks/hook_homes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace kubewatch::hooks {

namespace {

constexpr time_t kUnused = 1;  // a second after the epoch
constexpr mode_t kMode = 0700;
constexpr std::size_t kMostFree = 64;

// Entries that are made or removed in it change its time.
void mark_unused(const std::string& folder) {
  const timespec times[2] = {{kUnused, 0}, {kUnused, 0}};
  ::utimensat(AT_FDCWD, folder.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

bool is_unused(const std::string& folder) {
  struct stat found {};
  return ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         (found.st_mode & 07777U) == kMode && found.st_uid == ::geteuid() &&
         found.st_mtim.tv_sec == kUnused && found.st_mtim.tv_nsec == 0;
}

}  // namespace

Result<void> make_private_folder(const std::string& path) {
  if (mkdir(path.c_str(), kMode) == 0) return {};
  int code = errno;
  struct stat info {};
  if (code == EEXIST && lstat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode) && info.st_uid == geteuid()) return {};
    code = EPERM;
  }
  return Error(ErrorKind::unavailable,
               fmt::format("cannot make the private folder {}: {}", path, std::strerror(code)));
}

Result<std::string> HookHomes::take() {
  while (!free_.empty()) {
    std::string home = std::move(free_.back());
    free_.pop_back();
    // Whatever cleans up temporary folders may have been here meanwhile.
    if (is_unused(home) && ::access(work_dir_.c_str(), F_OK) == 0) return home;
  }
  for (const std::string& one : parents_) KW_TRY(make_private_folder(one));
  KW_TRY(make_private_folder(work_dir_));
  std::string home = parents_.back() + "/home-" + std::to_string(++made_);
  KW_TRY(make_private_folder(home));
  mark_unused(home);
  return home;
}

void HookHomes::give_back(const std::string& home) {
  if (free_.size() < kMostFree && is_unused(home)) {
    free_.push_back(home);
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(home, ignored);
}

}  // namespace kubewatch::hooks
