// Whether a folder was used is seen by its times: that of its entries' change is set to one that no
// clock gives (others may copy it), that of the folder's own cannot be set by anybody.
#include "hooks/hook_homes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/log.hpp"

namespace kubewatch::hooks {

namespace {

constexpr time_t kUnused = 1;  // a second after the epoch
constexpr mode_t kMode = 0700;
constexpr std::size_t kMostFree = 64;

bool same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// What it says of itself when nobody has touched it; absent when it cannot be marked.
std::optional<timespec> mark_unused(const std::string& folder) {
  const timespec times[2] = {{kUnused, 0}, {kUnused, 0}};
  struct stat found {};
  if (::utimensat(AT_FDCWD, folder.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0 ||
      ::lstat(folder.c_str(), &found) != 0) {
    return std::nullopt;
  }
  return found.st_ctim;
}

bool is_unused(const std::string& folder, const timespec& marked_at) {
  struct stat found {};
  return ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         (found.st_mode & 07777U) == kMode && found.st_uid == ::geteuid() &&
         same(found.st_mtim, {kUnused, 0}) && same(found.st_ctim, marked_at);
}

Error cannot_make(const std::string& path, int code) {
  return Error(ErrorKind::unavailable,
               fmt::format("cannot make the private folder {}: {}", path, std::strerror(code)));
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
  return cannot_make(path, code);
}

void remove_private_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return;
  std::error_code ignored;
  fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, ignored);
  for (fs::recursive_directory_iterator it(path, ignored), end; it != end; it.increment(ignored)) {
    if (!it->is_symlink(ignored) && it->is_directory(ignored)) {
      fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
    }
  }
  fs::remove_all(path, error);
  if (error) {
    base::log_warn("cannot remove the private folder of a hook",
                   {{"path", path}, {"error", error.message()}});
  }
}

Result<std::string> HookHomes::take() {
  while (!free_.empty()) {
    std::string home = std::move(free_.back());
    free_.pop_back();
    // Whatever cleans up temporary folders may have been here meanwhile, or a process that outlived
    // its hook.
    if (is_unused(home, made_.at(home)) && ::access(work_dir_.c_str(), F_OK) == 0) return home;
    forget(home);
  }
  for (const std::string& one : parents_) KW_TRY(make_private_folder(one));
  KW_TRY(make_private_folder(work_dir_));
  std::string home;
  // Never one that is there already: nobody knows what is in it.
  int code = EEXIST;
  while (code == EEXIST) {
    home = parents_.back() + "/home-" + std::to_string(++count_);
    code = ::mkdir(home.c_str(), kMode) == 0 ? 0 : errno;
  }
  if (code != 0) return cannot_make(home, code);
  if (const auto marked_at = mark_unused(home)) made_[home] = *marked_at;
  return home;
}

void HookHomes::give_back(const std::string& home) {
  const auto made = made_.find(home);
  if (free_.size() < kMostFree && made != made_.end() && is_unused(home, made->second)) {
    free_.push_back(home);
  } else {
    forget(home);
  }
}

void HookHomes::forget(const std::string& home) {
  made_.erase(home);
  remove_private_folder(home);
}

}  // namespace kubewatch::hooks
