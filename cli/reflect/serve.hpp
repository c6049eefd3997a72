// Caches behind the read-only API server: what the kinds tell goes to it, what it does not hold
// goes to the real server where that was asked for. Owned by the verb; the kinds must outlive it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/read_server.hpp"
#include "apiserver/registry.hpp"
#include "cli/reflect/kinds.hpp"
#include "client/in_flight.hpp"
#include "client/pass_through.hpp"

namespace kubewatch::cli {

// Whether a request of a reader may be passed on with our credentials at all: no tunnels, no
// tokens, no paths that are not plain.
bool may_pass(const http::ServerRequest& request);

class CacheServing {
 public:
  // Errors: those of listening; invalid.
  static Result<std::unique_ptr<CacheServing>> start(client::Client& client,
                                                     const ReflectFlags& flags);
  // As `definition`, of a CRD, says; null: nobody knows.
  apiserver::ResourcePtr resource_of(const core::ResourceType& type, const Json* definition) const;
  using Found = std::function<void(apiserver::ResourcePtr)>;
  // What tables of a kind look like and how its lists are called. Custom kinds say so in their
  // definition, which is asked for; who may not read it gets tables of name and age. May call
  // `done` at once.
  void find_resource(client::InFlight& requests, client::Client& client,
                     const core::ResourceType& type, Found done) const;
  // Before the kind starts. `failed` is kept.
  void add(CachedKind& kind, apiserver::ResourcePtr resource,
           std::function<bool(const Error&)> failed);
  // Before the kind goes on in the version that `resource` is of.
  void go_on_as(const CachedKind& kind, apiserver::ResourcePtr resource);
  client::ClientConfig config(const std::string& namespace_) const;
  const apiserver::ReadServer& server() const { return *server_; }

 private:
  CacheServing() = default;
  void fetch(client::Client& client, const std::string& target, const std::string& accept,
             apiserver::ReadServerOptions::Fetched done);

  apiserver::Registry registry_;
  std::map<const CachedKind*, apiserver::ReadServer::KindId> ids_;
  std::unique_ptr<client::PassThrough> passing_;
  std::uint64_t last_fetch_ = 0;
  std::map<std::uint64_t, client::PendingPtr> fetching_;
  std::unique_ptr<apiserver::ReadServer> server_;  // goes first: it calls us
};

}  // namespace kubewatch::cli
