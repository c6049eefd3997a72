// The HTTP listener for `triggers: [{http: ...}]`: hands each request to TriggerAnswers. Owned by
// the hub.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "hooks/engine.hpp"
#include "hooks/trigger_answers.hpp"
#include "http/server.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

class TriggerServer {
 public:
  // Errors: unavailable (the address is taken).
  static Result<std::unique_ptr<TriggerServer>> listen(loop::EventLoop& loop,
                                                       const ListenAddress& address,
                                                       std::vector<TriggerRoute> routes,
                                                       TriggerAnswers::OnRequest on_request);
  std::uint16_t port() const { return server_->port(); }
  void set_routes(std::vector<TriggerRoute> routes) { answers_.set_routes(std::move(routes)); }

 private:
  explicit TriggerServer(TriggerAnswers answers) : answers_(std::move(answers)) {}

  TriggerAnswers answers_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace kubewatch::hooks
