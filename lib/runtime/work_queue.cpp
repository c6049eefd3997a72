#include "runtime/work_queue.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace kubewatch::runtime {

namespace {

// What a live change says is news; these only say "look again".
bool is_no_news(Reason reason) {
  return reason == Reason::startup || reason == Reason::resync || reason == Reason::requeue;
}

// Work that may wait for its time while the queue counts as idle.
bool may_wait(Reason reason) {
  return reason == Reason::retry || reason == Reason::requeue || reason == Reason::resync ||
         reason == Reason::schedule;
}

Duration bounded(Duration delay) {
  return std::clamp(delay, Duration{0}, kMaxDelay);
}

}  // namespace

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::created: return "Created";
    case Reason::updated: return "Updated";
    case Reason::owned_changed: return "OwnedChanged";
    case Reason::related_changed: return "RelatedChanged";
    case Reason::resync: return "Resync";
    case Reason::schedule: return "Schedule";
    case Reason::retry: return "Retry";
    case Reason::requeue: return "Requeue";
    case Reason::startup: return "Startup";
    case Reason::external: return "External";
    case Reason::manual: return "Manual";
  }
  return "Unknown";
}

struct WorkQueue::Impl {
  struct Item {
    // Pending: it will run.
    bool pending = false;
    TimePoint due{};
    // Where it stands in its line: by when it is due, or became live in the midst of a backlog.
    TimePoint place{};
    std::uint64_t sequence = 0;
    Reason reason = Reason::updated;
    std::string reason_object;
    Priority priority = Priority::live;
    bool must_run = false;  // the queue is not idle while it is pending
    // Where the pending entry stands: in no line while the key is held.
    enum class Line { none, waiting, ready } line = Line::none;

    bool held = false;
    bool forgotten = false;  // while held: nothing of it is kept at its end
    bool parked = false;
    TimePoint started{};         // while held
    bool fresh = false;          // while held: no retry of what failed
    std::uint32_t failures = 0;  // in a row
    std::uint32_t waits = 0;     // "not yet" without a time of its own, in a row
    // The backoff counts only failures of runs that it started itself.
    std::uint32_t level = 0;
    TimePoint retry_at{};  // level > 0: when the backoff lets it run again

    // By something else than the backoff, whose retry was not due when it started.
    bool brought_forward() const { return level > 0 && started < retry_at; }

    void end_series() {
      failures = 0;
      waits = 0;
      level = 0;
    }
  };
  struct Entry {
    TimePoint place;
    std::uint64_t sequence;
    const core::ObjectKey* key;  // owned by `items`: stable
    bool operator<(const Entry& other) const {
      return place != other.place ? place < other.place : sequence < other.sequence;
    }
  };
  using Items = std::unordered_map<core::ObjectKey, Item, core::ObjectKeyHash>;

  WorkQueueOptions options;
  Items items;
  std::set<Entry> waiting;
  std::set<Entry> ready[2];             // by Priority
  std::multiset<TimePoint> moved_from;  // when those in a line are due that stand further behind
  std::uint32_t live_runs = 0;          // since the last one of background work
  std::uint64_t next_sequence = 0;
  std::size_t held = 0;
  std::size_t fresh = 0;  // of those
  std::size_t parked = 0;
  std::size_t must_run = 0;  // pending entries that do not wait for a time of their own
  bool paused = false;

  static Entry entry_of(Items::iterator it) {
    return {it->second.place, it->second.sequence, &it->first};
  }
  std::set<Entry>& ready_line(const Item& item) {
    return ready[static_cast<std::size_t>(item.priority)];
  }
  static KeyState state_of(const Item& item) {
    return {item.held,   item.parked,        item.pending, item.due,
            item.reason, item.reason_object, item.failures};
  }
  static bool is_retry(const Item& item) {
    return item.reason == Reason::retry && item.failures > 0;
  }
  bool full() const { return options.concurrency != 0 && held >= options.concurrency; }

  void leave_line(Items::iterator it);
  void enter_line(Items::iterator it);
  void set_must_run(Item& item, bool must);
  void promote(TimePoint now);
  void add(TimePoint now, const core::ObjectKey& key, Reason reason, std::string reason_object,
           Duration delay, Priority priority);
  void clear_pending(Items::iterator it);
  void unpark(Item& item);
  // Ends the run; false when the key was forgotten meanwhile and nothing is to follow but what was
  // added since.
  bool end_run(Items::iterator it);
  // `retry_at` tells when to try again, and whether that series goes on as it was planned.
  template <class RetryAt>
  std::optional<Duration> fail(TimePoint now, const core::ObjectKey& key, RetryAt retry_at);
  void tidy(Items::iterator it);
  Items::iterator held_item(const core::ObjectKey& key);
};

