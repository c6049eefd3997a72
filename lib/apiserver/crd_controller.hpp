// Makes CRDs usable and takes them away: names accepted and established at once, resources
// registered, instances deleted with their definition. Fed with events; no I/O, no clock.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/crd.hpp"
#include "apiserver/registry.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

class CrdController {
 public:
  // `on_replaced`: what was served of a storage id is served otherwise now, or no more.
  CrdController(Storage& storage, Registry& registry, Writer& writer,
                std::function<void(const std::string& storage_id)> on_replaced)
      : storage_(storage),
        registry_(registry),
        writer_(writer),
        on_replaced_(std::move(on_replaced)) {}

  void on_event(const std::string& storage_id, const EventPtr& event);
  // Works on one definition; false when there is nothing to do. The API calls it to the end after
  // every write, so that a CRD is served when its creation has been answered.
  bool step(WallTime now);

 private:
  TakenNames taken_names(const std::string& group) const;
  void reconsider_names(const std::string& group, const std::string& except);
  void establish(const ObjectPtr& crd, WallTime now);
  void terminate(const ObjectPtr& crd, WallTime now);
  void serve(const ObjectPtr& crd, const Json& decided);
  void reread_instances(const ObjectPtr& crd);
  WriteContext context_of(const std::string& name, const std::string& subresource,
                          WallTime now) const;

  Storage& storage_;
  Registry& registry_;
  Writer& writer_;
  std::function<void(const std::string&)> on_replaced_;
  // Storage ids of dying definitions, the same as their names, whose objects were told to go.
  std::set<std::string> terminating_;
  std::set<std::string> queue_;
  std::set<std::string> respecified_;  // their instances are still shown by the schema of before
};

}  // namespace kubewatch::apiserver
