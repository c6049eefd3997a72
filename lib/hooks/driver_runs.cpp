// Driver, the part about runs: started, ended and counted, due again by the clock, and cut off.
// Whether an object is to run is not decided here.
#include "hooks/driver.hpp"
#include "hooks/shown_message.hpp"

namespace kubewatch::hooks {
namespace {

using RunVerdict = runtime::RunOutcome::Verdict;

constexpr Duration kSlowRetry{3600000};

}  // namespace

// Once it ends: what the server was asked for before that run may have answered since.
bool Driver::starts_nothing(const Done& done) const {
  if (stopping_) done(runtime::RunOutcome::put_off(services_.loop.now()));
  return stopping_;
}

void Driver::start_run(const runtime::Work& work, runtime::StoredObject object, bool finalizing,
                       const Done& done) {
  if (starts_nothing(done)) return;
  if (!finalizing || rule_.finalize) {
    // It would only wait, and keep its place from other rules.
    const auto held = hooks_.held(finalizing ? rule_.finalize->hook : rule_.reconcile);
    if (held) return done(runtime::RunOutcome::put_off(held->until));
  }
  if (waits_for_own_writes(work.key, object.meta.uid, done)) return;
  // They wake it when they are listed.
  if (finalizing && rule_.finalize && caches_.lists_children_left(work.key.namespace_)) {
    return done({RunVerdict::requeue, kStalePatience});
  }
  RunInput input;
  input.id = services_.random.suffix(10);
  input.work = work;
  input.finalizing = finalizing;
  notes_.take_reason(input.work, finalizing);
  input.previous = notes_.take_previous(work.key);
  input.object = std::move(object);
  if (finalizing && rule_.finalize && rule_.on_delete) {
    input.first_cleanup = finalized_.insert(input.object.meta.uid).second;
  }
  input.keep_printed = loop_alarm_.wants_printed(work.key);
  start(std::move(input), done);
}

void Driver::start(RunInput input, const Done& done) {
  const std::string id = input.id;
  const std::string uid = input.object.meta.uid;
  const core::ObjectKey key = input.work.key;
  input.inherited = inherited_.erase(uid) > 0;
  memory_.begin_run(uid);
  memory_.note_dying(input.object.meta);
  const LoopAlarm::Woken woken = notes_.take_woken(key);
  if (rule_.has_for && !input.deleted) begin_handling(id, input.object.meta, input.object.json);
  auto run =
      std::make_shared<Run>(*this, std::move(input), [this, key, uid, id, woken, done](RunEnd end) {
        end.woken = woken;
        on_run_end(key, uid, id, std::move(end), done);
      });
  runs_[id] = run;
  run->start();
}

void Driver::on_run_end(const core::ObjectKey& key, const std::string& uid, const std::string& id,
                        RunEnd end, const Done& done) {
  auto node = runs_.extract(id);
  // The run is on the stack below us: it goes in the next turn.
  const std::shared_ptr<Run> run = std::move(node.mapped());
  services_.loop.post([run] {});
  memory_.end_run(uid, !caches_.has_object(key, uid));
  if (end.lack) {
    state_.drop(id);
    return hold(run->input(), *end.lack, done);
  }
  count(end.record, key, end.outcome.verdict);
  const RunVerdict verdict = end.outcome.verdict;
  // What is parked may be retried.
  if (verdict == RunVerdict::done || verdict == RunVerdict::requeue) {
    notes_.clear(key, Mark::asked_for);
  }
  services_.on_run(end.record);
  done(end.outcome);
  // What it lacked may be granted by the next start: then it is to run.
  if (end.slow_retry) {
    state_.drop(id);
  } else {
    end_handling(id, key, end, run->input().finalizing && rule_.finalize.has_value());
  }
  after_run(key, end);
  forget_if_gone(key);
}

void Driver::fail_early(const runtime::Work& work, const core::ObjectMeta& meta, const Error& error,
                        const Done& done, Outcome outcome) {
  RunEnd end;
  end.record.id = services_.random.suffix(10);
  end.record.controller = rule_.name;
  const Owner owner = owner_of(work.key, meta);
  end.record.object = owner.str();
  end.record.key = work.key;
  end.record.reason = std::string(runtime::to_string(work.reason));
  end.record.reason_object = work.reason_object;
  end.record.attempt = work.attempt;
  end.record.outcome = std::string(to_string(outcome));
  end.record.message = shown_message({}, error.render());
  end.slow_retry = outcome == Outcome::write_failed && is_permanent_write_error(error);
  const bool parked = end.slow_retry || outcome == Outcome::permanent;
  end.outcome = {parked ? RunVerdict::parked : RunVerdict::failed, {}};
  services_.reporter.report(owner, rule_.name, outcome, end.record.message);
  count(end.record, work.key, end.outcome.verdict);
  services_.on_run(end.record);
  done(end.outcome);
  if (end.slow_retry) retry_slowly(work.key);
  forget_if_gone(work.key);
}

void Driver::count(const RunRecord& record, const core::ObjectKey& key, RunVerdict verdict) {
  lacking_.forget(key);
  ++run_count_;
  if (!is_fine(record.outcome)) ++failed_count_;
  notes_.note_end(key, verdict);
}

// Its next turn by the clock. A parked object waits for a change, or an hour.
void Driver::after_run(const core::ObjectKey& key, const RunEnd& end) {
  if (stopping_ || !owns(key)) return;
  look_for_loop(key, end);
  if (end.slow_retry && controller_.queue().is_parked(key)) retry_slowly(key);
  schedule_resync(key);
}

void Driver::retry_slowly(const core::ObjectKey& key) {
  if (stopping_ || !owns(key)) return;
  auto timer = services_.loop.after(kSlowRetry, [this, key] {
    if (!stopping_) controller_.add(key, runtime::Reason::retry);
  });
  slow_retries_[key] = {services_.loop.now() + kSlowRetry, std::move(timer)};
}

void Driver::schedule_resync(const core::ObjectKey& key, Duration since) {
  // Attempts used up: parked by the queue, until a change comes; the clock does not count.
  if (rule_.resync <= Duration{0} || controller_.queue().is_parked(key)) return;
  if (!caches_.has_object(key)) return;
  const double factor = services_.steady ? 1.0 : 0.9 + 0.2 * services_.random.unit();
  const Duration delay{
      static_cast<std::int64_t>(static_cast<double>(rule_.resync.count()) * factor)};
  controller_.add(key, runtime::Reason::resync, "", std::max(Duration{0}, delay - since),
                  runtime::Priority::background);
}

std::vector<std::string> Driver::running_objects() const {
  std::vector<std::string> out;
  for (const auto& [key, in_doubt] : running_) {
    out.push_back(owner_of(key, {}).str());
  }
  return out;
}

void Driver::abandon_runs() {
  const auto runs = runs_;
  for (const auto& [id, run] : runs) run->abandon("the lead was lost while it ran");
}

void Driver::start_no_hooks() {
  for (const auto& [id, run] : runs_) run->start_no_hook();
}

void Driver::terminate_hooks() {
  const auto runs = runs_;
  for (const auto& [id, run] : runs) run->terminate();
  hooks_.end_idle_workers();
}

Duration Driver::longest_grace() const {
  Duration longest = hooks_.longest_grace_of_workers();
  for (const auto& [id, run] : runs_) {
    if (run->hook_running()) longest = std::max(longest, run->grace());
  }
  return longest;
}

}  // namespace kubewatch::hooks
