// What hooks write by themselves through the gateway of `credentials: cache`, as far as requests
// and answers tell: what is written, whether it changed something, and which state it left, so that
// it counts as the run's own. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/request_observer.hpp"
#include "core/resource.hpp"
#include "hooks/gateway_request.hpp"
#include "hooks/loop_alarm.hpp"
#include "hooks/ownership.hpp"
#include "hooks/patch_memory.hpp"
#include "hooks/secret_mask.hpp"

namespace kubewatch::hooks {

// A write that may be passed on.
struct GatewayWrite {
  core::ResourceType type;
  core::ObjectKey key;  // without a name where the server makes one up
  std::string method;
  std::string verb;  // as Client calls it: create, update, apply, patch, delete
  std::string subresource;
  bool dry_run = false;
  Json sent;                   // a body that is JSON and small, and not what is to be deleted
  std::string version_before;  // as a cache has the object; "" = not known. The gateway says so.
  ChildId id() const { return child_id(type.gvk, key); }
  std::string what() const;  // `patch configmaps "a" in namespace "shop"`
};
// Of a plan with `write`; absent: it asks only (a review of rights).
std::optional<GatewayWrite> gateway_write(const http::ServerRequest& request,
                                          const GatewayPlan& plan,
                                          const std::vector<core::ResourceType>& writable);

struct GatewayEffect {
  // unknown: refused, without an answer, or its answer does not tell (no JSON, too long).
  enum class Kind { unknown, unchanged, created, configured, deleted } kind = Kind::unknown;
  core::ObjectKey key;
  std::string version;  // of the object after it; "" = not known, or it changed nothing
};
// `body` is null when it was not kept. A state that is in `memory` already was not made by this.
GatewayEffect gateway_effect(const GatewayWrite& write, int status, std::string_view content_type,
                             const std::string* body, const PatchMemory& memory);

// The run that a hook is let in for, and what the hook has written so far. Shared: writes of a
// worker may be answered after the run.
class GatewayGuest {
 public:
  GatewayGuest(std::string owner_uid, ChildId owner, bool keep_sent,
               client::RequestObserverPtr requests)
      : owner_uid_(std::move(owner_uid)),
        owner_(std::move(owner)),
        keep_sent_(keep_sent),
        requests_(std::move(requests)) {}

  const std::string& owner_uid() const { return owner_uid_; }
  // Of the run; may be null.
  const client::RequestObserverPtr& requests() const { return requests_; }
  void note(const GatewayWrite& write, const GatewayEffect& effect);
  // Of a write to a Secret, before it is passed on, and its answer: a server that refuses it quotes
  // what it was sent or the whole Secret that would be left, and the hook prints that.
  void learn_sent(const GatewayWrite& write, std::string_view body);
  // `body` as gateway_effect has it.
  void learn_answer(const GatewayWrite& write, int status, const std::string* body);
  // What it has learned of Secrets so far.
  const SecretMask& secrets() const { return secrets_; }

  struct Written {
    std::size_t created = 0, configured = 0, unchanged = 0, deleted = 0;
    std::size_t itself = 0;           // of created and configured: the object that it runs for
    std::vector<std::string> writes;  // "configured ConfigMap shop/a": the first ones
    // "PATCH of ConfigMap shop/a" -> what was sent, as GatewayWrite has it; with keep_sent only.
    Printed sent;
  };
  const Written& written() const { return written_; }

 private:
  std::string owner_uid_;
  ChildId owner_;
  bool keep_sent_;
  client::RequestObserverPtr requests_;
  Written written_;
  SecretMask secrets_;
};
using GatewayGuestPtr = std::shared_ptr<GatewayGuest>;

}  // namespace kubewatch::hooks
