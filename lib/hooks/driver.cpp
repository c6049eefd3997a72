// Deciding what each due object needs, and ending runs.
#include "hooks/driver.hpp"

#include <filesystem>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "core/server_fields.hpp"
#include "hooks/evaluate.hpp"
#include "hooks/next_step.hpp"
#include "hooks/reduced.hpp"
#include "hooks/shard_plan.hpp"
#include "hooks/shown_message.hpp"

namespace kubewatch::hooks {
namespace {

using RunVerdict = runtime::RunOutcome::Verdict;

constexpr Duration kSlowRetry{3600000};

runtime::WorkQueueOptions queue_options(const Rule& rule) {
  runtime::WorkQueueOptions options;
  options.concurrency = rule.concurrency;
  options.retry = rule.retry.backoff;
  options.max_attempts = rule.retry.max_attempts;
  return options;
}

}  // namespace

Driver::Driver(Services& services, Rule rule, DriverScope scope)
    : services_(services),
      rule_(std::move(rule)),
      scope_(scope),
      made_(services.loop.now()),
      folder_(services.work_dir + "/" + rule_.name +
              (scope.only ? "-shard-" + std::to_string(*scope.only) : "")),
      hooks_(services.client, services.random, rule_,
             {work_dir(),
              {services.work_dir, folder_},
              &caches_,
              services.cgroups,
              &memory_.patches()}),
      caches_(rule_, cache_callbacks()),
      controller_(services.loop, *this, services.random,
                  scope.slots != nullptr ? *scope.slots : services.slots, queue_options(rule_)),
      schemas_(services.client),
      state_(services.state, rule_),
      left_namespaces_(services, rule_, caches_),
      lacking_(rule_),
      patched_(rule_.finalizer_name),
      owed_(services.most_failed_deletions),
      untold_(services.hand_over) {
  make_folders();
  controller_.hold();
  controller_.on_progress([this] { services_.on_progress(); });
}

Driver::~Driver() = default;

CacheCallbacks Driver::cache_callbacks() {
  CacheCallbacks callbacks;
  callbacks.wake = [this](Wake wake) { on_wake(std::move(wake)); };
  callbacks.gone = [this](const runtime::StoredObject& last, Gone how) { on_gone(last, how); };
  callbacks.seen = [this](const ChildId& id, const std::string& version) {
    look_for_rival(id, version);
    const bool claimed = memory_.is_claimed(id);  // its event came before its answer
    const bool reached = own_writes_.is_reached(id, version);
    look_for_own_write(id);
    return claimed || reached;
  };
  callbacks.orphaning = [this](const std::string& uid) { memory_.set_orphaning(uid); };
  callbacks.related_seen = [this](const ChildId& id) { look_for_own_write(id); };
  callbacks.wrote = [this](const std::string& uid, const ChildId& id, const std::string& version) {
    return memory_.wrote(uid, id, version) ||
           (is_of_own_kind(id) && memory_.wrote_status(uid, version));
  };
  callbacks.patches = [this]() -> const PatchMemory& { return memory_.patches(); };
  callbacks.ignored = [this](const core::ObjectKey& key, const std::string& version) {
    ignored_.note(key, version, services_.loop.now());
    // Whatever changed: it may be whole now, or say what it refers to.
    if (notes_.has(key, Mark::reduced) || lacking_.waits_for_itself(key)) {
      on_wake({key, runtime::Reason::updated, "", false, ""});
    }
  };
  callbacks.runs_wait = [this] { return lacking_.any(); };
  callbacks.mended = [this](const std::string& place, runtime::Reason reason,
                            const std::string& object) { wake_lacking(place, reason, object); };
  callbacks.may_have_left_shard = [this](const core::ObjectMeta& last) { look_at_shard(last); };
  callbacks.on_ready = [this] {
    check_ready();
    hold_while_outdated();
    check_left();
    services_.on_progress();
  };
  callbacks.now = [this] { return services_.loop.now(); };
  return callbacks;
}

void Driver::make_folders() {
  if (services_.work_dir.empty()) return;  // never a folder of the root
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
  for (const std::string& path : {folder_, work_dir()}) {
    if (auto made = make_private_folder(path); !made.ok()) {
      base::log_error(made.error().message(), {{"controller", rule_.name}});
    }
  }
}

Result<void> Driver::resolve(const client::ResourceMap& resources) {
  if (auto found = caches_.resolve(resources); !found.ok()) {
    waits_for_ = found.error().message();
    const core::ResourceType* type = resources.find(rule_.for_.gvk);
    in_no_shard_ = rule_.has_for && type != nullptr && is_in_no_shard(rule_.for_, *type);
    absent_ = in_no_shard_ ||
              (rule_.has_for && rule_.for_.optional && is_absent(resources, rule_.for_.gvk));
    if (absent_) left_.streams = {};  // nobody is to wait for them
    return found;
  }
  absent_ = in_no_shard_ = false;
  resolved_ = true;
  optional_.start(rule_, resources);
  state_.forget_other_kinds();
  caches_.open(services_.pool);
  look_for_left();
  check_ready();
  return {};
}

std::optional<std::string> Driver::why_outdated(const client::ResourceMap& resources) {
  if (!resolved_) return std::nullopt;
  if (optional_.look(resources)) return "an optional kind has come or gone";
  std::vector<core::ResourceType> types = caches_.writable_kinds();
  for (const auto& kind : caches_.cached_kinds()) types.push_back(kind.type);
  const auto change = changes_.look(types, resources);
  if (!change) return std::nullopt;
  return describe(change->was) + " is served as " + describe(change->now) + " now";
}

void Driver::check_ready() {
  if (started_ || stopping_ || !resolved_ || !caches_.ready()) return;
  started_ = true;
  base::log_info("controller started", {{"controller", rule_.name},
                                        {"objects", std::to_string(caches_.object_keys().size())}});
  caches_.build();
  use_legacy();
  after_restore();
  for (const TriggerRequest& request : std::exchange(early_requests_, {})) trigger(request);
  controller_.release();
  if (rule_.schedule) schedule_.emplace(*rule_.schedule, services_.loop.wall());
  watch_schedule();
  services_.on_progress();
}

// After a restore of the server some caches are of one past and some of another, until all are
// listed anew.
void Driver::hold_while_outdated() {
  if (!started_ || stopping_ || caches_.ready() != controller_.held()) return;
  base::log_info(controller_.held() ? "runs go on: everything was listed anew"
                                    : "nothing runs until everything is listed anew: the server's "
                                      "data went back",
                 {{"controller", rule_.name}});
  if (controller_.held()) return controller_.release();
  controller_.hold();
  // Versions may come again for another content.
  memory_.forget_versions();
  wake_waiting(own_writes_.clear());
  patched_.clear();
}

// An instance that was narrowed to a shard leaves the others' namespaces to them.
void Driver::look_for_left() {
  if (scope_.only) return;
  left_namespaces_.look(before_, [this] {
    check_left();
    services_.on_progress();
  });
}

// What the state knows of them and nobody sees is gone.
void Driver::check_left() {
  if (!started_ || stopping_ || !left_namespaces_.take_settled()) return;
  forget_gone();
}

void Driver::on_wake(Wake wake) {
  if (stopping_ || !owns(wake.key)) return;
  // It runs again in any case only after the run whose patch this may be.
  const auto running = running_.find(wake.key);
  if (wake.doubt && running != running_.end()) return running->second.push_back(std::move(wake));
  if (wake.reason == runtime::Reason::startup) {
    note_inherited(wake.key);
    if (restore(wake.key)) return;
  }
  notes_.keep_previous(wake.key, std::move(wake.previous));
  // What nobody asked for just now: objects that never ran go before the echoes of those that did.
  const bool echo = wake.author == Author::itself;
  const bool patient =
      echo || wake.reason == runtime::Reason::startup || wake.reason == runtime::Reason::schedule;
  const auto priority = patient ? runtime::Priority::background : runtime::Priority::live;
  state_.ask(wake.key, wake.reason);
  const LoopAlarm::Woken woken = woken_by(wake);
  notes_.note_woken(wake.key, woken);
  Duration delay = wake.debounce ? rule_.debounce : Duration{0};
  // A test case is to see a loop, not to wait for it.
  if (woken != LoopAlarm::Woken::by_others && !services_.steady) {
    delay = std::max(delay, loop_alarm_.delay(wake.key, services_.loop.now()));
  }
  const std::size_t pressing = controller_.queue().pressing();
  controller_.add(wake.key, wake.reason, std::move(wake.reason_object), delay, priority);
  // Not where something else presses it already.
  if (delay > Duration{0} && controller_.queue().pressing() > pressing) {
    notes_.set(wake.key, Mark::debounced);
  }
}

void Driver::forget_key(const core::ObjectKey& key, const std::string& uid) {
  controller_.forget(key);
  inherited_.erase(uid);
  memory_.forget(uid);
  state_.forget(key);
  forget_key(key);
}

void Driver::forget_key(const core::ObjectKey& key) {
  notes_.forget(key);
  lacking_.forget(key);
  patched_.forget(key);
  own_writes_.forget(key);
  slow_retries_.erase(key);
  loop_alarm_.forget(key);
  if (const auto it = running_.find(key); it != running_.end()) it->second.clear();
}

// What died while it was worked on was forgotten then; what its run has left since goes as well.
void Driver::forget_if_gone(const core::ObjectKey& key) {
  if (owed_.has(key)) return;
  if (!name_is_in_use(key)) forget_key(key);
}

void Driver::reconcile(const runtime::Work& work, Done done) {
  notes_.clear(work.key, Mark::debounced);
  // Hooks may write by themselves: where no write may start, no hook may.
  if (!owns(work.key)) return done(runtime::RunOutcome::done());
  if (!services_.client.may_write().ok()) return done({RunVerdict::requeue, kStalePatience});
  running_.try_emplace(work.key);
  look_at(work, [this, key = work.key, done = std::move(done)](const runtime::RunOutcome& outcome) {
    auto node = running_.extract(key);
    if (node.empty()) return;
    resolve_doubts(std::move(node.mapped()));
    done(outcome);
    on_work_over(key);
  });
}

void Driver::look_at(const runtime::Work& work, const Done& done) {
  slow_retries_.erase(work.key);
  if (owed_.has(work.key)) return look_at_deleted(work, done);
  auto object = caches_.object(work.key);
  if (!object) return look_outside(work, done);
  const bool reduced = object->reduced && needs_whole_object(rule_, object->meta);
  notes_.end_wait(work.key);
  notes_.set(work.key, Mark::reduced, reduced);
  // Whatever becomes of it now, what the cache shows is waited for no more.
  patched_.look(object->meta, services_.loop.now());
  if (reduced) {
    const std::string name = owner_of(work.key, object->meta).str();
    return fail_early(work, object->meta, Error(ErrorKind::too_large, why_reduced(name)), done,
                      Outcome::permanent);
  }
  const auto matched = passes(rule_.for_.filter, object->json);
  if (!matched.ok() && !object->meta.deleting()) {
    return fail_early(work, object->meta,
                      Error(matched.error().kind(),
                            shown_failure(owner_type().gvk, object->json, matched.error())),
                      done);
  }
  const bool wanted = matched.ok() && (*matched || notes_.has(work.key, Mark::asked_for));
  proceed(work, std::move(*object), wanted, done);
}

void Driver::proceed(const runtime::Work& work, runtime::StoredObject object, bool matched,
                     const Done& done) {
  switch (patched_.look(object.meta, services_.loop.now())) {
    case PatchedFinalizers::Shown::yes: break;
    case PatchedFinalizers::Shown::overdue:
      return look_at_dying(work, object.meta.uid, matched, done);
    case PatchedFinalizers::Shown::not_yet:
      notes_.keep_reason(work);
      // The event comes first; should it not, the object must not be forgotten.
      return done({RunVerdict::requeue, kStalePatience});
  }
  switch (next_step(object.meta, matched, rule_)) {
    case NextStep::skip:
      if (!matched && !object.meta.deleting() && !object.meta.has_finalizer(rule_.finalizer_name)) {
        forget_left(work.key);
      }
      notes_.drop_run(work.key);
      lacking_.forget(work.key);
      own_writes_.forget(work.key);
      return done(runtime::RunOutcome::done());
    case NextStep::add_finalizer: return patch_finalizer(work, object, true, done);
    case NextStep::remove_finalizer: return patch_finalizer(work, object, false, done);
    case NextStep::reconcile: return start_run(work, std::move(object), false, done);
    case NextStep::finalize: return start_run(work, std::move(object), true, done);
  }
}

// Not in the selection. With our finalizer on it, it still is ours to let go.
void Driver::look_outside(const runtime::Work& work, const Done& done) {
  if (!caches_.is_guarded_outside(work.key)) {
    controller_.forget(work.key);
    notes_.drop_previous(work.key);
    notes_.end_wait(work.key);
    lacking_.forget(work.key);
    patched_.forget(work.key);
    return done(runtime::RunOutcome::done());
  }
  get_live(work.key, [this, work, done](Result<Json> answer) {
    const auto awaited_since = notes_.end_wait(work.key);
    if (!answer.ok()) {
      if (answer.error().is_not_found() || left_namespaces_.is_refused(work.key, answer.error())) {
        return done(runtime::RunOutcome::done());
      }
      return fail_early(work, core::ObjectMeta{}, answer.error(), done);
    }
    // It may have come back into the selection meanwhile: its event wakes it.
    if (caches_.has_object(work.key)) return done(runtime::RunOutcome::done());
    runtime::StoredObject object{core::meta_of(*answer), base::dump_json(*answer)};
    // Another instance's now: nothing of it is ours to let go.
    if (!is_of_shard(rule_.for_, object.meta)) return done(runtime::RunOutcome::done());
    // It is finalized where it is in no selection: of one that came back the guard may tell first.
    const TimePoint now = services_.loop.now();
    if (caches_.is_on_its_way(object.meta, *answer) &&
        notes_.awaits(work.key, awaited_since.value_or(now), now)) {
      return done({RunVerdict::requeue, kStalePatience});
    }
    proceed(work, std::move(object), false, done);
  });
}

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
  if (dies_orphaning(input.object.meta)) memory_.set_orphaning(uid);
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

std::string Driver::owner_version(const Owner& owner) const {
  const auto meta = caches_.object_meta(owner.key);
  return meta && meta->uid == owner.uid ? meta->resource_version : "";
}

ControllerFacts Driver::facts() const {
  const auto counts = controller_.queue().counts(services_.loop.now());
  ControllerFacts out;
  out.controller = rule_.name;
  out.started = started_;
  if (!started_) out.why_not_started = base::join(why_not_started(), "; ");
  out.absent = absent_;
  out.ready = counts.ready;
  out.waiting = counts.waiting;
  out.running = counts.held;
  out.parked = counts.parked;
  out.failing = failing();
  // While it is held nothing is due: its objects are not known.
  if (!controller_.held()) out.oldest = controller_.queue().oldest_ready_age(services_.loop.now());
  return out;
}

void Driver::shut_down(std::function<void()> drained) {
  stopping_ = true;
  left_namespaces_.stop();
  slow_retries_.clear();
  schedule_timer_.reset();
  controller_.shut_down([this, there = std::weak_ptr<char>(alive_), drained = std::move(drained)] {
    if (!there.expired()) hooks_.shut_down(drained);
  });
}

void Driver::abandon(std::function<void()> drained) {
  shut_down(std::move(drained));
  abandon_runs();
}

void Driver::abandon_runs() {
  const auto runs = runs_;
  for (const auto& [id, run] : runs) run->abandon("the lead was lost while it ran");
}

void Driver::get_live(const core::ObjectKey& key, client::ObjectCallback then) {
  // As the caches have objects.
  const auto without_managers = [then = std::move(then)](Result<Json> answer) {
    if (answer.ok()) core::drop_metadata(*answer, {"managedFields"});
    then(std::move(answer));
  };
  requests_.run<Result<Json>>(without_managers, [&](client::ObjectCallback callback) {
    return services_.client.get(owner_type(), key, std::move(callback));
  });
}

// What runs for an object that went to another shard is the other one's business now, and so is
// its deletion. An object that is gone, or only left the selection, has no other run anywhere.
// Asked for at once: when its own run has ended here, it may have been finalized there and be gone.
void Driver::look_at_shard(const core::ObjectMeta& last) {
  const auto runs_it = [key = last.key(), uid = last.uid](const auto& one) {
    return one.second->key() == key && one.second->uid() == uid && !one.second->of_deletion();
  };
  const bool may_be_told =
      rule_.on_delete && finalized_elsewhere(last) && finalized_.count(last.uid) == 0;
  if (!may_be_told && std::none_of(runs_.begin(), runs_.end(), runs_it)) return;
  get_live(last.key(), [this, key = last.key(), uid = last.uid, runs_it,
                        may_be_told](const Result<Json>& answer) {
    if (!answer.ok()) return;
    const core::ObjectMeta now = core::meta_of(*answer);
    if (now.uid != uid || is_of_shard(rule_.for_, now)) return;
    if (may_be_told && owed_.only_left(key, uid)) deletion_told(key);
    const auto runs = runs_;  // what ends one may end another
    for (const auto& one : runs) {
      if (runs_it(one)) one.second->abandon("the object left this shard while it ran");
    }
  });
}

Owner Driver::owner_of(const core::ObjectKey& key, const core::ObjectMeta& meta) const {
  return {owner_type().gvk, owner_type().namespaced, key, meta.uid, meta.deleting()};
}

std::vector<std::string> Driver::running_objects() const {
  std::vector<std::string> out;
  for (const auto& [key, in_doubt] : running_) {
    out.push_back(owner_of(key, {}).str());
  }
  return out;
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

std::optional<core::ObjectMeta> Driver::cached_child(const ChildId& id) const {
  return caches_.cached_child(id);
}

std::vector<FoundChild> Driver::cached_children(const std::string& owner_uid) const {
  return caches_.cached_children(owner_uid);
}

bool Driver::is_of_own_kind(const ChildId& id) const {
  return id.group == owner_type().gvk.group && id.kind == owner_type().gvk.kind;
}

// With leader election other instances write rightly, each in its turn.
void Driver::look_for_rival(const ChildId& id, const std::string& resource_version) {
  if (!looks_for_rivals_ || stopping_ || scope_.shards > 0 || scope_.only) return;
  if (memory_.is_claimed(id) || !memory_.rivals().is_suspect(id, resource_version)) return;
  const std::string& manager = rule_.apply.field_manager;
  if (!memory_.rivals().is_rival(id, resource_version, caches_.applied_at(id, manager))) return;
  looks_for_rivals_ = false;
  base::log_warn("another process writes as field manager " + manager +
                     ": two instances run this controller and undo each other's work; run them "
                     "with --leader-elect, or end one",
                 {{"controller", rule_.name}, {"object", id.str()}});
}

}  // namespace kubewatch::hooks
