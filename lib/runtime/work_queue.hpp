// The keyed work queue: which object runs next, and when. Earlier time wins; a key being worked on
// is held and runs once more; only failures grow a key's backoff, only success resets it; live
// changes go before the initial list and resyncs, however long those are, and a key of those that
// changes goes with the live ones from then on. Nothing starves: what has waited there for the age
// limit has one run in kAgedTurn, whatever else there is. Plain class: `now` is an argument.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/backoff.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "core/resource.hpp"

namespace kubewatch::runtime {

enum class Reason {
  created,
  updated,
  owned_changed,
  related_changed,
  resync,
  schedule,
  retry,
  requeue,
  startup,
  external,
  manual
};
// "Created", "OwnedChanged", ...: as hooks see it.
std::string_view to_string(Reason reason);

enum class Priority { live, background };

struct Work {
  core::ObjectKey key;
  // Both are best effort: many changes become one run, and a restart forgets them. For logs and
  // speed, never to decide by.
  Reason reason = Reason::updated;
  std::string reason_object;  // "v1 ConfigMap shop/settings", "" for the object itself
  std::uint32_t attempt = 1;  // 1 = the first try since the last success
};

// The longest delay that is kept: six months. Longer ones are cut to it, so no sum overflows.
inline constexpr Duration kMaxDelay{std::chrono::hours(24 * 183)};

// Where live work is ready all the time, every so many-th run is one of aged background work.
inline constexpr std::uint32_t kAgedTurn = 4;

struct WorkQueueOptions {
  std::size_t concurrency = 4;  // keys held at the same time; 0 = no limit
  base::BackoffPolicy retry{Duration{1000}, Duration{300000}, 2.0, 0.2};
  // 0 = for ever; then parked. Counts what the backoff started: runs that something else brought
  // forward do not use attempts up.
  std::uint32_t max_attempts = 0;
  Duration age_limit{5000};  // background work that is due for longer has its turns
};

// Where one key stands.
struct KeyState {
  bool held = false;
  bool parked = false;
  bool pending = false;  // it will run at `due`, for `reason`
  TimePoint due{};
  Reason reason = Reason::updated;
  std::string reason_object;
  std::uint32_t failures = 0;  // in a row
};

class WorkQueue {
 public:
  explicit WorkQueue(WorkQueueOptions options);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Runs at now + delay or earlier if already due earlier. The first reason of a pending key is
  // kept, except that manual and external replace any, and any other reason but these replaces
  // startup, resync and requeue. Background work that becomes live stands behind the live work that
  // is ready, and is as old as it was. A parked key is un-parked and starts a new series of
  // attempts.
  void add(TimePoint now, const core::ObjectKey& key, Reason reason, std::string reason_object = "",
           Duration delay = Duration{0}, Priority priority = Priority::live);
  // The next key to run, now held; absent when nothing is due, all slots are taken, or it is
  // paused.
  std::optional<Work> take(TimePoint now);
  // When take() may next succeed because of time alone; absent when only add() or a finish can
  // change it.
  std::optional<TimePoint> next_due(TimePoint now) const;

  // Each ends the run of a held key; for a key that is not held they do nothing. A key that was
  // added meanwhile runs when that says, if it is earlier; one forgotten meanwhile is forgotten.
  void succeeded(TimePoint now, const core::ObjectKey& key);  // resets the backoff
  void requeue(TimePoint now, const core::ObjectKey& key,
               Duration after);  // success, run again then
  // A failure; returns the delay, or absent when the key is now parked (attempts used up). A key
  // with newer work is not parked: that work starts a new series of attempts. When the run was
  // started before its retry was due (a trigger came meanwhile), neither the backoff nor the
  // attempts used up grow, and the retry stays where it was: triggers during an outage do not push
  // it out.
  std::optional<Duration> failed(TimePoint now, const core::ObjectKey& key, base::Random& random,
                                 std::optional<Duration> at_least = std::nullopt);
  // The same with a delay of the caller's choice in place of the backoff's; still a failure.
  std::optional<Duration> failed_for(TimePoint now, const core::ObjectKey& key, Duration delay);
  // "Not yet" (exit 75): runs again after `after` or the backoff's delay; not counted as a failure,
  // but repeated ones without `after` wait longer each time.
  Duration not_yet(TimePoint now, const core::ObjectKey& key, base::Random& random,
                   std::optional<Duration> after);
  // The run was not made, because what runs it cannot until then: as if it had been added for that
  // time. Nothing is counted, its reason and its attempt stay. A time and no delay: who was put off
  // first is first when all of them may run.
  void put_off(TimePoint now, const core::ObjectKey& key, TimePoint until);
  void park(TimePoint now, const core::ObjectKey& key);  // until the next add()
  // Parked without a run: a start that knows how its last run ended. Nothing for a key that is held
  // or pending.
  void park_unseen(const core::ObjectKey& key);
  // The object is gone: forget pending work, backoff and parking (a held key is forgotten at its
  // end).
  void forget(const core::ObjectKey& key);

  void pause();  // nothing is taken: caches not ready, shutting down
  void resume();

  // Nothing due or held, nothing debounced; retries, requeues, resyncs and schedules that wait for
  // their time do not count.
  bool idle() const;
  // Pending keys that keep it from being idle, due or not.
  std::size_t pressing() const;
  // Not idle, and not only because retries of what failed run or are due.
  bool at_work() const;
  // Pending keys that wait for a time (retry, requeue, debounce), held, ready, parked.
  struct Counts {
    std::size_t ready = 0, waiting = 0, held = 0, parked = 0;
  };
  Counts counts(TimePoint now) const;
  bool is_retrying(const core::ObjectKey& key) const;
  bool is_parked(const core::ObjectKey& key) const;
  // Held, and a failure of this run uses its attempts up, whatever was added meanwhile.
  bool is_last_attempt(const core::ObjectKey& key) const;
  std::vector<core::ObjectKey> parked() const;
  std::vector<core::ObjectKey> held() const;
  // Absent: nothing is known of it.
  std::optional<KeyState> look(const core::ObjectKey& key) const;
  // Held keys, pending ones by when they are due, parked ones; at most `limit`.
  std::vector<std::pair<core::ObjectKey, KeyState>> entries(std::size_t limit) const;
  // Since when the work is due that waits longest.
  std::optional<Duration> oldest_ready_age(TimePoint now) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::runtime
