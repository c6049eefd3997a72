#include "client/pass_through.hpp"

#include <utility>

namespace kubewatch::client {

namespace {

constexpr std::size_t kMostRequests = 64;        // passed on at once
constexpr std::size_t kMaxBacklog = 32U << 20U;  // bytes that a client has not taken yet
constexpr Duration kIdleWatch{600000};

}  // namespace

Result<std::unique_ptr<PassThrough>> PassThrough::make(loop::EventLoop& loop,
                                                       const ClientConfig& config, Failed failed) {
  std::unique_ptr<PassThrough> out(new PassThrough(loop, std::move(failed)));
  KW_ASSIGN(out->forwarder_, Forwarder::make(loop, config));
  return out;
}

bool PassThrough::pass(const http::ServerRequest& request, Order order,
                       const std::shared_ptr<http::Responder>& to) {
  if (passing_.size() >= kMostRequests) return false;
  http::Request out;
  out.method = request.method;
  out.url = std::move(order.target);
  for (const char* name : {"Accept", "Content-Type"}) {
    if (request.headers.has(name)) out.headers.set(name, std::string(request.headers.get(name)));
  }
  out.body = request.body;
  out.streaming = order.streaming;
  if (order.streaming) out.idle_timeout = kIdleWatch;
  const std::uint64_t id = ++last_;
  Passing& passing = passing_[id];
  passing.owner = std::move(order.owner);
  passing.responder = to;
  http::CallHandlers handlers;
  handlers.on_head = [this, id](const http::ResponseHead& head) { on_head(id, head); };
  handlers.on_data = [this, id](std::string_view bytes) { on_data(id, bytes); };
  handlers.on_done = [this, id](const Result<void>& how) { on_done(id, how); };
  passing.call = forwarder_->start(std::move(out), std::move(handlers));
  return true;
}

void PassThrough::end(const std::string& owner) {
  std::erase_if(passing_, [&](const auto& entry) { return entry.second.owner == owner; });
}

void PassThrough::on_head(std::uint64_t id, const http::ResponseHead& head) {
  const auto it = passing_.find(id);
  if (it == passing_.end()) return;
  Passing& passing = it->second;
  if (passing.responder->gone()) {
    passing_.erase(it);
    return;
  }
  http::Headers headers;
  for (const char* name : {"Content-Type", "Retry-After", "Warning"}) {
    if (head.headers.has(name)) headers.add(name, std::string(head.headers.get(name)));
  }
  passing.begun = true;
  passing.responder->on_gone([this, id] {
    loop_.post([this, id, there = std::weak_ptr(alive_)] {
      if (!there.expired()) passing_.erase(id);
    });
  });
  passing.responder->begin(head.status, headers);
}

void PassThrough::on_data(std::uint64_t id, std::string_view bytes) {
  const auto it = passing_.find(id);
  if (it == passing_.end()) return;
  it->second.responder->send(bytes);
  // It reads slower than the server sends: it may ask again.
  if (it->second.responder->backlog() > kMaxBacklog) passing_.erase(it);
}

void PassThrough::on_done(std::uint64_t id, const Result<void>& how) {
  auto node = passing_.extract(id);
  if (node.empty()) return;
  if (!how.ok() && !node.mapped().begun) failed_(*node.mapped().responder, how.error());
}

}  // namespace kubewatch::client
