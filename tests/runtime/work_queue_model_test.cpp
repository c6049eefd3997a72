// WorkQueue against a plain model of its rules: maps that are searched from end to end, without
// lines, sets and promotion. After each random step both must give the same work in the same order,
// with the same reason and attempt, and count the same.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "runtime/work_queue.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using core::ObjectKey;

namespace {

class Model {
 public:
  explicit Model(WorkQueueOptions options) : options_(options) {}

  void add(TimePoint now, const std::string& name, Reason reason, Duration delay,
           Priority priority) {
    Item& item = items_[name];
    if (item.parked) item = Item{};
    const TimePoint due = now + std::clamp(delay, Duration{0}, kMaxDelay);
    if (!item.pending) {
      item.pending = true;
      item.reason = reason;
      item.due = item.place = due;
      item.priority = priority;
      item.sequence = sequence_++;
      return;
    }
    const bool asked = reason == Reason::manual || reason == Reason::external;
    if (asked || (is_no_news(item.reason) && !is_no_news(reason))) item.reason = reason;
    item.due = std::min(item.due, due);
    item.place = std::min(item.place, due);
    if (priority == Priority::background || item.priority == Priority::live) return;
    item.priority = Priority::live;
    item.place = std::max(item.place, now);
    item.sequence = sequence_++;
  }

  // "name Reason attempt", "" when nothing is to be taken.
  std::string take(TimePoint now) {
    if (options_.concurrency != 0 && held() >= options_.concurrency) return "";
    const std::string live = first(now, Priority::live);
    const std::string background = first(now, Priority::background);
    std::string name = live.empty() ? background : live;
    if (!background.empty() && live_runs_ >= kAgedTurn - 1 &&
        now - items_[background].due >= options_.age_limit) {
      name = background;
    }
    if (name.empty()) return "";
    live_runs_ = name == live ? live_runs_ + 1 : 0;
    Item& item = items_[name];
    item.pending = false;
    item.held = true;
    item.started = now;
    return fmt::format("{} {} {}", name, to_string(item.reason), item.failures + 1);
  }

  void succeeded(const std::string& name) {
    if (end(name)) items_[name].end_series();
  }
  void requeue(TimePoint now, const std::string& name, Duration after) {
    if (!end(name)) return;
    items_[name].end_series();
    add(now, name, Reason::requeue, after, Priority::live);
  }
  void not_yet(TimePoint now, const std::string& name, std::optional<Duration> after) {
    if (!end(name)) return;
    Item& item = items_[name];
    add(now, name, Reason::requeue, after ? *after : backoff(++item.waits), Priority::live);
  }
  void failed(TimePoint now, const std::string& name, std::optional<Duration> at_least) {
    if (!end(name)) return;
    Item& item = items_[name];
    ++item.failures;
    const bool forward = item.level > 0 && item.started < item.retry_at;
    if (!forward && ++item.level == options_.max_attempts) return use_up(item);
    const Duration least = at_least.value_or(Duration{0});
    if (forward && item.retry_at > now) {
      item.retry_at = std::max(item.retry_at, now + least);
    } else {
      item.retry_at = now + std::max(backoff(item.level), least);
    }
    add(now, name, Reason::retry, item.retry_at - now, Priority::live);
  }
  void park(const std::string& name) {
    if (!end(name)) return;
    Item& item = items_[name];
    item.end_series();
    item.parked = !item.pending;
  }
  void forget(const std::string& name) {
    const auto it = items_.find(name);
    if (it == items_.end()) return;
    const Item before = it->second;
    it->second = Item{};
    it->second.held = before.held;
    it->second.started = before.started;
    it->second.forgotten = before.held;
  }

  std::size_t held() const {
    return count([](const Item& item) { return item.held; });
  }
  std::size_t parked() const {
    return count([](const Item& item) { return item.parked; });
  }
  std::size_t ready(TimePoint now) const {
    return count([&](const Item& item) { return item.pending && !item.held && item.due <= now; });
  }
  std::size_t waiting(TimePoint now) const {
    return count([&](const Item& item) { return item.pending && !item.held && item.due > now; });
  }
  std::optional<Duration> oldest(TimePoint now) const {
    std::optional<Duration> age;
    for (const auto& [name, item] : items_) {
      if (item.pending && !item.held && item.due <= now) {
        age = std::max(age.value_or(Duration{0}), now - item.due);
      }
    }
    return age;
  }

 private:
  struct Item {
    bool pending = false, held = false, parked = false, forgotten = false;
    Reason reason = Reason::updated;
    Priority priority = Priority::live;
    TimePoint due{}, place{}, started{}, retry_at{};
    std::uint64_t sequence = 0;
    std::uint32_t failures = 0, waits = 0, level = 0;
    void end_series() { failures = waits = level = 0; }
  };

