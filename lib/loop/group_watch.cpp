#include "loop/group_watch.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "loop/process_table.hpp"

namespace kubewatch::loop {
namespace {

// In one turn. Who forks and ends faster than /proc is read is left to whoever set a limit.
constexpr int kMaxLooks = 16;

}  // namespace

GroupWatch::GroupWatch(EventLoop& loop, pid_t leader, Callback on_gone)
    : loop_(loop), leader_(leader), on_gone_(std::move(on_gone)) {}

bool GroupWatch::start() {
  for (int i = 0; i < kMaxLooks; ++i) {
    if (watch_next()) return true;
    std::vector<pid_t> members = members_of_group(leader_);
    // What is there still are zombies.
    if (std::includes(asked_.begin(), asked_.end(), members.begin(), members.end())) return false;
    asked_ = known_ = std::move(members);
  }
  return true;
}

// False: all that are known have ended.
bool GroupWatch::watch_next() {
  while (!known_.empty()) {
    const pid_t pid = known_.back();
    member_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    // EINVAL: nobody's any more, but still the name of a group.
    if (!member_ && errno != ESRCH && errno != EINVAL) return true;
    pollfd ended{member_.get(), POLLIN, 0};
    // Asked last: by then the number cannot pass to another process unseen.
    const bool alive = member_ && poll(&ended, 1, 0) != 1 && getpgid(pid) == leader_;
    known_.pop_back();
    if (!alive) continue;
    ended_ = loop_.on_readable(member_.get(), [this] { on_ended(); });
    return true;
  }
  return false;
}

void GroupWatch::on_ended() {
  ended_.reset();
  member_.reset();
  if (start()) return;
  const Callback gone = std::move(on_gone_);
  gone();
}

}  // namespace kubewatch::loop
