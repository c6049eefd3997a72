// Changing the verbosity of a running process; apart from log.hpp, because only the control socket
// does it.
#pragma once

namespace kubewatch::base {

// As -v says it: 0 to 10. From the next line on.
void set_log_verbosity(int verbosity);

}  // namespace kubewatch::base
