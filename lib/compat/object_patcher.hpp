// Carries out the operations of one run, one after the other, through the client. An error does not
// stop the rest. Owned by the run; destroying it cancels what is on its way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "client/discovery.hpp"
#include "client/in_flight.hpp"
#include "compat/patch_file.hpp"
#include "hooks/secret_mask.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::compat {

struct PatchSummary {
  std::vector<Error> errors;  // each names its operation
  std::size_t created = 0, configured = 0, unchanged = 0, deleted = 0;
  std::vector<std::string> writes;  // "created ConfigMap shop/web", the first ones
  hooks::SecretMask secrets;        // that were sent or met: the errors may quote them
};

class ObjectPatcher {
 public:
  using Done = std::function<void(PatchSummary)>;
  // `client` must outlive it. Objects without a namespace are of `default_namespace`, where their
  // kind has namespaces. `dry`: the client's writes are not carried out, so what is deleted stays
  // and is not waited for.
  ObjectPatcher(client::Client& client, std::shared_ptr<const client::ResourceMap> resources,
                std::string default_namespace, bool dry = false);
  // Once. `done` comes from the loop.
  void run(std::vector<Operation> operations, Done done);

 private:
  void next();
  void start(const Operation& operation);
  void create(const Operation& operation);
  void replace(const Operation& operation, Json live);
  void remove(const Operation& operation);
  void wait_until_gone(const std::string& uid, int looks);
  void patch(const Operation& operation);
  void edit(const Operation& operation);
  void edit(const Operation& operation, Json live);
  void again(const Operation& operation, Error error);
  bool is_secret() const;
  // Precondition: it is a mapping.
  void learn(Json object);
  void finish(const char* effect);
  void go_on();
  void fail(Error error);

  client::Client& client_;
  std::shared_ptr<const client::ResourceMap> resources_;
  std::string default_namespace_;
  bool dry_;
  std::vector<Operation> operations_;
  std::size_t at_ = 0;
  int tries_ = 0;
  core::ResourceType type_;
  core::ObjectKey key_;
  PatchSummary summary_;
  Done done_;
  loop::Timer timer_;
  client::InFlight requests_;
};

}  // namespace kubewatch::compat
