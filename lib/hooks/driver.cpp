// Driver from its making to its end, what wakes an object, and what is then to be done about it.
// How runs start and end is in driver_runs.cpp, what else is told apart in the other driver_*.cpp.
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

namespace kubewatch::hooks {
namespace {

using RunVerdict = runtime::RunOutcome::Verdict;

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
  callbacks.dying = [this](const core::ObjectMeta& owner, bool begins) {
    memory_.note_dying(owner, begins);
  };
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

Owner Driver::owner_of(const core::ObjectKey& key, const core::ObjectMeta& meta) const {
  return {owner_type().gvk, owner_type().namespaced, key, meta.uid, meta.deleting()};
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
