// The HTTP listener for `triggers: [{http: ...}]`: POST of one request to the path of a rule, with
// its token where the rule names one. Answers 202 {"objects": N}. Owned by the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "hooks/engine.hpp"
#include "hooks/hook_process.hpp"
#include "hooks/trigger_request.hpp"
#include "http/server.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

struct TriggerRoute {
  std::string path;
  std::string token_file;  // "": no token is asked for
  std::string document;    // metadata.name of the rule
};

class TriggerServer {
 public:
  // How many objects run; absent: nothing is running here yet, another instance may.
  using OnRequest =
      std::function<std::optional<std::size_t>(const std::string& document, const TriggerRequest&)>;
  // Errors: unreachable (the address is taken).
  static Result<std::unique_ptr<TriggerServer>> listen(loop::EventLoop& loop,
                                                       const ListenAddress& address,
                                                       std::vector<TriggerRoute> routes,
                                                       OnRequest on_request);
  std::uint16_t port() const { return server_->port(); }
  void set_routes(std::vector<TriggerRoute> routes) { routes_ = std::move(routes); }

 private:
  struct Answer {
    int status = 202;
    std::string body;
  };
  TriggerServer(loop::EventLoop& loop, std::vector<TriggerRoute> routes, OnRequest on_request);
  Answer answer(const http::ServerRequest& request);
  // Of all rules with this path, those whose token it carries.
  Result<std::vector<std::string>> allowed(const http::ServerRequest& request) const;

  loop::EventLoop& loop_;
  std::vector<TriggerRoute> routes_;
  OnRequest on_request_;
  LineLimit limit_{1000, 200};
  LineLimit wide_{20, 2};
  LineLimit refused_{1000, 200};  // those without a right must not use up the others' share
  std::unique_ptr<http::Server> server_;
};

}  // namespace kubewatch::hooks
