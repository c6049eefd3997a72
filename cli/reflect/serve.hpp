// Caches behind the read-only API server: what the kinds tell goes to it, what it does not hold
// goes to the real server where that was asked for. Owned by the verb; the kinds must outlive it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/read_server.hpp"
#include "apiserver/registry.hpp"
#include "cli/reflect/kinds.hpp"
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
  // What tables of a kind look like and how its lists are called. A CRD's is asked for by
  // `definition`; null: not known, so tables have name and age.
  apiserver::ResourcePtr resource_of(const core::ResourceType& type, const Json* definition) const;
  // Before the kind starts. `failed` is kept.
  void add(CachedKind& kind, apiserver::ResourcePtr resource,
           std::function<void(const Error&)> failed);
  client::ClientConfig config(const std::string& namespace_) const;
  const apiserver::ReadServer& server() const { return *server_; }

 private:
  CacheServing() = default;
  void fetch(client::Client& client, const std::string& target, const std::string& accept,
             apiserver::ReadServerOptions::Fetched done);

  apiserver::Registry registry_;
  std::unique_ptr<client::PassThrough> passing_;
  std::uint64_t last_fetch_ = 0;
  std::map<std::uint64_t, client::PendingPtr> fetching_;
  std::unique_ptr<apiserver::ReadServer> server_;  // goes first: it calls us
};

}  // namespace kubewatch::cli
