// Sending of requests.
#include "client/sender.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "client/watch_call.hpp"
#include "core/status.hpp"

namespace kubewatch::client {
namespace {

struct CallPending : Pending {
  std::unique_ptr<http::Call> call;
};

struct FailedPending : Pending {
  std::shared_ptr<std::function<void(Error)>> done;
};

}  // namespace

Sender::Sender(loop::EventLoop& loop, http::Transport& transport, ClientConfig config)
    : loop_(loop), transport_(transport), config_(std::move(config)), credentials_(config_) {
  if (!credentials_.withheld()) return;
  base::log_warn("no credentials are sent to " + config_.server +
                 ": it is neither https nor this machine");
}

Result<void> Sender::prepare(http::Request& request) {
  request.url = config_.server + request.url;
  request.response_timeout = config_.request_timeout;
  if (config_.request_timeout.count() > 0) {
    request.connect_timeout = std::min(request.connect_timeout, config_.request_timeout);
  }
  if (!request.headers.has("Accept")) request.headers.set("Accept", "application/json");
  return credentials_.authorize(request.headers, loop_.now());
}

void Sender::note_answer(const http::Request& request, int status, const http::Headers& headers,
                         TimePoint started) {
  log_answer(request.method, request.url, status, loop_.now() - started);
  warnings_.report(headers);
  if (status == 401) credentials_.refused();
}

PendingPtr Sender::fail(Error error, std::function<void(Error)> done) {
  auto pending = std::make_unique<FailedPending>();
  pending->done = std::make_shared<std::function<void(Error)>>(std::move(done));
  loop_.post([weak = std::weak_ptr(pending->done), error = std::move(error)] {
    if (const auto callback = weak.lock()) (*callback)(error);
  });
  return pending;
}

PendingPtr Sender::send(Operation operation, ResponseCallback done) {
  if (auto ready = prepare(operation.request); !ready.ok()) {
    return fail(std::move(ready).error().with_context(operation.what),
                [done = std::move(done)](Error error) { done(std::move(error)); });
  }
  if (operation.log_body) log_request_body(operation.request);
  auto pending = std::make_unique<CallPending>();
  http::Request request = operation.request;
  operation.request.body.clear();
  pending->call = http::fetch(transport_, std::move(request),
                              [this, operation = std::move(operation), started = loop_.now(),
                               done = std::move(done)](Result<http::Response> response) {
                                finish(operation, started, std::move(response), done);
                              });
  return pending;
}

void Sender::finish(const Operation& operation, TimePoint started, Result<http::Response> response,
                    const ResponseCallback& done) {
  if (!response.ok()) {
    log_no_answer(operation.request.method, operation.request.url, response.error(),
                  loop_.now() - started);
    done(std::move(response).with_context(operation.what));
    return;
  }
  note_answer(operation.request, response->status, response->headers, started);
  if (operation.log_body) log_answer_body(response->body);
  if (operation.map_status && response->status >= 300) {
    done(error_of_answer(response->status, response->headers, response->body)
             .with_context(operation.what));
    return;
  }
  done(std::move(response));
}

PendingPtr Sender::watch(Operation operation, WatchHandlers handlers) {
  return start_watch(*this, transport_, std::move(operation), std::move(handlers));
}

Error error_of_answer(int status, const http::Headers& headers, std::string_view body) {
  if (status >= 400) return core::error_from_response(status, body, headers.get("Retry-After"));
  std::string message = "the server answered " + std::to_string(status);
  if (const auto location = headers.get("Location"); !location.empty()) {
    message += ", a redirect to " + std::string(location.substr(0, 200)) +
               ", which is not followed because the request carries credentials; use that server";
  }
  return Error(ErrorKind::unsupported, std::move(message));
}

}  // namespace kubewatch::client
