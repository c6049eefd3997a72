// The Operator at work: changes to keys, keys to runs, runs to outcomes.
#include "runtime/operator.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "core/object_ref.hpp"
#include "runtime/operator_parts.hpp"
#include "runtime/relation_index.hpp"

namespace kubewatch::runtime {
namespace {

using Role = WatchedKind::Role;

std::string reference(const core::ResourceType& type, const core::ObjectMeta& meta) {
  return core::object_text(type.gvk, meta.key());
}

// What user code throws, as an Error: one object must not end the process of all.
template <class Call>
std::optional<Error> thrown_by(const std::string& what, const Call& call) {
  try {
    call();
    return std::nullopt;
  } catch (const std::exception& thrown) {
    return Error(ErrorKind::internal, what + " threw an exception: " + thrown.what());
  }
}

void log_thrown(const Error& error, const std::string& object) {
  base::log_error("a function of the controller failed",
                  {{"object", object}, {"error", error.render()}});
}

void log_health(const StreamHealth& health) {
  if (health.failing_since) {
    base::log_warn("watching " + health.name + " fails, trying again",
                   {{"error", health.last_error}});
  } else if (!health.last_error.empty()) {
    base::log_info("watching " + health.name + " works again");
  }
}

}  // namespace

struct Operator::Impl : Reconciler, std::enable_shared_from_this<Impl> {
  struct Kind {
    WatchedKind watched;
    RelationIndex relations;  // mapped: theirs to ours; referenced: ours to theirs
    std::vector<std::shared_ptr<SharedWatch>> watches;
    std::vector<StreamSet::Id> streams;
  };

  OperatorParts parts;
  std::vector<std::unique_ptr<Kind>> kinds;
  Kind* own = nullptr;
  OwnerIndex owners;
  std::set<std::string> told_reduced;  // of which that was said; not with each of their changes
  // on_delete is to run; when it was seen, for what is another leader's.
  std::unordered_map<core::ObjectKey, TimePoint, core::ObjectKeyHash> deleted;
  // While it stands by, the oldest first; what was seen again later stands there twice.
  std::deque<std::pair<core::ObjectKey, TimePoint>> untold;
  RunSlots no_limit{0};
  Controller controller;
  StreamSet streams;
  std::vector<std::shared_ptr<TriggerSource::Listener>> listeners;
  std::optional<std::string> early_trigger;     // of all objects, while everything is held
  std::vector<std::function<void()>> on_ended;  // of the runs, since it stands by
  std::vector<std::function<void(const ShutdownReport&)>> on_shut_down;
  std::optional<ShutdownReport> shut_down_report;
  bool started = false;
  bool released = false;  // once
  ShutdownSequence shutdown;

  explicit Impl(OperatorParts the_parts);

  void start();
  void open(Kind& kind);
  void follow(Kind& kind, std::shared_ptr<SharedWatch> watch);
  ChangeStream operators_for(Kind& kind);
  Predicate that_passes();
  void listen();
  void check_synced();
  void tell_if_ended();
  void tell_shut_down();
  const SharedWatch* watch_of(const Kind& kind, const std::string& namespace_) const;
  std::optional<StoredObject> object(const core::ObjectKey& key) const;
  bool exists(const core::ObjectKey& key) const;
  bool intake_closed() const { return shutdown.begun(); }

  void relate(Kind& kind, const core::ResourceType& type, const StoreChange& change);
  void index_own(const StoreChange& change);
  void on_own(const StoreChange& change);
  void on_gone(const StoreChange& change);
  void leave_to_leader(const core::ObjectKey& key);
  void forget_told();
  void take_over_deletions();
  void on_owned(const Kind& kind, const StoreChange& change);
  void on_mapped(Kind& kind, const StoreChange& change);
  void on_referenced(const Kind& kind, const StoreChange& change);
  void wake(const std::vector<core::ObjectKey>& keys, Reason reason, const std::string& what,
            const StoreChange& change);
  void wake_all(const std::string& why);

