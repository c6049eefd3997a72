#include "runtime/work_queue.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using core::ObjectKey;

namespace {

ObjectKey key(const std::string& name) {
  return {"shop", name};
}

struct Bench {
  base::Random random{1};
  TimePoint now{Duration{0}};
  WorkQueue queue;

  explicit Bench(WorkQueueOptions options = {})
      : queue([&] {
          options.retry.jitter = 0;
          return options;
        }()) {}

  void add(const std::string& name, Reason reason = Reason::updated, int delay = 0,
           Priority priority = Priority::live) {
    queue.add(now, key(name), reason, "", Duration{delay}, priority);
  }
  void add_background(const std::string& name) {
    add(name, Reason::startup, 0, Priority::background);
  }
  // "name Reason attempt", "" when there is nothing to take.
  std::string take() {
    const auto work = queue.take(now);
    if (!work) return "";
    return fmt::format("{} {} {}", work->key.name, to_string(work->reason), work->attempt);
  }
  Bench& after(int milliseconds) {
    now += Duration{milliseconds};
    return *this;
  }
  std::optional<Duration> fail(const std::string& name, std::optional<Duration> at_least = {}) {
    return queue.failed(now, key(name), random, at_least);
  }
  void ok(const std::string& name) { queue.succeeded(now, key(name)); }
};

}  // namespace

TEST_CASE("work comes out in the order in which it was due") {
  Bench b;
  b.add("c", Reason::updated, 20);
  b.add("a");
  b.add("b");
  CHECK(b.take() == "a Updated 1");
  CHECK(b.take() == "b Updated 1");
  CHECK(b.take().empty());
  CHECK(b.queue.next_due(b.now) == b.now + Duration{20});
  CHECK(b.after(20).take() == "c Updated 1");
  CHECK_FALSE(b.queue.next_due(b.now));
}

TEST_CASE("the earlier time wins, and later requests do not push work out") {
  Bench b;
  b.add("a", Reason::updated, 100);
  b.after(50).add("a", Reason::updated, 100);
  CHECK(b.after(50).take() == "a Updated 1");
  b.ok("a");
  b.add("b", Reason::updated, 1000);
  b.add("b", Reason::updated, 10);
  CHECK(b.after(10).take() == "b Updated 1");
}

TEST_CASE("the first reason is kept, but news replaces startup, resync and requeue") {
  struct Row {
    Reason first, second;
    std::string told;
  };
  const std::vector<Row> rows = {
      {Reason::created, Reason::updated, "Created"},
      {Reason::startup, Reason::updated, "Updated"},
      {Reason::resync, Reason::owned_changed, "OwnedChanged"},
      {Reason::startup, Reason::resync, "Startup"},
      {Reason::updated, Reason::startup, "Updated"},
      {Reason::requeue, Reason::owned_changed, "OwnedChanged"},
      {Reason::requeue, Reason::resync, "Requeue"},
      {Reason::retry, Reason::updated, "Retry"},
  };
  for (const auto& row : rows) {
    Bench b;
    b.add("a", row.first);
    b.add("a", row.second);
    CHECK(b.take() == "a " + row.told + " 1");
    b.ok("a");
    CHECK(b.take().empty());
  }
}

TEST_CASE("what somebody asked for is told, whatever the object waits for") {
  Bench b;
  b.add("a");
  CHECK(b.take() == "a Updated 1");
  b.fail("a");
  b.add("a", Reason::manual);
  CHECK(b.after(100).take() == "a Manual 2");
}

TEST_CASE("what is said of the other object goes with the reason that is kept") {
  Bench b;
  b.queue.add(b.now, key("a"), Reason::related_changed, "v1 ConfigMap shop/c");
  b.queue.add(b.now, key("a"), Reason::owned_changed, "apps/v1 Deployment shop/d");
  CHECK(b.queue.take(b.now)->reason_object == "v1 ConfigMap shop/c");
}

