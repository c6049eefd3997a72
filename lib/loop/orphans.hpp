// Descendants that left their process group (setsid, double fork) and were handed to us because we
// are the subreaper: finding, killing and reaping them. They are recognised by a mark in their
// environment.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/time.hpp"

namespace kubewatch::loop {

// "KUBEWATCH_PROCESS_MARK=<pid>-<n>" for the next child, or "" while we are no subreaper.
std::string next_mark();

// Leaders are children that a Process reaps; nobody else may. Registered from spawn to reap, with
// the mark that they got.
void register_leader(pid_t pid, const std::string& mark);
void unregister_leader(pid_t pid);

// Whose mark a child of ours carries that is no leader itself; 0 = nobody's that runs. Of one that
// has ended only if it was asked for before.
pid_t leader_of_orphan(pid_t pid);
// The orphans of a leader that have ended and were reaped.
struct ReapedOrphans {
  std::chrono::nanoseconds cpu{0};
  bool cpu_limit = false;  // one of them as ended_by_cpu_limit()
};
ReapedOrphans reaped_orphans(pid_t leader);
// The kernel ended this child of ours, not reaped yet, because of its own limit of CPU seconds.
bool ended_by_cpu_limit(pid_t child);

// Kills whatever carries a mark that the process `marker`, which is gone, gave its children.
void end_marked_by(pid_t marker);

// Kills what carries the mark of `leader` (ended and reaped by now) and was reparented to us, and
// what that leaves behind, until nothing is found. Without any Process left, unmarked ones as well.
void end_descendants(const std::string& mark, pid_t leader, Duration lifetime);

}  // namespace kubewatch::loop
