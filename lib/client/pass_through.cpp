#include "client/pass_through.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/strings.hpp"

namespace kubewatch::client {

namespace {

constexpr std::size_t kAhead = 512U << 10U;  // that a client has not taken
constexpr Duration kLook{5000};              // at one that has something to take
constexpr Duration kIdleWatch{600000};
constexpr Duration kIdleRead{60000};  // also the time to the first byte of a long list

bool reads(const http::ServerRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

}  // namespace

bool is_tunnel(std::string_view subresource) {
  constexpr std::array<std::string_view, 5> kTunnels = {"proxy", "exec", "attach", "portforward",
                                                        "token"};
  return std::find(kTunnels.begin(), kTunnels.end(), subresource) != kTunnels.end();
}

Result<std::unique_ptr<PassThrough>> PassThrough::make(loop::EventLoop& loop,
                                                       const ClientConfig& config, Failed failed) {
  KW_ASSIGN(auto forwarder, Forwarder::make(loop, config));
  return std::make_unique<PassThrough>(loop, std::move(forwarder), std::move(failed));
}

PassThrough::~PassThrough() {
  for (auto& [id, passing] : passing_) cut(std::move(passing));
}

bool PassThrough::pass(const http::ServerRequest& request, Order order,
                       const std::shared_ptr<http::Responder>& to) {
  const std::size_t most = order.streaming ? kMostStreams : kMostRequests;
  if (on_their_way(order.streaming) >= most) return false;
  http::Request out;
  out.method = request.method;
  out.url = std::move(order.target);
  for (const char* name : {"Accept", "Content-Type"}) {
    if (request.headers.has(name)) out.headers.set(name, std::string(request.headers.get(name)));
  }
  out.body = request.body;
  // A long list or log takes as long as it takes: it ends when nothing comes any more.
  out.streaming = order.streaming || reads(request);
  if (out.streaming) out.idle_timeout = order.streaming ? kIdleWatch : kIdleRead;
  if (!reads(request)) out.admit = std::move(order.admit);
  const std::uint64_t id = ++last_;
  Passing& passing = passing_[id];
  passing.owner = std::move(order.owner);
  passing.streaming = order.streaming;
  passing.has_time = out.streaming;
  passing.responder = to;
  passing.ended = std::move(order.ended);
  passing.started = loop_.now();
  passing.keep = passing.ended ? order.keep : 0;
  http::CallHandlers handlers;
  handlers.on_head = [this, id](const http::ResponseHead& head) { on_head(id, head); };
  handlers.on_data = [this, id](std::string_view bytes) { on_data(id, bytes); };
  handlers.on_done = [this, id](const Result<void>& how) { on_done(id, how); };
  passing.call = forwarder_->start(std::move(out), std::move(handlers), std::move(order.scope));
  return true;
}

std::size_t PassThrough::on_their_way(bool streaming) const {
  return static_cast<std::size_t>(
      std::count_if(passing_.begin(), passing_.end(),
                    [streaming](const auto& one) { return one.second.streaming == streaming; }));
}

void PassThrough::end(const std::string& owner) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, passing] : passing_) {
    if (passing.owner == owner) ids.push_back(id);
  }
  // Who is told of one end may end others.
  for (const std::uint64_t id : ids) {
    if (const auto it = passing_.find(id); it != passing_.end()) drop(it);
  }
}

void PassThrough::cut(Passing passing) {
  if (passing.begun) passing.responder->abort();
}

void PassThrough::tell(const Passing& passing, const Error* error, bool whole) const {
  if (!passing.ended) return;
  passing.ended({passing.status, error, passing.content_type,
                 whole && passing.kept_all ? &passing.kept : nullptr,
                 loop_.now() - passing.started});
}

// Out of the list first: cutting off may call back.
void PassThrough::drop(std::map<std::uint64_t, Passing>::iterator it) {
  auto node = passing_.extract(it);
  tell(node.mapped(), nullptr, false);
  cut(std::move(node.mapped()));
}

void PassThrough::on_head(std::uint64_t id, const http::ResponseHead& head) {
  const auto it = passing_.find(id);
  if (it == passing_.end()) return;
  Passing& passing = it->second;
  passing.status = head.status;
  passing.content_type = head.headers.get("Content-Type");
  if (passing.responder->gone()) return drop(it);
  // Who asked us was let in: it is not its login that is refused.
  if (head.status == 401) {
    const auto node = passing_.extract(it);
    tell(node.mapped(), nullptr, false);
    return failed_(*node.mapped().responder,
                   Error(ErrorKind::unauthorized,
                         "the API server does not accept the login that it is passed on with"));
  }
  http::Headers headers;
  for (const char* name : {"Content-Type", "Retry-After"}) {
    if (head.headers.has(name)) headers.add(name, std::string(head.headers.get(name)));
  }
  for (const auto& [name, value] : head.headers.all()) {
    if (base::to_lower(name) == "warning") headers.add("Warning", value);
  }
  passing.begun = true;
  passing.responder->on_gone([this, id] {
    loop_.post([this, id, there = std::weak_ptr(alive_)] {
      if (there.expired()) return;
      if (const auto gone = passing_.find(id); gone != passing_.end()) drop(gone);
    });
  });
  passing.responder->on_drained([this, id, there = std::weak_ptr(alive_)] {
    if (!there.expired()) on_drained(id);
  });
  passing.responder->begin(head.status, headers);
}

void PassThrough::on_data(std::uint64_t id, std::string_view bytes) {
  const auto it = passing_.find(id);
  if (it == passing_.end()) return;
  Passing& passing = it->second;
  if (passing.kept.size() + bytes.size() <= passing.keep) {
    passing.kept += bytes;
  } else {
    passing.kept_all = false;
    passing.keep = 0;
    passing.kept = {};
  }
  passing.sent += bytes.size();
  passing.responder->send(bytes);
  const std::size_t backlog = passing.responder->backlog();
  if (backlog > 0 && !passing.stall) {
    passing.stall.emplace(loop_.now());
    look_later(id, passing);
  }
  if (passing.has_time && backlog > kAhead) pause(passing);
}

void PassThrough::pause(Passing& passing) {
  if (passing.paused) return;
  passing.paused = true;
  passing.call->pause();
}

// Not at each of its pieces: most are taken at once. A client lives in real time alone.
void PassThrough::look_later(std::uint64_t id, Passing& passing) {
  passing.next_look = loop_.after_real(kLook, [this, id] {
    const auto it = passing_.find(id);
    Passing& looked_at = it->second;
    const std::size_t backlog = looked_at.responder->backlog();
    if (looked_at.stall->stalled(backlog, loop_.now(), looked_at.sent)) return drop(it);
    if (backlog > 0) return look_later(id, looked_at);
    looked_at.stall.reset();
  });
}

void PassThrough::on_drained(std::uint64_t id) {
  const auto it = passing_.find(id);
  if (it == passing_.end() || !it->second.paused) return;
  it->second.paused = false;
  it->second.call->resume();
}

void PassThrough::on_done(std::uint64_t id, const Result<void>& how) {
  auto node = passing_.extract(id);
  if (node.empty()) return;
  tell(node.mapped(), how.ok() ? nullptr : &how.error(), how.ok());
  if (how.ok()) return;
  if (!node.mapped().begun) return failed_(*node.mapped().responder, how.error());
  cut(std::move(node.mapped()));
}

}  // namespace kubewatch::client
