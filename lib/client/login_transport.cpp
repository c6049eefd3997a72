#include "client/login_transport.hpp"

#include <utility>
#include <vector>

#include "client/login_waits.hpp"

namespace kubewatch::client {
namespace {

constexpr std::size_t kMaxKeptAnswer = 64U << 10U;

class LoginTransport;

std::vector<LoginTransport*>& all_transports() {
  static std::vector<LoginTransport*> instance;
  return instance;
}

// One request from its caller's start() to its end, over at most two of the inner transport's.
class WaitingCall : public std::enable_shared_from_this<WaitingCall> {
 public:
  WaitingCall(LoginTransport& transport, http::Request request, http::CallHandlers handlers)
      : transport_(transport), request_(std::move(request)), handlers_(std::move(handlers)) {}

  // With the login that there is now.
  void send();
  void fail(const Error& error);
  // After a 401: there was no other login to be had.
  void give_answer();
  // Its 401 is held back until it is known whether there is another login.
  bool holds_answer() const { return refused_; }
  void cancel() {
    canceled_ = true;
    inner_.reset();
  }
  void pause() {
    paused_ = true;
    if (inner_) inner_->pause();
  }
  void resume() {
    paused_ = false;
    if (inner_) inner_->resume();
  }

 private:
  void on_head(const http::ResponseHead& head);
  void on_data(std::string_view bytes);
  void on_done(Result<void> result);

  LoginTransport& transport_;
  http::Request request_;
  http::CallHandlers handlers_;
  std::unique_ptr<http::Call> inner_;
  std::uint64_t generation_ = 0;
  bool tried_again_ = false;
  bool refused_ = false;  // the answer is a 401 that is held back
  bool canceled_ = false;
  bool paused_ = false;
  http::ResponseHead kept_head_;
  std::string kept_body_;
};

struct CallerCall : http::Call {
  explicit CallerCall(std::shared_ptr<WaitingCall> waiting) : call(std::move(waiting)) {}
  ~CallerCall() override { call->cancel(); }
  CallerCall(const CallerCall&) = delete;
  CallerCall& operator=(const CallerCall&) = delete;
  void pause() override { call->pause(); }
  void resume() override { call->resume(); }
  const std::shared_ptr<WaitingCall> call;
};

class LoginTransport : public http::Transport {
 public:
  LoginTransport(loop::EventLoop& loop, std::unique_ptr<http::Transport> inner,
                 std::unique_ptr<LoginSource> source, http::TlsOptions base)
      : loop_(loop), inner_(std::move(inner)), base_(std::move(base)), source_(std::move(source)) {
    all_transports().push_back(this);
  }
  ~LoginTransport() override { std::erase(all_transports(), this); }
  LoginTransport(const LoginTransport&) = delete;
  LoginTransport& operator=(const LoginTransport&) = delete;

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    auto call = std::make_shared<WaitingCall>(*this, std::move(request), std::move(handlers));
    admit(call);
    return std::make_unique<CallerCall>(std::move(call));
  }

  Result<void> set_tls(http::TlsOptions tls) override {
    KW_TRY(inner_->set_tls(with_login(tls, state_.login())));
    base_ = std::move(tls);
    return {};
  }

  std::vector<std::string> secrets() const override {
    const Login& login = state_.login();
    return {login.token, login.client_key_pem};
  }
  bool awaits_login() const override { return fetching_; }

  // Sends it, or lets it wait for a login.
  void admit(const std::shared_ptr<WaitingCall>& call) {
    if (state_.usable(loop_.wall())) return call->send();
    waiting_.push_back(call);
    if (std::exchange(fetching_, true)) return;
    source_->fetch(state_.was_refused() || unusable_,
                   [this](Result<Login> login) { fetched(std::move(login)); });
  }

  // The login itself goes on: who comes later may have it.
  void cancel_waiting() {
    if (waiting_.empty()) return;
    // Posted, so that the turn does not go by unseen by those who wait for its end.
    loop_.post([waiting = std::exchange(waiting_, {})] {
      const Error error(ErrorKind::canceled, "interrupted while it waited for a login");
      for (const auto& weak : waiting) {
        if (const auto call = weak.lock()) call->fail(error);
      }
    });
  }

  http::Transport& inner() { return *inner_; }
  LoginState& state() { return state_; }
  TimePoint now() const { return loop_.now(); }

 private:
  static http::TlsOptions with_login(http::TlsOptions tls, const Login& login) {
    if (!login.client_cert_pem.empty()) {
      tls.client_cert_pem = login.client_cert_pem;
      tls.client_key_pem = login.client_key_pem;
    }
    return tls;
  }

