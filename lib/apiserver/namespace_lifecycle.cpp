#include "apiserver/namespace_lifecycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "apiserver/crd.hpp"
#include "apiserver/deleter.hpp"
#include "apiserver/metadata.hpp"
#include "apiserver/step_guard.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char kNamespaces[] = "namespaces";
constexpr const char kOurs[] = "kubernetes";

std::set<std::string> spec_finalizers(const Json& object) {
  std::set<std::string> out;
  const Json* all = base::find(object, {"spec", "finalizers"});
  if (all == nullptr || !all->is_array()) return out;
  for (const auto& one : *all) out.insert(one.get<std::string>());
  return out;
}

// Others may hold the Namespace as well: theirs are left, in the order of the real server.
bool take_ours(Json& object) {
  auto left = spec_finalizers(object);
  if (left.erase(kOurs) == 0) return false;
  if (left.empty()) {
    object["spec"].erase("finalizers");
  } else {
    object["spec"]["finalizers"] = left;
  }
  return true;
}

// One more (or one less) object of the namespace.
void count(const std::string& storage_id, const Object& object, bool more, NamespaceContent& left) {
  const auto step = [more](std::map<std::string, std::size_t>& counts, const std::string& of) {
    if (more) {
      ++counts[of];
    } else if (const auto it = counts.find(of); it != counts.end() && --it->second == 0) {
      counts.erase(it);
    }
  };
  step(left.objects, storage_id);
  const Json* finalizers = base::find(object.json(), {"metadata", "finalizers"});
  if (finalizers == nullptr || !finalizers->is_array()) return;
  for (const Json& one : *finalizers) {
    if (one.is_string()) step(left.finalizers, one.get<std::string>());
  }
}

struct Condition {
  const char* type;
  const char* reason;
  const char* message;
};

// As the real server has them, in its order, while nothing is wrong. The first three tell of
// errors, of which there are none here.
constexpr std::array<Condition, 5> kFine = {{
    {"NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered",
     "All resources successfully discovered"},
    {"NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
     "All legacy kube types successfully parsed"},
    {"NamespaceDeletionContentFailure", "ContentDeleted",
     "All content successfully deleted, may be waiting on finalization"},
    {"NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"},
    {"NamespaceFinalizersRemaining", "ContentHasNoFinalizers",
     "All content-preserving finalizers finished"},
}};
constexpr Condition kContent = {"NamespaceContentRemaining", "SomeResourcesRemain",
                                "Some resources are remaining: "};
constexpr Condition kFinalizers = {"NamespaceFinalizersRemaining", "SomeFinalizersRemain",
                                   "Some content in the namespace has finalizers remaining: "};

// `left`: what is told of, by the type of the condition that is true for it.
void set_conditions(Json& status, std::map<std::string, std::vector<std::string>> left,
                    WallTime now) {
  for (const Condition& fine : kFine) {
    auto& what = left[fine.type];
    if (what.empty()) {
      set_condition(status, fine.type, "False", fine.reason, fine.message, now);
      continue;
    }
    std::sort(what.begin(), what.end());
    const Condition& wrong = std::string_view(fine.type) == kContent.type ? kContent : kFinalizers;
    set_condition(status, wrong.type, "True", wrong.reason, wrong.message + base::join(what, ", "),
                  now);
  }
}

}  // namespace

void NamespaceLifecycle::on_event(const std::string& storage_id, const EventPtr& event) {
  const bool deleted = event->type == EventType::deleted;
  if (storage_id == kNamespaces) {
    const std::string& name = event->object->name();
    // One that lives may have been dying before a restore.
    if (!deleted && is_dying(event->object->json())) {
      dying_.try_emplace(name);
      queue_.insert(name);
    } else {
      dying_.erase(name);
      queue_.erase(name);
    }
    return;
  }
  const auto found = dying_.find(event->object->namespace_());
  if (found == dying_.end()) return;
  Dying& dying = found->second;
  if (dying.emptied && registry_.find_storage(storage_id)) {
    if (event->previous) count(storage_id, *event->previous, false, dying.left);
    if (!deleted) count(storage_id, *event->object, true, dying.left);
  }
  // Nothing new is let in: a restore has brought back what was told to go.
  if (!deleted && !is_dying(event->object->json())) dying.emptied = false;
  if (deleted || !dying.emptied) queue_.insert(found->first);
}

void NamespaceLifecycle::on_kinds_changed() {
  for (const auto& [name, dying] : dying_) queue_.insert(name);
}

WriteContext NamespaceLifecycle::context_of(const std::string& name, const std::string& subresource,
                                            WallTime now) const {
  WriteContext context;
  context.resource = registry_.find_storage(kNamespaces);
  context.name = name;
  context.subresource = subresource;
  context.manager = kControllerManager;
  context.now = now;
  return context;
}

bool NamespaceLifecycle::step(WallTime now) {
  if (queue_.empty()) return false;
  const std::string name = *queue_.begin();
  queue_.erase(queue_.begin());
  guarded(kNamespaces, name, [&] { work_on(name, now); });
  return true;
}

void NamespaceLifecycle::work_on(const std::string& name, WallTime now) {
  const ObjectPtr one = storage_.get(kNamespaces, name);
  // Without a finalizer in its spec it is nobody's to empty.
  if (one && !spec_finalizers(one->json()).empty()) {
    empty_out(name, now);
    // Emptying it made events that queued it again; what is left now waits for others.
    queue_.erase(name);
    const NamespaceContent left = dying_[name].left;
    tell(name, left, now);
    if (!left.objects.empty()) return;
  }
  (void)writer_.change(context_of(name, "finalize", now), take_ours);
}

void NamespaceLifecycle::tell(const std::string& name, const NamespaceContent& left, WallTime now) {
  std::map<std::string, std::vector<std::string>> by_condition;
  for (const auto& [storage_id, objects] : left.objects) {
    const core::ResourceType& type = registry_.find_storage(storage_id)->type;
    by_condition[kContent.type].push_back(
        fmt::format("{}.{} has {} resource instances", type.plural, type.gvk.group, objects));
  }
  for (const auto& [finalizer, objects] : left.finalizers) {
    by_condition[kFinalizers.type].push_back(
        fmt::format("{} in {} resource instances", finalizer, objects));
  }
  (void)writer_.change(context_of(name, "status", now), [&](Json& object) {
    const Json before = object["status"];
    set_conditions(object["status"], by_condition, now);
    return object["status"] != before;
  });
}

void NamespaceLifecycle::empty_out(const std::string& name, WallTime now) {
  Dying& dying = dying_[name];
  // Nothing new comes but by a kind that is served now.
  if (dying.emptied && dying.kinds == registry_.revision()) return;
  DeleteOptions options;
  options.propagation = "Background";
  for (const auto& resource : registry_.stored()) {
    if (!resource->type.namespaced) continue;
    delete_all(storage_, resource, name + "/", kControllerManager, options, now);
  }
  dying = {true, registry_.revision(), {}};
  for (const auto& resource : registry_.stored()) {
    if (!resource->type.namespaced) continue;
    storage_.each(resource->storage_id, name + "/", "", [&](const ObjectPtr& object) {
      count(resource->storage_id, *object, true, dying.left);
      return true;
    });
  }
}

}  // namespace kubewatch::apiserver
