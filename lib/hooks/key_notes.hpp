// What a rule remembers of its objects from one run to the next: what the next run is to be told,
// what is special about the object, how its last run ended. One call forgets all of a key. Of an
// object of which there is nothing to say nothing is kept. Pure; the driver's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hooks/loop_alarm.hpp"
#include "runtime/controller.hpp"

namespace kubewatch::hooks {

class KeyNotes {
 public:
  static constexpr Duration kLongestWay{300000};  // of an event that the selection has to bring

  enum class Mark : std::uint8_t {
    reduced,        // parked because only its metadata is cached
    asked_for,      // by name, whatever the filter says, and not done yet
    debounced,      // waits for nothing but the debounce
    prints_itself,  // its last run printed its own object
  };
  void set(const core::ObjectKey& key, Mark mark, bool is_so = true);
  void clear(const core::ObjectKey& key, Mark mark) { set(key, mark, false); }
  bool has(const core::ObjectKey& key, Mark mark) const;
  std::size_t count(Mark mark) const { return counts_[static_cast<std::size_t>(mark)]; }

  // The object before a change, "" = not known. Until a run takes it the oldest stays.
  void keep_previous(const core::ObjectKey& key, std::string object);
  std::string take_previous(const core::ObjectKey& key);
  void drop_previous(const core::ObjectKey& key);

  // Why a run was to start that waits: for its finalizer, the first time; or for whole lists, the
  // last time.
  void keep_reason(const runtime::Work& work);
  void put_back_reason(const runtime::Work& work, bool finalizing);
  // What woke a run that had to wait, and not that its wait is over, is put into its `work`. A
  // retry, and what somebody has asked for meanwhile, are told as that.
  void take_reason(runtime::Work& work, bool finalizing);
  // There is nothing to run.
  void drop_run(const core::ObjectKey& key);

  // What has woken it since its last run: whatever else did, a run that others have caused as well
  // is not its own doing.
  void note_woken(const core::ObjectKey& key, LoopAlarm::Woken woken);
  LoopAlarm::Woken take_woken(const core::ObjectKey& key);

  // The guard has seen it, and the selection has to show it, since the given time. False: not any
  // more, as the server may select by what cannot be seen in the object.
  bool awaits(const core::ObjectKey& key, TimePoint since, TimePoint now);
  // It is shown, or looked at anew: since when it was awaited.
  std::optional<TimePoint> end_wait(const core::ObjectKey& key);
  bool any_awaited() const { return awaited_ > 0; }

  using Verdict = runtime::RunOutcome::Verdict;
  void note_end(const core::ObjectKey& key, Verdict verdict);
  // Its last run, if it had one, left nothing to say.
  void settle(const core::ObjectKey& key);
  // It is held now, not unfinished; but it may have failed before.
  void drop_unfinished(const core::ObjectKey& key) { unfinished_.erase(key); }
  const std::set<core::ObjectKey>& failing() const { return failing_; }
  const std::set<core::ObjectKey>& unfinished() const { return unfinished_; }  // said "not yet"

  // Of which a run has left something to say, or is to come that waits: those may be in no cache.
  std::set<core::ObjectKey> of_runs() const;
  void forget(const core::ObjectKey& key);

 private:
  template <class Value>
  using PerKey = std::unordered_map<core::ObjectKey, Value, core::ObjectKeyHash>;
  // One for each object that waits for its run, which may be all of them.
  struct Small {
    std::uint8_t marks = 0;
    bool is_woken = false;
    LoopAlarm::Woken woken : 8 = LoopAlarm::Woken::by_rule;
    bool operator==(const Small&) const = default;
  };
  static_assert(sizeof(Small) == 4);
  struct Reason {
    runtime::Reason reason;
    std::string object;
    bool finalizing = false;
    bool operator==(const Reason&) const = default;
  };
  struct Waiting {
    std::string previous{};
    std::optional<Reason> reason{};
    std::optional<TimePoint> awaited_since{};
    bool operator==(const Waiting&) const = default;
  };
  static constexpr std::size_t kMarks = 4;

  // What says nothing any more is dropped.
  template <class Value>
  static void tidy(PerKey<Value>& entries, typename PerKey<Value>::iterator it);

  PerKey<Small> small_;
  PerKey<Waiting> waiting_;
  std::set<core::ObjectKey> failing_;
  std::set<core::ObjectKey> unfinished_;
  std::array<std::size_t, kMarks> counts_{};
  std::size_t awaited_ = 0;
};

}  // namespace kubewatch::hooks
