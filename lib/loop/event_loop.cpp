// The loop over libevent. A turn is one pass of event_base_loop(EVLOOP_ONCE): poll, then every
// callback that is due. Posted calls wait for the next poll, so a chain of posts cannot starve file
// descriptors. libevent itself makes pass after pass while more calls are put off than it takes at
// once, for ever where clients see to it: so the first callback of another pass begins a new turn,
// with a clock of its own. Who waits between turns then breaks the loop, and a turn that is slow is
// cut: what is active keeps its place in libevent's queue, in front of what the next poll finds.
#include "loop/event_loop.hpp"

#include <event2/event.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "loop/skipping_time.hpp"
#include "loop/turn_times.hpp"
#include "loop/virtual_timers.hpp"

namespace kubewatch::loop {

namespace {

constexpr Duration kSlowTurn{100};  // nothing begins in a turn after it: the clock would be stale
constexpr Duration kSlowTurnLogInterval{10000};
// Beyond this a deadline would overflow libevent's arithmetic; nobody waits for a year.
constexpr Duration kLongestTimer{std::chrono::hours(24 * 365)};
// Not zero, so that what lies an hour ago can be said.
constexpr Duration kVirtualStart{std::chrono::hours(1)};

using Clock = std::chrono::steady_clock;

using Kind = CallbackKind;

timeval to_timeval(Duration delay) {
  if (delay < Duration::zero()) delay = Duration::zero();
  if (delay > kLongestTimer) delay = kLongestTimer;
  timeval out{};
  out.tv_sec = static_cast<time_t>(delay.count() / 1000);
  out.tv_usec = static_cast<suseconds_t>(delay.count() % 1000 * 1000);
  return out;
}

void log_libevent(int severity, const char* message) noexcept {
  if (severity >= EVENT_LOG_ERR) {
    base::log_error("event loop: " + std::string(message));
  } else if (severity == EVENT_LOG_WARN) {
    base::vlog(4, "event loop: " + std::string(message));
  }
}

// A peer that went, a file that has reached its limit: errors to be handled, not ends.
void ignore_write_signals() {
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    struct sigaction current {};
    if (sigaction(number, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(number, &ignore, nullptr);
  }
}

}  // namespace

namespace detail {
struct State;
}

struct EventLoop::Impl {
  event_base* base = nullptr;
  event* post_event = nullptr;
  std::optional<VirtualTimers> virtual_timers;  // instead of `base`
  bool skipping = false;
  Duration skipped{0};
  std::chrono::microseconds wall_offset{0};
  std::set<detail::State*> timers;  // of a skipping clock: those that wait
  std::vector<Callback> posted;
  std::size_t live_handles = 0;
  bool running = false;
  bool stopping = false;
  bool looks_between = false;  // run_until()

  // Set before each poll; the first callback after it starts the turn's clock.
  bool turn_pending = true;
  bool dispatching = false;  // inside event_base_loop
  timeval pass{};            // libevent's clock, which moves on with each poll only
  TimePoint now{};
  WallTime wall{};
  TurnTimes times;
  bool warns_of_slow_turns = false;
  Clock::time_point last_slow_log{};
  Stalls stalls;

  void begin_turn() {
    turn_pending = false;
    if (dispatching) event_base_gettimeofday_cached(base, &pass);
    const auto turn_start = Clock::now();
    times.begin(turn_start);
    if (!virtual_timers) {
      now = std::chrono::floor<Duration>(turn_start) + skipped;
      wall = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) +
             skipped + wall_offset;
    }
  }

  bool is_another_pass() const {
    timeval now_at{};
    event_base_gettimeofday_cached(base, &now_at);
    return now_at.tv_usec != pass.tv_usec || now_at.tv_sec != pass.tv_sec;
  }

  void refresh_clock() {
    if (turn_pending || !running) return begin_turn();
    if (!dispatching || !is_another_pass()) return;
    end_turn();
    begin_turn();
    if (stopping || looks_between) event_base_loopbreak(base);
  }