  // Whether it is another one. A certificate that cannot be used is no login.
  Result<bool> take(Result<Login> login) {
    if (!login.ok()) return std::move(login).error();
    const bool other = login->client_cert_pem != state_.login().client_cert_pem;
    auto set = other ? inner_->set_tls(with_login(base_, *login)) : Result<void>();
    unusable_ = !set.ok();
    KW_TRY(std::move(set).with_context("the client certificate given to log in"));
    return state_.took(std::move(login).value(), loop_.now());
  }

  void fetched(Result<Login> login) {
    fetching_ = false;
    const auto taken = take(std::move(login));
    // A call that ends may start others.
    for (const auto& weak : std::exchange(waiting_, {})) {
      const auto call = weak.lock();
      if (!call) continue;
      if (!taken.ok() && state_.still_good(loop_.wall())) {
        call->send();
      } else if (!taken.ok()) {
        call->fail(taken.error());
      } else if (call->holds_answer() && !*taken) {
        call->give_answer();
      } else {
        call->send();
      }
    }
  }

  loop::EventLoop& loop_;
  std::unique_ptr<http::Transport> inner_;
  http::TlsOptions base_;
  LoginState state_;
  bool fetching_ = false;
  bool unusable_ = false;  // what the source gave last
  std::vector<std::weak_ptr<WaitingCall>> waiting_;
  // Last: its callback uses what stands above.
  std::unique_ptr<LoginSource> source_;
};

void WaitingCall::send() {
  if (canceled_) return;
  tried_again_ = refused_;
  refused_ = false;
  kept_body_.clear();
  generation_ = transport_.state().generation();
  http::Request request = request_;
  if (const auto admitted = http::ask_admission(request); !admitted.ok()) {
    return fail(admitted.error());
  }
  const std::string& token = transport_.state().login().token;
  if (!token.empty()) request.headers.set("Authorization", "Bearer " + token);
  const auto self = weak_from_this();
  http::CallHandlers handlers;
  handlers.on_head = [self](const http::ResponseHead& head) {
    if (const auto call = self.lock()) call->on_head(head);
  };
  handlers.on_data = [self](std::string_view bytes) {
    if (const auto call = self.lock()) call->on_data(bytes);
  };
  handlers.on_done = [self](Result<void> result) {
    if (const auto call = self.lock()) call->on_done(std::move(result));
  };
  inner_ = transport_.inner().start(std::move(request), std::move(handlers));
  if (paused_) inner_->pause();
}

void WaitingCall::on_head(const http::ResponseHead& head) {
  if (canceled_) return;
  if (head.status == 401 && !tried_again_ &&
      transport_.state().refused(generation_, transport_.now())) {
    refused_ = true;
    kept_head_ = head;
    return;
  }
  if (handlers_.on_head) handlers_.on_head(head);
}

void WaitingCall::on_data(std::string_view bytes) {
  if (canceled_) return;
  if (refused_) {
    kept_body_.append(bytes.substr(0, kMaxKeptAnswer - kept_body_.size()));
  } else if (handlers_.on_data) {
    handlers_.on_data(bytes);
  }
}

void WaitingCall::on_done(Result<void> result) {
  if (canceled_) return;
  if (refused_ && result.ok()) return transport_.admit(shared_from_this());
  refused_ = false;
  if (const auto done = std::move(handlers_.on_done)) done(std::move(result));
}

void WaitingCall::fail(const Error& error) {
  if (canceled_) return;
  if (const auto done = std::move(handlers_.on_done)) done(error);
}

void WaitingCall::give_answer() {
  if (canceled_) return;
  refused_ = false;
  const auto alive = shared_from_this();
  if (handlers_.on_head) handlers_.on_head(kept_head_);
  if (!canceled_ && handlers_.on_data && !kept_body_.empty()) handlers_.on_data(kept_body_);
  if (canceled_) return;
  if (const auto done = std::move(handlers_.on_done)) done({});
}

}  // namespace

void cancel_login_waits() {
  for (LoginTransport* transport : all_transports()) transport->cancel_waiting();
}

std::unique_ptr<http::Transport> make_login_transport(loop::EventLoop& loop,
                                                      std::unique_ptr<http::Transport> inner,
                                                      std::unique_ptr<LoginSource> source,
                                                      http::TlsOptions base) {
  return std::make_unique<LoginTransport>(loop, std::move(inner), std::move(source),
                                          std::move(base));
}

}  // namespace kubewatch::client
