// Entry point: nothing but the process's own set-up.
#include <signal.h>

#include <iostream>

#include "cli/app.hpp"
#include "loop/process.hpp"

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  kubewatch::loop::become_subreaper();
  std::ios::sync_with_stdio(false);
  if (argc < 1) return 2;
  return kubewatch::cli::run_app(std::vector<std::string>(argv + 1, argv + argc), std::cout,
                                 std::cerr, kubewatch::cli::invocation_of(argv[0]));
}
