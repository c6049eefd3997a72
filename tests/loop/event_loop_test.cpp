// The event loop: order, lifetimes of handles, ends of run(), the cached clock, stalls.
#include "loop/event_loop.hpp"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "loop/skipping_time.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

namespace kubewatch::loop {
namespace {

void spin(Duration time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

struct SocketPair {
  SocketPair() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()) == 0); }
  ~SocketPair() {
    close(fds[0]);
    close(fds[1]);
  }
  std::array<int, 2> fds{};
};

// Puts a call of itself off as often as it is called, as a server's connections do whose clients
// have sent many requests at once. Ends by itself, so that a loop that gets stuck fails its test.
class PutOff {
 public:
  explicit PutOff(EventLoop& loop)
      : loop_(loop), bev_(bufferevent_socket_new(loop.native(), -1, 0)) {
    bufferevent_setcb(bev_, &PutOff::on_call, nullptr, nullptr, this);
    again();
  }
  ~PutOff() { bufferevent_free(bev_); }
  PutOff(const PutOff&) = delete;
  PutOff& operator=(const PutOff&) = delete;
  int calls = 0;
  bool resting = false;
  bool gave_up = false;

 private:
  static void on_call(bufferevent*, void* self) noexcept {
    auto& one = *static_cast<PutOff*>(self);
    static_cast<void>(one.loop_.now());
    ++one.calls;
    one.gave_up = std::chrono::steady_clock::now() > one.end_;
    if (!one.gave_up && !one.resting) one.again();
    one.loop_.ran_outside();
  }
  void again() {
    bufferevent_trigger(bev_, EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
  }

  EventLoop& loop_;
  bufferevent* bev_;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kLimit;
};

TEST_CASE("run() returns at once when nothing is registered") {
  EventLoop loop;
  loop.run();
  CHECK(loop.stalls().slow_turns == 0);
}

TEST_CASE("timers fire in the order of their deadlines and never early") {
  EventLoop loop;
  const TimePoint start = loop.now();
  std::vector<int> order;
  Duration elapsed{0};
  const Timer late = loop.after(Duration{20}, [&] {
    order.push_back(2);
    elapsed = loop.now() - start;
  });
  const Timer soon = loop.after(Duration{1}, [&] { order.push_back(1); });
  const Timer at_once = loop.after(Duration{-5}, [&] { order.push_back(0); });
  loop.run();
  CHECK(order == std::vector<int>{0, 1, 2});
  CHECK(elapsed >= Duration{20});
}

TEST_CASE("a destroyed timer does not fire") {
  EventLoop loop;
  bool fired = false;
  Timer timer = loop.after(Duration{1}, [&] { fired = true; });
  CHECK(timer);
  timer.reset();
  CHECK_FALSE(timer);
  const Timer other = loop.after(Duration{10}, [] {});
  loop.run();
  CHECK_FALSE(fired);
}

TEST_CASE("a handle may be destroyed or replaced inside its own callback") {
  EventLoop loop;
  const SocketPair pair;
  REQUIRE(write(pair.fds[1], "x", 1) == 1);
  int timers = 0;
  int reads = 0;
  Timer timer;
  FdWatch watch;
  std::string captured = "long enough to live on the heap, so that a use after free is seen";
  timer = loop.after(Duration{1}, [&, captured] {
    ++timers;
    timer = loop.after(Duration{1}, [&] {
      ++timers;
      timer.reset();
    });
    CHECK(captured.size() > 10);
  });
  watch = loop.on_readable(pair.fds[0], [&, captured] {
    watch.reset();
    ++reads;
    CHECK(captured.size() > 10);
  });
  loop.run();
  CHECK(timers == 2);
  CHECK(reads == 1);
}

TEST_CASE("one callback may destroy the handle of another that is ready in the same turn") {
  EventLoop loop;
  const SocketPair one;
  const SocketPair two;
  REQUIRE(write(one.fds[1], "x", 1) == 1);
  REQUIRE(write(two.fds[1], "x", 1) == 1);
  int calls = 0;
  FdWatch first;
  FdWatch second;
  const auto once = [&] {
    ++calls;
    first.reset();
    second.reset();
  };
  first = loop.on_readable(one.fds[0], once);
  second = loop.on_readable(two.fds[0], once);
  loop.run();
  CHECK(calls == 1);
}

TEST_CASE("posts run in order in the next turn and do not starve descriptors") {
  EventLoop loop;
  const SocketPair pair;
  REQUIRE(write(pair.fds[1], "x", 1) == 1);
  std::vector<int> order;
  bool readable = false;
  FdWatch watch = loop.on_readable(pair.fds[0], [&] {
    readable = true;
    watch.reset();
  });
  int left = 100000;
  Callback again = [&] {
    if (!readable && --left > 0) loop.post(again);
  };
  loop.post([&] { order.push_back(1); });
  loop.post([&] {
    order.push_back(2);
    loop.post([&] { order.push_back(3); });
  });
  loop.post(again);
  CHECK(order.empty());
  loop.run();
  CHECK(order == std::vector<int>{1, 2, 3});
  CHECK(readable);
  CHECK(left > 0);
}

TEST_CASE("no post is lost by stop(), and run() may be called again") {
  EventLoop loop;
  int calls = 0;
  loop.post([&] {
    ++calls;
    loop.stop();
    loop.post([&] { ++calls; });
  });
  loop.post([&] { ++calls; });
  loop.run();
  CHECK(calls == 2);
  loop.run();
  CHECK(calls == 3);
}

TEST_CASE("posts that never ran are dropped with the loop") {
  auto alive = std::make_shared<int>(1);
  {
    EventLoop loop;
    auto timer = std::make_shared<Timer>(loop.after(Duration{1000}, [] {}));
    loop.post([alive, timer] {});
  }
  CHECK(alive.use_count() == 1);
}

TEST_CASE("stop() ends run() while things are registered") {
  EventLoop loop;
  const Timer never = loop.after(Duration{3600000}, [] { FAIL("an hour has passed"); });
  const Timer stopper = loop.after(Duration{1}, [&] { loop.stop(); });
  loop.run();
  SUCCEED();
}

TEST_CASE("run_until() ends with its condition or its deadline") {
  EventLoop loop;
  int count = 0;
  Timer tick;
  Callback again = [&] {
    ++count;
    tick = loop.after(Duration{1}, again);
  };
  again();
  CHECK(loop.run_until([&] { return count >= 3; }, Duration{10000}));
  CHECK(count == 3);
  CHECK_FALSE(loop.run_until([] { return false; }, Duration{5}));
}

TEST_CASE("now() stands still within a turn") {
  EventLoop loop;
  TimePoint first{};
  TimePoint second{};
  TimePoint later{};
  WallTime wall_first{};
  WallTime wall_second{};
  loop.post([&] {
    first = loop.now();
    wall_first = loop.wall();
    spin(Duration{3});
    second = loop.now();
    wall_second = loop.wall();
    loop.post([&] { later = loop.now(); });
  });
  loop.run();
  CHECK(first == second);
  CHECK(wall_first == wall_second);
  CHECK(later >= first + Duration{2});
}

TEST_CASE("calls that are put off without end hold back no timer, no post and no end of the loop") {
  EventLoop loop;
  std::deque<PutOff> busy;
  for (int i = 0; i < 60; ++i) busy.emplace_back(loop);
  const TimePoint start = loop.now();
  int fired = 0;
  Duration seen{0};
  Timer timer;
  Callback again = [&] {
    seen = loop.now() - start;
    if (++fired < 3) timer = loop.after(Duration{20}, again);
  };
  timer = loop.after(Duration{20}, again);
  const bool all = loop.run_until([&] { return fired == 3; }, kLimit);
  const auto turns = loop.stalls().turns;
  int posted = 0;
  Callback next = [&] {
    if (++posted == 100) return loop.stop();
    loop.post(next);
  };
  loop.post(next);
  loop.run();
  for (PutOff& one : busy) {
    CHECK_FALSE(one.gave_up);
    CHECK(one.calls > 100);  // nor is any of them lost
    one.resting = true;
  }
  CHECK(all);
  CHECK(seen >= Duration{60});
  CHECK(turns > 3);
  CHECK(posted == 100);
  CHECK(loop.stalls().slow_turns == 0);
  loop.run();  // to the last of them
}

TEST_CASE("what comes after a slow callback has a clock of its own, and keeps its order") {
  EventLoop loop;
  std::vector<int> order;
  TimePoint slow{};
  TimePoint after{};
  loop.post([&] {
    order.push_back(1);
    slow = loop.now();
    spin(Duration{120});
    CHECK(loop.now() == slow);
    loop.post([&] { order.push_back(4); });
  });
  loop.post([&] {
    order.push_back(2);
    after = loop.now();
  });
  loop.post([&] { order.push_back(3); });
  loop.run();
  CHECK(order == std::vector<int>{1, 2, 3, 4});
  CHECK(after >= slow + Duration{119});
}

TEST_CASE("of many slow callbacks that are ready at once none is lost, and each comes once") {
  EventLoop loop;
  std::array<SocketPair, 4> pairs;
  std::array<int, 4> calls{};
  std::vector<TimePoint> times;
  std::array<FdWatch, 4> watches;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    REQUIRE(write(pairs[i].fds[1], "x", 1) == 1);
    watches[i] = loop.on_readable(pairs[i].fds[0], [&, i] {
      ++calls[i];
      times.push_back(loop.now());
      watches[i].reset();
      spin(Duration{120});
    });
  }
  loop.run();
  CHECK(calls == std::array<int, 4>{1, 1, 1, 1});
  REQUIRE(times.size() == 4);
  for (std::size_t i = 1; i < times.size(); ++i) CHECK(times[i] >= times[i - 1] + Duration{119});
  CHECK(loop.stalls().slow_turns == 4);
}