TEST_CASE("a key being worked on is held and runs once more, however often it changes") {
  Bench b;
  b.add("a");
  CHECK(b.take() == "a Updated 1");
  for (int i = 0; i < 5; ++i) b.add("a");
  CHECK(b.take().empty());
  CHECK(b.queue.counts(b.now).held == 1);
  CHECK(b.queue.held() == std::vector<ObjectKey>{key("a")});
  b.ok("a");
  CHECK(b.queue.held().empty());
  CHECK(b.take() == "a Updated 1");
  b.ok("a");
  CHECK(b.take().empty());
}

TEST_CASE("the concurrency limits how many keys are held") {
  WorkQueueOptions options;
  options.concurrency = 2;
  Bench b(options);
  for (const char* name : {"a", "b", "c"}) b.add(name);
  b.take();
  b.take();
  CHECK(b.take().empty());
  CHECK_FALSE(b.queue.next_due(b.now));
  b.ok("a");
  CHECK(b.queue.next_due(b.now) == b.now);
  CHECK(b.take() == "c Updated 1");
}

TEST_CASE("only failures grow the delay and the attempt, only success resets them") {
  Bench b;
  b.add("a");
  b.take();
  CHECK(b.fail("a") == Duration{1000});
  CHECK(b.queue.is_retrying(key("a")));
  CHECK(b.after(1000).take() == "a Retry 2");
  CHECK(b.fail("a") == Duration{2000});
  // Changes while it waits do not grow it.
  for (int i = 0; i < 10; ++i) b.add("a");
  CHECK(b.take() == "a Retry 3");
  CHECK(b.fail("a") == Duration{2000});
  CHECK(b.after(2000).take() == "a Retry 4");
  CHECK(b.fail("a") == Duration{4000});
  CHECK(b.after(4000).take() == "a Retry 5");
  b.ok("a");
  CHECK_FALSE(b.queue.is_retrying(key("a")));
  b.add("a");
  CHECK(b.take() == "a Updated 1");
  CHECK(b.fail("a") == Duration{1000});
}

TEST_CASE("the delay of failures ends at its maximum and is at least what was asked") {
  WorkQueueOptions options;
  options.retry.max = Duration{5000};
  Bench b(options);
  b.add("a");
  b.take();
  CHECK(b.fail("a", Duration{3000}) == Duration{3000});
  b.after(3000).take();
  CHECK(b.fail("a", Duration{1}) == Duration{2000});
  for (int i = 0; i < 5; ++i) {
    b.after(5000).take();
    b.fail("a");
  }
  b.after(5000).take();
  CHECK(b.fail("a") == Duration{5000});
}

TEST_CASE("runs for other reasons do not put off a retry that is due at a certain time") {
  Bench b;
  b.add("a");
  REQUIRE_FALSE(b.take().empty());
  CHECK(b.queue.failed_for(b.now, key("a"), Duration{60000}) == Duration{60000});
  for (int i = 0; i < 3; ++i) {
    b.after(15000).add("a");
    REQUIRE_FALSE(b.take().empty());
    CHECK(b.queue.failed_for(b.now, key("a"), Duration{60000}) == Duration{45000 - 15000 * i});
  }
}

// kubernetes/kubernetes#132805: there each of these failures doubles the delay.
TEST_CASE("triggers during an outage do not push out the retry, and their runs do not grow it") {
  WorkQueueOptions options;
  options.max_attempts = 3;
  Bench b(options);
  b.add("a");
  b.take();
  CHECK(b.fail("a") == Duration{1000});
  for (int i = 1; i <= 9; ++i) {
    b.after(100).add("a");
    REQUIRE_FALSE(b.take().empty());
    CHECK(b.fail("a") == Duration{1000 - i * 100});  // the retry stays where it was
  }
  CHECK(b.after(100).take() == "a Retry 11");
  CHECK(b.fail("a") == Duration{2000});  // the second failure that the backoff counts
  SECTION("what was asked for at least is kept even then") {
    b.after(100).add("a");
    b.take();
    CHECK(b.fail("a", Duration{5000}) == Duration{5000});
  }
  SECTION("a run that outlasts its own retry time waits once more at the same level") {
    b.after(100).add("a");
    b.take();
    CHECK(b.after(3000).fail("a") == Duration{2000});
  }
  SECTION("they do not use attempts up") {
    for (int i = 0; i < 10; ++i) {
      b.add("a");
      b.take();
      REQUIRE(b.fail("a"));
    }
    b.after(2000).take();
    CHECK_FALSE(b.fail("a"));
    CHECK(b.queue.is_parked(key("a")));
  }
}

