// Watches of one binding.
#include "compat/binding_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/selector.hpp"

namespace kubewatch::compat {

BindingMonitor::BindingMonitor(const HookConfig& config, std::size_t place, Callbacks callbacks)
    : config_(config),
      binding_(config.kubernetes[place]),
      place_(place),
      callbacks_(std::move(callbacks)),
      filter_(binding_.filter, [this](const std::string& what) { callbacks_.on_problem(what); }) {}

Result<void> BindingMonitor::open(hooks::StreamPool& pool, const core::ResourceType& type,
                                  const core::ResourceType& namespaces) {
  if (!type.namespaced && (!binding_.namespaces.empty() || !binding_.namespace_selector.empty())) {
    return Error(ErrorKind::invalid, type.gvk.kind + " is in no namespace: leave out `namespace`");
  }
  if (!binding_.namespace_selector.empty()) {
    selection_ = std::make_unique<hooks::NamespaceSelection>();
    selection_->open(
        pool, namespaces, binding_.namespace_selector,
        {[this](const std::string& name) { on_namespace(name, true); },
         [this](const std::string& name) { on_namespace(name, false); }, [this] { look(); }});
  }
  filter_.of_kind(type.gvk);
  hooks::StreamSpec spec;
  spec.type = type;
  spec.label_selector = binding_.label_selector.str();
  std::vector<std::string> fields;
  for (const std::string& name : binding_.names) {
    fields.push_back(core::with_name(binding_.field_selector.str(), name));
  }
  if (fields.empty()) fields.push_back(binding_.field_selector.str());
  std::vector<std::string> places = binding_.namespaces;
  if (selection_) places.clear();  // one watch of all, for they come and go
  for (const std::string& field : fields) {
    spec.field_selector = field;
    groups_.push_back(std::make_unique<hooks::StreamGroup>());
    groups_.back()->open(
        pool, spec, places,
        {[this](const runtime::StoreChange& change) { on_change(change); }, [this] { look(); }});
  }
  look();  // shared with another binding, all may be synced already
  return {};
}

bool BindingMonitor::any_group(bool (hooks::StreamGroup::*is)() const) const {
  return (selection_ && (selection_->namespaces().*is)()) ||
         std::any_of(groups_.begin(), groups_.end(),
                     [is](const auto& group) { return (group.get()->*is)(); });
}

bool BindingMonitor::blocked() const {
  return any_group(&hooks::StreamGroup::blocked);
}

bool BindingMonitor::stalled() const {
  return any_group(&hooks::StreamGroup::stalled);
}

bool BindingMonitor::includes(const core::ObjectMeta& meta) const {
  if (selection_ && !selection_->has(meta.namespace_)) return false;
  return binding_.namespaces.empty() ||
         std::find(binding_.namespaces.begin(), binding_.namespaces.end(), meta.namespace_) !=
             binding_.namespaces.end();
}

void BindingMonitor::look() {
  if (synced_) return;
  const std::size_t wanted = std::max<std::size_t>(1, binding_.names.size());
  const bool all =
      groups_.size() == wanted && (!selection_ || selection_->ready()) &&
      std::all_of(groups_.begin(), groups_.end(), [](const auto& group) { return group->ready(); });
  if (all) take_all();
  callbacks_.on_ready();
}

void BindingMonitor::take_all() {
  synced_ = true;
  if (!binding_.filter) return;
  for (const auto& group : groups_) {
    for (const core::ObjectKey& key : group->keys()) {
      if (const auto object = group->get(key); object && includes(object->meta)) {
        filter_.take(key, object->json);
      }
    }
  }
}

void BindingMonitor::tell(WatchEvent event, const core::ObjectMeta& meta, const std::string& json) {
  const bool changed = event == WatchEvent::deleted || filter_.take(meta.key(), json);
  const bool wanted = binding_.events.count(event) > 0;
  if (wanted && (changed || event == WatchEvent::added)) {
    Context context = synchronization_context(config_, place_);
    context.type = ContextType::event;
    context.event = event;
    context.object_id = meta.kind + " " + meta.key().str();
    if (binding_.keep_objects) context.object = json;
    context.filtered = filter_.result(meta.key());
    callbacks_.on_event(std::move(context));
  }
  if (event == WatchEvent::deleted) filter_.forget(meta.key());
}

void BindingMonitor::on_change(const runtime::StoreChange& change) {
  secrets_.changed();
  if (!synced_ || !includes(change.meta)) return;
  switch (change.type) {
    case runtime::ChangeType::added: return tell(WatchEvent::added, change.meta, change.json);
    case runtime::ChangeType::modified: return tell(WatchEvent::modified, change.meta, change.json);
    case runtime::ChangeType::deleted: break;
  }
  tell(WatchEvent::deleted, change.meta, change.json);
}

// Its objects come into sight, or go out of it.
void BindingMonitor::on_namespace(const std::string& name, bool joined) {
  if (!synced_) return;
  for (const auto& group : groups_) {
    for (const core::ObjectKey& key : group->keys_in(name)) {
      const auto object = group->get(key);
      if (!object) continue;
      const bool named = binding_.namespaces.empty() ||
                         std::find(binding_.namespaces.begin(), binding_.namespaces.end(), name) !=
                             binding_.namespaces.end();
      if (named) tell(joined ? WatchEvent::added : WatchEvent::deleted, object->meta, object->json);
    }
  }
}

std::vector<SnapshotItem> BindingMonitor::snapshot() const {
  std::vector<SnapshotItem> out;
  if (!synced_) return out;
  std::map<core::ObjectKey, SnapshotItem> sorted;
  for (const auto& group : groups_) {
    for (const core::ObjectKey& key : group->keys()) {
      auto object = group->get(key);
      if (!object || !includes(object->meta)) continue;
      SnapshotItem item;
      if (binding_.keep_objects) item.object = std::move(object->json);
      item.filtered = filter_.result(key);
      sorted.emplace(key, std::move(item));
    }
  }
  for (auto& [key, item] : sorted) out.push_back(std::move(item));
  return out;
}

void BindingMonitor::add_secrets(hooks::SecretMask& mask) const {
  if (groups_.empty() || groups_.front()->type().gvk.kind != "Secret") return;
  // The first list is not told as changes.
  mask.merge(secrets_.get(synced_, [this](hooks::SecretMask& made) {
    for (const auto& group : groups_) {
      for (const core::ObjectKey& key : group->keys()) {
        if (const auto object = group->get(key)) made.add_json(object->json);
      }
    }
  }));
}

}  // namespace kubewatch::compat