void WorkQueue::Impl::leave_line(Items::iterator it) {
  Item& item = it->second;
  if (item.line == Item::Line::waiting) waiting.erase(entry_of(it));
  if (item.line == Item::Line::ready) ready_line(item).erase(entry_of(it));
  if (item.line != Item::Line::none && item.place != item.due) {
    moved_from.erase(moved_from.find(item.due));
  }
  item.line = Item::Line::none;
}

// Everything enters by the waiting line; promote() moves what is due.
void WorkQueue::Impl::enter_line(Items::iterator it) {
  Item& item = it->second;
  if (!item.pending || item.held) return;
  item.line = Item::Line::waiting;
  waiting.insert(entry_of(it));
  if (item.place != item.due) moved_from.insert(item.due);
}

void WorkQueue::Impl::set_must_run(Item& item, bool must) {
  if (item.must_run == must) return;
  item.must_run = must;
  if (must) {
    ++must_run;
  } else {
    --must_run;
  }
}

void WorkQueue::Impl::promote(TimePoint now) {
  while (!waiting.empty() && waiting.begin()->place <= now) {
    const Entry entry = *waiting.begin();
    waiting.erase(waiting.begin());
    Item& item = items.find(*entry.key)->second;
    item.line = Item::Line::ready;
    ready_line(item).insert(entry);
  }
}

void WorkQueue::Impl::unpark(Item& item) {
  if (!item.parked) return;
  item.parked = false;
  item.end_series();  // this is a new one
  --parked;
}

void WorkQueue::Impl::add(TimePoint now, const core::ObjectKey& key, Reason reason,
                          std::string reason_object, Duration delay, Priority priority) {
  const auto it = items.try_emplace(key).first;
  Item& item = it->second;
  unpark(item);
  const TimePoint due = now + bounded(delay);
  if (!may_wait(reason) || due <= now) set_must_run(item, true);
  if (!item.pending) {
    item.reason = reason;
    item.reason_object = std::move(reason_object);
    item.pending = true;
    item.due = item.place = due;
    item.priority = priority;
    item.sequence = next_sequence++;
    enter_line(it);
    return;
  }
  leave_line(it);
  // What somebody asked for is told, whatever the object waits for.
  const bool asked = reason == Reason::manual || reason == Reason::external;
  if (asked || (is_no_news(item.reason) && !is_no_news(reason))) {
    item.reason = reason;
    item.reason_object = std::move(reason_object);
  }
  item.due = std::min(item.due, due);
  item.place = std::min(item.place, due);
  if (priority == Priority::live && item.priority == Priority::background) {
    // By the age that it has it would pass what has been live all along.
    item.priority = Priority::live;
    item.place = std::max(item.place, now);
    item.sequence = next_sequence++;
  }
  enter_line(it);
}

void WorkQueue::Impl::clear_pending(Items::iterator it) {
  leave_line(it);
  set_must_run(it->second, false);
  it->second.pending = false;
}

void WorkQueue::Impl::tidy(Items::iterator it) {
  const Item& item = it->second;
  if (!item.pending && !item.held && !item.parked && item.failures == 0 && item.waits == 0) {
    items.erase(it);
  }
}

WorkQueue::Impl::Items::iterator WorkQueue::Impl::held_item(const core::ObjectKey& key) {
  const auto it = items.find(key);
  return it != items.end() && it->second.held ? it : items.end();
}

bool WorkQueue::Impl::end_run(Items::iterator it) {
  Item& item = it->second;
  item.held = false;
  --held;
  if (std::exchange(item.fresh, false)) --fresh;
  const bool forgotten = std::exchange(item.forgotten, false);
  if (forgotten) item.end_series();
  enter_line(it);
  return !forgotten;
}

WorkQueue::WorkQueue(WorkQueueOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
}
WorkQueue::~WorkQueue() = default;

void WorkQueue::add(TimePoint now, const core::ObjectKey& key, Reason reason,
                    std::string reason_object, Duration delay, Priority priority) {
  impl_->add(now, key, reason, std::move(reason_object), delay, priority);
}

std::optional<Work> WorkQueue::take(TimePoint now) {
  Impl& q = *impl_;
  if (q.paused || q.full()) return std::nullopt;
  q.promote(now);
  auto& live = q.ready[static_cast<std::size_t>(Priority::live)];
  auto& background = q.ready[static_cast<std::size_t>(Priority::background)];
  if (live.empty() && background.empty()) return std::nullopt;
  // Turns, and not its age against that of live work: of a long backlog all is older than any edit.
  const bool its_turn = !background.empty() && q.live_runs + 1 >= kAgedTurn &&
                        now - background.begin()->place >= q.options.age_limit;
  const auto* line = live.empty() || its_turn ? &background : &live;
  q.live_runs = line == &live ? q.live_runs + 1 : 0;
  const auto it = q.items.find(*line->begin()->key);
  q.clear_pending(it);
  Impl::Item& item = it->second;
  item.held = true;
  item.started = now;
  item.fresh = !Impl::is_retry(item);
  if (item.fresh) ++q.fresh;
  ++q.held;
  return Work{it->first, item.reason, item.reason_object, item.failures + 1};
}

