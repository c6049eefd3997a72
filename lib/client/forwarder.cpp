#include "client/forwarder.hpp"

#include <utility>

#include "client/sender.hpp"
#include "core/api_path.hpp"

namespace kubewatch::client {

struct Forwarder::Impl {
  Impl(loop::EventLoop& loop, http::Transport& transport_of_caller, ClientConfig config)
      : transport(transport_of_caller), sender(loop, transport, std::move(config)) {}
  Impl(loop::EventLoop& loop, std::unique_ptr<http::Transport> made, ClientConfig config)
      : own(std::move(made)), transport(*own), sender(loop, transport, std::move(config)) {}

  std::unique_ptr<http::Transport> own;
  http::Transport& transport;
  Sender sender;
};

Forwarder::Forwarder(loop::EventLoop& loop, http::Transport& transport, ClientConfig config)
    : impl_(std::make_unique<Impl>(loop, transport, std::move(config))) {}
Forwarder::Forwarder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Forwarder::~Forwarder() = default;

Result<std::unique_ptr<Forwarder>> Forwarder::make(loop::EventLoop& loop,
                                                   const ClientConfig& config) {
  KW_ASSIGN(auto transport, make_transport(loop, config));
  return std::unique_ptr<Forwarder>(
      new Forwarder(std::make_unique<Impl>(loop, std::move(transport), config)));
}

namespace {

// As may_log_body(), of a path and query.
bool names_no_secret(std::string_view target) {
  const auto segments = core::path_segments(target.substr(0, target.find('?')));
  if (!segments.ok()) return false;
  const auto path = core::parse_api_path(*segments);
  return path && may_log_body(path->plural, path->subresource);
}

// A request that never starts.
struct FailedCall : http::Call {
  std::shared_ptr<std::function<void(Result<void>)>> done;
};

}  // namespace

std::unique_ptr<http::Call> Forwarder::start(http::Request request, http::CallHandlers handlers,
                                             RequestObserverPtr scope) {
  Sender& sender = impl_->sender;
  const bool may_quote = names_no_secret(request.url);
  auto ready = sender.prepare(request);
  if (ready.ok()) ready = http::ask_admission(request);
  if (!ready.ok()) {
    auto failed = std::make_unique<FailedCall>();
    failed->done = std::make_shared<std::function<void(Result<void>)>>(std::move(handlers.on_done));
    sender.loop().post([weak = std::weak_ptr(failed->done), error = std::move(ready).error()] {
      if (const auto done = weak.lock()) (*done)(error);
    });
    return failed;
  }
  // What was refused, and what could not connect, has its token and certificates looked at again,
  // for the requests after this one.
  auto sent = std::make_shared<http::Request>();
  sent->method = request.method;
  sent->url = request.url;
  handlers.on_head = [this, sent, may_quote, scope, started = sender.loop().now(),
                      on_head = std::move(handlers.on_head)](const http::ResponseHead& head) {
    {
      const RequestScope inside(impl_->sender.observers(), scope);
      impl_->sender.note_answer(*sent, head.status, head.headers, started, may_quote);
    }
    if (head.status == 401) (void)impl_->sender.renew(*sent);
    if (on_head) on_head(head);
  };
  handlers.on_done = [this, sent, scope, started = sender.loop().now(),
                      on_done = std::move(handlers.on_done)](Result<void> result) {
    if (!result.ok()) {
      const RequestScope inside(impl_->sender.observers(), scope);
      impl_->sender.note_failure(*sent, result.error(), started);
    }
    on_done(std::move(result));
  };
  return impl_->transport.start(std::move(request), std::move(handlers));
}

}  // namespace kubewatch::client