TEST_CASE("a failure may bring its own delay, and still is a failure") {
  Bench b;
  b.add("a");
  b.take();
  CHECK(b.queue.failed_for(b.now, key("a"), Duration{50}) == Duration{50});
  CHECK(b.queue.is_retrying(key("a")));
  CHECK(b.after(50).take() == "a Retry 2");
  CHECK(b.queue.failed_for(b.now, key("a"), Duration{7000}) == Duration{7000});
  CHECK(b.after(7000).take() == "a Retry 3");
  CHECK(b.fail("a") == Duration{4000});
}

TEST_CASE("delays beyond six months are cut to them, and nothing overflows") {
  WorkQueueOptions options;
  options.retry.initial = options.retry.max = Duration::max();
  Bench b(options);
  b.now = TimePoint{Duration{1000}};
  b.queue.add(b.now, key("a"), Reason::schedule, "", Duration::max());
  CHECK(b.queue.next_due(b.now) == b.now + kMaxDelay);
  b.queue.add(b.now, key("a"), Reason::updated, "", Duration::min());
  CHECK(b.take() == "a Schedule 1");
  b.queue.requeue(b.now, key("a"), Duration::max());
  CHECK(b.queue.next_due(b.now) == b.now + kMaxDelay);
  b.add("a");
  b.take();
  CHECK(b.fail("a", Duration::max()) == kMaxDelay);
  b.add("a");
  b.take();
  CHECK(b.queue.not_yet(b.now, key("a"), b.random, Duration::max()) == kMaxDelay);
  b.add("a");
  b.take();
  CHECK(b.queue.failed_for(b.now, key("a"), Duration::max()) == kMaxDelay);
}

TEST_CASE("a debounce counts from the first change and is never pushed out") {
  Bench b;
  b.add("a", Reason::updated, 1000);
  for (int i = 0; i < 9; ++i) b.after(100).add("a", Reason::updated, 1000);
  CHECK(b.take().empty());
  CHECK(b.after(100).take() == "a Updated 1");
  // What comes while it runs is debounced as well, from its own first change.
  b.add("a", Reason::updated, 1000);
  b.after(400).add("a", Reason::updated, 1000);
  b.ok("a");
  CHECK(b.after(599).take().empty());
  CHECK(b.after(1).take() == "a Updated 1");
}

TEST_CASE("a failure with newer work runs at once") {
  Bench b;
  b.add("a");
  b.take();
  b.add("a", Reason::owned_changed);
  CHECK(b.fail("a") == Duration{0});
  CHECK(b.take() == "a OwnedChanged 2");
}

TEST_CASE("used up attempts park a key until something is new") {
  WorkQueueOptions options;
  options.max_attempts = 2;
  Bench b(options);
  b.add("a");
  b.take();
  CHECK(b.fail("a") == Duration{1000});
  b.after(1000).take();
  CHECK_FALSE(b.fail("a"));
  CHECK(b.queue.parked() == std::vector<ObjectKey>{key("a")});
  CHECK(b.queue.is_parked(key("a")));
  CHECK(b.queue.counts(b.now).parked == 1);
  CHECK(b.queue.idle());
  CHECK(b.after(1000000).take().empty());
  b.add("a");
  CHECK(b.queue.parked().empty());
  CHECK_FALSE(b.queue.is_parked(key("a")));
  CHECK(b.take() == "a Updated 1");
  CHECK(b.fail("a") == Duration{1000});
}

