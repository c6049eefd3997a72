// The clock for promises that others rely on (leases): read at each call, never cached per turn,
// and it goes on while the process is stopped and while the machine is suspended. Not the loop's
// clock: its times compare only with each other.
#pragma once

#include "base/time.hpp"

namespace kubewatch::loop {

TimePoint boot_now();

}  // namespace kubewatch::loop
