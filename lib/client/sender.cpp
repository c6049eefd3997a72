// Sending of requests.
#include "client/sender.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "client/login_words.hpp"
#include "client/target.hpp"
#include "client/watch_call.hpp"
#include "core/status.hpp"
#include "http/retry_after.hpp"

namespace kubewatch::client {
namespace {

constexpr std::size_t kMaxShownLocation = 200;
// In the request timeout: half a kilobyte a second, by default.
constexpr std::size_t kLeastBytes = 16U << 10U;
// Whoever has all the time for an answer does not wait for a server that has forgotten it: a watch
// would never begin. kube-apiserver itself gives up after as long.
constexpr Duration kSilence{60000};

// One request, and the second try after a 401 that renewed credentials may mend.
class SendCall : public std::enable_shared_from_this<SendCall> {
 public:
  SendCall(Sender& sender, http::Transport& transport, Operation operation, ResponseCallback done)
      : sender_(sender),
        transport_(transport),
        operation_(std::move(operation)),
        done_(std::move(done)),
        scope_(sender.observers().current) {}

  void start() {
    started_ = sender_.loop().now();
    http::Request request = operation_.request;
    // Kept for a second try only.
    if (retried_ || !sender_.renewable()) operation_.request.body.clear();
    call_ = http::fetch(transport_, std::move(request),
                        [weak = weak_from_this()](Result<http::Response> response) {
                          if (const auto self = weak.lock()) self->finish(std::move(response));
                        });
  }

 private:
  void finish(Result<http::Response> response) {
    const RequestScope inside(sender_.observers(), scope_);
    if (!response.ok()) {
      sender_.note_failure(operation_.request, response.error(), started_);
      tell(0, &response.error());
      return end(std::move(response).with_context(operation_.what));
    }
    sender_.note_answer(operation_.request, response->status, response->headers, started_,
                        operation_.log_body);
    tell(response->status, nullptr);
    if (response->status == 401 && !retried_ && sender_.renew(operation_.request)) {
      retried_ = true;
      // The lead may have been lost while the first try was on its way.
      if (auto open = sender_.pass_gate(operation_.request); !open.ok()) {
        return end(std::move(open).error().with_context(operation_.what));
      }
      return start();
    }
    if (operation_.log_body) log_answer_body(response->body, scope_);
    if (operation_.map_status && response->status >= 300) {
      return end(
          error_of_answer(response->status, response->headers, response->body, &sender_.config())
              .with_context(operation_.what));
    }
    end(std::move(response));
  }

  void tell(int status, const Error* error) {
    sender_.observers().tell(
        scope_, {operation_.what, operation_.request.method, operation_.request.url, status, error,
                 sender_.loop().now() - started_});
  }

  void end(Result<http::Response> response) { done_(std::move(response)); }

