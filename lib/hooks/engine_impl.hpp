// What the parts of the engine share: engine.cpp starts, ends and answers, engine_kinds.cpp follows
// what the server knows, engine_reload.cpp changes rules. Internal to the engine, which owns it;
// all that its rules share is owned here, and so are their drivers. Of what goes wrong most lets a
// rule wait, and the log tell why; what ends the process goes to callbacks.on_fatal.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hooks/definition_watch.hpp"
#include "hooks/driver.hpp"
#include "hooks/engine.hpp"
#include "hooks/kind_families.hpp"
#include "hooks/known_kinds.hpp"
#include "hooks/orphaned_finalizers.hpp"
#include "hooks/server_silence.hpp"
#include "hooks/trigger_hub.hpp"
#include "hooks/work_folder.hpp"

namespace kubewatch::hooks {

// Whose finalizer is the same on the same objects.
inline std::string watched_as(const Rule& rule) {
  return rule.for_.gvk.group + "/" + rule.for_.gvk.kind + " " + rule.finalizer_name;
}

struct Engine::Impl : client::RequestObserver {
  // Both outlive it, and nothing of it runs but from this loop.
  loop::EventLoop& loop;
  client::Client& client;
  EngineOptions options;
  EngineCallbacks callbacks;
  std::function<void()> progress;
  std::function<std::optional<LeadTrouble>()> lead_trouble;

  base::Random random = base::Random::from_system();
  runtime::RunSlots slots;
  // Of rules that have a driver for each shard, by their names: their concurrency is of all of
  // them.
  std::map<std::string, std::unique_ptr<runtime::RunSlots>> rule_slots;
  StreamPool pool;
  Reporter reporter;
  mutable Telemetry telemetry;  // collecting lets series expire
  ServerSilence silence;
  WorkFolder own_folder;              // where no other is asked for
  std::optional<Error> folder_error;  // why it could not be made
  HookCgroups cgroups;
  Services services;  // refers to what is shared; drivers and their runs refer to it
  // Where the plan narrows to one shard: the rules are of that from the start, as all that any
  // instance would watch, and a standby can hold it ready.
  std::optional<ShardPlan> single_shard;
  std::vector<Rule> rules;  // until start(); with a plan that narrows, what shards are made from
  std::set<std::size_t> led;
  std::vector<std::string> cut_off;
  std::vector<std::unique_ptr<Driver>> drivers;
  KindFamilies families;
  DefinitionWatch definitions;
  OrphanedFinalizers orphans;
  TriggerHub triggers;

  KnownKinds known;
  OncePer told{Duration{60000}};
  std::set<std::string> idle_told;  // rules of kinds that are in no shard
  std::optional<TimePoint> last_finish;
  // Of drivers that are gone as well: who waits for something to happen looks at them.
  std::uint64_t run_count = 0;
  std::uint64_t failed_count = 0;
  bool stopping = false;
  loop::Timer shutdown_timer;
  std::vector<RuleIdentity> current;  // as they were asked for last
  std::vector<Rule> to_start;         // by reload(), after what ends
  struct Restart {
    Rule rule;
    DriverScope scope;
  };
  std::map<std::string, WatchedBefore> watched;  // of ended rules, by kind and finalizer
  std::vector<Restart> restarts;    // of unchanged rules, once their former drivers have ended
  std::vector<Rule> with_triggers;  // whose sources are open
  // Ended by reload(), or of kinds that went: their last runs go on.
  std::vector<std::unique_ptr<Driver>> retiring;
  // Of those: what the last rule said that was to come after them with their finalizer, and ended
  // before it started.
  std::map<const Driver*, WhenRemoved> said_last;
  // By the rule's name and what it is narrowed to, until it starts again.
  std::map<std::pair<std::string, std::optional<std::size_t>>, Legacy> legacies;
  // A driver tells only who asked last that it is drained: all who wait for one are told by us.
  std::multimap<const Driver*, std::function<void()>> when_drained;
  std::shared_ptr<char> alive = std::make_shared<char>();  // posted calls ask whether we are there
  std::shared_ptr<std::size_t> draining;  // of the latest shutdown: who is not drained yet
  std::function<void()> on_shut_down;

