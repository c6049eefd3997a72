// What ends our children when we were ended too fast to do it (kill -9, out of memory): a small
// process beside us that sleeps until we are gone. It costs nothing while we live.
#pragma once

#include <sys/types.h>

#include <functional>

namespace kubewatch::loop {

// Once, early: before threads, while there is little memory to share. As process 1 there is nothing
// to do: with it all others of its namespace end. Without it (no process could be made) direct
// children still get TERM from the kernel.
// `last`: what it does at its end, in its own copy of our memory and without our descriptors.
void start_guardian(std::function<void()> last = nullptr);

// The process group of a running child. Nothing without a guardian.
void guard_group(pid_t leader);
void unguard_group(pid_t leader);

}  // namespace kubewatch::loop