TEST_CASE("the last attempt is known while it runs") {
  WorkQueueOptions options;
  options.max_attempts = 2;
  Bench b(options);
  b.add("a");
  b.take();
  CHECK_FALSE(b.queue.is_last_attempt(key("a")));
  b.fail("a");
  b.after(100).add("a");
  b.take();
  CHECK_FALSE(b.queue.is_last_attempt(key("a")));  // brought forward: it uses none up
  b.fail("a");
  CHECK_FALSE(b.queue.is_last_attempt(key("a")));
  b.after(900).take();
  CHECK(b.queue.is_last_attempt(key("a")));
  b.add("a");
  CHECK(b.queue.is_last_attempt(key("a")));
  b.fail("a");
  b.take();
  CHECK_FALSE(b.queue.is_last_attempt(key("a")));
  CHECK_FALSE(Bench().queue.is_last_attempt(key("a")));
}

TEST_CASE("work that came during the last attempt is not parked away") {
  WorkQueueOptions options;
  options.max_attempts = 1;
  Bench b(options);
  b.add("a");
  b.take();
  b.add("a");
  CHECK(b.fail("a") == Duration{0});
  CHECK(b.queue.parked().empty());
  CHECK(b.take() == "a Updated 1");
  b.add("a");
  b.queue.park(b.now, key("a"));
  CHECK(b.queue.parked().empty());
  CHECK(b.take() == "a Updated 1");
  b.queue.park(b.now, key("a"));
  CHECK(b.queue.parked() == std::vector<ObjectKey>{key("a")});
}

TEST_CASE("requeue is a success that runs again after its time") {
  Bench b;
  b.add("a");
  b.take();
  b.fail("a");
  b.after(1000).take();
  b.queue.requeue(b.now, key("a"), Duration{30000});
  CHECK_FALSE(b.queue.is_retrying(key("a")));
  CHECK(b.after(29999).take().empty());
  CHECK(b.after(1).take() == "a Requeue 1");
}

TEST_CASE("not yet waits longer each time without counting as a failure") {
  Bench b;
  b.add("a");
  b.take();
  CHECK(b.queue.not_yet(b.now, key("a"), b.random, std::nullopt) == Duration{1000});
  CHECK(b.after(1000).take() == "a Requeue 1");
  CHECK(b.queue.not_yet(b.now, key("a"), b.random, std::nullopt) == Duration{2000});
  CHECK(b.after(2000).take() == "a Requeue 1");
  CHECK(b.queue.not_yet(b.now, key("a"), b.random, Duration{500}) == Duration{500});
  CHECK(b.after(500).take() == "a Requeue 1");
  b.ok("a");
  b.add("a");
  b.take();
  CHECK(b.queue.not_yet(b.now, key("a"), b.random, std::nullopt) == Duration{1000});
}

TEST_CASE("live work goes first, background work does not starve") {
  Bench b;
  b.add_background("old");
  b.add("live");
  CHECK(b.take() == "live Updated 1");
  CHECK(b.take() == "old Startup 1");
  b.ok("old");
  b.ok("live");
  // A live key that comes back all the time, against one that waits.
  b.add_background("patient");
  int rounds = 0;
  for (; rounds < 100; ++rounds) {
    b.after(100).add("busy");
    const std::string taken = b.take();
    if (taken == "patient Startup 1") break;
    b.ok("busy");
  }
  CHECK(rounds == 49);  // five seconds
}

TEST_CASE("live news makes background work live") {
  Bench b;
  b.add_background("a");
  b.add_background("b");
  b.add("c");
  b.add("b");
  CHECK(b.take() == "c Updated 1");
  CHECK(b.take() == "b Updated 1");
  CHECK(b.take() == "a Startup 1");
}

namespace {

// A start that finds objects 0 to 199, whose hooks take 200 ms each.
struct Backlog : Bench {
  Backlog() {
    for (int i = 0; i < 200; ++i) add_background(std::to_string(i));
  }
  // The one that runs next, to its end.
  std::string run() {
    const auto work = queue.take(now);
    if (!work) return "";
    after(200).ok(work->key.name);
    return work->key.name;
  }
};

}  // namespace

TEST_CASE("a change runs next however long the initial list has been waiting") {
  Backlog b;
  for (int i = 0; i < 50; ++i) REQUIRE(b.run() == std::to_string(i));
  b.add("new", Reason::created);
  b.add("150");  // edited while it still is to run for the start
  CHECK(b.run() == "new");
  CHECK(b.run() == "150");
  CHECK(b.run() == "50");
  for (int i = 51; i < 200; ++i) {
    if (i != 150) REQUIRE(b.run() == std::to_string(i));
  }
  CHECK(b.run().empty());
}