  Sender& sender_;
  http::Transport& transport_;
  Operation operation_;
  const ResponseCallback done_;
  const RequestObserverPtr scope_;
  TimePoint started_{};
  std::unique_ptr<http::Call> call_;
  bool retried_ = false;
};

struct CallPending : Pending {
  std::shared_ptr<SendCall> call;
};

// Where a redirect leads, without what may be a secret: login pages put tokens and states into the
// query and the fragment.
std::string shown_location(std::string_view location) {
  location = location.substr(0, location.find_first_of("?#"));
  std::string out;
  std::size_t host = location.find("//");
  host = host == std::string_view::npos ? 0 : host + 2;
  const std::string_view authority = location.substr(host, location.find('/', host) - host);
  const std::size_t user = authority.rfind('@');
  out = location.substr(0, host);
  if (host > 0 && user != std::string_view::npos) host += user + 1;
  out += location.substr(host);
  return out.substr(0, kMaxShownLocation);
}

// Whether a request asks what the caller may do: the server keeps nothing of it. Compared from the
// beginning: what a service behind a proxy path makes of such words is not known.
bool asks_for_own_rights(std::string_view url, std::string_view server) {
  constexpr std::string_view kReviews = "/apis/authorization.k8s.io/v1/selfsubject";
  return url.starts_with(server) && url.substr(server.size()).starts_with(kReviews);
}

}  // namespace

Sender::Sender(loop::EventLoop& loop, http::Transport& transport, ClientConfig config)
    : loop_(loop),
      transport_(transport),
      config_(std::move(config)),
      credentials_(config_),
      tls_files_(config_) {
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
  look_at_tls_files();
  return credentials_.authorize(request.headers, loop_.now());
}

void Sender::limit_silence(http::Request& request) const {
  const Duration most = config_.request_timeout;
  request.idle_timeout = most.count() > 0 ? most : kSilence;
  request.idle_bytes = kLeastBytes;
}

void Sender::note_answer(const http::Request& request, int status, const http::Headers& headers,
                         TimePoint started, bool may_quote) {
  log_answer(request.method, request.url, status, loop_.now() - started, observers_.current);
  warnings_.report(request, headers, may_quote, observers_.current);
  if (status == 401) credentials_.refused();
}

Result<Duration> Sender::may_write() const {
  return gate_ == nullptr ? Result<Duration>(Duration{0}) : gate_->admit();
}

// A write that is let through ends by the time that the gate says, answered or not. One that waits
// for a login is asked about again when it has one: the lead may be lost by then.
Result<void> Sender::pass_gate(http::Request& request) const {
  if (gate_ == nullptr || request.method == "GET" || request.method == "HEAD") return {};
  if (request.method == "POST" && asks_for_own_rights(request.url, config_.server)) return {};
  request.admit = [this] { return may_write(); };
  return http::ask_admission(request);
}

PendingPtr Sender::send(Operation operation, ResponseCallback done) {
  Result<void> ready = prepare(operation.request);
  if (ready.ok()) ready = pass_gate(operation.request);
  if (!ready.ok()) {
    return refuse(loop_, std::move(ready).error().with_context(operation.what), std::move(done));
  }
  if (operation.log_body) log_request_body(operation.request, observers_.current);
  auto pending = std::make_unique<CallPending>();
  pending->call =
      std::make_shared<SendCall>(*this, transport_, std::move(operation), std::move(done));
  pending->call->start();
  return pending;
}

PendingPtr Sender::watch(Operation operation, WatchHandlers handlers) {
  return start_watch(*this, transport_, std::move(operation), std::move(handlers));
}

bool Sender::look_at_tls_files() {
  auto found = tls_files_.look(loop_.now());
  if (!found) return false;
  if (auto set = transport_.set_tls(*found); !set.ok()) {
    base::log_warn("the certificates of " + config_.source +
                   " changed but cannot be used: " + set.error().render());
    tls_files_.reject(std::move(*found), loop_.now());
    return false;
  }
  base::vlog(2, "the certificates of " + config_.source + " changed: used for new connections");
  tls_files_.accept(std::move(*found));
  return true;
}

bool Sender::renew(http::Request& request) {
  tls_files_.suspect(loop_.now());
  const bool other_certificate = look_at_tls_files();
  return credentials_.renew(request.headers, loop_.now()) || other_certificate;
}

void Sender::note_failure(const http::Request& request, const Error& error, TimePoint started) {
  log_no_answer(request.method, request.url, error, loop_.now() - started, observers_.current);
  if (error.is_unreachable()) tls_files_.suspect(loop_.now());
}

Error error_of_answer(int status, const http::Headers& headers, std::string_view body,
                      const ClientConfig* config) {
  if (status >= 400) {
    Error error = core::error_from_response(status, body, http::retry_after_seconds(headers));
    if (error.is_not_found() && core::is_page(body)) return no_api_server(error, config);
    if (config == nullptr || !error.is_unauthorized() || error.status() == nullptr) return error;
    return {error.kind(), error.message() + ": " + why_unauthorized(*config), *error.status()};
  }
  std::string message = "the server answered " + std::to_string(status);
  if (const auto location = headers.get("Location"); !location.empty()) {
    message += ", a redirect to " + shown_location(location) +
               ", which is not followed: no request goes to another server than the one that was "
               "given; use that server";
  }
  return Error(ErrorKind::unavailable, std::move(message));
}

Error no_api_server(const Error& why, const ClientConfig* config) {
  std::string message = why.message();
  if (config != nullptr) {
    message += "; is " + config->server + " an API server? check its address and path";
  }
  if (why.status() == nullptr) return {ErrorKind::unavailable, std::move(message)};
  return {ErrorKind::unavailable, std::move(message), *why.status()};
}

Error unreadable_answer(Error why) {
  if (why.kind() != ErrorKind::invalid) return why;
  return Error(ErrorKind::unavailable, why.render());
}

}  // namespace kubewatch::client
