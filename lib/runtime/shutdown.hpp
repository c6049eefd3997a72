// The order in which a program ends: step after step, each when the one before has said that it is
// done, all within one deadline. For a controller: stop the intake, let runs finish, flush what
// they wrote, give leases back. What the deadline or a second signal cuts off is told by name; the
// steps after it are skipped, because a lease that is given back while a run still writes lets two
// write at once: it runs out by itself.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/resource.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::runtime {

struct ShutdownReport {
  bool clean = true;
  std::string unfinished_step;           // "" when clean
  std::vector<core::ObjectKey> cut_off;  // keys whose runs had not ended, in order
};

class ShutdownSequence {
 public:
  using Step = std::function<void(std::function<void()> done)>;

  // `loop` must outlive it. Destroyed before its end, it tells nothing.
  explicit ShutdownSequence(loop::EventLoop& loop);
  ~ShutdownSequence();

  void add(std::string name, Step step);
  // Once. `done` comes from the loop, with the step that was not finished in time.
  void begin(Duration deadline, std::function<void(const ShutdownReport&)> done);
  // A second signal: ends now.
  void abort();
  bool begun() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kubewatch::runtime
