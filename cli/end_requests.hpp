// What SIGINT, SIGTERM and SIGHUP mean, one after the other, to a command that runs until it is
// asked to end. A terminal that is closed is told of by the shell and by the kernel, a service
// manager may send SIGHUP along with SIGTERM, in either order: neither is somebody who cannot wait.
// Pure.
#pragma once

#include <atomic>

namespace kubewatch::cli {

// What the loop told of.
class EndRequests {
 public:
  enum class Meaning {
    first,    // a graceful end
    no_more,  // than was asked for already
    at_once,
  };
  Meaning told(int number);
  bool happened() const { return happened_; }

 private:
  bool happened_ = false;
  bool interrupted_ = false;  // by another one than SIGHUP
};

// What has come and was not told of yet. came() may be called by a signal handler.
class UntoldSignals {
 public:
  void came(int number);
  // One was told of; those that came with it are told of in the same turn of the loop.
  // `next_is_free`: the next SIGINT or SIGTERM asks for no more than this one did.
  void told(bool next_is_free);
  // How many ends they ask for.
  unsigned count() const;

 private:
  std::atomic<unsigned> interrupts_{0};  // SIGINT, SIGTERM
  std::atomic<bool> hangup_{false};
  std::atomic<bool> next_is_free_{false};
  static_assert(std::atomic<unsigned>::is_always_lock_free, "a signal handler counts");
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler notes it");
};

}  // namespace kubewatch::cli