  void reconcile(const Work& work, std::function<void(RunOutcome)> done) override;
  void clean_up_after(const Work& work, const std::function<void(RunOutcome)>& done);
  std::string object_of(const core::ObjectKey& key) const {
    return own->watched.type.gvk.kind + " " + key.str();
  }
  void run(const Work& work, std::function<void(RunOutcome)> done, const std::string& what,
           const std::function<void(const ReconcileDone&)>& task);
  ReconcileDone finish(const Work& work, std::function<void(RunOutcome)> done,
                       const std::shared_ptr<bool>& told);
  RunOutcome judge(const Work& work, const Result<RunOutcome>& result) const;
};

Operator::Impl::Impl(OperatorParts the_parts)
    : parts(std::move(the_parts)),
      controller(parts.loop, *this, parts.random, parts.slots ? *parts.slots : no_limit,
                 parts.queue),
      streams(parts.loop, parts.random),
      shutdown(parts.loop) {
  for (WatchedKind& watched : parts.kinds) {
    kinds.push_back(std::make_unique<Kind>());
    kinds.back()->watched = std::move(watched);
    if (kinds.back()->watched.role == Role::self) own = kinds.back().get();
  }
  listen();
}

// ---------------------------------------------------------------- streams

void Operator::Impl::start() {
  if (started) return;
  controller.on_progress([this] { tell_if_ended(); });
  streams.on_health([this](const StreamHealth& health) {
    log_health(health);
    check_synced();
  });
  for (const auto& kind : kinds) open(*kind);
  started = true;
  check_synced();
}

void Operator::Impl::open(Kind& kind) {
  const KindOptions& options = kind.watched.options;
  for (const auto& watch : options.shared) follow(kind, watch);
  if (!options.shared.empty()) return;
  const auto open_own = [&](const std::string& namespace_) {
    follow(kind, SharedWatch::open(parts.client, parts.random, kind.watched.type, namespace_,
                                   options.list, options.store));
  };
  if (options.namespaces.empty()) open_own("");
  for (const std::string& name : options.namespaces) open_own(name);
}

void Operator::Impl::follow(Kind& kind, std::shared_ptr<SharedWatch> watch) {
  kind.streams.push_back(streams.add(watch->name(), watch->source(), operators_for(kind)));
  kind.watches.push_back(std::move(watch));
}

// The indexes see everything; the user's operators decide what runs.
ChangeStream Operator::Impl::operators_for(Kind& kind) {
  ChangeStream stream;
  const bool self = kind.watched.role == Role::self;
  if (self) stream.tap([this](const StoreChange& change) { index_own(change); });
  if (kind.watched.options.operators) kind.watched.options.operators(stream);
  if (self && parts.predicate) stream.predicate(that_passes(), parts.predicate_options);
  switch (kind.watched.role) {
    case Role::self: stream.to([this](const StoreChange& change) { on_own(change); }); break;
    case Role::owned:
      stream.to([this, &kind](const StoreChange& change) { on_owned(kind, change); });
      break;
    case Role::mapped:
      stream.to([this, &kind](const StoreChange& change) { on_mapped(kind, change); });
      break;
    case Role::referenced:
      stream.to([this, &kind](const StoreChange& change) { on_referenced(kind, change); });
      break;
  }
  return stream;
}

// The user's predicate. Where it throws nothing can be said of the object, and the change passes.
Predicate Operator::Impl::that_passes() {
  return Predicate([this](const core::ObjectMeta& meta, const std::string& json) {
    std::optional<std::uint64_t> out;
    const auto thrown = thrown_by("the predicate", [&] { out = parts.predicate->of(meta, json); });
    if (thrown) log_thrown(*thrown, reference(own->watched.type, meta));
    return out;
  });
}

void Operator::Impl::listen() {
  for (const TriggerSource& source : parts.triggers) {
    auto listener = std::make_shared<TriggerSource::Listener>();
    listener->one = [this](const core::ObjectKey& key, const std::string& why) {
      if (!intake_closed()) controller.add(key, Reason::external, why, parts.debounce);
    };
    source.listen(listeners.emplace_back(std::move(listener)));
  }
  for (const TriggerSource& source : parts.all_triggers) {
    auto listener = std::make_shared<TriggerSource::Listener>();
    listener->all = [this](const std::string& why) { wake_all(why); };
    source.listen(listeners.emplace_back(std::move(listener)));
  }
}

void Operator::Impl::check_synced() {
  if (!started || parts.standby || intake_closed()) return;
  const bool own_ready = std::all_of(own->streams.begin(), own->streams.end(),
                                     [this](StreamSet::Id id) { return streams.ready(id); });
  // A cache of before a restore of the server is as good as none.
  if (!own_ready || (parts.hold_for_all && !streams.ready())) return controller.hold();
  if (!controller.held()) return;
  released = true;
  controller.release();
  if (const auto why = std::exchange(early_trigger, std::nullopt)) wake_all(*why);
}

void Operator::Impl::tell_if_ended() {
  if (on_ended.empty() || controller.running() > 0) return;
  for (const auto& ended : std::exchange(on_ended, {})) ended();
}

// Any of them may be the end of the operator.
void Operator::Impl::tell_shut_down() {
  const auto self = shared_from_this();
  for (const auto& told : std::exchange(on_shut_down, {})) told(*shut_down_report);
}

const SharedWatch* Operator::Impl::watch_of(const Kind& kind, const std::string& namespace_) const {
  for (const auto& watch : kind.watches) {
    const std::string& name = watch->namespace_name();
    if (name.empty() || name == namespace_) return watch.get();
  }
  return nullptr;
}

std::optional<StoredObject> Operator::Impl::object(const core::ObjectKey& key) const {
  const SharedWatch* watch = watch_of(*own, key.namespace_);
  return watch == nullptr ? std::nullopt : watch->store().get(key);
}

bool Operator::Impl::exists(const core::ObjectKey& key) const {
  const SharedWatch* watch = watch_of(*own, key.namespace_);
  return watch != nullptr && watch->store().contains(key);
}

// ---------------------------------------------------------------- from changes to keys

// Whom the user's function finds in half an object may not be all: those of before stay.
void Operator::Impl::relate(Kind& kind, const core::ResourceType& type, const StoreChange& change) {
  const core::ObjectKey key = change.meta.key();
  const bool gone = change.type == ChangeType::deleted;
  if (!told_reduced.empty() && (gone || !change.reduced)) {
    told_reduced.erase(reference(type, change.meta));
  }
  if (gone) return kind.relations.set(key, {});
  std::vector<core::ObjectKey> targets;
  const auto thrown = thrown_by("the function to keys",
                                [&] { targets = kind.watched.map(change.meta, change.json); });
  if (thrown) return log_thrown(*thrown, reference(type, change.meta));  // as it was before
  if (change.reduced) {
    const std::string object = reference(type, change.meta);
    if (told_reduced.insert(object).second) {
      base::log_warn("whom an object concerns may not be known: " + why_reduced(object));
    }
    const auto before = kind.relations.targets_of(key);
    targets.insert(targets.end(), before.begin(), before.end());
  }
  kind.relations.set(key, targets);
}

void Operator::Impl::index_own(const StoreChange& change) {
  const core::ObjectKey key = change.meta.key();
  if (change.type == ChangeType::deleted) {
    owners.remove(change.meta.uid, key);
  } else {
    owners.set(change.meta.uid, key);
  }
  for (const auto& kind : kinds) {
    if (kind->watched.role != Role::referenced) continue;
    relate(*kind, own->watched.type, change);
  }
}

void Operator::Impl::on_own(const StoreChange& change) {
  if (intake_closed()) return;
  if (change.type == ChangeType::deleted) return on_gone(change);
  const core::ObjectKey key = change.meta.key();
  if (change.initial) {
    return controller.add(key, Reason::startup, "", Duration{0}, Priority::background);
  }
  const Reason reason = change.type == ChangeType::added ? Reason::created : Reason::updated;
  controller.add(key, reason, "", parts.debounce);
}

void Operator::Impl::on_gone(const StoreChange& change) {
  const core::ObjectKey key = change.meta.key();
  controller.forget(key);
  if (!parts.on_delete) return;
  if (parts.standby) return leave_to_leader(key);
  deleted[key] = parts.loop.now();
  controller.add(key, Reason::updated);
}

// Kept as long as its leader may not have got to it, and no longer: a standby may see the objects
// of weeks come and go.
void Operator::Impl::leave_to_leader(const core::ObjectKey& key) {
  const TimePoint now = parts.loop.now();
  deleted[key] = now;
  untold.emplace_back(key, now);
  forget_told();
}

void Operator::Impl::forget_told() {
  const TimePoint oldest = parts.loop.now() - parts.hand_over;
  while (!untold.empty()) {
    const auto& [key, seen] = untold.front();
    if (seen >= oldest && untold.size() <= ControllerBuilder::kMostHandedOver) return;
    const auto found = deleted.find(key);
    if (found != deleted.end() && found->second == seen) {
      // A run of it that has not ended since it led is its last.
      if (!exists(key)) controller.forget(key);
      deleted.erase(found);
    }
    untold.pop_front();
  }
}

void Operator::Impl::take_over_deletions() {
  forget_told();
  for (const auto& [key, seen] : std::exchange(untold, {})) {
    if (deleted.count(key) == 0) continue;
    if (exists(key)) {
      deleted.erase(key);  // the name is taken again
    } else {
      controller.add(key, Reason::updated);
    }
  }
}

void Operator::Impl::on_owned(const Kind& kind, const StoreChange& change) {
  const core::ResourceType& type = own->watched.type;
  const OwnerMatch match{type.gvk, type.namespaced, kind.watched.references};
  wake(owners_of(change, match, owners), Reason::owned_changed,
       reference(kind.watched.type, change.meta), change);
}

void Operator::Impl::on_mapped(Kind& kind, const StoreChange& change) {
  const core::ObjectKey key = change.meta.key();
  std::vector<core::ObjectKey> concerned = kind.relations.targets_of(key);
  relate(kind, kind.watched.type, change);
  for (const core::ObjectKey& target : kind.relations.targets_of(key)) {
    concerned.push_back(target);
  }
  std::sort(concerned.begin(), concerned.end());
  concerned.erase(std::unique(concerned.begin(), concerned.end()), concerned.end());
  wake(concerned, Reason::related_changed, reference(kind.watched.type, change.meta), change);
}

void Operator::Impl::on_referenced(const Kind& kind, const StoreChange& change) {
  wake(kind.relations.sources_of(change.meta.key()), Reason::related_changed,
       reference(kind.watched.type, change.meta), change);
}

void Operator::Impl::wake(const std::vector<core::ObjectKey>& keys, Reason reason,
                          const std::string& what, const StoreChange& change) {
  if (intake_closed()) return;
  // Before the first release every object is going to run anyway, and then with these objects in
  // sight.
  if (change.initial && !released) return;
  for (const core::ObjectKey& key : keys) {
    if (exists(key)) controller.add(key, reason, what, parts.debounce);
  }
}

void Operator::Impl::wake_all(const std::string& why) {
  if (intake_closed()) return;
  // Which objects there are is not known yet.
  if (!started || controller.held()) {
    early_trigger = why;
    return;
  }
  for (const auto& watch : own->watches) {
    for (const core::ObjectKey& key : watch->store().keys()) {
      controller.add(key, Reason::external, why, parts.debounce, Priority::background);
    }
  }
}

// ---------------------------------------------------------------- runs

void Operator::Impl::reconcile(const Work& work, std::function<void(RunOutcome)> done) {
  const auto newest = object(work.key);
  if (!newest) return clean_up_after(work, done);
  deleted.erase(work.key);  // the name is taken again
  run(work, std::move(done), "the reconcile function",
      [&](const ReconcileDone& end) { parts.reconcile(*newest, work, end); });
}

void Operator::Impl::clean_up_after(const Work& work, const std::function<void(RunOutcome)>& done) {
  if (deleted.count(work.key) == 0) {
    controller.forget(work.key);
    return done(RunOutcome::done());
  }
  run(
      work,
      [this, key = work.key, done](RunOutcome outcome) {
        if (outcome.verdict == RunOutcome::Verdict::done) deleted.erase(key);
        done(outcome);
      },
      "on_delete", [&](const ReconcileDone& end) { parts.on_delete(work.key, end); });
}

void Operator::Impl::run(const Work& work, std::function<void(RunOutcome)> done,
                         const std::string& what,
                         const std::function<void(const ReconcileDone&)>& task) {
  const auto told = std::make_shared<bool>(false);
  const ReconcileDone end = finish(work, std::move(done), told);
  auto thrown = thrown_by(what, [&] { task(end); });
  if (!thrown) return;
  if (*told) return log_thrown(*thrown, object_of(work.key));  // how it ended is said already
  end(std::move(*thrown));
}

// `told`: one flag for all copies, as the controller has one: neither logged nor judged twice.
ReconcileDone Operator::Impl::finish(const Work& work, std::function<void(RunOutcome)> done,
                                     const std::shared_ptr<bool>& told) {
  return [weak = weak_from_this(), work, done = std::move(done),
          told](const Result<RunOutcome>& result) {
    const auto self = weak.lock();
    if (!self || std::exchange(*told, true)) return;
    const RunOutcome outcome = self->judge(work, result);
    if (self->parts.on_result) {
      const auto thrown = thrown_by("on_result", [&] { self->parts.on_result(work.key, result); });
      if (thrown) log_thrown(*thrown, self->object_of(work.key));
    }
    done(outcome);
  };
}

RunOutcome Operator::Impl::judge(const Work& work, const Result<RunOutcome>& result) const {
  if (result.ok()) return *result;
  base::log_warn("a reconciliation failed", {{"object", object_of(work.key)},
                                             {"attempt", std::to_string(work.attempt)},
                                             {"error", result.error().render()}});
  RunOutcome out = RunOutcome::failed();
  if (!parts.error_policy) return out;
  const auto thrown = thrown_by("the error policy", [&] {
    out = parts.error_policy(work.key, result.error(), work.attempt);
  });
  if (thrown) log_thrown(*thrown, object_of(work.key));
  return out;
}

// ---------------------------------------------------------------- the operator

Operator::Operator(std::unique_ptr<OperatorParts> parts)
    : impl_(std::make_shared<Impl>(std::move(*parts))) {}

Operator::~Operator() = default;

void Operator::start() {
  impl_->start();
}

void Operator::lead() {
  if (std::exchange(impl_->parts.standby, false)) impl_->take_over_deletions();
  impl_->check_synced();
}

void Operator::stand_by(std::function<void()> ended) {
  if (!std::exchange(impl_->parts.standby, true)) {
    // Who leads next has seen them go as well.
    std::vector<core::ObjectKey> left;
    for (const auto& entry : impl_->deleted) left.push_back(entry.first);
    for (const core::ObjectKey& key : left) impl_->leave_to_leader(key);
  }
  impl_->controller.hold();
  if (ended) impl_->on_ended.push_back(std::move(ended));
  impl_->parts.loop.post([weak = impl_->weak_from_this()] {
    if (const auto self = weak.lock()) self->tell_if_ended();
  });
}

const Store* Operator::cache(const core::Gvk& kind, const std::string& namespace_) const {
  const Store* out = nullptr;
  for (const auto& watched : impl_->kinds) {
    if (watched->watched.type.gvk != kind) continue;
    const SharedWatch* watch = impl_->watch_of(*watched, namespace_);
    if (watch == nullptr) continue;
    if (watch->content() == core::Content::full) return &watch->store();
    if (out == nullptr) out = &watch->store();
  }
  return out;
}

const Controller& Operator::controller() const {
  return impl_->controller;
}

bool Operator::synced() const {
  return impl_->streams.ready();
}

std::vector<StreamHealth> Operator::health() const {
  return impl_->streams.health();
}

void Operator::shut_down(Duration deadline, std::function<void(const ShutdownReport&)> done) {
  Impl& impl = *impl_;
  if (done) impl.on_shut_down.push_back(std::move(done));
  if (impl.shut_down_report) {
    return impl.parts.loop.post([weak = impl.weak_from_this()] {
      if (const auto self = weak.lock()) self->tell_shut_down();
    });
  }
  if (impl.shutdown.begun()) return;
  impl.shutdown.add("intake", [&impl](const auto& next) {
    impl.listeners.clear();
    impl.controller.hold();
    next();
  });
  impl.shutdown.add("runs", [&impl](const auto& next) { impl.controller.shut_down(next); });
  if (impl.parts.flush) impl.shutdown.add("flush", impl.parts.flush);
  if (impl.parts.release) impl.shutdown.add("release", impl.parts.release);
  // Told in a turn of its own: the operator may be gone by then.
  impl.shutdown.begin(deadline, [weak = impl.weak_from_this()](ShutdownReport report) {
    const auto self = weak.lock();
    if (!self) return;
    report.cut_off = self->controller.running_keys();
    self->shut_down_report = std::move(report);
    self->tell_shut_down();
  });
}

void Operator::shut_down_now() {
  impl_->shutdown.abort();
}

}  // namespace kubewatch::runtime
