// Keeps an APIService for each group and version that is served here, as the aggregator of a
// kube-apiserver does: those of built-in kinds are made once, those of definitions come and go with
// them. Whether they are available says aggregation_controller.hpp. No I/O, no clock.
#pragma once

#include <map>
#include <set>
#include <string>

#include "apiserver/registry.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

class LocalApiServices {
 public:
  LocalApiServices(Storage& storage, const Registry& registry, Writer& writer)
      : storage_(storage), registry_(registry), writer_(writer) {}

  // Those of built-in kinds.
  void create(WallTime now);
  void on_event(const std::string& storage_id, const EventPtr& event);
  void on_kinds_changed();
  // Works on one of them; false when there is nothing to do.
  bool step(WallTime now);

 private:
  WriteContext context_of(const std::string& name, WallTime now) const;
  void settle(const std::string& name, WallTime now);

  Storage& storage_;
  const Registry& registry_;
  Writer& writer_;
  std::map<std::string, core::Gvk> wanted_;  // a kind of each that definitions serve, by name
  std::set<std::string> queue_;
};

// Whether an APIService is one of those.
bool is_kept_registration(const Json& api_service);

}  // namespace kubewatch::apiserver