std::optional<TimePoint> WorkQueue::next_due(TimePoint now) const {
  const Impl& q = *impl_;
  if (q.paused || q.full()) return std::nullopt;
  if (!q.ready[0].empty() || !q.ready[1].empty()) return now;
  if (q.waiting.empty()) return std::nullopt;
  return std::max(now, q.waiting.begin()->place);
}

void WorkQueue::succeeded(TimePoint /*now*/, const core::ObjectKey& key) {
  const auto it = impl_->held_item(key);
  if (it == impl_->items.end()) return;
  it->second.end_series();
  impl_->end_run(it);
  impl_->tidy(it);
}

void WorkQueue::requeue(TimePoint now, const core::ObjectKey& key, Duration after) {
  const auto it = impl_->held_item(key);
  if (it == impl_->items.end()) return;
  it->second.end_series();
  if (impl_->end_run(it)) {
    impl_->add(now, key, Reason::requeue, "", after, Priority::live);
  }
  impl_->tidy(it);
}

template <class RetryAt>
std::optional<Duration> WorkQueue::Impl::fail(TimePoint now, const core::ObjectKey& key,
                                              RetryAt retry_at) {
  const auto it = held_item(key);
  if (it == items.end()) return Duration{0};
  if (!end_run(it)) {
    tidy(it);
    return Duration{0};
  }
  Item& item = it->second;
  ++item.failures;
  const bool brought_forward = item.brought_forward();
  if (!brought_forward) ++item.level;
  if (!brought_forward && options.max_attempts != 0 && item.level >= options.max_attempts) {
    if (!item.pending) {
      item.parked = true;
      ++parked;
      return std::nullopt;
    }
    item.end_series();  // parked and, by what was added meanwhile, un-parked at once
    return std::max(Duration{0}, item.due - now);
  }
  item.retry_at = retry_at(item, brought_forward);
  add(now, key, Reason::retry, "", item.retry_at - now, Priority::live);
  return std::max(Duration{0}, item.due - now);
}

std::optional<Duration> WorkQueue::failed(TimePoint now, const core::ObjectKey& key,
                                          base::Random& random, std::optional<Duration> at_least) {
  return impl_->fail(now, key, [&](const Impl::Item& item, bool brought_forward) {
    const Duration least = bounded(at_least.value_or(Duration{0}));
    // What the backoff had planned still stands.
    if (brought_forward && item.retry_at > now) return std::max(item.retry_at, now + least);
    const Duration delay = base::backoff_delay(impl_->options.retry, item.level, random);
    return now + std::max(bounded(delay), least);
  });
}

std::optional<Duration> WorkQueue::failed_for(TimePoint now, const core::ObjectKey& key,
                                              Duration delay) {
  return impl_->fail(now, key, [&](const Impl::Item& item, bool brought_forward) {
    // Else runs for other reasons, such as a resync, would put it off for ever.
    const TimePoint at = now + bounded(delay);
    return brought_forward && item.retry_at > now ? std::min(item.retry_at, at) : at;
  });
}

Duration WorkQueue::not_yet(TimePoint now, const core::ObjectKey& key, base::Random& random,
                            std::optional<Duration> after) {
  Impl& q = *impl_;
  const auto it = q.held_item(key);
  if (it == q.items.end()) return Duration{0};
  if (!q.end_run(it)) {
    q.tidy(it);
    return Duration{0};
  }
  Impl::Item& item = it->second;
  const Duration delay =
      after ? *after : base::backoff_delay(q.options.retry, ++item.waits, random);
  q.add(now, key, Reason::requeue, "", delay, Priority::live);
  return std::max(Duration{0}, item.due - now);
}

void WorkQueue::put_off(TimePoint now, const core::ObjectKey& key, TimePoint until) {
  Impl& q = *impl_;
  const auto it = q.held_item(key);
  if (it == q.items.end()) return;
  if (!q.end_run(it)) return q.tidy(it);
  const Impl::Item& item = it->second;
  q.add(now, key, item.reason, item.reason_object, until - now, item.priority);
}

void WorkQueue::park(TimePoint /*now*/, const core::ObjectKey& key) {
  Impl& q = *impl_;
  const auto it = q.held_item(key);
  if (it == q.items.end()) return;
  const bool keep = q.end_run(it);
  Impl::Item& item = it->second;
  item.end_series();
  if (keep && !item.pending) {
    item.parked = true;
    ++q.parked;
  }
  q.tidy(it);
}

