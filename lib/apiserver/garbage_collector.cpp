#include "apiserver/garbage_collector.hpp"

#include <algorithm>

#include "apiserver/deleter.hpp"
#include "apiserver/metadata.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char kForeground[] = "foregroundDeletion";
constexpr const char kOrphan[] = "orphan";
constexpr const char kManager[] = "kube-controller-manager";

const Json& owners_of(const Json& object) {
  static const Json none = Json::array();
  const Json* owners = base::find(object, {"metadata", "ownerReferences"});
  return owners != nullptr && owners->is_array() ? *owners : none;
}

bool has_finalizer(const Json& object, const char* name) {
  const Json* all = base::find(object, {"metadata", "finalizers"});
  return all != nullptr && all->is_array() &&
         std::find(all->begin(), all->end(), Json(name)) != all->end();
}

// Deleted in the foreground, and its dependents are not gone yet.
bool waits_for_dependents(const Json& object) {
  return is_dying(object) && has_finalizer(object, kForeground);
}

bool blocks(const Json& object, const std::string& owner_uid) {
  for (const auto& owner : owners_of(object)) {
    if (base::string_at(owner, {"uid"}) != owner_uid) continue;
    const auto it = owner.find("blockOwnerDeletion");
    return it != owner.end() && *it == true;
  }
  return false;
}

}  // namespace

void GarbageCollector::index(const Id& id, const Object* before, const Object* after) {
  if (before != nullptr) {
    for (const auto& owner : owners_of(before->json())) {
      const auto it = dependents_.find(base::string_at(owner, {"uid"}));
      if (it == dependents_.end()) continue;
      it->second.erase(id);
      if (it->second.empty()) dependents_.erase(it);
    }
  }
  if (after != nullptr) {
    for (const auto& owner : owners_of(after->json())) {
      dependents_[base::string_at(owner, {"uid"})].insert(id);
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

void GarbageCollector::enqueue_owner(const Json& reference, const Object& dependent) {
  const auto kind = core::gvk_of(reference);
  const ResourcePtr resource = kind ? registry_.find_kind(kind.value()) : nullptr;
  if (!resource) return;
  const std::string ns = resource->type.namespaced ? dependent.namespace_() : "";
  enqueue({resource->storage_id, object_key(ns, base::string_at(reference, {"name"}))});
}

// Owners that may have waited in the foreground for what lets go of them now.
void GarbageCollector::enqueue_unblocked_owners(const Object& before, const Object& after) {
  for (const auto& owner : owners_of(before.json())) {
    const std::string uid = base::string_at(owner, {"uid"});
    if (blocks(before.json(), uid) && !blocks(after.json(), uid)) enqueue_owner(owner, after);
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
  if (deleted) {
    waiting_for_kind_.erase(id);
    remember_gone(*event->object);
    enqueue_dependents(event->object->uid());
    // An owner that waits in the foreground for this one.
    for (const auto& owner : owners_of(event->object->json())) enqueue_owner(owner, *event->object);
    return;
  }
  gone_.erase(event->object->uid());  // a restore brings back what was seen to go
  if (event->previous) enqueue_unblocked_owners(*event->previous, *event->object);
  if (is_dying(event->object->json())) {
    enqueue(id);
    enqueue_dependents(event->object->uid());
  } else if (!owners_of(event->object->json()).empty()) {
    enqueue(id);
  }
}

void GarbageCollector::on_kinds_changed() {
  for (const auto& id : waiting_for_kind_) enqueue(id);
  waiting_for_kind_.clear();
}

bool GarbageCollector::step(WallTime now) {
  if (queue_.empty()) return false;
  const Id id = queue_.front();
  queue_.pop_front();
  queued_.erase(id);
  look_at(id, now);
  return true;
}

WriteContext GarbageCollector::context_of(const Id& id, WallTime now) const {
  WriteContext context;
  context.resource = registry_.find_storage(id.first);
  const auto slash = id.second.find('/');
  if (slash != std::string::npos) context.namespace_ = id.second.substr(0, slash);
  context.name = slash == std::string::npos ? id.second : id.second.substr(slash + 1);
  context.manager = kManager;
  context.now = now;
  return context;
}

void GarbageCollector::look_at(const Id& id, WallTime now) {
  const ObjectPtr object = storage_.get(id.first, id.second);
  if (!object || !registry_.find_storage(id.first)) return;
  if (is_dying(object->json()) && has_finalizer(object->json(), kOrphan)) {
    orphan_dependents(id, *object, now);
    return;
  }
  if (waits_for_dependents(object->json())) {
    collect_dependents(id, *object, now);
    return;
  }
  if (!is_dying(object->json())) judge_owners(id, *object, now);
}

void GarbageCollector::remove_finalizer(const Id& id, const char* finalizer, WallTime now) {
  (void)writer_.change(context_of(id, now), [&](Json& object) {
    Json left = Json::array();
    for (const auto& one : object["metadata"]["finalizers"]) {
      if (one != finalizer) left.push_back(one);
    }
    if (left.empty()) {
      object["metadata"].erase("finalizers");
    } else {
      object["metadata"]["finalizers"] = left;
    }
    return true;
  });
}

void GarbageCollector::drop_owners(const Id& id, const std::set<std::string>& uids, WallTime now) {
  (void)writer_.change(context_of(id, now), [&](Json& object) {
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

void GarbageCollector::unblock_owners(const Id& id, WallTime now) {
  (void)writer_.change(context_of(id, now), [](Json& object) {
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

void GarbageCollector::orphan_dependents(const Id& id, const Object& owner, WallTime now) {
  const std::string uid = owner.uid();
  if (const auto it = dependents_.find(uid); it != dependents_.end()) {
    const std::set<Id> all = it->second;
    for (const auto& dependent : all) drop_owners(dependent, {uid}, now);
  }
  remove_finalizer(id, kOrphan, now);
}

void GarbageCollector::collect_dependents(const Id& id, const Object& owner, WallTime now) {
  bool blocked = false;
  if (const auto it = dependents_.find(owner.uid()); it != dependents_.end()) {
    for (const auto& dependent : it->second) {
      const ObjectPtr object = storage_.get(dependent.first, dependent.second);
      if (!object) continue;
      if (!is_dying(object->json())) enqueue(dependent);
      blocked = blocked || blocks(object->json(), owner.uid());
    }
  }
  if (!blocked) remove_finalizer(id, kForeground, now);
}

void GarbageCollector::judge_owners(const Id& id, const Object& object, WallTime now) {
  bool solid = false;
  bool waiting = false;
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
      waiting_for_kind_.insert(id);
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
  if (useless.empty()) return;
  if (solid) {
    drop_owners(id, useless, now);
    return;
  }
  DeleteOptions options;
  options.uid = object.uid();
  options.propagation = "Background";
  if (has_finalizer(object.json(), kOrphan)) options.propagation = "Orphan";
  const bool has_dependents = dependents_.count(object.uid()) != 0;
  if (has_finalizer(object.json(), kForeground) || (waiting && has_dependents)) {
    options.propagation = "Foreground";
  }
  // In a circle each would wait for the other.
  if (waiting && has_waiting_dependent(object.uid())) unblock_owners(id, now);
  (void)delete_object(storage_, context_of(id, now), options);
}

}  // namespace kubewatch::apiserver