  // After a callback, to which no other comes in its turn then.
  bool cut_slow_turn(Clock::time_point end) {
    if (!dispatching || turn_pending || end - times.began() <= kSlowTurn) return false;
    event_base_loopbreak(base);
    return true;
  }

  // True: the turn is over, whatever is due.
  template <class F>
  bool timed(Kind kind, F&& callback) {
    refresh_clock();
    times.begin_callback(Clock::now());
    callback();
    const auto end = Clock::now();
    times.end_callback(kind, end);
    return cut_slow_turn(end);
  }

  void end_turn() {
    ++stalls.turns;
    if (turn_pending) return;
    const auto end = Clock::now();
    const auto spent = std::chrono::duration_cast<Duration>(times.busy(end));
    if (spent > stalls.longest) stalls.longest = spent;
    if (spent <= kSlowTurn) return;
    ++stalls.slow_turns;
    if (!warns_of_slow_turns) return;
    const bool first = last_slow_log == Clock::time_point{};
    if (!first && end - last_slow_log < kSlowTurnLogInterval) return;
    last_slow_log = end;
    base::log_warn("the event loop was busy for too long",
                   {{"took", std::to_string(spent.count()) + "ms"},
                    {"callback", name_of(times.slowest(end))},
                    {"slow_turns", std::to_string(stalls.slow_turns)}});
  }

  void run_posted() {
    std::vector<Callback> batch;
    batch.swap(posted);
    for (auto next = batch.begin(); next != batch.end();) {
      const bool over = timed(Kind::posted, *next);
      *next = nullptr;
      if (++next == batch.end() || !over) continue;
      posted.insert(posted.begin(), std::make_move_iterator(next),
                    std::make_move_iterator(batch.end()));
      return expect_posted();
    }
  }

  // In the next turn.
  void expect_posted() {
    if (evtimer_pending(post_event, nullptr) != 0) return;
    const timeval at_once{};
    event_add(post_event, &at_once);
  }

  // False when nothing is registered.
  bool turn() {
    if (virtual_timers) return virtual_turn();
    turn_pending = true;
    dispatching = true;
    const int result = event_base_loop(base, EVLOOP_ONCE);
    dispatching = false;
    end_turn();
    turn_pending = true;
    return result == 0;
  }

  // Posted calls, then the timers of this instant; time moves only when there was nothing to do.
  bool virtual_turn() {
    const bool had_posted = !posted.empty();
    run_posted();
    const auto next = virtual_timers->next();
    if (!next) return had_posted;
    if (*next > now) {
      if (had_posted || !posted.empty()) return true;
      wall += *next - now;
      now = *next;
    }
    virtual_timers->fire_due(now);
    return true;
  }
};

namespace detail {

// Shared with the running callback, so that the handle may go while its callback runs.
struct State : std::enable_shared_from_this<State> {
  EventLoop::Impl* loop = nullptr;
  event* ev = nullptr;
  std::optional<VirtualTimers::Id> virtual_timer;
  Callback callback;
  Kind kind = Kind::timer;
  TimePoint deadline{};
  bool always_ready = false;  // a regular file: epoll refuses it, a zero timer stands in
  bool real = false;          // a timer that no skipped time counts for

  void fire() {
    loop->refresh_clock();
    if (kind != Kind::timer) {
      if (always_ready) rearm(Duration::zero());
      loop->timed(kind, callback);
      return;
    }
    // libevent's coarse clock may be a tick ahead of ours: never early.
    if (loop->now < deadline) {
      rearm(deadline - loop->now);
      return;
    }
    if (loop->skipping) loop->timers.erase(this);
    const Callback once = std::move(callback);
    callback = nullptr;
    if (once) loop->timed(kind, once);
  }

