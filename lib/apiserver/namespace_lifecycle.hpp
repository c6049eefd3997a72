// The namespaces that exist from the start, and the emptying of namespaces that are being deleted.
// What kube-controller-manager does beside the real server. Fed with events; works in steps; no
// I/O, no clock.
#pragma once

#include <set>
#include <string>

#include "apiserver/registry.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

class NamespaceLifecycle {
 public:
  NamespaceLifecycle(Storage& storage, Registry& registry, Writer& writer)
      : storage_(storage), registry_(registry), writer_(writer) {}

  // default, kube-system, kube-public, kube-node-lease.
  void create_initial(WallTime now);
  void on_event(const std::string& storage_id, const EventPtr& event);
  // Works on one namespace; false when there is nothing to do.
  bool step(WallTime now);

 private:
  // True when objects are left.
  bool empty_out(const std::string& name, WallTime now);
  WriteContext context_of(const std::string& name, WallTime now) const;

  Storage& storage_;
  Registry& registry_;
  Writer& writer_;
  std::set<std::string> dying_;
  std::set<std::string> queue_;
};

}  // namespace kubewatch::apiserver
