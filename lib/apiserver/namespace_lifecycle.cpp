#include "apiserver/namespace_lifecycle.hpp"

#include <set>

#include "apiserver/deleter.hpp"
#include "apiserver/metadata.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char kNamespaces[] = "namespaces";
constexpr const char kOurs[] = "kubernetes";

std::set<std::string> finalizers_of(const Json& object) {
  std::set<std::string> out;
  const Json* all = base::find(object, {"spec", "finalizers"});
  if (all == nullptr || !all->is_array()) return out;
  for (const auto& one : *all) out.insert(one.get<std::string>());
  return out;
}

// Others may hold the Namespace as well: theirs are left, in the order of the real server.
bool take_ours(Json& object) {
  auto left = finalizers_of(object);
  if (left.erase(kOurs) == 0) return false;
  if (left.empty()) {
    object["spec"].erase("finalizers");
  } else {
    object["spec"]["finalizers"] = left;
  }
  return true;
}

}  // namespace

void NamespaceLifecycle::create_initial(WallTime now) {
  for (const char* name : {"kube-system", "kube-public", "kube-node-lease", "default"}) {
    WriteContext context;
    context.resource = registry_.find_storage(kNamespaces);
    context.manager = "kube-apiserver";
    context.now = now;
    (void)writer_.create(
        context, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
  }
}

void NamespaceLifecycle::on_event(const std::string& storage_id, const EventPtr& event) {
  const bool deleted = event->type == EventType::deleted;
  if (storage_id == kNamespaces) {
    const std::string& name = event->object->name();
    // One that lives may have been dying before a restore.
    if (!deleted && is_dying(event->object->json())) {
      dying_.insert(name);
      queue_.insert(name);
    } else {
      dying_.erase(name);
      queue_.erase(name);
    }
    return;
  }
  // Something that was waited for is gone.
  if (deleted && dying_.count(event->object->namespace_()) != 0) {
    queue_.insert(event->object->namespace_());
  }
}

WriteContext NamespaceLifecycle::context_of(const std::string& name, WallTime now) const {
  WriteContext context;
  context.resource = registry_.find_storage(kNamespaces);
  context.name = name;
  context.subresource = "finalize";
  context.manager = "kube-controller-manager";
  context.now = now;
  return context;
}

bool NamespaceLifecycle::step(WallTime now) {
  if (queue_.empty()) return false;
  const std::string name = *queue_.begin();
  const ObjectPtr one = storage_.get(kNamespaces, name);
  // Without a finalizer in its spec it is nobody's to empty.
  const bool left = one && !finalizers_of(one->json()).empty() && empty_out(name, now);
  // Emptying it made events that queued it again; what is left now waits for others.
  queue_.erase(name);
  if (left) return true;
  (void)writer_.change(context_of(name, now), take_ours);
  return true;
}

bool NamespaceLifecycle::empty_out(const std::string& name, WallTime now) {
  bool left = false;
  for (const auto& resource : registry_.stored()) {
    if (!resource->type.namespaced) continue;
    std::vector<std::string> names;
    storage_.each(resource->storage_id, name + "/", "", [&](const ObjectPtr& object) {
      names.push_back(object->name());
      return true;
    });
    for (const auto& one : names) {
      WriteContext context;
      context.resource = resource;
      context.namespace_ = name;
      context.name = one;
      context.manager = "kube-controller-manager";
      context.now = now;
      DeleteOptions options;
      options.propagation = "Background";
      const auto deleted = delete_object(storage_, context, options);
      left = left || storage_.get(resource->storage_id, object_key(name, one)) != nullptr;
    }
  }
  return left;
}

}  // namespace kubewatch::apiserver
