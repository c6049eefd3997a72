// Namespaces that join and leave.
#include "hooks/namespace_selection.hpp"

namespace kubewatch::hooks {

void NamespaceSelection::open(StreamPool& pool, const core::ResourceType& type,
                              const core::LabelSelector& selector, Callbacks callbacks) {
  callbacks_ = std::move(callbacks);
  StreamSpec spec;
  spec.type = type;
  spec.label_selector = selector.str();
  spec.list.content = core::Content::metadata;
  namespaces_.open(pool, spec, {},
                   {[this](const runtime::StoreChange& change) { on_change(change); },
                    [this] {
                      take_all();
                      callbacks_.on_ready();
                    }});
  take_all();  // shared with another rule, it may be synced already
}

void NamespaceSelection::take_all() {
  if (!namespaces_.ready()) return;
  for (const core::ObjectKey& key : namespaces_.keys()) names_.insert(key.name);
}

// A namespace that loses the labels is told as deleted: the selector goes over the wire.
void NamespaceSelection::on_change(const runtime::StoreChange& change) {
  const std::string& name = change.meta.name;
  if (change.type == runtime::ChangeType::deleted) {
    if (names_.erase(name) > 0) callbacks_.on_left(name);
  } else if (names_.insert(name).second) {
    callbacks_.on_joined(name);
  }
}

}  // namespace kubewatch::hooks
