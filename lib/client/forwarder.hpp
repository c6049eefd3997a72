// Requests of somebody else, passed on to the API server of a configuration with its credentials,
// their answers given back as they come. What may be passed on is the caller's decision.
#pragma once

#include <memory>

#include "client/config.hpp"
#include "client/request_observer.hpp"
#include "http/transport.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

class Forwarder {
 public:
  // `loop` must outlive it. Errors: invalid (a configuration that no transport can be made of).
  static Result<std::unique_ptr<Forwarder>> make(loop::EventLoop& loop, const ClientConfig& config);
  // The same on a transport that outlives it: for tests.
  Forwarder(loop::EventLoop& loop, http::Transport& transport, ClientConfig config);
  ~Forwarder();

  // `request.url` is a path and query; its headers are sent as they are, those of the credentials
  // come on top. Handlers as http::Transport has them; errors of the credentials, and of
  // `request.admit`, come by on_done. `scope`: whose request it is in the log; null: nobody's.
  [[nodiscard]] std::unique_ptr<http::Call> start(http::Request request,
                                                  http::CallHandlers handlers,
                                                  RequestObserverPtr scope = nullptr);

 private:
  struct Impl;
  explicit Forwarder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::client
