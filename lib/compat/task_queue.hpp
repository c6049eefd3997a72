// One queue of runs: strictly one after the other. What waits for one hook side by side is run
// together; what belongs to one group becomes one entry; far behind, what happens to one object is
// one event; what fails is tried again at the head, unchanged, and everything behind it waits.
// Pure: time and randomness are arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/backoff.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "base/token_bucket.hpp"
#include "compat/binding_context.hpp"

namespace kubewatch::compat {

// One run is not given more.
inline constexpr std::size_t kMostContexts = 5000;

// Runs of a failing hook: 5 s after the first failure, then slower.
inline constexpr base::BackoffPolicy kRetryBackoff{Duration{5000}, Duration{32000}, 1.6, 0.1};

struct Task {
  std::size_t hook = 0;
  Context context;
  bool allow_failure = false;
  bool hears_modified = true;  // its binding wants that event
};

// What one run is given.
struct Batch {
  std::size_t hook = 0;
  std::vector<Context> contexts;
  std::vector<std::size_t> synchronized;  // bindings whose Synchronization this is
  bool allow_failure = false;
  std::uint32_t attempt = 1;
};

class TaskQueue {
 public:
  explicit TaskQueue(base::BackoffPolicy backoff = kRetryBackoff) : backoff_(backoff) {}

  void push(Task task, TimePoint now);
  // The hook whose run may start now; absent: nothing waits, one runs, or a pause is not over.
  std::optional<std::size_t> ready(TimePoint now) const;
  // Nothing starts before; more may be combined with the head until then.
  void hold_until(TimePoint when) { not_before_ = when; }
  // Takes what the next run is given, at least one; objects of events count too, by their bytes.
  // Precondition: ready(). It stays the head until finish(), and a retry is given the same.
  const Batch& start(std::size_t max_contexts = kMostContexts);
  // The next run takes from what waits, and more than one may be taken.
  bool may_combine() const { return !head_ && tasks_.size() > 1; }
  // Of the one that runs. A failure that is allowed counts as done. True: it left the queue.
  bool finish(bool success, TimePoint now, base::Random& random);
  const Batch& head() const { return *head_; }

  // A run of this hook, of any queue, is given its objects as they are now: it may see what still
  // waits to be told.
  void shown(std::size_t hook) { shown_[hook] = next_; }

  // When something can start that cannot now; absent: nothing will by time alone.
  std::optional<TimePoint> due(TimePoint now) const;
  bool running() const { return running_; }
  // The head failed and waits for its next try.
  bool failing() const { return head_ && !running_; }
  bool empty() const { return !head_ && tasks_.empty(); }
  // What has not been tried yet.
  void each_waiting(const std::function<void(std::size_t hook, TimePoint since)>& call) const;

 private:
  struct Waiting {
    Task task;
    TimePoint since;
    bool known = false;  // the hook heard of the object before what is told here
  };
  using Identity = std::tuple<std::size_t, bool, ContextType, std::size_t, std::string>;
  bool compacts(const Task& task) const;
  static std::optional<Identity> identity(const Task& task);
  bool absorbs(Task& task);
  bool vanishes(std::uint64_t number, const Waiting& older, const Task& task) const;
  static void merge(Waiting& older, Task& task);

  base::Backoff backoff_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Waiting> tasks_;    // in order
  std::map<Identity, std::uint64_t> latest_;  // of what waits
  std::map<std::size_t, std::uint64_t>
      shown_;  // hook: what waited before a run that showed objects
  std::optional<Batch> head_;
  bool running_ = false;
  TimePoint not_before_{};
};

// Runs of one hook, at most so many in a time. Pure.
class RateLimit {
 public:
  explicit RateLimit(RateSettings settings)
      : min_interval_(settings.min_interval),
        bucket_(static_cast<double>(settings.burst), settings.min_interval) {}
  // Takes a token, or says when there is one.
  std::optional<TimePoint> take(TimePoint now);

 private:
  Duration min_interval_;  // 0: no limit
  base::TokenBucket bucket_;
};

}  // namespace kubewatch::compat
