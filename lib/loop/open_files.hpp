// How many descriptors this process may have open at once (RLIMIT_NOFILE).
#pragma once

#include <cstddef>

namespace kubewatch::loop {

// The soft limit, often 1024 for the sake of select(), goes up to the hard one where that is
// sensible: watches and the clients of a server need one each. Programs that we start have 1024
// again (loop/spawn). For the start of the program.
void raise_open_files();

std::size_t open_files();

}  // namespace kubewatch::loop
