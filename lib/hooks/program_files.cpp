#include "hooks/program_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

namespace kubewatch::hooks {

std::vector<std::string> program_files_of(const HookRule& hook) {
  std::vector<std::string> out;
  if (hook.shell) return out;
  for (const std::string& argument : hook.argv) {
    const std::filesystem::path path = std::filesystem::path(hook.directory) / argument;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) out.push_back(path.string());
  }
  return out;
}

std::string file_stamp(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{} {} {}.{} {}", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_mode & 07777U);
}

}  // namespace kubewatch::hooks