  void rearm(Duration delay) {
    if (loop->virtual_timers) {
      virtual_timer = loop->virtual_timers->add(loop->now + delay, [this] {
        const auto self = shared_from_this();
        virtual_timer.reset();
        fire();
      });
      return;
    }
    if (loop->skipping && kind == Kind::timer && !real) loop->timers.insert(this);
    const timeval tv = to_timeval(delay);
    event_add(ev, &tv);
  }
};

struct Registration {
  explicit Registration(std::shared_ptr<State> s) : state(std::move(s)) {
    ++state->loop->live_handles;
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    --state->loop->live_handles;
    if (state->loop->skipping) state->loop->timers.erase(state.get());
    if (state->ev != nullptr) event_free(state->ev);
    state->ev = nullptr;
    if (state->virtual_timer) state->loop->virtual_timers->remove(*state->virtual_timer);
  }
  std::shared_ptr<State> state;
};

namespace {

void on_event(evutil_socket_t, short, void* argument) noexcept {
  const std::shared_ptr<State> state = static_cast<State*>(argument)->shared_from_this();
  state->fire();
}

}  // namespace

}  // namespace detail

namespace {

using detail::State;

void on_posted(evutil_socket_t, short, void* argument) noexcept {
  static_cast<EventLoop::Impl*>(argument)->run_posted();
}

std::shared_ptr<State> make_state(EventLoop::Impl* loop, Kind kind, Callback callback) {
  auto state = std::make_shared<State>();
  state->loop = loop;
  state->kind = kind;
  state->callback = std::move(callback);
  return state;
}

Handle watch(EventLoop::Impl* loop, Kind kind, int number, short what, Callback callback) {
  if (loop->virtual_timers) {
    throw std::logic_error(std::string("a loop of virtual time cannot watch a ") + name_of(kind));
  }
  auto state = make_state(loop, kind, std::move(callback));
  const auto flags = static_cast<short>(what | EV_PERSIST);
  state->ev = event_new(loop->base, number, flags, detail::on_event, state.get());
  if (state->ev != nullptr && event_add(state->ev, nullptr) != 0 && errno == EPERM) {
    event_free(state->ev);
    state->ev = evtimer_new(loop->base, detail::on_event, state.get());
    state->always_ready = true;
    state->rearm(Duration::zero());
  }
  return Handle(std::make_unique<detail::Registration>(std::move(state)));
}

Handle start_timer(EventLoop::Impl* loop, Duration delay, Callback callback, bool real) {
  if (delay > kLongestTimer) delay = kLongestTimer;
  auto state = make_state(loop, Kind::timer, std::move(callback));
  state->real = real;
  loop->refresh_clock();
  state->deadline = loop->now + delay;
  if (loop->base != nullptr) state->ev = evtimer_new(loop->base, detail::on_event, state.get());
  state->rearm(std::max(delay, Duration::zero()));
  return Handle(std::make_unique<detail::Registration>(std::move(state)));
}

}  // namespace

namespace {

// Loops of this process by their base: how SkippingTime reaches into one.
std::map<const event_base*, EventLoop::Impl*>& all_loops() {
  static std::map<const event_base*, EventLoop::Impl*> loops;
  return loops;
}

}  // namespace

Handle::Handle() = default;
Handle::Handle(std::unique_ptr<detail::Registration> registration)
    : registration_(std::move(registration)) {}
Handle::Handle(Handle&&) noexcept = default;
Handle& Handle::operator=(Handle&&) noexcept = default;
Handle::~Handle() = default;
// Emptied first: destroying a callback may reach this handle again.
void Handle::reset() {
  const auto gone = std::move(registration_);
}

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {
  ignore_write_signals();
  event_set_log_callback(log_libevent);
  event_config* config = event_config_new();
  event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
  impl_->base = event_base_new_with_config(config);
  event_config_free(config);
  assert(impl_->base != nullptr);
  impl_->post_event = evtimer_new(impl_->base, on_posted, impl_.get());
  all_loops()[impl_->base] = impl_.get();
}

EventLoop::EventLoop(VirtualClock clock) : impl_(std::make_unique<Impl>()) {
  impl_->virtual_timers.emplace();
  impl_->now = TimePoint(kVirtualStart);
  impl_->wall = clock.wall;
}

EventLoop::~EventLoop() {
  // What a dropped post captured may own handles, or post again while it goes.
  while (!impl_->posted.empty()) {
    const std::vector<Callback> dropped = std::move(impl_->posted);
    impl_->posted.clear();
  }
  assert(impl_->live_handles == 0 && "a handle outlived its event loop");
  all_loops().erase(impl_->base);
  if (impl_->post_event != nullptr) event_free(impl_->post_event);
  if (impl_->base != nullptr) event_base_free(impl_->base);
}

TimePoint EventLoop::now() const {
  impl_->refresh_clock();
  return impl_->now;
}

WallTime EventLoop::wall() const {
  impl_->refresh_clock();
  return impl_->wall;
}

Timer EventLoop::after(Duration delay, Callback callback) {
  return start_timer(impl_.get(), delay, std::move(callback), false);
}

Timer EventLoop::after_real(Duration delay, Callback callback) {
  return start_timer(impl_.get(), delay, std::move(callback), true);
}

void EventLoop::post(Callback callback) {
  impl_->posted.push_back(std::move(callback));
  if (!impl_->virtual_timers) impl_->expect_posted();
}

FdWatch EventLoop::on_readable(int fd, Callback callback) {
  return watch(impl_.get(), Kind::readable, fd, EV_READ, std::move(callback));
}

FdWatch EventLoop::on_writable(int fd, Callback callback) {
  return watch(impl_.get(), Kind::writable, fd, EV_WRITE, std::move(callback));
}

SignalWatch EventLoop::on_signal(int signal, Callback callback) {
  return watch(impl_.get(), Kind::signal, signal, EV_SIGNAL, std::move(callback));
}

void EventLoop::run() {
  assert(!impl_->running && "run() inside a callback");
  impl_->stopping = false;
  impl_->running = true;
  while (!impl_->stopping && impl_->turn()) {
  }
  impl_->running = false;
}

void EventLoop::stop() {
  impl_->stopping = true;
}

bool EventLoop::run_until(const std::function<bool()>& done, Duration deadline) {
  assert(!impl_->running && "run_until() inside a callback");
  bool expired = false;
  const Timer limit = after(deadline, [&expired] { expired = true; });
  impl_->stopping = false;
  impl_->running = true;
  impl_->looks_between = true;
  while (!done() && !expired && !impl_->stopping && impl_->turn()) {
  }
  impl_->looks_between = false;
  impl_->running = false;
  return done();
}

SkippingTime::SkippingTime(EventLoop& loop, std::optional<WallTime> wall)
    : impl_(all_loops().at(loop.native())) {
  assert(impl_->live_handles == 0 && "time is skipped from the start or not at all");
  impl_->skipping = true;
  if (!wall) return;
  impl_->wall_offset =
      *wall - std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

void SkippingTime::skip(Duration time) {
  assert(impl_->skipping && !impl_->running && "time is skipped between turns, where it can be");
  impl_->skipped += time;
  impl_->begin_turn();
  const auto waiting = impl_->timers;
  for (detail::State* timer : waiting) {
    timer->rearm(std::max(timer->deadline - impl_->now, Duration::zero()));
  }
}

std::optional<TimePoint> SkippingTime::next_timer() const {
  std::optional<TimePoint> next;
  for (const detail::State* timer : impl_->timers) {
    if (!next || timer->deadline < *next) next = timer->deadline;
  }
  return next;
}

EventLoop::Stalls EventLoop::stalls() const {
  return impl_->stalls;
}

void EventLoop::note_waited(Duration time) {
  impl_->times.waited(time);
}

void EventLoop::ran_outside() {
  impl_->cut_slow_turn(Clock::now());
}

void EventLoop::warn_of_slow_turns() {
  impl_->warns_of_slow_turns = true;
}

event_base* EventLoop::native() const {
  return impl_->base;
}

}  // namespace kubewatch::loop
