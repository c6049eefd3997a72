// One rule at work: its caches, its queue, its runs. Wakes from the caches become queue entries;
// what is due is looked at again and skipped, guarded, released, reconciled or finalized. Owned by
// the engine.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hooks/expected_writes.hpp"
#include "hooks/explain.hpp"
#include "hooks/ignored_changes.hpp"
#include "hooks/key_notes.hpp"
#include "hooks/kind_changes.hpp"
#include "hooks/lacking_runs.hpp"
#include "hooks/left_namespaces.hpp"
#include "hooks/loop_alarm.hpp"
#include "hooks/optional_kinds.hpp"
#include "hooks/owed_deletions.hpp"
#include "hooks/own_write_waits.hpp"
#include "hooks/patched_finalizers.hpp"
#include "hooks/rule_state.hpp"
#include "hooks/run.hpp"
#include "hooks/services.hpp"
#include "hooks/trigger_request.hpp"
#include "hooks/untold_deletions.hpp"

namespace kubewatch::hooks {

struct DriverStatus {
  bool started = false;  // all caches were synced once
  bool held = false;     // started, but waits until all is listed anew
  bool idle = false;
  bool at_work = false;  // not idle, and not only for retries of what failed
  // Not idle, but only for changes that wait for the rule's debounce.
  bool debounced = false;
  std::size_t failing = 0;
  std::size_t parked = 0;
  std::size_t unfinished = 0;
  std::size_t given_up = 0;  // deletions whose onDelete has failed and does not come again
  std::size_t hooks = 0;
  std::uint64_t runs = 0;
  std::uint64_t failed_runs = 0;
};

// What a rule that ends leaves to the one of its name that comes after it: what its runs have
// cleaned up and written and its caches do not show yet; with onDelete also the deletions that were
// not told, and what its objects' watches tell until the next one has started.
struct Legacy {
  core::Gvk gvk;
  std::optional<PatchedFinalizers> cleaned_up;
  ExpectedWrites expected;
  std::vector<Deleted> deleted;
  std::set<std::string> finalized;  // uids, of what is not gone yet
  std::shared_ptr<std::vector<runtime::StoredObject>> gone_since;
  HeldStreams streams;  // which note it there
};

// Which objects of its rule a driver runs. With leader election and shards by hash it starts with
// none.
struct DriverScope {
  std::size_t shards = 0;           // 0: all objects from the start
  std::optional<std::size_t> only;  // the rule was narrowed to this shard; lives as long as that
  // Of all drivers that share the rule, whose concurrency is theirs together; null: of the process.
  // Must outlive it.
  runtime::RunSlots* slots = nullptr;
};

class Driver : public runtime::Reconciler, public RunHost {
 public:
  // `services` must outlive it.
  Driver(Services& services, Rule rule, DriverScope scope = {});
  ~Driver() override;

