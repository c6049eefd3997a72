// The objects of one kubernetes binding: watches them, keeps the result of its filter for each, and
// says what happens that the hook wants to hear of. Thin over hooks/streams, whose watches and
// caches are shared. Owned by engine; the pool, the binding and the loop outlive it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compat/binding_context.hpp"
#include "compat/kept_mask.hpp"
#include "compat/object_filter.hpp"
#include "hooks/namespace_selection.hpp"
#include "hooks/secret_mask.hpp"
#include "hooks/streams.hpp"

namespace kubewatch::compat {

class BindingMonitor {
 public:
  struct Callbacks {
    std::function<void()> on_ready;         // once; also when blocked() or stalled() changed
    std::function<void(Context)> on_event;  // not for what was there at the start
    std::function<void(const std::string&)> on_problem;  // the filter fails on an object
  };
  BindingMonitor(const HookConfig& config, std::size_t place, Callbacks callbacks);

  // `namespaces`: the server's Namespace. Errors: invalid (namespaces chosen of a kind that has
  // none).
  Result<void> open(hooks::StreamPool& pool, const core::ResourceType& type,
                    const core::ResourceType& namespaces);
  bool opened() const { return !groups_.empty(); }
  bool ready() const { return synced_; }
  bool blocked() const;
  bool stalled() const;
  // As they are now, by namespace and name.
  std::vector<SnapshotItem> snapshot() const;
  // Adds the objects to a mask, where they are Secrets.
  void add_secrets(hooks::SecretMask& mask) const;

 private:
  bool any_group(bool (hooks::StreamGroup::*is)() const) const;
  bool includes(const core::ObjectMeta& meta) const;
  void look();
  void take_all();
  void on_change(const runtime::StoreChange& change);
  void on_namespace(const std::string& name, bool joined);
  void tell(WatchEvent event, const core::ObjectMeta& meta, const std::string& json);

  const HookConfig& config_;
  const KubernetesBinding& binding_;
  std::size_t place_;
  Callbacks callbacks_;
  ObjectFilter filter_;
  std::unique_ptr<hooks::NamespaceSelection> selection_;
  std::vector<std::unique_ptr<hooks::StreamGroup>> groups_;  // one for each name, or one
  bool synced_ = false;
  mutable KeptMask secrets_;
};

}  // namespace kubewatch::compat
