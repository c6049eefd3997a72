// One thread, one event loop (libevent): timers, posted calls, file descriptors, signals.
// Every registration is an RAII handle: destroying it unregisters, also from inside its own
// callback. All handles must be gone before the loop. Callbacks must not throw. Not thread-safe.
// Creating a loop sets SIGPIPE to ignored where it was at its default.
// With a VirtualClock it has timers and posted calls only, and time jumps from one deadline to the
// next: hours of a simulation pass in milliseconds, the same way each time.
#pragma once

#include <functional>
#include <memory>

#include "base/time.hpp"

struct event_base;

namespace kubewatch::loop {

using Callback = std::function<void()>;

namespace detail {
struct Registration;
}

// Move-only; empty by default.
class Handle {
 public:
  Handle();
  explicit Handle(std::unique_ptr<detail::Registration> registration);
  Handle(Handle&&) noexcept;
  Handle& operator=(Handle&&) noexcept;
  ~Handle();
  explicit operator bool() const { return registration_ != nullptr; }
  void reset();

 private:
  std::unique_ptr<detail::Registration> registration_;
};

// One-shot; done after it fired.
using Timer = Handle;
using FdWatch = Handle;
using SignalWatch = Handle;

// Where virtual time starts.
struct VirtualClock {
  WallTime wall{};
};

class EventLoop {
 public:
  EventLoop();
  // No descriptors, no signals: asking for them throws std::logic_error, native() is null. Time
  // stands still while callbacks run.
  explicit EventLoop(VirtualClock clock);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Cached per turn. Of what is ready at once a turn takes no more than 100 ms, and the rest is
  // taken before what becomes ready later: a timer that is due waits for each of them once.
  TimePoint now() const;
  WallTime wall() const;

  [[nodiscard]] Timer after(Duration delay, Callback callback);
  // For looks at what real processes do: skipped time (SkippingTime) brings it no nearer, and none
  // is skipped for its sake.
  [[nodiscard]] Timer after_real(Duration delay, Callback callback);
  // Runs in the next turn; cannot be cancelled: capture a weak_ptr if the owner may go.
  void post(Callback callback);
  // Persistent. `fd` stays the caller's and must outlive the handle.
  [[nodiscard]] FdWatch on_readable(int fd, Callback callback);
  [[nodiscard]] FdWatch on_writable(int fd, Callback callback);
  [[nodiscard]] SignalWatch on_signal(int signal, Callback callback);

  // Until stop(), or until nothing is registered. May be called again afterwards.
  void run();
  void stop();
  // Turns the loop until `done` is true or `deadline` passed (relative); returns done().
  bool run_until(const std::function<bool()>& done, Duration deadline);

  // The callback that runs has waited so long for somebody else, a reader of what it writes: that
  // is no work of this turn. Nothing else ran meanwhile, all the same.
  void note_waited(Duration time);
  // The longest turn's callback time seen so far, and turns above 100 ms.
  struct Stalls {
    std::uint64_t turns = 0;
    std::uint64_t slow_turns = 0;
    Duration longest{0};
  };
  Stalls stalls() const;
  // Turns above 100 ms are logged from now on, with the kind of callback, at most every 10 s. For
  // programs that run on: where a command ends by itself, a slow turn is nobody's concern.
  void warn_of_slow_turns();

  // For lib/http, which hangs curl and evhttp on the same loop. What native() calls itself begins
  // with now(), which sees that a new turn has begun, and ends with ran_outside(), after which a
  // turn that has become too long ends: as it is with the loop's own callbacks.
  event_base* native() const;
  void ran_outside();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::loop