TEST_CASE("descriptors are watched for reading and writing until the handle goes") {
  EventLoop loop;
  const SocketPair pair;
  int writable = 0;
  int readable = 0;
  FdWatch out = loop.on_writable(pair.fds[0], [&] {
    if (++writable == 2) {
      CHECK(write(pair.fds[0], "ab", 2) == 2);
      out.reset();
    }
  });
  FdWatch in = loop.on_readable(pair.fds[1], [&] {
    std::array<char, 1> byte{};
    CHECK(read(pair.fds[1], byte.data(), 1) == 1);
    if (++readable == 2) in.reset();
  });
  loop.run();
  CHECK(writable == 2);
  CHECK(readable == 2);
}

TEST_CASE("a regular file counts as always readable") {
  EventLoop loop;
  const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  int calls = 0;
  FdWatch watch = loop.on_readable(fd, [&] {
    if (++calls == 3) watch.reset();
  });
  loop.run();
  CHECK(calls == 3);
  close(fd);
}

TEST_CASE("signals arrive as callbacks, and SIGPIPE is ignored") {
  EventLoop loop;
  int calls = 0;
  SignalWatch watch = loop.on_signal(SIGUSR1, [&] {
    ++calls;
    watch.reset();
  });
  loop.post([] { raise(SIGUSR1); });
  loop.run();
  CHECK(calls == 1);
  struct sigaction action {};
  REQUIRE(sigaction(SIGPIPE, nullptr, &action) == 0);
  CHECK(action.sa_handler == SIG_IGN);
}