TEST_CASE("what has aged gets one run in four while live work never ends, what has not gets none") {
  Backlog b;
  std::string order;
  for (int i = 0; i < 48; ++i) {
    for (const char* name : {"busy", "busier"}) b.add(name);
    order += b.run()[0] == 'b' ? '.' : 'B';
  }
  // 25 runs are five seconds.
  CHECK(order == std::string(25, '.') + "B...B...B...B...B...B..");
}

TEST_CASE("what became live is as old as it was") {
  Bench b;
  b.add_background("a");
  b.after(60000).add("a");
  CHECK(b.queue.oldest_ready_age(b.now) == Duration{60000});
  CHECK(b.queue.look(key("a"))->due == b.now - Duration{60000});
  b.add("b");
  CHECK(b.take() == "a Updated 1");
  CHECK(b.queue.oldest_ready_age(b.now) == Duration{0});
  b.add_background("c");
  b.after(1000).add("c");
  b.queue.forget(key("c"));
  b.take();
  CHECK_FALSE(b.queue.oldest_ready_age(b.now));
}

TEST_CASE("a forgotten key is forgotten: pending, failed, parked or held") {
  Bench b;
  b.add("pending");
  b.queue.forget(key("pending"));
  CHECK(b.take().empty());
  b.add("a");
  b.take();
  b.fail("a");
  b.queue.forget(key("a"));
  CHECK(b.after(5000).take().empty());
  b.add("a");
  CHECK(b.take() == "a Updated 1");
  b.queue.park(b.now, key("a"));
  b.queue.forget(key("a"));
  CHECK(b.queue.parked().empty());
  SECTION("held: its failure is of no interest any more") {
    b.add("h");
    b.take();
    b.add("h");
    b.queue.forget(key("h"));
    b.fail("h");
    CHECK(b.after(100000).take().empty());
    CHECK(b.queue.counts(b.now).held == 0);
  }
  SECTION("held: what was added after that is a new beginning") {
    b.add("h");
    b.take();
    b.queue.forget(key("h"));
    b.add("h", Reason::created);
    b.fail("h");
    CHECK(b.take() == "h Created 1");
  }
  SECTION("held: a requeue of a forgotten key does not come") {
    b.add("h");
    b.take();
    b.queue.forget(key("h"));
    b.queue.requeue(b.now, key("h"), Duration{1});
    CHECK(b.after(10).take().empty());
  }
}

TEST_CASE("a paused queue gives nothing and keeps everything") {
  Bench b;
  b.queue.pause();
  b.add("a");
  CHECK(b.take().empty());
  CHECK_FALSE(b.queue.next_due(b.now));
  CHECK(b.queue.counts(b.now).ready == 1);
  b.queue.resume();
  CHECK(b.take() == "a Updated 1");
}

TEST_CASE("idle means that nothing is due, held or debounced, what waits for its time may wait") {
  Bench b;
  CHECK(b.queue.idle());
  b.add("a");
  CHECK_FALSE(b.queue.idle());
  b.take();
  CHECK_FALSE(b.queue.idle());
  b.queue.requeue(b.now, key("a"), Duration{1000});
  CHECK(b.queue.idle());
  b.add("debounced", Reason::updated, 500);
  CHECK_FALSE(b.queue.idle());
  b.queue.forget(key("debounced"));
  CHECK(b.queue.idle());
  b.add("a");  // news for a key that waits
  CHECK_FALSE(b.queue.idle());
  b.take();
  b.fail("a");
  CHECK(b.queue.idle());
  b.queue.add(b.now, key("r"), Reason::resync, "", Duration{60000});
  CHECK(b.queue.idle());
  b.after(60000).take();
  CHECK_FALSE(b.queue.idle());
}

