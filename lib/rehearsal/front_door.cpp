// Requests of hooks to calls of LocalServer, and their answers back as they come.
#include "rehearsal/front_door.hpp"

#include <fmt/format.h>

#include <utility>

#include "apiserver/status.hpp"
#include "base/json.hpp"
#include "base/random.hpp"
#include "http/bearer.hpp"

namespace kubewatch::rehearsal {

namespace {

constexpr std::size_t kTokenBytes = 32;

}  // namespace

FrontDoor::FrontDoor(loop::EventLoop& loop, LocalServer& server)
    : loop_(loop), server_(server), token_(base::secure_random_hex(kTokenBytes)) {
  server_.api().tokens().admit(token_);
}

FrontDoor::~FrontDoor() = default;

Result<std::unique_ptr<FrontDoor>> FrontDoor::open(loop::EventLoop& loop, LocalServer& server) {
  std::unique_ptr<FrontDoor> out(new FrontDoor(loop, server));
  KW_ASSIGN(auto made, http::generate_certificate({"localhost"}, {"127.0.0.1"}));
  out->ca_pem_ = std::move(made.ca_pem);
  http::ServerOptions options;
  options.tls = http::ServerTls{std::move(made.certificate_pem), std::move(made.key_pem)};
  KW_ASSIGN(out->listening_,
            http::Server::listen(loop, std::move(options),
                                 [self = out.get()](http::ServerRequest request,
                                                    std::shared_ptr<http::Responder> to) {
                                   self->handle(std::move(request), std::move(to));
                                 }));
  return out;
}

std::string FrontDoor::url() const {
  return fmt::format("https://127.0.0.1:{}", listening_->port());
}

void FrontDoor::handle(http::ServerRequest request, std::shared_ptr<http::Responder> to) {
  auto caller = server_.api().tokens().caller(http::bearer_token(request.headers), loop_.wall());
  if (!caller) {
    const Error refused = apiserver::unauthorized();
    http::Headers headers;
    headers.add("Content-Type", "application/json");
    return to->respond(401, headers, refused.status()->body);
  }
  http::Request inside;
  inside.method = std::move(request.method);
  inside.url = LocalServer::kUrl + request.path;
  if (!request.query.empty()) inside.url += "?" + request.query;
  inside.headers = std::move(request.headers);
  inside.body = std::move(request.body);
  const std::uint64_t id = ++last_;
  http::CallHandlers handlers;
  handlers.on_head = [this, id](const http::ResponseHead& head) { on_head(id, head); };
  handlers.on_data = [this, id](std::string_view bytes) {
    const auto it = passing_.find(id);
    if (it != passing_.end()) it->second.to->send(bytes);
  };
  handlers.on_done = [this, id](const Result<void>& how) { on_done(id, how); };
  Passing& passing = passing_[id];
  passing.to = std::move(to);
  passing.call = server_.start_for_hook(std::move(inside), std::move(*caller), std::move(handlers));
}

void FrontDoor::on_head(std::uint64_t id, const http::ResponseHead& head) {
  const auto it = passing_.find(id);
  if (it == passing_.end()) return;
  if (it->second.to->gone()) {
    passing_.erase(it);
    return;
  }
  it->second.to->on_gone([this, id, there = std::weak_ptr(alive_)] {
    loop_.post([this, id, there] {
      if (!there.expired()) passing_.erase(id);
    });
  });
  it->second.to->begin(head.status, head.headers);
}

// A connection that a test case loses is lost for the hook as well.
void FrontDoor::on_done(std::uint64_t id, const Result<void>& how) {
  auto node = passing_.extract(id);
  if (!node.empty() && !how.ok()) node.mapped().to->abort();
}

}  // namespace kubewatch::rehearsal
