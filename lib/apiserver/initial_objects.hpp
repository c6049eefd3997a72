// The objects that exist from the start, as a kube-apiserver makes them: the first Namespaces and
// the system's PriorityClasses; in a whole cluster also its roles and bindings, and the range of
// the Services' addresses. No I/O, no clock.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apiserver/registry.hpp"
#include "apiserver/writer.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

class InitialObjects {
 public:
  InitialObjects(const Registry& registry, Writer& writer) : registry_(registry), writer_(writer) {}

  void create(bool whole_cluster, WallTime now);
  // Whether `object` has the apiVersion, kind, namespace and name of one of them.
  bool has(const Json& object) const;
  // What such an `object` says for the one that is there: labels and annotations, and what a role
  // allows or a binding binds. Errors: as an update's; not_found.
  Result<void> add(const Json& object, const std::string& manager, WallTime now);

 private:
  WriteContext context_of(const Json& object, const std::string& manager, WallTime now) const;
  void make(const std::vector<Json>& objects, WallTime now);
  void apply_range_status(WallTime now);

  const Registry& registry_;
  Writer& writer_;
  std::set<std::string> made_;
};

}  // namespace kubewatch::apiserver
