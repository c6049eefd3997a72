// The objects that exist from the start, as a kube-apiserver makes them: the first Namespaces and
// the system's PriorityClasses. No I/O, no clock.
#pragma once

#include <string>

#include "apiserver/registry.hpp"
#include "apiserver/writer.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

class InitialObjects {
 public:
  InitialObjects(const Registry& registry, Writer& writer) : registry_(registry), writer_(writer) {}

  void create(WallTime now);
  // Whether `object` has the apiVersion, kind and name of one.
  static bool has(const Json& object);
  // Labels and annotations of such an `object` for the one that is there. Errors: as an update's;
  // not_found.
  Result<void> add_metadata(const Json& object, const std::string& manager, WallTime now);

 private:
  WriteContext context_of(const Json& object, const std::string& manager, WallTime now) const;

  const Registry& registry_;
  Writer& writer_;
};

}  // namespace kubewatch::apiserver