TEST_CASE(
    "a turn above 100 ms is counted, and logged where asked for, with the kind of callback, but "
    "once") {
  std::vector<std::string> lines;
  base::capture_log(&lines);
  EventLoop loop;
  const auto two_slow_turns = [&] {
    loop.post([&] {
      spin(Duration{120});
      loop.post([] { spin(Duration{120}); });
    });
    loop.run();
  };
  two_slow_turns();
  CHECK(loop.stalls().slow_turns == 2);
  CHECK(loop.stalls().longest >= Duration{120});
  CHECK(lines.empty());
  loop.warn_of_slow_turns();
  two_slow_turns();
  base::capture_log(nullptr);
  CHECK(loop.stalls().slow_turns == 4);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("posted call") != std::string::npos);
}

TEST_CASE("a turn that has waited for a reader is not slow") {
  EventLoop loop;
  loop.post([&] {
    spin(Duration{120});
    loop.note_waited(Duration{120});
  });
  loop.run();
  CHECK(loop.stalls().slow_turns == 0);
}

TEST_CASE("a clock that can be skipped fires what is due, in order, and keeps the rest") {
  const WallTime wall = *base::parse_rfc3339("2026-01-01T00:00:00Z");
  EventLoop loop;
  SkippingTime time(loop, wall);
  std::vector<int> fired;
  const TimePoint start = loop.now();
  // The clock goes on between the calls.
  const auto is_at = [&](Duration offset) {
    const TimePoint at = *time.next_timer();
    return at >= start + offset && at <= start + offset + Duration{5000};
  };
  Timer late = loop.after(Duration{3600000}, [&] { fired.push_back(2); });
  Timer soon = loop.after(Duration{60000}, [&] { fired.push_back(1); });
  Timer never = loop.after(Duration{60000}, [&] { fired.push_back(3); });
  never.reset();
  REQUIRE(time.next_timer());
  CHECK(is_at(Duration{60000}));
  time.skip(Duration{60000});
  CHECK(loop.run_until([&] { return !fired.empty(); }, Duration{5000}));
  CHECK(fired == std::vector<int>{1});
  CHECK(loop.wall() >= wall + std::chrono::seconds(60));
  CHECK(loop.wall() < wall + std::chrono::seconds(90));
  CHECK(is_at(Duration{3600000}));
  time.skip(Duration{3600000});
  CHECK(loop.run_until([&] { return fired.size() == 2; }, Duration{5000}));
  CHECK_FALSE(time.next_timer());
}