TEST_CASE("the ends of runs that were never started change nothing") {
  Bench b;
  b.ok("x");
  CHECK(b.fail("x") == Duration{0});
  b.queue.park(b.now, key("x"));
  b.queue.requeue(b.now, key("x"), Duration{1});
  CHECK(b.queue.parked().empty());
  CHECK(b.after(10).take().empty());
}

TEST_CASE("the age of the oldest ready work is told") {
  Bench b;
  CHECK_FALSE(b.queue.oldest_ready_age(b.now));
  b.add("later", Reason::updated, 1000);
  CHECK_FALSE(b.queue.oldest_ready_age(b.now));
  b.add("a");
  CHECK(b.queue.oldest_ready_age(b.after(700).now) == Duration{700});
}

TEST_CASE("random use: never two runs of one key, nothing is lost, nothing starves") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    base::Random random(seed);
    WorkQueueOptions options;
    options.concurrency = 1 + random.below(4);
    options.max_attempts = static_cast<std::uint32_t>(random.below(4));
    WorkQueue queue(options);
    TimePoint now{Duration{0}};
    std::map<std::string, TimePoint> held;          // since when
    std::map<std::string, TimePoint> wanted_since;  // added, with no run started since
    for (int step = 0; step < 1500; ++step) {
      now += Duration(random.below(120));
      const std::string name = fmt::format("k{}", random.below(25));
      switch (random.below(6)) {
        case 0:
        case 1: {
          const auto priority = random.below(2) == 0 ? Priority::live : Priority::background;
          queue.add(now, key(name), Reason::updated, "", Duration(random.below(300)), priority);
          wanted_since.try_emplace(name, now);
          break;
        }
        case 2:
          if (random.below(8) == 0) {
            queue.forget(key(name));
            wanted_since.erase(name);
          }
          break;
        default: {
          if (held.empty()) break;
          const std::string ended =
              std::next(held.begin(), static_cast<std::ptrdiff_t>(random.below(held.size())))
                  ->first;
          held.erase(ended);
          switch (random.below(5)) {
            case 0: queue.succeeded(now, key(ended)); break;
            case 1: queue.failed(now, key(ended), random); break;
            case 2: queue.requeue(now, key(ended), Duration(random.below(500))); break;
            case 3: queue.not_yet(now, key(ended), random, std::nullopt); break;
            default: queue.park(now, key(ended)); break;
          }
        }
      }
      while (const auto work = queue.take(now)) {
        REQUIRE(held.count(work->key.name) == 0);
        held[work->key.name] = now;
        wanted_since.erase(work->key.name);
        REQUIRE(held.size() <= options.concurrency);
      }
      REQUIRE(queue.counts(now).held == held.size());
      for (const auto& [name_wanted, since] : wanted_since) {
        REQUIRE(now - since < Duration{120000});
      }
    }
    // Everything that was asked for runs in the end.
    for (int i = 0; i < 2000 && !wanted_since.empty(); ++i) {
      now += Duration{1000};
      for (const auto& [name, since] : held) queue.succeeded(now, key(name));
      held.clear();
      while (const auto work = queue.take(now)) {
        held[work->key.name] = now;
        wanted_since.erase(work->key.name);
      }
    }
    REQUIRE(wanted_since.empty());
  }
}

TEST_CASE(
    "the queue tells of each key whether it runs, waits or is parked, in the order they run") {
  Bench bench;
  bench.add("late", Reason::resync, 5000);
  bench.add("soon", Reason::updated, 10);
  bench.add("now");
  REQUIRE(bench.queue.take(bench.now));
  bench.queue.park_unseen(key("parked"));
  const auto entries = bench.queue.entries(10);
  REQUIRE(entries.size() == 4);
  CHECK(entries[0].first == key("now"));
  CHECK(entries[0].second.held);
  CHECK(entries[1].first == key("soon"));
  CHECK(entries[1].second.due == bench.now + Duration{10});
  CHECK(entries[2].second.reason == Reason::resync);
  CHECK(entries[3].second.parked);
  CHECK(bench.queue.entries(2).size() == 2);
  CHECK_FALSE(bench.queue.look(key("none")));
  CHECK(bench.queue.look(key("soon"))->pending);
}