  // Finds its kinds and opens its streams. Errors: not_found, invalid: it waits.
  Result<void> resolve(const client::ResourceMap& resources);
  // Where rules of the same kind and finalizer have run in this process. Before resolve().
  void watched_before(WatchedBefore before) { before_ = std::move(before); }
  bool resolved() const { return resolved_; }
  // The server did not have its kinds when the rule was told to start.
  void comes_late() { late_ = true; }
  bool is_late() const { return late_; }
  // Its `for` is optional, and the server has no such kind, or it is in no shard: there is nothing
  // to do, and nothing is waited for.
  bool absent() const { return absent_; }
  // It was narrowed to namespaces, and its kind has none.
  bool in_no_shard() const { return in_no_shard_; }
  // A later discovery. Why the rule has to start anew: an optional kind has come or gone, or a kind
  // is served otherwise now.
  std::optional<std::string> why_outdated(const client::ResourceMap& resources);
  // The next discovery may tell more.
  bool doubts_kinds() const { return changes_.doubts(); }
  bool blocked() const { return caches_.blocked(); }
  bool stalled() const { return caches_.stalled(); }
  DriverStatus status() const;
  ControllerFacts facts() const;
  void shut_down(std::function<void()> drained);
  // Nor do runs that have not started their hooks yet. Where the rule is only read again they do.
  void start_no_hooks();
  // No hook may go on: TERM, grace, KILL for those that run, and for workers.
  void terminate_hooks();
  // Of those that are at work now: how long it takes after TERM until none is left.
  Duration longest_grace() const;
  // Once it has ended. Of one that had not started: what the one before it had left.
  Legacy leave();
  // Before resolve(). Of another kind it is dropped.
  void take_over(Legacy left);
  // The lead was lost: as shut_down(), but hooks are ended and their outcomes dropped.
  void abandon(std::function<void()> drained);
  // The same of one that is being shut down, whose `drained` stays.
  void abandon_runs();
  const DriverScope& scope() const { return scope_; }
  // Whether an object of that name is of a shard that is led here, in a rule that is not narrowed.
  bool leads(core::ObjectKey key) const;
  // Runs the objects of this shard from now on.
  void lead(std::size_t shard);
  // Forgets the shard's pending objects; `ended` comes when none of them runs any more.
  void end_runs(std::size_t shard, std::function<void()> ended);
  // The same of one that is being shut down: what it knows goes with it.
  void end_last_runs(std::size_t shard, std::function<void()> ended);
  // For `explain`: all but what the server would have to be asked for.
  ExplainFacts facts_of(const core::ObjectKey& key);
  const runtime::WorkQueue& queue() const { return controller_.queue(); }
  // Runs the objects that the request names, of those that this rule sees and this instance has;
  // parked ones as well. Which: none before the start, which runs all of them anyway. A rule
  // without `for` has only all. What the filter holds is left out, but when a person names it.
  std::vector<core::ObjectKey> trigger(const TriggerRequest& request,
                                       runtime::Reason reason = runtime::Reason::external);
  // Why no object of the rule can ever be named so; "" = one can, whether there is one or not.
  std::string why_never(const core::ObjectKey& key) const;
  // A request from outside before the start. Without --state the start runs all objects; with it
  // these run as well, whatever it knows of them.
  void trigger_at_start(TriggerRequest request);
  // The rule has changed: --state must not hold any object back.
  void run_all_at_start() { run_all_ = run_all_ || !started_; }
  bool started() const { return started_; }
  // Why it has not started; none once it has.
  std::vector<std::string> why_not_started() const;
  // Until its schedule runs it next; absent without one, and before it is started.
  std::optional<Duration> schedule_in() const;
  // The last error of a kind of it that was not listed yet: "websites.demo.dev: ..."; "" = none.
  std::string why_not_listed() const;
  // What failed last, is parked or said "not yet": "Website shop/a failed".
  std::vector<std::string> unreconciled() const;
  // Which expression of the rule holds its run, and on what it fails; "" = none does.
  std::string why_waits(const core::ObjectKey& key) const;
  // What its run waits for that the last one wrote; "" = it does not.
  std::string why_behind(const core::ObjectKey& key) const;
  // What runs now: "Website shop/a".
  std::vector<std::string> running_objects() const;

  // runtime::Reconciler
  void reconcile(const runtime::Work& work, std::function<void(runtime::RunOutcome)> done) override;

  // RunHost and WriteContext
  Services& services() override { return services_; }
  const RuleCaches& caches() const override { return caches_; }
  HookRunner& hooks() override { return hooks_; }
  std::string work_dir() const override { return folder_ + "/work"; }
  void with_schemas(TimePoint oldest, std::function<void(const KindSchemas&)> done) override;
  void warn_of_fields(const std::string& object, const std::string& what) override;
  client::Client& client() override { return services_.client; }
  const Rule& rule() const override { return rule_; }
  const core::ResourceType& owner_type() const override { return caches_.type(); }
  ChildMemory& memory() override { return memory_; }
  UnknownKinds& unknown_kinds() override { return unknown_kinds_; }
  std::optional<core::ObjectMeta> cached_child(const ChildId& id) const override;
  std::string owner_version(const Owner& owner) const override;
  std::vector<FoundChild> cached_children(const std::string& owner_uid) const override;
  bool deletion_wakes(const ChildId& id, const std::string& object_json) const override {
    return caches_.deletion_wakes(id, object_json);
  }
  void with_unwatched_places(const Owner& owner, bool stale, bool referring_too,
                             std::function<void(Result<std::vector<Unwatched>>)> done) override;
  bool may_follow_another(const Owner& owner) const override;
  std::set<std::string> rule_managers() const override { return services_.rule_managers(); }
  void expect(const Owner& owner, const ChildId& id, const core::ObjectMeta& left) override;
  void expect_gone(const Owner& owner, const ChildId& id, const core::ObjectMeta& was,
                   const core::ObjectMeta& answer) override;
  void finalizer_patched(const Owner& owner, const std::string& resource_version) override;
  void with_status_shape(TimePoint oldest, std::function<void(const StatusShape&)> done) override;

 private:
  using Done = std::function<void(runtime::RunOutcome)>;
  static constexpr Duration kStalePatience = PatchedFinalizers::kPatience;
  using Mark = KeyNotes::Mark;
  template <class Value>
  using PerKey = std::unordered_map<core::ObjectKey, Value, core::ObjectKeyHash>;
  struct SlowRetry {
    TimePoint at;
    loop::Timer timer;
  };

