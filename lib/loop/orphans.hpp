// Descendants that left their process group (setsid, double fork) and were handed to us because we
// are the subreaper: finding, killing and reaping them. They are recognised by a mark in their
// environment.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace kubewatch::loop {

// "KUBEWATCH_PROCESS_MARK=<pid>-<n>" for the next child, or "" while we are no subreaper. With
// `leaves_others` (ProcessOptions) the mark has another name: it is ended with its own leader only,
// not as one that nobody's mark was found on, and not by end_marked_by().
std::string next_mark(bool leaves_others);

// Which processes may be a leader's, of those that carry no mark: when it was started, in the ticks
// in which the kernel tells the start of each, and its number.
struct Birth {
  std::uint64_t from = 0;   // before the leader was made
  std::uint64_t until = 0;  // after that
  pid_t leader = 0;
  // Within one tick numbers tell who came later; where they went round just then, nobody did.
  bool is_before(std::uint64_t start, pid_t pid) const {
    return start > until || (start >= from && pid > leader);
  }
};
std::uint64_t ticks_now();

// Leaders are children that a Process reaps; nobody else may. Registered from spawn to reap, with
// the mark that they got. `own_group`: it leads one, which the guardian ends.
void register_leader(pid_t pid, const std::string& mark, bool own_group);
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

// Kills what carries the mark of a leader (ended and reaped by now) and was reparented to us, and
// what that leaves behind, until nothing is found. Without any Process left, unmarked ones as well
// that are younger than the leader; those are logged, as they may be strangers.
void end_descendants(const std::string& mark, const Birth& leader, Duration lifetime);

// Reaps those of our children that have ended and have no Process, and kills nobody. Of our own
// group they are somebody else's, but for what a leader left that may leave others: those that live
// are remembered, and reaped like the others when they have ended.
void reap_orphans();

}  // namespace kubewatch::loop
