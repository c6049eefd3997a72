// The emptying of namespaces that are being deleted, as kube-controller-manager does it beside the
// real server. Fed with events; works in steps; no I/O, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "apiserver/registry.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// What is left in a namespace that is being deleted: how many objects, by storage id, and how many
// of them have a finalizer.
struct NamespaceContent {
  std::map<std::string, std::size_t> objects;
  std::map<std::string, std::size_t> finalizers;
};

class NamespaceLifecycle {
 public:
  NamespaceLifecycle(Storage& storage, Registry& registry, Writer& writer)
      : storage_(storage), registry_(registry), writer_(writer) {}

  void on_event(const std::string& storage_id, const EventPtr& event);
  // Kinds came, changed or went: there may be more to take away, or nothing to wait for any more.
  void on_kinds_changed();
  // Works on one namespace; false when there is nothing to do.
  bool step(WallTime now);

 private:
  // Its objects are told to go once, and counted; from then on events are.
  struct Dying {
    bool emptied = false;
    std::uint64_t kinds = 0;  // Registry::revision() at that time
    NamespaceContent left;
  };

  void work_on(const std::string& name, WallTime now);
  // Precondition: it is in `dying_`.
  void empty_out(const std::string& name, WallTime now);
  // In the conditions of the Namespace.
  void tell(const std::string& name, const NamespaceContent& left, WallTime now);
  WriteContext context_of(const std::string& name, const std::string& subresource,
                          WallTime now) const;

  Storage& storage_;
  Registry& registry_;
  Writer& writer_;
  std::map<std::string, Dying> dying_;
  std::set<std::string> queue_;
};

}  // namespace kubewatch::apiserver
