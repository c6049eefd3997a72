// Who is left of a process group after its leader has ended: told when nobody is. Watches one of
// them after the other by pidfd; /proc is read when all that were known have ended, for those who
// were born meanwhile.
#pragma once

#include <sys/types.h>

#include <vector>

#include "loop/event_loop.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::loop {

class GroupWatch {
 public:
  // The leader has ended, and nobody reaps it while this lives: the group's number is its own.
  // Zombies, which others may never reap, are not left. on_gone may destroy this.
  GroupWatch(EventLoop& loop, pid_t leader, Callback on_gone);
  GroupWatch(const GroupWatch&) = delete;
  GroupWatch& operator=(const GroupWatch&) = delete;

  // False: nobody is left. Else on_gone is called once, from the loop; never where somebody cannot
  // be watched (no descriptors are left).
  bool start();

 private:
  bool watch_next();
  void on_ended();

  EventLoop& loop_;
  pid_t leader_;
  Callback on_gone_;
  std::vector<pid_t> asked_;  // at the last look at /proc, by number
  std::vector<pid_t> known_;  // of them, who is perhaps alive
  Fd member_;
  FdWatch ended_;
};

}  // namespace kubewatch::loop
