// What becomes of Events that a controller reports: which are written, which only count as a
// repetition, which are too many, and what to do when a write fails. No I/O, no clock: happenings
// and results in, writes out. event_recorder drives it.
// Rules: the events.k8s.io/v1 API reference (limits, series), and the times of the recorder that
// Kubernetes' own controllers use (a series ends after 6 minutes, is refreshed every 30).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/backoff.hpp"
#include "base/json.hpp"
#include "base/token_bucket.hpp"
#include "core/object_ref.hpp"
#include "runtime/lru_map.hpp"

namespace kubewatch::runtime {

enum class EventType { normal, warning };

// Who reports: "example.com/website-controller" and the name of this process, often its Pod.
struct EventReporter {
  std::string controller;
  std::string instance;
};

struct Happening {
  EventType type = EventType::normal;
  std::string reason;  // why: one word, "Created"; at most 128 bytes
  std::string action;  // what was done or tried: one word, "Reconcile"; at most 128 bytes
  std::string note;    // for people; cut to 1,024 bytes between characters
  core::ObjectRef regarding;
  std::optional<core::ObjectRef> related;
};

struct EventLimits {
  Duration series_end{360000};
  Duration refresh{1800000};
  double burst = 25;               // writes per object before it is slowed down
  Duration one_write_per{300000};  // after that
  // So often within `refresh` another note of what is the same else is told; after that it is only
  // counted into the Event that was told last.
  std::size_t notes = 5;
  std::size_t remembered = 4096;  // series, and objects; those seen longest ago go first
  // New Events about objects that are not remembered, once as many as can be are: where more fail
  // than that, each would be new each time.
  double burst_beyond = 1000;
  Duration one_beyond_per{1000};
  int tries = 12;  // of one write
  base::BackoffPolicy backoff{Duration{1000}, Duration{60000}, 2.0, 0.2};
};

struct EventWrite {
  std::uint64_t id = 0;  // for on_result
  bool create = false;   // else a merge patch
  core::ObjectKey key;
  Json body;
};

struct EventStats {
  std::uint64_t created = 0;
  std::uint64_t repeated = 0;    // counted into a series
  std::uint64_t suppressed = 0;  // of an object that had too many; told in its next Event
  std::uint64_t dropped = 0;     // writes that were given up
};

class EventAggregator {
 public:
  // `random` must outlive it.
  EventAggregator(EventLimits limits, base::Random& random);
  ~EventAggregator();
  EventAggregator(const EventAggregator&) = delete;
  EventAggregator& operator=(const EventAggregator&) = delete;

  // Two happenings are one series when all of them is the same; their notes may differ where there
  // were too many of them (EventLimits::notes). Errors: invalid (what the API would refuse), naming
  // the field.
  Result<void> observe(const EventReporter& reporter, const Happening& what, TimePoint now,
                       WallTime wall);
  // The next write that is due; its on_result must follow. One write per series at a time.
  std::optional<EventWrite> take(TimePoint now);
  // When take() may have something; absent: not before another observe or on_result.
  std::optional<TimePoint> next_due() const;
  // `error` null: written. Gives the sentence that is to be told to people: once per kind of
  // refusal, nothing for what is tried again.
  std::optional<std::string> on_result(std::uint64_t id, const Error* error, TimePoint now);
  // While the process ends, repetitions do not wait for the refresh or the end of their series: who
  // comes after it begins series of its own. What is tried again later still waits.
  void hurry(bool on);

  const EventStats& stats() const { return stats_; }

 private:
  struct Series;
  // What differs in the note alone: the API takes no other note for an Event that is there.
  struct Reported {
    std::vector<Series*> live;
    Series* current = nullptr;       // whose note was told last
    std::vector<TimePoint> changes;  // of it, within the last `refresh`
  };
  struct Bucket {
    base::TokenBucket tokens;
    std::uint64_t suppressed = 0;  // since the last write about the object
  };

  Bucket& bucket_of(const core::ObjectRef& object, TimePoint now);
  Result<void> begin(const std::string& same, std::uint64_t note, const EventReporter& reporter,
                     const Happening& what, TimePoint now, WallTime wall);
  bool may_change(Reported& reported, const core::ObjectRef& object, TimePoint now);
  void repeat(Series& series, bool changes, TimePoint now, WallTime wall);
  EventWrite write_of(Series& series);
  std::optional<std::string> on_error(Series& series, const Error& error, TimePoint now);
  void retry(Series& series, const Error& error, TimePoint now);
  void give_up(Series& series, TimePoint now);
  std::optional<std::string> tell_once(const Error& error);
  std::optional<TimePoint> due_of(const Series& series) const;
  void schedule(Series& series);
  void forget(const std::string& key);
  // False: all are in flight.
  bool forget_oldest();
  std::string new_name(const std::string& object);

  const EventLimits limits_;
  base::Random& random_;
  EventStats stats_;
  LruMap<Series> series_;
  std::unordered_map<std::string, Reported> reported_;  // by all but the note
  std::uint64_t last_series_ = 0;
  LruMap<Bucket> buckets_;
  Bucket beyond_;  // of all that are not remembered
  std::set<std::pair<TimePoint, Series*>> due_;
  std::map<std::uint64_t, Series*> in_flight_;
  std::uint64_t last_id_ = 0;
  bool hurries_ = false;
  std::set<ErrorKind> told_;
};

}  // namespace kubewatch::runtime
