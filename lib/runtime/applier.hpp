// Server-side applies of a reconciler in C++, under one field manager. One request per call, no
// retries: the work queue's backoff is the retry. Destroying it cancels what is open.
#pragma once

#include <functional>
#include <string>

#include "base/json_fwd.hpp"
#include "client/client.hpp"
#include "client/in_flight.hpp"
#include "runtime/controller.hpp"

namespace kubewatch::runtime {

class Applier {
 public:
  // `await_change` when the server took it, so that the last apply can end a run.
  using Done = std::function<void(Result<RunOutcome>)>;

  // `client` must outlive it. `force`: takes fields over that others manage.
  Applier(client::Client& client, std::string field_manager, bool force = false);

  // `object` says its apiVersion, kind and metadata.name, and its namespace where it has one.
  // `subresource`: "" or "status". Errors: what the server refuses, naming the object.
  void apply(const core::ResourceType& type, const Json& object, Done done,
             const std::string& subresource = "");

 private:
  client::Client& client_;
  std::string field_manager_;
  bool force_;
  client::InFlight requests_;
};

}  // namespace kubewatch::runtime
