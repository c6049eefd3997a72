// The way to a LocalServer for hooks that are handed credentials: on 127.0.0.1, over TLS, for who
// has the token of this rehearsal, or one that the server gave out for a service account. What
// stands behind it is LocalServer's. Owned by World.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "http/server.hpp"
#include "loop/event_loop.hpp"
#include "rehearsal/local_server.hpp"

namespace kubewatch::rehearsal {

class FrontDoor {
 public:
  // Both must outlive it. Errors: unreachable (no port).
  static Result<std::unique_ptr<FrontDoor>> open(loop::EventLoop& loop, LocalServer& server);
  ~FrontDoor();

  std::string url() const;
  const std::string& ca_pem() const { return ca_pem_; }
  const std::string& token() const { return token_; }

 private:
  struct Passing {
    std::unique_ptr<http::Call> call;
    std::shared_ptr<http::Responder> to;
  };

  FrontDoor(loop::EventLoop& loop, LocalServer& server);
  void handle(http::ServerRequest request, std::shared_ptr<http::Responder> to);
  void on_head(std::uint64_t id, const http::ResponseHead& head);
  void on_done(std::uint64_t id, const Result<void>& how);

  loop::EventLoop& loop_;
  LocalServer& server_;
  std::string ca_pem_;
  std::string token_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Passing> passing_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // posted calls ask for it
  std::unique_ptr<http::Server> listening_;                 // goes first: it calls us
};

}  // namespace kubewatch::rehearsal
