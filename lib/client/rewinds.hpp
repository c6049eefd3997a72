// A server whose data goes back, as after a restore from a backup, tells nobody. Who asks before
// the new history has reached the old resourceVersion can see it; who asks later takes up a watch
// in the middle of another past, and nothing shows. So one that saw it tells all others of that
// server. Knows no watches: whoever holds what the server said before listens, and compares all of
// it anew.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

class Rewinds {
 public:
  explicit Rewinds(loop::EventLoop& loop) : loop_(loop) {}
  Rewinds(const Rewinds&) = delete;
  Rewinds& operator=(const Rewinds&) = delete;

  // Listens while it lives. It may be destroyed inside `told`, and after the Rewinds.
  struct Listener {
    std::string source;
    std::function<void()> told;
  };
  // `source`: the plural name of the kind, with its group. `told` comes in a turn of its own.
  [[nodiscard]] std::shared_ptr<Listener> listen(std::string source, std::function<void()> told);

  // `by` saw it; all others are told, in the next turn, and the log. Of one source this counts
  // kMost times in kAgain: a server behind an APIService has a history of its own, and if that one
  // goes back and forth, no other kind may be listed for it again and again.
  void seen(const std::shared_ptr<Listener>& by);

  static constexpr Duration kAgain{600000};
  static constexpr int kMost = 3;

 private:
  struct Seen {
    TimePoint since;
    int count = 0;
  };
  void tell(const Listener& by);

  loop::EventLoop& loop_;
  std::vector<std::weak_ptr<Listener>> listeners_;
  std::map<std::string, Seen> seen_;  // by source, since the first of its window
  bool telling_ = false;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace kubewatch::client
