// Decides a wait: targets x conditions. Told what each watch sees, it says for each object whether
// it is as asked, by which rule and what is seen instead, and for all of them together whether the
// wait is over. Every verdict is of one object at one resourceVersion. Pure: no I/O, no clock.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/time.hpp"
#include "core/resource.hpp"
#include "runtime/wait_condition.hpp"

namespace kubewatch::runtime {

// What is asked of every object.
struct WaitGoal {
  std::vector<WaitCondition> wanted;  // all of them at once, or
  bool any = false;                   // one of them
  std::vector<WaitCondition> fail_if;
  KStatusOptions kstatus;
  // Of the objects that selectors choose, over all targets. Absent: at least one for each target.
  std::optional<std::size_t> min_count;
  std::optional<std::size_t> exactly;
  Duration hold{0};  // all must stay met for so long

  // Met by absence, and only by it.
  bool awaits_deletion() const;
  // A deletion is one of the wanted conditions.
  bool wants_deletion() const;
  // Or one that fails it.
  bool asks_for_deletion() const;
  // More than whether the object exists: what it says depends on the version that it is read in.
  bool asks_for_content() const;
  // What no object could meet, or what contradicts itself. Errors: invalid.
  Result<void> check() const;
  // "condition=Ready and jq=.a", "... or ...".
  std::string text() const;
};

// Objects that are waited for: one by its name, or those that selectors choose, followed live.
struct WaitTarget {
  core::ResourceType type;
  std::string namespace_;  // "" = all, or cluster-scoped
  std::string name;        // "": selectors choose
  std::string label_selector;
  std::string field_selector;
  // The word of several kinds ("all") that this one came with: an object of any of them is enough.
  std::string category;
  // The version was asked for, and its fields are what conditions mean.
  bool pinned = false;
  // The word that named the type. That the server does not have it, before anything of it was seen,
  // is an error then, and no deletion: it may be misspelt, or known of old. "": its objects are
  // gone with it.
  std::string word = {};
  bool by_name() const { return !name.empty(); }
  std::string str() const;  // "pods/web", "pods (-l app=web)"
};

enum class WaitState {
  met,
  not_met,
  failed,     // --fail-if holds, or the object itself says that it failed
  invalid,    // a condition cannot be asked of it
  deleted,    // it was there, and nobody waited for it to go
  not_found,  // it was never there
  unknown,    // the server has not told yet
};
std::string_view to_string(WaitState state);  // "met", "notMet", "failed", ...

// One object's part of the report.
struct WaitedObject {
  core::ResourceType type;
  core::ObjectKey key;  // without a name: a selector that nothing matches
  std::string selector;
  std::string uid;
  std::string resource_version;
  WaitState state = WaitState::unknown;
  // The condition that decided: the first that is not met, or that made it fail; its text and what
  // it said.
  std::string condition;
  Judgement judgement;
  std::vector<std::pair<std::string, Judgement>> conditions;  // all of them, by text
  std::string cause;        // why, one line; whoever reports reads it (wait_cause.hpp)
  std::string str() const;  // "pods/web"
};

enum class WaitOutcome { pending, met, failed, invalid, deleted };

class WaitJudge {
 public:
  explicit WaitJudge(WaitGoal goal) : goal_(std::move(goal)) {}

  std::size_t add(WaitTarget target);
  const WaitGoal& goal() const { return goal_; }
  const WaitTarget& target(std::size_t index) const { return entries_.at(index).target; }
  std::size_t targets() const { return entries_.size(); }

  // What the watch of a target sees. Before synced() is told, nothing is decided of it.
  // `reduced`: of the object only the metadata is known (StoredObject), and no condition on its
  // content can be asked.
  void seen(std::size_t target, const Json& object, WallTime wall, bool reduced = false);
  void gone(std::size_t target, const core::ObjectKey& key);
  // What leaves a selection may still exist. Where a deletion is asked for, gone() needs more than
  // that: left() leaves the object undecided until gone(), seen() or outside().
  bool may_only_have_left(std::size_t target) const;
  void left(std::size_t target, const core::ObjectKey& key);
  // It exists, and is no longer chosen. False: it is no member any more; true: it still must go, so
  // that it is to be followed by its name.
  bool outside(std::size_t target, const core::ObjectKey& key);
  // The uid of a member as last seen; "" = there is no such member, it does not exist, or the one
  // whose deletion is awaited is gone already, and another has its name.
  std::string uid_of(std::size_t target, const core::ObjectKey& key) const;
  // The members of a target that exist and were not told to be outside.
  std::vector<core::ObjectKey> inside(std::size_t target) const;
  // The same kind, in another version or under another path; of one that has no namespaces any
  // more the target has none either.
  void retype(std::size_t target, core::ResourceType type);
  void synced(std::size_t target) { entries_.at(target).synced = true; }
  bool is_synced(std::size_t target) const { return entries_.at(target).synced; }
  // What was written to a named target: older states than this one say nothing and are passed over,
  // and until it, or that it has gone since, was seen the target is pending.
  void expect(std::size_t target, const std::string& uid, const std::string& resource_version);
  // A named target does not exist at this version: what was written to it before has gone.
  void absent(std::size_t target, const std::string& resource_version);

  // How it stands. Time passes for --hold, so ask again at hold_ends(). `confirmed`: up to when the
  // states told are known to be those of all targets; what is met later is not met as yet.
  WaitOutcome decide(TimePoint now, TimePoint confirmed);
  WaitOutcome decide(TimePoint now) { return decide(now, now); }
  // States of members were missed: whether what was met stayed so nobody knows.
  void missed() { met_since_.reset(); }
  std::optional<TimePoint> hold_ends() const;
  // Objects whose verdict time alone may change: to be told again with seen(), once it is so late.
  struct Due {
    std::size_t target;
    core::ObjectKey key;
    WallTime at;
  };
  std::vector<Due> due() const;
  // In the order of the targets, then by key.
  std::vector<WaitedObject> report() const;
  // "2 of 3 objects are as asked", "1 object matches, 3 are wanted".
  std::string summary() const;

 private:
  struct Member {
    std::string uid;
    std::string resource_version;
    bool present = false;
    bool existed = false;
    bool undecided = false;  // it left the selection; whether it exists is being asked
    bool outside = false;    // it exists, and the selection does not have it any more
    bool replaced = false;   // another object has the name now: the one that was is gone
    WaitState state = WaitState::not_met;
    std::size_t deciding = 0;  // of conditions
    std::string failed_by;     // the text of the fail_if that holds
    std::vector<Judgement> judgements;
    Judgement failure;
    std::optional<WallTime> changes_at;
  };
  struct Entry {
    WaitTarget target;
    bool synced = false;
    std::map<core::ObjectKey, Member> members;
    std::string expected_uid;
    std::string expected_version;
    bool expecting = false;
  };
  struct Count {
    std::size_t chosen = 0;  // by selectors
    std::size_t all = 0;
    std::size_t met = 0;
    bool every_target_has_one = true;
    bool all_synced = true;
    bool all_decided = true;
  };

  void judge(Member& member, const Json* object, WallTime now, bool reduced = false) const;
  static bool knows(const Member& member, const std::string& uid,
                    const std::string& resource_version);
  Count count() const;
  bool enough(const Count& count) const;
  bool has_one(const Entry& entry) const;
  WaitOutcome decide_members() const;
  WaitedObject describe(const Entry& entry, const core::ObjectKey& key, const Member& member) const;

  WaitGoal goal_;
  std::vector<Entry> entries_;
  std::optional<TimePoint> met_since_;
};

}  // namespace kubewatch::runtime
