#include "apiserver/garbage_collector.hpp"

#include <algorithm>

#include "apiserver/deleter.hpp"
#include "apiserver/metadata.hpp"
#include "apiserver/step_guard.hpp"

namespace kubewatch::apiserver {

namespace {

const Json& owners_of(const Json& object) {
  return base::items_at(object, {"metadata", "ownerReferences"});
}

// Deleted in the foreground, and its dependents are not gone yet.
bool waits_for_dependents(const Json& object) {
  return is_dying(object) && has_finalizer(object, kForegroundFinalizer);
}

}  // namespace

void GarbageCollector::index(const Id& id, const Object* before, const Object* after) {
  const auto drop = [&id](std::map<std::string, std::set<Id>>& from, const std::string& uid) {
    const auto it = from.find(uid);
    if (it == from.end()) return;
    it->second.erase(id);
    if (it->second.empty()) from.erase(it);
  };
  if (before != nullptr) {
    for (const auto& owner : owners_of(before->json())) {
      const std::string uid = base::string_at(owner, {"uid"});
      drop(dependents_, uid);
      drop(blockers_, uid);
    }
  }
  if (after != nullptr) {
    for (const auto& owner : owners_of(after->json())) {
      const std::string uid = base::string_at(owner, {"uid"});
      // The first of several to one owner counts.
      if (dependents_[uid].insert(id).second && base::bool_at(owner, {"blockOwnerDeletion"}))
        blockers_[uid].insert(id);
    }
  }
  if (before == nullptr) return;
  for (const auto& owner : owners_of(before->json())) {
    const std::string uid = base::string_at(owner, {"uid"});
    if (dependents_.count(uid) == 0) gone_.erase(uid);
  }
}

void GarbageCollector::enqueue(const Id& id) {
  if (queued_.insert(id).second) queue_.push_back(id);
}

void GarbageCollector::enqueue_dependents(const std::string& owner_uid) {
  const auto it = dependents_.find(owner_uid);
  if (it == dependents_.end()) return;
  for (const auto& id : it->second) enqueue(id);
}

void GarbageCollector::enqueue_waiting_owners(const Object& dependent) {
  if (waiting_.empty()) return;
  for (const auto& reference : owners_of(dependent.json())) {
    const auto owner = waiting_.find(base::string_at(reference, {"uid"}));
    if (owner != waiting_.end()) enqueue(owner->second);
  }
}

void GarbageCollector::remember_gone(const Object& owner) {
  const auto kind = core::gvk_of(owner.json());
  if (!kind || dependents_.count(owner.uid()) == 0) return;
  gone_[owner.uid()] = {kind.value().group, kind.value().kind, owner.namespace_(), owner.name()};
}

bool GarbageCollector::is_gone(const Json& reference, const Object& dependent) const {
  const auto it = gone_.find(base::string_at(reference, {"uid"}));
  const auto kind = core::gvk_of(reference);
  if (it == gone_.end() || !kind) return false;
  const Place& owner = it->second;
  const bool in_reach = owner.namespace_.empty() || owner.namespace_ == dependent.namespace_();
  return in_reach && owner.group == kind.value().group && owner.kind == kind.value().kind &&
         owner.name == base::string_at(reference, {"name"});
}

void GarbageCollector::on_event(const std::string& storage_id, const EventPtr& event) {
  const Id id{storage_id, event->object->key()};
  const bool deleted = event->type == EventType::deleted;
  index(id, event->previous.get(), deleted ? nullptr : event->object.get());
  refused_.erase(id);
  if (event->previous) {
    waiting_.erase(event->previous->uid());
    enqueue_waiting_owners(*event->previous);
  }
  if (deleted) {
    remember_gone(*event->object);
    enqueue_dependents(event->object->uid());
    return;
  }
  gone_.erase(event->object->uid());  // a restore brings back what was seen to go
  if (is_dying(event->object->json())) {
    enqueue(id);
    enqueue_dependents(event->object->uid());
  } else if (!owners_of(event->object->json()).empty()) {
    enqueue(id);
  }
}

void GarbageCollector::on_kinds_changed() {
  for (const auto& [uid, id] : waiting_) enqueue(id);
  waiting_.clear();
  refused_.clear();
}

bool GarbageCollector::step(WallTime now) {
  if (queue_.empty()) return false;
  const Id id = queue_.front();
  queue_.pop_front();
  queued_.erase(id);
  const ObjectPtr object = storage_.get(id.first, id.second);
  if (!object) return true;
  waiting_.erase(object->uid());
  bool done = false;
  guarded(id.first, id.second, [&] {
    // What is not served is nobody's business until it is again.
    done = registry_.find_storage(id.first) != nullptr && look_at(id, *object, now);
  });
  if (!done) waiting_[object->uid()] = id;
  return true;
}

WriteContext GarbageCollector::context_of(const Id& id, WallTime now) const {
  WriteContext context;
  context.resource = registry_.find_storage(id.first);
  const auto slash = id.second.find('/');
  if (slash != std::string::npos) context.namespace_ = id.second.substr(0, slash);
  context.name = slash == std::string::npos ? id.second : id.second.substr(slash + 1);
  context.manager = kControllerManager;
  context.now = now;
  return context;
}

bool GarbageCollector::look_at(const Id& id, const Object& object, WallTime now) {
  if (is_dying(object.json()) && has_finalizer(object.json(), kOrphanFinalizer)) {
    return orphan_dependents(id, object, now);
  }
  if (waits_for_dependents(object.json())) return collect_dependents(id, object, now);
  return is_dying(object.json()) || judge_owners(id, object, now);
}

bool GarbageCollector::change(const Id& id, WallTime now, const Writer::Change& change) {
  // One owner may have many such dependents, which somebody mends one by one.
  if (refused_.count(id) != 0) return false;
  const WriteContext context = context_of(id, now);
  const bool served = context.resource != nullptr;
  if (served && writer_.change(context, change).ok()) return true;
  refused_.insert(id);
  return false;
}

bool GarbageCollector::remove_finalizer(const Id& id, const char* finalizer, WallTime now) {
  return change(id, now, [&](Json& object) {
    drop_finalizer(object, finalizer);
    return true;
  });
}

bool GarbageCollector::drop_owners(const Id& id, const std::set<std::string>& uids, WallTime now) {
  return change(id, now, [&](Json& object) {
    Json left = Json::array();
    for (const auto& one : owners_of(object)) {
      if (uids.count(base::string_at(one, {"uid"})) == 0) left.push_back(one);
    }
    if (left.empty()) {
      object["metadata"].erase("ownerReferences");
    } else {
      object["metadata"]["ownerReferences"] = left;
    }
    return true;
  });
}

bool GarbageCollector::has_waiting_dependent(const std::string& uid) const {
  const auto it = dependents_.find(uid);
  if (it == dependents_.end()) return false;
  return std::any_of(it->second.begin(), it->second.end(), [&](const Id& one) {
    const ObjectPtr object = storage_.get(one.first, one.second);
    return object && waits_for_dependents(object->json());
  });
}

bool GarbageCollector::unblock_owners(const Id& id, WallTime now) {
  return change(id, now, [](Json& object) {
    Json* owners = base::find(object, {"metadata", "ownerReferences"});
    if (owners == nullptr) return false;
    bool changed = false;
    for (auto& owner : *owners) {
      if (owner.value("blockOwnerDeletion", Json()) != true) continue;
      owner["blockOwnerDeletion"] = false;
      changed = true;
    }
    return changed;
  });
}

bool GarbageCollector::orphan_dependents(const Id& id, const Object& owner, WallTime now) {
  const std::string uid = owner.uid();
  bool done = true;
  if (const auto it = dependents_.find(uid); it != dependents_.end()) {
    const std::set<Id> all = it->second;
    for (const auto& dependent : all) done = drop_owners(dependent, {uid}, now) && done;
  }
  // One that still refers to its owner would go after it.
  return done && remove_finalizer(id, kOrphanFinalizer, now);
}

bool GarbageCollector::collect_dependents(const Id& id, const Object& owner, WallTime now) {
  // Dependents were told to go by the event that told of this deletion; those that came later know.
  return blockers_.count(owner.uid()) == 0 && remove_finalizer(id, kForegroundFinalizer, now);
}

bool GarbageCollector::judge_owners(const Id& id, const Object& object, WallTime now) {
  bool solid = false;
  bool waiting = false;
  bool known = true;
  std::set<std::string> useless;
  for (const auto& owner : owners_of(object.json())) {
    const std::string uid = base::string_at(owner, {"uid"});
    if (is_gone(owner, object)) {
      useless.insert(uid);
      continue;
    }
    const auto kind = core::gvk_of(owner);
    const ResourcePtr resource = kind ? registry_.find_kind(kind.value()) : nullptr;
    const bool misplaced = resource && resource->type.namespaced && object.namespace_().empty();
    if (!resource || misplaced) {
      // Nobody can tell whether it exists: the object stays.
      known = false;
      solid = true;
      continue;
    }
    const std::string ns = resource->type.namespaced ? object.namespace_() : "";
    const ObjectPtr found =
        storage_.get(resource->storage_id, object_key(ns, base::string_at(owner, {"name"})));
    if (!found || found->uid() != uid) {
      useless.insert(uid);
    } else if (waits_for_dependents(found->json())) {
      useless.insert(uid);
      waiting = true;
    } else {
      solid = true;
    }
  }
  if (useless.empty()) return known;
  if (solid) return drop_owners(id, useless, now) && known;
  DeleteOptions options;
  options.uid = object.uid();
  options.propagation = "Background";
  if (has_finalizer(object.json(), kOrphanFinalizer)) options.propagation = "Orphan";
  const bool has_dependents = dependents_.count(object.uid()) != 0;
  if (has_finalizer(object.json(), kForegroundFinalizer) || (waiting && has_dependents)) {
    options.propagation = "Foreground";
  }
  // In a circle each would wait for the other.
  if (waiting && has_waiting_dependent(object.uid()) && !unblock_owners(id, now)) return false;
  (void)delete_object(storage_, context_of(id, now), options);
  return true;
}

}  // namespace kubewatch::apiserver