  static bool is_no_news(Reason reason) {
    return reason == Reason::startup || reason == Reason::resync || reason == Reason::requeue;
  }
  Duration backoff(std::uint32_t attempt) const {
    Duration delay = options_.retry.initial;
    for (std::uint32_t i = 1; i < attempt && delay < options_.retry.max; ++i) delay *= 2;
    return std::min(delay, options_.retry.max);
  }
  std::tuple<TimePoint, std::uint64_t> order(const std::string& name) const {
    const Item& item = items_.at(name);
    return {item.place, item.sequence};
  }
  std::string first(TimePoint now, Priority priority) const {
    std::string best;
    for (const auto& [name, item] : items_) {
      if (!item.pending || item.held || item.due > now || item.priority != priority) continue;
      if (best.empty() || order(name) < order(best)) best = name;
    }
    return best;
  }
  // False when what the run did is of no interest: it was forgotten, or never started.
  bool end(const std::string& name) {
    const auto it = items_.find(name);
    if (it == items_.end() || !it->second.held) return false;
    it->second.held = false;
    if (!std::exchange(it->second.forgotten, false)) return true;
    it->second.end_series();
    return false;
  }
  void use_up(Item& item) {
    if (item.pending) return item.end_series();
    item.parked = true;
  }
  template <class Wanted>
  std::size_t count(Wanted wanted) const {
    return static_cast<std::size_t>(std::count_if(
        items_.begin(), items_.end(), [&](const auto& entry) { return wanted(entry.second); }));
  }

  WorkQueueOptions options_;
  std::map<std::string, Item> items_;
  std::uint64_t sequence_ = 0;
  std::size_t live_runs_ = 0;  // since the last one of background work
};

struct Pair {
  base::Random& random;
  WorkQueue queue;
  Model model;
  TimePoint now{Duration{0}};

  Pair(base::Random& the_random, const WorkQueueOptions& options)
      : random(the_random), queue(options), model(options) {}

  static ObjectKey key(const std::string& name) { return {"shop", name}; }
  std::optional<Duration> maybe(std::uint64_t below) {
    if (random.below(2) == 0) return std::nullopt;
    return Duration(static_cast<Duration::rep>(random.below(below)));
  }

  void add(const std::string& name) {
    static const Reason kReasons[] = {Reason::updated, Reason::startup, Reason::resync,
                                      Reason::external, Reason::schedule};
    const Reason reason = kReasons[random.below(5)];
    const Duration delay =
        random.below(50) == 0 ? Duration::max() : maybe(400).value_or(Duration{0});
    const Priority priority = random.below(2) == 0 ? Priority::live : Priority::background;
    queue.add(now, key(name), reason, "", delay, priority);
    model.add(now, name, reason, delay, priority);
  }
  void end(const std::string& name) {
    const auto after = maybe(900);
    switch (random.below(5)) {
      case 0:
        queue.succeeded(now, key(name));
        model.succeeded(name);
        break;
      case 1:
        queue.failed(now, key(name), random, after);
        model.failed(now, name, after);
        break;
      case 2:
        queue.requeue(now, key(name), after.value_or(Duration{0}));
        model.requeue(now, name, after.value_or(Duration{0}));
        break;
      case 3:
        queue.not_yet(now, key(name), random, after);
        model.not_yet(now, name, after);
        break;
      default:
        queue.park(now, key(name));
        model.park(name);
        break;
    }
  }
  std::string take() {
    const auto work = queue.take(now);
    if (!work) return "";
    return fmt::format("{} {} {}", work->key.name, to_string(work->reason), work->attempt);
  }
  // The first difference, "" when there is none.
  std::string difference() const {
    const WorkQueue::Counts counts = queue.counts(now);
    const std::string ours = fmt::format("{} ready, {} waiting, {} held, {} parked", counts.ready,
                                         counts.waiting, counts.held, counts.parked);
    const std::string theirs =
        fmt::format("{} ready, {} waiting, {} held, {} parked", model.ready(now),
                    model.waiting(now), model.held(), model.parked());
    if (queue.oldest_ready_age(now) != model.oldest(now)) return "the age of the oldest";
    return ours == theirs ? "" : ours + "; the model: " + theirs;
  }
};

WorkQueueOptions random_options(base::Random& random) {
  WorkQueueOptions options;
  options.concurrency = random.below(5);
  options.max_attempts = static_cast<std::uint32_t>(random.below(4));
  options.retry = {Duration{100}, Duration{3000}, 2.0, 0.0};
  options.age_limit = Duration{300};
  return options;
}

}  // namespace

TEST_CASE("random use: the queue does what a plain model of its rules does") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    base::Random random(seed);
    Pair pair(random, random_options(random));
    for (int step = 0; step < 600; ++step) {
      INFO("seed " << seed << " step " << step);
      pair.now += Duration(static_cast<Duration::rep>(random.below(150)));
      const std::string name = fmt::format("k{}", random.below(12));
      const std::uint64_t what = random.below(20);
      if (what < 9) {
        pair.add(name);
      } else if (what < 18) {
        pair.end(name);  // often of a key that is not held: nothing happens
      } else if (what == 18) {
        pair.queue.forget(Pair::key(name));
        pair.model.forget(name);
      }
      for (std::uint64_t i = random.below(4); i > 0; --i) {
        const std::string taken = pair.take();
        REQUIRE(taken == pair.model.take(pair.now));
        if (taken.empty()) break;
      }
      REQUIRE(pair.difference().empty());
    }
  }
}