  // driver.cpp: from its making to its end, what wakes an object, and what is to be done about it
  CacheCallbacks cache_callbacks();
  void make_folders();
  void check_ready();
  void hold_while_outdated();
  void look_for_left();
  void check_left();
  void on_wake(Wake wake);
  // The object is gone. By its key alone: what is remembered of it from run to run.
  void forget_key(const core::ObjectKey& key, const std::string& uid);
  void forget_key(const core::ObjectKey& key);
  void forget_if_gone(const core::ObjectKey& key);
  void look_at(const runtime::Work& work, const Done& done);
  void look_outside(const runtime::Work& work, const Done& done);
  void proceed(const runtime::Work& work, runtime::StoredObject object, bool matched,
               const Done& done);
  // The object as the server has it now, without its managedFields.
  void get_live(const core::ObjectKey& key, client::ObjectCallback then);
  Owner owner_of(const core::ObjectKey& key, const core::ObjectMeta& meta) const;
  bool is_of_own_kind(const ChildId& id) const;
  void look_for_rival(const ChildId& id, const std::string& resource_version);
  // driver_runs.cpp: how runs start and end
  bool starts_nothing(const Done& done) const;
  void start_run(const runtime::Work& work, runtime::StoredObject object, bool finalizing,
                 const Done& done);
  void start(RunInput input, const Done& done);
  void on_run_end(const core::ObjectKey& key, const std::string& uid, const std::string& id,
                  RunEnd end, const Done& done);
  // `outcome`: failed, permanent or write_failed; `error` is masked.
  void fail_early(const runtime::Work& work, const core::ObjectMeta& meta, const Error& error,
                  const Done& done, Outcome outcome = Outcome::failed);
  void count(const RunRecord& record, const core::ObjectKey& key,
             runtime::RunOutcome::Verdict verdict);
  void after_run(const core::ObjectKey& key, const RunEnd& end);
  void retry_slowly(const core::ObjectKey& key);
  // `since`: its last run, as far as that is known to be over for so long.
  void schedule_resync(const core::ObjectKey& key, Duration since = Duration{0});
  // driver_deletions.cpp: objects that are gone
  void on_gone(const runtime::StoredObject& last, Gone how);
  void look_at_deleted(const runtime::Work& work, const Done& done);
  void run_deleted(const runtime::Work& work, const Done& done);
  // True: its onDelete is to run. Else it has called `done`.
  bool judge_deleted(const runtime::Work& work, const runtime::StoredObject& last,
                     const Done& done);
  Done after_deletion(const core::ObjectKey& key, const std::string& uid, Done done);
  bool gives_up_deletion(const core::ObjectKey& key, runtime::RunOutcome::Verdict verdict) const;
  void drop_failed_deletion(const core::ObjectKey& key, const std::string& uid,
                            const std::string& why);
  void bound_failed_deletions(const core::ObjectKey& failed);
  void end_deletion(const core::ObjectKey& key, const std::string& uid);
  bool name_is_in_use(const core::ObjectKey& key) const;
  void deletion_told(const core::ObjectKey& key);
  void tell_deletion(Deleted deleted);
  void use_legacy();
  bool finalized_elsewhere(const core::ObjectMeta& last) const;
  void note_inherited(const core::ObjectKey& key);
  // driver_finalizers.cpp: the rule's finalizer put on and taken off
  void look_at_dying(const runtime::Work& work, const std::string& uid, bool matched,
                     const Done& done);
  void patch_finalizer(const runtime::Work& work, const runtime::StoredObject& of, bool add,
                       const Done& done);
  void fail_finalizer(const runtime::Work& work, const core::ObjectMeta& meta, bool add,
                      const Error& error, const Done& done);
  void tell_in_condition(const core::ObjectKey& key, const core::ObjectMeta& meta,
                         std::string_view reason, const std::string& why,
                         std::function<void()> then);
  // driver_reasons.cpp: the clock, and requests from outside
  void watch_schedule();
  void run_by_schedule();
  // Nothing would be done about it.
  bool is_skipped(const core::ObjectKey& key) const;
  // driver_shards.cpp: which objects are led here
  bool owns(const core::ObjectKey& key) const;
  std::size_t shard_of(const core::ObjectKey& key) const;
  bool is_running(std::size_t shard) const;
  void take_over_deletions(std::size_t shard);
  void forget_shard(std::size_t shard);
  void look_at_shard(const core::ObjectMeta& last);
  void on_work_over(const core::ObjectKey& key);
  // driver_loops.cpp: runs that cause each other
  LoopAlarm::Woken woken_by(const Wake& wake) const;
  void resolve_doubts(std::vector<Wake> wakes);
  void look_for_loop(const core::ObjectKey& key, const RunEnd& end);
  // driver_lacks.cpp: runs that wait because a list may lack something
  void hold(const RunInput& input, const Lack& lack, const Done& done);
  void tell_of_lack(const RunInput& input, const Lack& lack, std::function<void()> then);
  void note_held(const RunInput& input, const std::string& why) const;
  void wake_lacking(const std::string& place, runtime::Reason reason, const std::string& object);
  bool waits_for_lists(const core::ObjectKey& key) const;
  std::vector<std::string> lacks_of(const core::ObjectKey& key, const std::string& uid) const;
  // driver_own_writes.cpp: runs that wait until the caches show what the last ones wrote
  void expect_write(const Owner& owner, ExpectedWrite write);
  OwnWriteWaits::Views views() const;
  void look_for_own_write(const ChildId& id);
  void watch_own_writes();
  // True: it has called `done`, and the run is not to start now.
  bool waits_for_own_writes(const core::ObjectKey& key, const std::string& uid, const Done& done);
  void wake_waiting(const std::vector<core::ObjectKey>& keys);
  // driver_control.cpp: how it stands, for people
  void add_object_facts(const core::ObjectKey& key, ExplainFacts& facts) const;
  void add_queue_facts(const core::ObjectKey& key, ExplainFacts& facts);
  std::size_t failing() const;
  bool awaits_events() const;
  bool only_debounced() const;
  std::vector<std::string> failing_watches() const;
  // driver_state.cpp: --state
  void begin_handling(const std::string& run_id, const core::ObjectMeta& meta,
                      const std::string& json);
  // `cleaned_up`: the run was that of the rule's `finalize`.
  void end_handling(const std::string& run_id, const core::ObjectKey& key, const RunEnd& end,
                    bool cleaned_up);
  bool is_unmatched(const core::ObjectKey& key) const;
  void forget_left(const core::ObjectKey& key);
  void learn_kind(const core::ObjectKey& key, const HandledObject& handled);
  bool restore(const core::ObjectKey& key);
  void restore_clock(const core::ObjectKey& key, const HandledObject& handled);
  void after_restore();
  std::size_t forget_gone();
  bool was_made_again(const core::ObjectKey& key, const std::string& uid) const;
  runtime::StoredObject last_of(const core::ObjectKey& key, const std::string& uid) const;

