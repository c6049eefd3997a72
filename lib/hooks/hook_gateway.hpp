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
#include "client/forwarder.hpp"
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
  // One request that was passed on.
  struct Passing {
    std::string home;
    std::unique_ptr<http::Call> call;
    std::shared_ptr<http::Responder> responder;
    bool begun = false;
  };

  HookGateway(client::Client& client, const Rule& rule, const RuleCaches& caches)
      : client_(client), rule_(rule), caches_(caches) {}
  void handle(const http::ServerRequest& request, const std::shared_ptr<http::Responder>& to);
  const std::string* home_of(const http::ServerRequest& request) const;
  bool answer_from_cache(const GatewayPlan& plan, http::Responder& to) const;
  void pass_on(const GatewayPlan& plan, const http::ServerRequest& request, const std::string& home,
               const std::shared_ptr<http::Responder>& to);
  void on_head(std::uint64_t id, const http::ResponseHead& head);
  void on_data(std::uint64_t id, std::string_view bytes);
  void on_done(std::uint64_t id, const Result<void>& how);

  client::Client& client_;
  const Rule& rule_;
  const RuleCaches& caches_;
  std::string ca_pem_;
  std::map<std::string, std::string> tokens_;  // home -> token
  std::uint64_t last_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // posted calls ask for it
  std::unique_ptr<client::Forwarder> forwarder_;
  std::map<std::uint64_t, Passing> passing_;
  std::unique_ptr<http::Server> server_;  // goes first: it calls us
};

}  // namespace kubewatch::hooks
