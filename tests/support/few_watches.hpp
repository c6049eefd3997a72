// Runs a test in a child process whose user has only so many inotify watches left, by a user
// namespace of its own.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>

namespace kubewatch::test {

inline bool allow_watches(int count) {
  const int fd = ::open("/proc/sys/user/max_inotify_watches", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const std::string text = std::to_string(count);
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return written;
}

// What `test` says; it may change the limit with allow_watches(). Absent where user namespaces are
// not to be had. Checks of the test framework belong to the parent.
inline std::optional<std::string> with_few_watches(int count,
                                                   const std::function<std::string()>& test) {
  constexpr int kNoNamespaces = 77;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER) != 0 || !allow_watches(count)) ::_exit(kNoNamespaces);
    const std::string said = test();
    const bool written = ::write(ends[1], said.data(), said.size()) >= 0;
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoNamespaces) return std::nullopt;
  if (status != 0) said += " (the child failed)";
  return said;
}

}  // namespace kubewatch::test
