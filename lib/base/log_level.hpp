// Changing the verbosity of a running process; apart from log.hpp, because only the control socket
// does it.
#pragma once

namespace kubewatch::base {

// As -v says it: 0 to 10. From the next line on, in place of a level alone in the filter; what that
// says of rooms and controllers stays.
void set_log_verbosity(int verbosity);
// Of what the filter does not name; below 0 where it says warn (-1), error (-2) or off (-3).
int general_log_verbosity();

}  // namespace kubewatch::base
