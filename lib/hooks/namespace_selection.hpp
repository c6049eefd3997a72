// The namespaces that carry certain labels, followed live. What is in them is watched by one watch
// over all namespaces and filtered here, instead of one watch each: a namespace that joins is there
// at once and complete, no list has to be waited for, hundreds cost nothing more, and objects that
// are left behind with our finalizer stay in sight. The price is the memory of what is not
// selected.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "core/selector.hpp"
#include "hooks/streams.hpp"

namespace kubewatch::hooks {

class NamespaceSelection {
 public:
  struct Callbacks {
    // After has() tells the new state; not for what was there at the start.
    std::function<void(const std::string& name)> on_joined;
    std::function<void(const std::string& name)> on_left;
    std::function<void()> on_ready;  // synced, or blocked() changed
  };

  // `type` is the server's Namespace.
  void open(StreamPool& pool, const core::ResourceType& type, const core::LabelSelector& selector,
            Callbacks callbacks);
  bool ready() const { return namespaces_.ready(); }
  const StreamGroup& namespaces() const { return namespaces_; }
  bool has(const std::string& name) const { return names_.count(name) > 0; }
  const std::set<std::string>& names() const { return names_; }

 private:
  void take_all();
  void on_change(const runtime::StoreChange& change);

  Callbacks callbacks_;
  std::set<std::string> names_;
  StreamGroup namespaces_;
};

}  // namespace kubewatch::hooks
