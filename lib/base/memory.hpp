// Memory as the operating system sees it.
#pragma once

namespace kubewatch::base {

// Gives memory that is free but kept by the allocator back to the system. Costs milliseconds per
// hundred MB held: after big garbage, not in between.
void give_back_memory();

}  // namespace kubewatch::base
