// Tells of each APIService whether what it names is available, as the aggregator of the real server
// does: what is asked is this server's own objects, never the network. Fed with events; no I/O, no
// clock.
#pragma once

#include <set>
#include <string>

#include "apiserver/registry.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

class AggregationController {
 public:
  AggregationController(Storage& storage, Registry& registry, Writer& writer)
      : storage_(storage), registry_(registry), writer_(writer) {}

  void on_event(const std::string& storage_id, const EventPtr& event);
  // Works on one APIService; false when there is nothing to do.
  bool step(WallTime now);

 private:
  // Those that name this Service.
  void queue_of_service(const std::string& namespace_, const std::string& name);
  Json condition_of(const Json& api_service) const;

  Storage& storage_;
  Registry& registry_;
  Writer& writer_;
  std::set<std::string> queue_;
};

}  // namespace kubewatch::apiserver