TEST_CASE("a timer of real time is neither skipped to nor brought nearer by skipping") {
  EventLoop loop;
  SkippingTime time(loop);
  bool late = false, soon = false;
  Timer hour = loop.after_real(Duration{3600000}, [&] { late = true; });
  Timer moment = loop.after_real(Duration{1}, [&] { soon = true; });
  CHECK_FALSE(time.next_timer());
  time.skip(Duration{7200000});
  CHECK(loop.run_until([&] { return soon; }, Duration{5000}));
  CHECK_FALSE(late);
}

TEST_CASE("virtual time jumps from deadline to deadline and stands still in between") {
  const WallTime wall{std::chrono::seconds(1000)};
  EventLoop loop(VirtualClock{wall});
  const TimePoint start = loop.now();
  std::vector<std::string> seen;
  const auto note = [&](const std::string& what) {
    seen.push_back(what + "@" + std::to_string((loop.now() - start).count()));
  };
  const Timer late = loop.after(std::chrono::hours(3), [&] { note("late"); });
  Timer soon = loop.after(Duration{10}, [&] { note("soon"); });
  Timer canceled = loop.after(Duration{10}, [&] { note("never"); });
  Timer chained;
  const Timer first = loop.after(Duration{5}, [&] {
    note("first");
    canceled.reset();
    chained = loop.after(Duration{0}, [&] { note("chained"); });
    loop.post([&] { note("posted"); });
  });
  loop.run();
  CHECK(seen ==
        std::vector<std::string>{"first@5", "posted@5", "chained@5", "soon@10", "late@10800000"});
  CHECK(loop.wall() - wall == std::chrono::hours(3));
}

TEST_CASE("run_until in virtual time ends at its deadline, to the millisecond") {
  EventLoop loop(VirtualClock{});
  const TimePoint start = loop.now();
  const Timer timer = loop.after(Duration{100}, [] {});
  CHECK_FALSE(loop.run_until([] { return false; }, Duration{70}));
  CHECK(loop.now() - start == Duration{70});
  CHECK(loop.run_until([&] { return loop.now() - start >= Duration{100}; }, Duration{70}));
  CHECK(loop.now() - start == Duration{100});
}

TEST_CASE("a loop of virtual time refuses descriptors and signals") {
  EventLoop loop(VirtualClock{});
  CHECK_THROWS_AS((void)loop.on_readable(0, [] {}), std::logic_error);
  CHECK_THROWS_AS((void)loop.on_signal(SIGUSR1, [] {}), std::logic_error);
  CHECK(loop.native() == nullptr);
}

}  // namespace
}  // namespace kubewatch::loop
