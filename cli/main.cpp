// Entry point: nothing but the process's own set-up.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "cli/app.hpp"
#include "loop/ending_signals.hpp"
#include "loop/open_files.hpp"
#include "loop/process.hpp"

namespace {

// A descriptor that we were started without would be given to what is opened first, and the output
// would go there. What stands in for it refuses what it is for, so that nothing is lost in silence,
// but for the log.
void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is given, which is this one.
    if (open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) != fd) _exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  kubewatch::loop::end_by_signals_as_first_process();
  fill_standard_descriptors();
  ::signal(SIGPIPE, SIG_IGN);
  kubewatch::loop::become_subreaper();
  kubewatch::loop::raise_open_files();
  std::ios::sync_with_stdio(false);
  if (argc < 1) return 2;
  return kubewatch::cli::run_app(std::vector<std::string>(argv + 1, argv + argc), std::cout,
                                 std::cerr, kubewatch::cli::invocation_of(argv[0]));
}
