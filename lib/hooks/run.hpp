// One run: hook started, output judged, plan carried out, finalizer taken off when that was the
// point, and the outcome told. Object and reason come in; a RunRecord and a RunOutcome go out.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hooks/gateway_writes.hpp"
#include "hooks/hook_call.hpp"
#include "hooks/hook_homes.hpp"
#include "hooks/invocation.hpp"
#include "hooks/list_files.hpp"
#include "hooks/loop_alarm.hpp"
#include "hooks/outcome.hpp"
#include "hooks/owner_condition.hpp"
#include "hooks/run_requests.hpp"
#include "hooks/services.hpp"
#include "hooks/trace_exporter.hpp"

namespace kubewatch::hooks {

struct RunInput {
  std::string id;
  runtime::Work work;
  runtime::StoredObject object;
  std::string previous;
  bool finalizing = false;
  bool deleted = false;       // onDelete: `object` has the last metadata, and no JSON
  bool keep_printed = false;  // for RunEnd::printed
  // No finalize hook was to be started for it before.
  bool first_cleanup = false;
  bool inherited = false;  // nothing was, since the lead is ours
};

struct RunEnd {
  RunRecord record;
  runtime::RunOutcome outcome;
  // A permanent write error: one slow retry an hour.
  bool slow_retry = false;
  bool status_written = false;
  bool printed_itself = false;   // its own object, besides others
  std::size_t wrote_itself = 0;  // of what record counts: its hook did, to its own object
  LoopAlarm::Woken woken = LoopAlarm::Woken::by_others;  // what woke its object; the driver says so
  std::optional<Lack> lack;  // of a list: its hook was not started, and nothing of it counts
  Printed printed;
};

// Must stay alive until `done`, and a turn of the loop longer.
class Run {
 public:
  using Done = std::function<void(RunEnd)>;
  Run(RunHost& host, RunInput input, Done done);
  ~Run();
  void start();
  // Shutdown: TERM, grace, KILL for the hook; what finished before is still written.
  void terminate();
  // It is another process's business now: as terminate(), and what the hook says is dropped. `why`
  // is told: "the lead was lost while it ran".
  void abandon(std::string why);
  bool hook_running() const { return hook_running_; }
  // Where its hook is not started yet, it is not any more.
  void start_no_hook() { stopped_ = stopped_ || !hook_running_; }
  // Of its hook. Precondition: that runs.
  Duration grace() const { return hook().grace; }
  const core::ObjectKey& key() const { return input_.work.key; }
  const std::string& uid() const { return input_.object.meta.uid; }
  bool of_deletion() const { return input_.deleted; }
  const RunInput& input() const { return input_; }
  // As HookCall::held_by().
  std::string held_by() const { return hook_running_ ? process_->held_by() : ""; }

 private:
  bool has_hook() const;
  bool has_status() const;
  const HookRule& hook() const;
  void start_hook();
  void launch();
  bool may_print_secrets() const;
  bool take_lists(Invocation& invocation);
  void wait_for(Lack lack);
  Result<void> put_in_files(Invocation& invocation);
  void on_exit(HookExit exit);
  void tell_exchange() const;
  void check_then_read();
  void read_output(bool may_rediscover, const KindSchemas* schemas);
  void warn_of_fields(const HookOutput& output) const;
  void log_output() const;
  void learn_printed();
  std::string let_lines_go();
  void decide(OutputFacts facts, std::optional<HookOutput> output);
  void with_status(std::function<void(const std::string& object)> then);
  void write(WritePlan plan, bool has_conditions);
  bool owner_in_doubt() const;
  void look_for_owner();
  void start_writes();
  void end_without_owner();
  void on_written(WriteReport report);
  void clean_up();
  void leave_children();
  void add_to_message(std::string_view text);
  void remove_finalizer();
  void fail_clean_up();
  void conclude();
  void add_own_writes(RunEnd& end) const;
  void fail(Outcome outcome, const std::string& message);
  void fail_dropped() { fail(Outcome::dropped, *dropped_ + ": its outcome is dropped"); }
  void report();
  // What the Result says besides writes, once those are done.
  void tell_events_and_metrics();
  void end_trace();
  runtime::RunOutcome queue_outcome() const;
  base::LogFields log_fields() const;
  // Requests that start while it lives are this run's in the log and in its trace.
  client::RequestScope traced() { return {host_.client().observers(), observer_}; }

  RunHost& host_;
  RunInput input_;
  Done done_;
  Owner owner_;
  SecretMask mask_;
  std::string home_;
  std::shared_ptr<HookHomes> homes_;     // it came from; the host may be gone before us
  std::string document_;                 // only when somebody wants traces
  std::vector<ListFilePtr> list_files_;  // of its hook, until that has ended
  TimePoint started_;
  GatewayGuestPtr guest_;  // with `credentials: cache`
  std::unique_ptr<HookCall> process_;
  bool hook_running_ = false;
  std::optional<std::string> dropped_;  // why
  bool stopped_ = false;                // before its hook was started
  bool printed_whole_ = true;           // mask_ knows all Secrets that the hook printed
  TimePoint schema_time_{};
  bool schemas_renewed_ = false;
  HookExit exit_;
  Verdict verdict_;
  std::optional<Duration> requeue_after_;
  client::PendingPtr status_request_;
  std::unique_ptr<OutcomeWriter> writer_;
  std::unique_ptr<Pruner> cleaner_;
  std::unique_ptr<OwnerCondition> condition_;
  WriteReport report_;
  std::vector<runtime::Happening> events_;
  std::vector<HookMetric> metrics_;
  Printed printed_;
  bool printed_itself_ = false;
  bool remove_children_ = false;     // as WritePlan's
  std::shared_ptr<RunTrace> trace_;  // null: no tracing
  std::shared_ptr<RunRequests> observer_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks
