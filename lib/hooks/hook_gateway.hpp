// The small API server of `credentials: cache`: on loopback, over TLS, for the hooks of one rule,
// each let in by a token of its own that ends with it. What the rule's caches hold whole is
// answered from them, the rest passed on with this process's credentials; gateway_request decides
// what. Owned by HookRunner.
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
#include "hooks/invocation.hpp"
#include "hooks/rule.hpp"
#include "http/server.hpp"

namespace kubewatch::hooks {

class RuleCaches;

class HookGateway {
 public:
  // All must outlive it. Errors: unreachable (no port), invalid (a configuration without
  // transport).
  static Result<std::unique_ptr<HookGateway>> open(client::Client& client, const Rule& rule,
                                                   const RuleCaches& caches);
  ~HookGateway();

  // A kubeconfig in `home`, 0600, that leads here, and the token in it, which must not be logged.
  Result<HookEnvironment> let_in(const std::string& home);
  // What it was let in with is good for nothing any more, and its open requests end.
  void revoke(const std::string& home);
  // The tokens of all that are let in.
  std::vector<std::string> secrets() const;
  std::uint16_t port() const { return server_->port(); }

 private:
  HookGateway(client::Client& client, const Rule& rule, const RuleCaches& caches)
      : client_(client), rule_(rule), caches_(caches) {}
  void handle(const http::ServerRequest& request, const std::shared_ptr<http::Responder>& to);
  const std::string* home_of(const http::ServerRequest& request) const;
  bool answer_from_cache(const GatewayPlan& plan, http::Responder& to) const;

  client::Client& client_;
  const Rule& rule_;
  const RuleCaches& caches_;
  std::string ca_pem_;
  std::map<std::string, std::string> tokens_;  // home -> token
  std::unique_ptr<client::PassThrough> passing_;
  std::unique_ptr<http::Server> server_;  // goes first: it calls us
};

}  // namespace kubewatch::hooks