void WorkQueue::forget(const core::ObjectKey& key) {
  Impl& q = *impl_;
  const auto it = q.items.find(key);
  if (it == q.items.end()) return;
  q.clear_pending(it);
  q.unpark(it->second);
  it->second.end_series();
  if (it->second.held) {
    it->second.forgotten = true;
  } else {
    q.items.erase(it);
  }
}

void WorkQueue::pause() {
  impl_->paused = true;
}
void WorkQueue::resume() {
  impl_->paused = false;
}

bool WorkQueue::idle() const {
  const Impl& q = *impl_;
  return q.held == 0 && q.must_run == 0 && q.ready[0].empty() && q.ready[1].empty();
}

std::size_t WorkQueue::pressing() const {
  return impl_->must_run;
}

bool WorkQueue::at_work() const {
  const Impl& q = *impl_;
  if (q.fresh > 0 || q.must_run > 0) return true;
  const auto is_fresh = [&](const Impl::Entry& entry) {
    return !Impl::is_retry(q.items.find(*entry.key)->second);
  };
  return std::any_of(q.ready[0].begin(), q.ready[0].end(), is_fresh) ||
         std::any_of(q.ready[1].begin(), q.ready[1].end(), is_fresh);
}

WorkQueue::Counts WorkQueue::counts(TimePoint now) const {
  const Impl& q = *impl_;
  Counts counts;
  counts.held = q.held;
  counts.parked = q.parked;
  counts.ready = q.ready[0].size() + q.ready[1].size();
  counts.waiting = q.waiting.size();
  for (auto it = q.waiting.begin(); it != q.waiting.end() && it->place <= now; ++it) {
    ++counts.ready;
    --counts.waiting;
  }
  return counts;
}

bool WorkQueue::is_retrying(const core::ObjectKey& key) const {
  const auto it = impl_->items.find(key);
  return it != impl_->items.end() && it->second.failures > 0 && !it->second.parked;
}

bool WorkQueue::is_parked(const core::ObjectKey& key) const {
  const auto it = impl_->items.find(key);
  return it != impl_->items.end() && it->second.parked;
}

bool WorkQueue::is_last_attempt(const core::ObjectKey& key) const {
  const auto it = impl_->held_item(key);
  if (it == impl_->items.end() || impl_->options.max_attempts == 0) return false;
  const Impl::Item& item = it->second;
  return !item.brought_forward() && item.level + 1 >= impl_->options.max_attempts;
}

std::vector<core::ObjectKey> WorkQueue::parked() const {
  std::vector<core::ObjectKey> keys;
  for (const auto& [key, item] : impl_->items) {
    if (item.parked) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

void WorkQueue::park_unseen(const core::ObjectKey& key) {
  Impl::Item& item = impl_->items[key];
  if (item.held || item.pending || item.parked) return;
  item.parked = true;
  ++impl_->parked;
}

std::optional<KeyState> WorkQueue::look(const core::ObjectKey& key) const {
  const auto it = impl_->items.find(key);
  if (it == impl_->items.end()) return std::nullopt;
  return impl_->state_of(it->second);
}

std::vector<std::pair<core::ObjectKey, KeyState>> WorkQueue::entries(std::size_t limit) const {
  std::vector<std::pair<core::ObjectKey, KeyState>> out;
  for (const auto& [key, item] : impl_->items) {
    if (item.held || item.pending || item.parked) out.emplace_back(key, impl_->state_of(item));
  }
  // What runs, what is to run by its time, what is parked.
  const auto rank = [](const KeyState& state) { return state.held ? 0 : state.pending ? 1 : 2; };
  const auto before = [&](const auto& a, const auto& b) {
    if (rank(a.second) != rank(b.second)) return rank(a.second) < rank(b.second);
    if (a.second.pending && b.second.pending && a.second.due != b.second.due) {
      return a.second.due < b.second.due;
    }
    return a.first < b.first;
  };
  const std::size_t shown = std::min(limit, out.size());
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(shown), out.end(),
                    before);
  out.resize(shown);
  return out;
}

std::vector<core::ObjectKey> WorkQueue::held() const {
  std::vector<core::ObjectKey> keys;
  for (const auto& [key, item] : impl_->items) {
    if (item.held) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::optional<Duration> WorkQueue::oldest_ready_age(TimePoint now) const {
  std::optional<Duration> age;
  const auto look = [&](TimePoint due) {
    if (due <= now) age = std::max(age.value_or(Duration{0}), now - due);
  };
  for (const auto* line : {&impl_->waiting, &impl_->ready[0], &impl_->ready[1]}) {
    if (!line->empty()) look(line->begin()->place);
  }
  if (!impl_->moved_from.empty()) look(*impl_->moved_from.begin());
  return age;
}

}  // namespace kubewatch::runtime
