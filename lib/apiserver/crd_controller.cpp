#include "apiserver/crd_controller.hpp"

#include "apiserver/crd.hpp"
#include "apiserver/deleter.hpp"
#include "apiserver/metadata.hpp"
#include "apiserver/step_guard.hpp"

namespace kubewatch::apiserver {

namespace {

const Json& spec_of(const Object& crd) {
  static const Json none;
  const Json* spec = base::find(crd.json(), {"spec"});
  return spec == nullptr ? none : *spec;
}

// Its objects are to go with it. One that has nothing but finalizers of others is served on.
bool is_ending(const Json& crd) {
  return is_dying(crd) && has_finalizer(crd, kCrdFinalizer);
}

}  // namespace

void CrdController::on_event(const std::string& storage_id, const EventPtr& event) {
  const bool deleted = event->type == EventType::deleted;
  if (storage_id != kCrds) {
    if (deleted && terminating_.count(storage_id) != 0) queue_.insert(storage_id);
    return;
  }
  const std::string& name = event->object->name();
  // One that lives may have been dying before a restore.
  if (deleted || !is_ending(event->object->json())) terminating_.erase(name);
  const bool respecified = event->previous && spec_of(*event->previous) != spec_of(*event->object);
  if (registry_.has_custom(name) && (deleted || respecified)) on_replaced_(name);
  // Also while nobody is served: what is stored outlives that.
  if (respecified) respecified_.insert(name);
  if (!deleted) {
    queue_.insert(name);
    return;
  }
  respecified_.erase(name);
  registry_.remove_custom(name);
  reconsider_names(base::string_at(event->object->json(), {"spec", "group"}), name);
}

bool CrdController::step(WallTime now) {
  if (queue_.empty()) return false;
  const std::string name = *queue_.begin();
  queue_.erase(queue_.begin());
  const ObjectPtr crd = storage_.get(kCrds, name);
  if (!crd) return true;
  guarded(kCrds, name, [&] { is_ending(crd->json()) ? terminate(crd, now) : establish(crd, now); });
  return true;
}

WriteContext CrdController::context_of(const std::string& name, const std::string& subresource,
                                       WallTime now) const {
  WriteContext context;
  context.resource = registry_.find_storage(kCrds);
  context.name = name;
  context.subresource = subresource;
  context.manager = kApiServer;
  context.now = now;
  return context;
}

TakenNames CrdController::taken_names(const std::string& group) const {
  TakenNames out;
  storage_.each(kCrds, "", "", [&](const ObjectPtr& one) {
    if (base::string_at(one->json(), {"spec", "group"}) == group) out.add(one->json());
    return true;
  });
  return out;
}

// Names that one of the group held may be free for others now.
void CrdController::reconsider_names(const std::string& group, const std::string& except) {
  storage_.each(kCrds, "", "", [&](const ObjectPtr& other) {
    const bool same_group = base::string_at(other->json(), {"spec", "group"}) == group;
    if (same_group && other->name() != except) queue_.insert(other->name());
    return true;
  });
}

void CrdController::establish(const ObjectPtr& crd, WallTime now) {
  const std::string group = base::string_at(crd->json(), {"spec", "group"});
  Json decided = crd->json();
  decided["status"] = crd_status(crd->json(), taken_names(group), now);
  if (is_established(decided)) serve(crd, decided);
  const Json& status = decided["status"];
  const auto written = writer_.change(context_of(crd->name(), "status", now), [&](Json& object) {
    if (object.value("status", Json()) == status) return false;
    object["status"] = status;
    return true;
  });
  TakenNames before;
  TakenNames after;
  before.add(crd->json());
  after.add(decided);
  if (written.ok() && !before.within(after)) reconsider_names(group, crd->name());
}

// `decided`: `crd` with the status that it is about to have.
void CrdController::serve(const ObjectPtr& crd, const Json& decided) {
  registry_.set_custom(crd->name(), resources_of_crd(decided));
  const bool respecified = respecified_.erase(crd->name()) != 0;
  // Of a definition that is named as a built-in kind is nothing is stored.
  if (respecified && registry_.find_kept(crd->name())) reread_instances(crd);
}

// Objects are pruned and given defaults when they are read, by the schema that the version which
// they were stored in has now.
void CrdController::reread_instances(const ObjectPtr& crd) {
  const auto schemas = schemas_of_crd(crd->json());
  storage_.reread(crd->name(), [&](Json& object) {
    const auto schema = schemas.find(base::string_at(object, {"apiVersion"}));
    if (schema == schemas.end()) return;
    schema->second->prune(object);
    schema->second->apply_defaults(object);
  });
}

void CrdController::terminate(const ObjectPtr& crd, WallTime now) {
  const std::string& name = crd->name();
  const bool established = is_established(crd->json());
  const bool begins = terminating_.insert(name).second;
  // Served again, or no more, it is while it dies as well: who holds an object must reach it.
  if (established && (begins || respecified_.contains(name))) {
    serve(crd, crd->json());  // now refuses creates
  }
  const ResourcePtr kept = registry_.find_kept(name);
  // Nothing comes after that, so that all are asked once, and what is left waits for others.
  if (begins && kept) delete_all(storage_, kept, "", kApiServer, {}, now);
  if (kept && storage_.size(name) != 0) {
    (void)writer_.change(context_of(name, "status", now), [&](Json& object) {
      const Json before = object["status"];
      set_condition(object["status"], "Terminating", "True", "InstanceDeletionInProgress",
                    "CustomResource deletion is in progress", now);
      return object["status"] != before;
    });
    return;
  }
  (void)writer_.change(context_of(name, "status", now), [&](Json& object) {
    set_condition(object["status"], "Terminating", "False",
                  established ? "InstanceDeletionCompleted" : "NeverEstablished",
                  established ? "removed all instances" : "resource was never established", now);
    drop_finalizer(object, kCrdFinalizer);
    return true;
  });
}

}  // namespace kubewatch::apiserver
