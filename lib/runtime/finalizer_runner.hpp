// The finalizer protocol for reconcilers in C++: work is applied only to objects that carry the
// finalizer, and the finalizer goes only after the cleanup succeeded. Drives the decisions and
// patches of finalizer.hpp through the client.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/client.hpp"
#include "client/in_flight.hpp"
#include "runtime/controller.hpp"
#include "runtime/finalizer.hpp"
#include "runtime/store.hpp"

namespace kubewatch::runtime {

class FinalizerRunner {
 public:
  using Done = ReconcileDone;
  using Task = std::function<void(const StoredObject&, Done)>;
  struct Tasks {
    Task apply;    // the object is alive and carries the finalizer
    Task cleanup;  // it is dying; the outcome `done` lets it go, every other keeps it
  };

  // `client` must outlive it, and it the tasks' Done. `name` is the finalizer, "example.com/name";
  // `field_manager` signs the patches.
  FinalizerRunner(client::Client& client, core::ResourceType type, std::string name,
                  std::string field_manager, Tasks tasks);

  // One step for the object as it was last seen. `done` comes once: with how the task ended; `done`
  // after the finalizer was added or removed, whose own event brings the next step; `not_yet` when
  // the object had changed meanwhile; or with the Error for which the object could not be patched,
  // which names it.
  void step(const StoredObject& object, Done done);

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;
  void add(const JobPtr& job);
  void look_after_refused_add(const JobPtr& job, const Error& refusal);
  void clean_up(const JobPtr& job);
  void remove(const JobPtr& job);
  void look_after_refused_remove(const JobPtr& job, const Error& refusal);
  void send(const JobPtr& job, const Json& patch, std::function<void(Result<Json>)> done);
  void get(const JobPtr& job, std::function<void(Result<core::ObjectMeta>)> done);
  void fail(const JobPtr& job, Error error, const char* doing);

  client::Client& client_;
  const core::ResourceType type_;
  const std::string name_;
  const std::string field_manager_;
  const Tasks tasks_;
  client::InFlight requests_;
};

}  // namespace kubewatch::runtime
