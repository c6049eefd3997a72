// The small API server of `credentials: cache`: on loopback, over TLS, for the hooks of one rule,
// each let in by a token of its own that ends with it. What the rule's caches hold whole is
// answered from them, the rest passed on with this process's credentials; gateway_request decides
// what. What it passes on for a run is counted as the run's own. Owned by HookRunner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.hpp"
#include "client/pass_through.hpp"
#include "hooks/gateway_request.hpp"
#include "hooks/gateway_writes.hpp"
#include "hooks/invocation.hpp"
#include "hooks/rule.hpp"
#include "http/server.hpp"

namespace kubewatch::hooks {

class RuleCaches;

class HookGateway {
 public:
  // All must outlive it. Errors: unavailable (no port), invalid (a configuration without
  // transport).
  static Result<std::unique_ptr<HookGateway>> open(client::Client& client, const Rule& rule,
                                                   const RuleCaches& caches, PatchMemory& memory);
  ~HookGateway();

  // A kubeconfig in `home`, 0600, that leads here, and the token in it, which must not be logged.
  Result<HookEnvironment> let_in(const std::string& home);
  // What comes from this home from now on is of this run. Nothing where it is not let in.
  void serve(const std::string& home, GatewayGuestPtr guest);
  // What it was let in with is good for nothing any more, and its open requests end.
  void revoke(const std::string& home);
  // The tokens of all that are let in.
  std::vector<std::string> secrets() const;
  std::uint16_t port() const { return server_->port(); }

 private:
  struct Home {
    std::string token;
    GatewayGuestPtr guest;  // null: no run yet
  };

  HookGateway(client::Client& client, const Rule& rule, const RuleCaches& caches,
              PatchMemory& memory)
      : client_(client), rule_(rule), caches_(caches), memory_(memory) {}
  void handle(const http::ServerRequest& request, const std::shared_ptr<http::Responder>& to);
  const std::string* home_of(const http::ServerRequest& request) const;
  void pass(const http::ServerRequest& request, const GatewayPlan& plan, const std::string& home,
            const std::shared_ptr<http::Responder>& to);
  void on_written(const GatewayWrite& write, const std::string& target,
                  const GatewayGuestPtr& guest, const client::PassThrough::Ended& ended);
  std::string cached_version(const GatewayPlan& plan) const;
  bool reads_stripped(const core::ApiPath& path) const;
  bool answer_from_cache(const GatewayPlan& plan, http::Responder& to) const;

  client::Client& client_;
  const Rule& rule_;
  const RuleCaches& caches_;
  PatchMemory& memory_;
  std::string ca_pem_;
  std::map<std::string, Home> homes_;
  std::unique_ptr<client::PassThrough> passing_;
  std::unique_ptr<http::Server> server_;  // goes first: it calls us
};

}  // namespace kubewatch::hooks