  Impl(loop::EventLoop& the_loop, client::Client& the_client, std::vector<Rule> the_rules,
       EngineOptions the_options, EngineCallbacks the_callbacks);
  ~Impl() override;
  // Of all of ours, but for lists and watches.
  void on_request(const client::RequestFacts& request) override;
  void look_for_silence(const client::RequestFacts& request);
  // Lists and watches, too.
  void server_answered();
  void end_drivers();
  std::vector<Rule> of_single_shard(std::vector<Rule> all) const;

  Services make_services();
  std::set<std::string> rule_managers() const;
  // As the engine's functions of the same names are, here and below.
  void start();
  void resolve_rules();
  void tell_wait(const Rule& rule, const std::string& why);
  void tell_idle(const Rule& rule, const std::string& why);
  void add_driver(Rule rule, DriverScope scope);
  Driver& make_driver(Rule rule, DriverScope scope);
  std::vector<Rule> take_unstarted(const std::vector<std::string>& ended);
  std::vector<Rule> former_rules(const std::vector<Rule>& unstarted);
  std::optional<Rule> left_to(const Rule& unstarted) const;
  // Of changed rules.
  void warn_of_left_places(const std::vector<const Rule*>& ending,
                           const std::vector<Rule>& wanted) const;
  void note_watched(const std::vector<const Rule*>& ending);
  void follow_kinds();
  void follow_definitions();
  void restart_outdated();
  bool follows(const std::string& group) const;
  bool is_free(const Rule& rule, std::optional<std::size_t> shard) const;
  void start_again(bool& any);
  // Nothing new is begun from here on; `done` comes once.
  void begin_end(std::function<void()> done);
  void shut_down(std::function<void()> done);
  void lead(std::size_t shard);
  void end_runs(std::size_t shard, std::function<void()> ended);
  void abandon(Duration within, std::function<void()> done);
  std::function<void()> each_drained(std::function<void()> then);
  bool retires(const Driver& driver) const;
  void note_cut_off();
  void tell_the_last();
  void give_up(const Error& error);
  bool may_be_elsewhere(const std::string& document, const core::ObjectKey& key) const;
  bool names_nothing(const std::string& document, const TriggerRequest& request);
  std::optional<std::size_t> from_outside(const std::string& document,
                                          const TriggerRequest& request);
  std::size_t trigger(const std::string& document, const TriggerRequest& request,
                      runtime::Reason reason);
  bool narrows() const { return options.shards && options.shards->narrows(); }
  // By end_runs(), which waits for it.
  bool ends_with_its_shard(const Driver& driver) const {
    return narrows() && driver.scope().only && led.count(*driver.scope().only) == 0;
  }
  EngineStatus status() const;
  std::vector<std::string> why_not_started() const;
  // Errors: unsupported (a plan that narrows), canceled (it is ending), those of change_triggers();
  // nothing was changed then.
  Result<RulePlan> reload(std::vector<Rule> wanted);
  void retire(const std::function<bool(const Rule&)>& ends);
  void keep_with_triggers(const std::vector<Rule>& of);
  // Errors: as TriggerHub::change(); the sources are what they were then.
  Result<void> change_triggers(const RulePlan& plan, const std::vector<Rule>& wanted);
  // By end_runs() or shut_down(), or both; not of one that retires.
  void drain(Driver& driver, std::function<void()> then);
  void on_retired(const Driver* driver);
  void forget_legacies();
  void start_waiting_rules();
  void keep_state_of_current();
  void each_driver(const std::function<void(Driver&)>& call) {
    for (auto* list : {&drivers, &retiring}) {
      for (auto& driver : *list) call(*driver);
    }
  }
  EngineFacts facts() const;
  std::string metrics_text(const EngineFacts& facts, bool ready) const;
  void start_traces();
  void ran(const RunRecord& record);
  void tell() {
    if (progress) progress();
  }
};

}  // namespace kubewatch::hooks
