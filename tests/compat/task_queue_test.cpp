// Which run is next, and with what.
#include "compat/task_queue.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::compat;

namespace {

TimePoint at(int ms) {
  return TimePoint{} + Duration{1000000 + ms};
}

Task event(std::size_t hook, const std::string& object, const std::string& group = "") {
  Task out;
  out.hook = hook;
  out.context.type = ContextType::event;
  out.context.name = object;
  out.context.object_id = object;
  out.context.group = group;
  out.context.event = WatchEvent::modified;
  return out;
}

Task event(std::size_t hook, const std::string& object, WatchEvent what,
           const std::string& group = "") {
  Task out = event(hook, object, group);
  out.context.event = what;
  return out;
}

Task of_type(ContextType type, std::size_t binding = 0, const std::string& group = "") {
  Task out = event(0, "", group);
  out.context.type = type;
  out.context.binding = binding;
  return out;
}

struct Fixture {
  base::Random random{7};
  TaskQueue queue{base::BackoffPolicy{Duration{100}, Duration{400}, 2.0, 0.0}};
  void push(Task task) { queue.push(std::move(task), at(0)); }
  // With so much that it lags far behind.
  void fill() {
    for (int i = 0; i < 2000; ++i) push(event(1, "other-" + std::to_string(i)));
  }
  std::size_t waiting() const {
    std::size_t out = 0;
    queue.each_waiting([&](std::size_t, TimePoint) { ++out; });
    return out;
  }
  std::vector<std::string> run(int ms, bool success = true) {
    REQUIRE(queue.ready(at(ms)).has_value());
    std::vector<std::string> out;
    for (const Context& one : queue.start().contexts) out.push_back(one.name);
    queue.finish(success, at(ms), random);
    return out;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("neighbours of one hook run together, in order") {
  Fixture f;
  f.push(event(1, "a"));
  f.push(event(1, "b"));
  f.push(event(2, "c"));
  f.push(event(1, "d"));
  CHECK(f.queue.ready(at(0)) == 1U);
  CHECK(f.run(0) == Names{"a", "b"});
  CHECK(f.run(0) == Names{"c"});
  CHECK(f.run(0) == Names{"d"});
  CHECK(f.queue.empty());
}

TEST_CASE("one run at a time, and what comes meanwhile waits") {
  Fixture f;
  f.push(event(1, "a"));
  f.queue.start();
  f.push(event(1, "b"));
  CHECK_FALSE(f.queue.ready(at(0)));
  CHECK_FALSE(f.queue.due(at(0)));
  f.queue.finish(true, at(0), f.random);
  CHECK(f.run(0) == Names{"b"});
}

TEST_CASE("a failing run is tried again unchanged at the head, ever more slowly") {
  Fixture f;
  f.push(event(1, "a"));
  CHECK(f.run(0, false) == Names{"a"});
  f.push(event(1, "b"));
  CHECK(f.queue.failing());
  CHECK_FALSE(f.queue.ready(at(99)));
  CHECK(f.queue.due(at(0)) == at(100));
  CHECK(f.run(100, false) == Names{"a"});
  CHECK(f.queue.due(at(100)) == at(300));
  CHECK(f.queue.head().attempt == 3);
  CHECK(f.run(300) == Names{"a"});
  CHECK(f.run(300, false) == Names{"b"});
  CHECK(f.queue.due(at(300)) == at(400));  // success began anew
}

TEST_CASE("a failure that is allowed is not tried again") {
  Fixture f;
  Task task = event(1, "a");
  task.allow_failure = true;
  f.push(task);
  f.push(event(1, "b"));
  CHECK(f.run(0, false) == Names{"a"});
  CHECK(f.run(0) == Names{"b"});
}

TEST_CASE("neighbours of one group are one entry") {
  Fixture f;
  f.push(event(1, "a", "g"));
  f.push(event(1, "b", "g"));
  f.push(event(1, "c", "h"));
  f.push(event(1, "d", "g"));
  CHECK(f.run(0) == Names{"a", "c", "d"});
}

TEST_CASE("Synchronizations run together, apart from events, and each is accounted for") {
  Fixture f;
  f.push(of_type(ContextType::startup));
  f.push(of_type(ContextType::synchronization, 0, "g"));
  f.push(of_type(ContextType::synchronization, 2, "g"));
  f.push(event(0, "later", "g"));
  CHECK(f.run(0).size() == 1);
  const Batch& batch = f.queue.start();
  CHECK(batch.contexts.size() == 1);
  CHECK(batch.synchronized == std::vector<std::size_t>{0, 2});
  f.queue.finish(true, at(0), f.random);
  CHECK(f.run(0) == Names{"later"});
}

TEST_CASE("a queue that is far behind keeps the newest state of an object only") {
  Fixture f;
  for (int i = 0; i < 3000; ++i) f.push(event(1, "object-" + std::to_string(i % 10)));
  CHECK(f.waiting() == 2000);
  f.push(event(1, "object-1", WatchEvent::deleted));
  f.push(event(1, "object-1", WatchEvent::added));
  f.push(event(1, "object-2", WatchEvent::deleted));
  CHECK(f.waiting() == 2000);
  const Batch& batch = f.queue.start();
  CHECK(batch.contexts[1990].event == WatchEvent::modified);
  CHECK(batch.contexts[1991].event == WatchEvent::modified);  // it is there again
  CHECK(batch.contexts[1992].event == WatchEvent::deleted);
}

TEST_CASE("far behind, objects that come and go leave nothing behind") {
  Fixture f;
  f.fill();
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "job-" + std::to_string(i);
    f.push(event(1, name, WatchEvent::added));
    f.push(event(1, name, WatchEvent::modified));
    if (i % 2 == 0) f.push(event(1, "job-0-" + name, WatchEvent::added));
    f.push(event(1, name, WatchEvent::deleted));
    if (i % 2 == 0) f.push(event(1, "job-0-" + name, WatchEvent::deleted));
  }
  CHECK(f.waiting() == 2000);
}

TEST_CASE("far behind, an end is told of what the hook knows or may have seen") {
  Fixture f;
  f.fill();
  f.push(event(1, "seen", WatchEvent::added));
  f.queue.shown(1);
  f.push(event(1, "seen", WatchEvent::deleted));
  f.push(event(1, "known", WatchEvent::deleted));
  Task back = event(1, "known", WatchEvent::added);
  back.hears_modified = false;
  f.push(back);
  const auto events = [&] {
    std::vector<WatchEvent> out;
    for (const Context& one : f.queue.start().contexts) out.push_back(one.event);
    out.erase(out.begin(), out.begin() + 2000);
    return out;
  };
  SECTION("as an event that its binding wants") {
    CHECK(events() == std::vector<WatchEvent>{WatchEvent::deleted, WatchEvent::added});
  }
  SECTION("and its second end is told") {
    f.push(event(1, "known", WatchEvent::deleted));
    CHECK(events() == std::vector<WatchEvent>{WatchEvent::deleted, WatchEvent::deleted});
  }
}

TEST_CASE("far behind, a group that waits is woken once") {
  Fixture f;
  f.fill();
  for (int i = 0; i < 1000; ++i) {
    f.push(event(1, "a", WatchEvent::deleted, "g"));
    f.push(event(1, "b", WatchEvent::added, "h"));
  }
  CHECK(f.waiting() == 2002);
}

TEST_CASE("ticks of a schedule do not pile up without bound") {
  Fixture f;
  for (int i = 0; i < 5000; ++i) f.push(of_type(ContextType::schedule, 1));
  std::size_t waiting = 0;
  f.queue.each_waiting([&](std::size_t, TimePoint) { ++waiting; });
  CHECK(waiting == 2000);
}

TEST_CASE("a run is given no more contexts than it may have, and the rest is the next run") {
  Fixture f;
  for (const char* name : {"a", "b", "c"}) f.push(event(1, name));
  f.push(event(1, "d", "g"));
  f.push(event(2, "x"));
  f.push(event(1, "e", "g"));
  CHECK(f.queue.may_combine());
  CHECK(f.queue.start(2).contexts.size() == 2);
  CHECK_FALSE(f.queue.may_combine());  // a retry is as before
  f.queue.finish(false, at(0), f.random);
  CHECK(f.queue.start(1).contexts.size() == 2);
  f.queue.finish(true, at(0), f.random);
  CHECK(f.queue.start(0).contexts.size() == 1);  // never none
  f.queue.finish(true, at(0), f.random);
  CHECK(f.run(0) == Names{"d"});
}

TEST_CASE("events whose objects are large are shared out to several runs") {
  Fixture f;
  for (int i = 0; i < 3; ++i) {
    Task task = event(1, "object-" + std::to_string(i));
    task.context.object = std::string(40U << 20U, ' ');
    f.push(std::move(task));
  }
  CHECK(f.run(0) == Names{"object-0", "object-1"});
  CHECK(f.run(0) == Names{"object-2"});
}

TEST_CASE("a rate lets a burst through and then one in a time") {
  RateLimit rate({Duration{3000}, 2});
  CHECK_FALSE(rate.take(at(0)));
  CHECK_FALSE(rate.take(at(0)));
  CHECK(rate.take(at(0)) == at(3000));
  CHECK(rate.take(at(1000)) == at(3000));
  CHECK_FALSE(rate.take(at(3000)));
  CHECK(rate.take(at(3000)) == at(6000));
  RateLimit none({Duration{0}, 1});
  for (int i = 0; i < 100; ++i) CHECK_FALSE(none.take(at(0)));
}

TEST_CASE("a queue that is held combines what comes until then") {
  Fixture f;
  f.push(event(1, "a"));
  f.queue.hold_until(at(50));
  CHECK(f.queue.due(at(0)) == at(50));
  CHECK_FALSE(f.queue.ready(at(0)));
  f.push(event(1, "b"));
  CHECK(f.run(50) == Names{"a", "b"});
}