TEST_CASE("a key parked unseen waits for a change, and one that has work is not parked") {
  Bench bench;
  bench.queue.park_unseen(key("a"));
  CHECK(bench.queue.is_parked(key("a")));
  CHECK(bench.queue.counts(bench.now).parked == 1);
  CHECK(bench.queue.idle());
  CHECK(bench.take() == "");
  bench.add("a");
  CHECK_FALSE(bench.queue.is_parked(key("a")));
  bench.queue.park_unseen(key("a"));
  CHECK_FALSE(bench.queue.is_parked(key("a")));
  CHECK(bench.take() != "");
}

TEST_CASE("a run that is put off comes again as it was, and nothing of it is counted") {
  Bench bench;
  bench.queue.add(bench.now, key("a"), Reason::created, "x");
  REQUIRE(bench.queue.take(bench.now));
  bench.queue.put_off(bench.now, key("a"), bench.now + Duration{500});
  CHECK_FALSE(bench.queue.take(bench.now));
  CHECK_FALSE(bench.queue.idle());
  CHECK(bench.queue.next_due(bench.now) == bench.now + Duration{500});
  const auto work = bench.queue.take(bench.now + Duration{500});
  REQUIRE(work);
  CHECK(work->reason == Reason::created);
  CHECK(work->reason_object == "x");
  CHECK(work->attempt == 1);
  // One that failed before stays at its attempt, and news does not wait for it.
  bench.queue.failed(bench.now, key("a"), bench.random);
  const TimePoint later = bench.now + Duration{3600000};
  REQUIRE(bench.queue.take(later));
  bench.queue.put_off(later, key("a"), later + Duration{500});
  CHECK(bench.queue.look(key("a"))->failures == 1);
  CHECK(bench.queue.look(key("a"))->reason == Reason::retry);
  bench.queue.add(later, key("a"), Reason::updated);
  CHECK(bench.queue.take(later)->attempt == 2);
  // What is gone meanwhile is not kept for it.
  bench.queue.forget(key("a"));
  bench.queue.put_off(later, key("a"), later + Duration{500});
  CHECK_FALSE(bench.queue.look(key("a")));
}

TEST_CASE("of runs that are put off until the same time the one that waits longer is first") {
  Bench bench;
  const TimePoint until = bench.now + Duration{500};
  TimePoint now = bench.now;
  for (const char* name : {"a", "b"}) bench.queue.add(now, key(name), Reason::updated);
  for (int round = 0; round < 3; ++round) {
    for (const char* name : {"a", "b"}) {
      const auto work = bench.queue.take(now);
      REQUIRE(work);
      CHECK(work->key == key(name));
      now += Duration{7};  // it is looked at when its turn comes
      bench.queue.put_off(now, work->key, until + round * Duration{500});
    }
    now = until + round * Duration{500};
  }
}

TEST_CASE("retries of what failed are no work that an end would have to wait for, all else is") {
  Bench bench;
  CHECK_FALSE(bench.queue.at_work());
  bench.queue.add(bench.now, key("bad"), Reason::startup);
  CHECK(bench.queue.at_work());
  REQUIRE(bench.queue.take(bench.now));
  CHECK(bench.queue.at_work());
  bench.queue.failed(bench.now, key("bad"), bench.random);
  CHECK_FALSE(bench.queue.at_work());
  const TimePoint later = bench.now + Duration{3600000};
  REQUIRE(bench.queue.take(later));  // its retry
  CHECK_FALSE(bench.queue.idle());
  CHECK_FALSE(bench.queue.at_work());
  bench.queue.add(later, key("good"), Reason::updated);
  CHECK(bench.queue.at_work());
  REQUIRE(bench.queue.take(later));
  bench.queue.failed(later, key("bad"), bench.random);
  CHECK(bench.queue.at_work());  // the other one still runs
  bench.queue.requeue(later, key("good"), Duration{100});
  CHECK_FALSE(bench.queue.at_work());
  REQUIRE(bench.queue.take(later + Duration{100}));
  CHECK(bench.queue.at_work());
  bench.queue.succeeded(later, key("good"));
  CHECK_FALSE(bench.queue.at_work());
}