  Services& services_;
  Rule rule_;
  DriverScope scope_;
  TimePoint made_;
  std::map<std::size_t, TimePoint> led_;  // with scope_.shards: since when
  // Each with wakes that are in doubt until its run has ended.
  std::map<core::ObjectKey, std::vector<Wake>> running_;
  std::map<std::size_t, std::vector<std::function<void()>>> ending_;  // shards handed over
  std::string folder_;
  ChildMemory memory_;  // outlives hooks_
  HookRunner hooks_;    // outlives runs_
  RuleCaches caches_;
  runtime::Controller controller_;
  UnknownKinds unknown_kinds_;
  KindSchemas schemas_;
  RuleState state_;
  OncePer told_{Duration{3600000}, 1000};
  OwnWriteWaits own_writes_;
  loop::Timer own_writes_timer_;
  std::optional<ScheduleClock> schedule_;  // once started
  loop::Timer schedule_timer_;
  OptionalKinds optional_;
  KindChanges changes_;
  WatchedBefore before_;
  LeftNamespaces left_namespaces_;
  bool absent_ = false;
  bool in_no_shard_ = false;
  bool late_ = false;
  bool resolved_ = false;
  bool started_ = false;
  bool stopping_ = false;
  KeyNotes notes_;
  LackingRuns lacking_;
  PatchedFinalizers patched_;
  PerKey<SlowRetry> slow_retries_;
  OwedDeletions owed_;
  UntoldDeletions untold_;           // of shards that others lead
  Legacy left_;                      // until it has started
  std::set<std::string> finalized_;  // uids; with both finalize and onDelete
  std::set<std::string> inherited_;  // uids with our finalizer, not run since the lead is ours
  bool looks_for_rivals_ = true;     // until one was found; without leader election
  LoopAlarm loop_alarm_{15, Duration{60000}};
  std::map<std::string, std::shared_ptr<Run>> runs_;
  PerKey<std::shared_ptr<OwnerCondition>> conditions_;  // being written, outside of runs
  std::uint64_t run_count_ = 0;
  std::uint64_t failed_count_ = 0;
  std::size_t given_up_ = 0;
  IgnoredChanges ignored_;
  std::string waits_for_;  // why it is not resolved
  std::size_t restored_ = 0;
  bool run_all_ = false;
  std::vector<TriggerRequest> early_requests_;              // came before the start
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // posted calls ask for it
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks
