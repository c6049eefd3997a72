// Runs the cases where a cgroup of version 2 was delegated to this process; else says why not and
// ends with 77, which ctest takes for skipped.
#define CATCH_CONFIG_RUNNER
#include <signal.h>

#include <iostream>

#include "loop/cgroup_facts.hpp"
#include "support/catch.hpp"

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto facts = kubewatch::loop::read_cgroup_facts();
  auto place = facts.ok() ? kubewatch::loop::choose_cgroup(*facts)
                          : kubewatch::Result<kubewatch::loop::CgroupPlace>(facts.error());
  if (place.ok() && !(place->controllers.memory && place->controllers.pids)) {
    place = kubewatch::Error(kubewatch::ErrorKind::unsupported,
                             place->path + " has only one of the controllers memory and pids");
  }
  if (!place.ok()) {
    std::cout << "cgroup: NOT RUN, nothing of it is tested here: " << place.error().render()
              << "\ncgroup: tests/cgroup/run runs it in a virtual machine\n";
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
