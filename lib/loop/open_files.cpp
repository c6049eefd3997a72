#include "loop/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace kubewatch::loop {

namespace {

// More is of no use, and tables by number grow with it.
constexpr rlim_t kEnough = 65536;

}  // namespace

void raise_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, kEnough);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  // What is refused stays as it was, which is no reason not to start.
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return limit.rlim_cur;
}

}  // namespace kubewatch::loop
