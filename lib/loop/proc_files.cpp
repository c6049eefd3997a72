#include "loop/proc_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "base/number_text.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::loop {

std::string read_proc(pid_t pid, const char* file, std::size_t limit) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + file;
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  if (!fd) return out;
  std::array<char, 8192> chunk;  // NOLINT: nobody reads what nobody wrote
  while (out.size() < limit) {
    const ssize_t got = read(fd.get(), chunk.data(), chunk.size());
    if (got <= 0) break;
    out.append(chunk.data(), static_cast<std::size_t>(got));
    // The kernel fills what it is given: another read would tell nothing but the end.
    if (static_cast<std::size_t>(got) < chunk.size()) break;
  }
  return out;
}

std::vector<pid_t> pids_from(pid_t lowest) {
  std::vector<pid_t> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder) return out;
  while (const dirent* entry = readdir(folder.get())) {
    const auto pid = base::read_number<pid_t>(entry->d_name);
    if (pid && *pid >= lowest) out.push_back(*pid);
  }
  return out;
}

}  // namespace kubewatch::loop
