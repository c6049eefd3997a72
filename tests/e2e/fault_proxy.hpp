// A TCP proxy with a bad temper, on the loop: every connection through it ends in one fault, after
// a random time or at a random byte. It understands nothing of what passes (TLS goes through), so
// cuts fall anywhere. Calm, it only forwards.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::e2e {

struct FaultPlan {
  Duration mean_life{3000};  // of a connection; twice that at most
  Duration stall{6000};      // how long a half-open connection says nothing before it is reset
};

class FaultProxy {
 public:
  struct Counts {
    std::uint64_t connections = 0;
    std::uint64_t cuts = 0;    // closed, the bytes at hand lost
    std::uint64_t resets = 0;  // RST
    std::uint64_t stalls = 0;  // half-open: open, and silent
    std::uint64_t slow = 0;    // some bytes at a time, then cut
    std::uint64_t bytes = 0;   // from the server
  };

  // Listens on a loopback port of its own; forwards to 127.0.0.1:`upstream`. `loop` and `random`
  // must outlive it. Throws std::runtime_error when it cannot listen.
  FaultProxy(loop::EventLoop& loop, std::uint16_t upstream, FaultPlan plan, base::Random& random);
  ~FaultProxy();
  std::uint16_t port() const { return port_; }
  const Counts& counts() const { return counts_; }
  // No further faults; those under way go on to their end.
  void calm() { calm_ = true; }

 private:
  struct Link;
  void accept();
  void forget(Link* link);
  friend struct Link;

  loop::EventLoop& loop_;
  std::uint16_t upstream_;
  FaultPlan plan_;
  base::Random& random_;
  Counts counts_;
  bool calm_ = false;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  loop::FdWatch watch_;
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace kubewatch::e2e
