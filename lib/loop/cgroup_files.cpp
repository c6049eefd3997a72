// Plain system calls: what iostreams would buffer, the kernel wants in one write.
#include "loop/cgroup_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/strings.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::loop {
namespace {

constexpr std::size_t kMaxText = 1U << 20U;

}  // namespace

std::string read_cgroup_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  std::array<char, 4096> chunk;  // NOLINT: nobody reads what nobody wrote
  while (fd && out.size() < kMaxText) {
    const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got <= 0) break;
    out.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return out;
}

Result<void> write_cgroup_file(const std::string& path, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    return {};
  }
  const int number = errno;
  return Error(
      number == ENOENT && !fd ? ErrorKind::not_found : ErrorKind::unavailable,
      "cannot write \"" + std::string(text) + "\" to " + path + ": " + std::strerror(number));
}

std::vector<pid_t> parse_pids(std::string_view text) {
  std::vector<pid_t> out;
  for (const std::string& line : base::split(text, '\n')) {
    pid_t pid = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), pid);
    if (parsed.ec == std::errc()) out.push_back(pid);
  }
  return out;
}

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (!folder) return out;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat facts {};
    if (::lstat((path + "/" + name).c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
      out.push_back(path + "/" + name);
    }
  }
  return out;
}

// cgroup.kill (Linux 5.14) takes what is below as well, and leaves no gap for what is being made
// meanwhile. Without it whoever removes the folder calls again.
void kill_cgroup(const std::string& path) {
  if (write_cgroup_file(path + "/cgroup.kill", "1").ok()) return;
  for (const pid_t pid : parse_pids(read_cgroup_file(path + "/cgroup.procs"))) {
    if (pid > 1 && pid != ::getpid()) ::kill(pid, SIGKILL);
  }
  for (const std::string& folder : folders_in(path)) kill_cgroup(folder);
}

}  // namespace kubewatch::loop
