// The answer that a LoginSource owes to the fetch() under way. A member of the source, which it
// goes with; nobody is told any more then. Internal to lib/client.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "client/login.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

class LoginAnswer {
 public:
  // `loop` must outlive it.
  explicit LoginAnswer(loop::EventLoop& loop) : loop_(loop) {}
  LoginAnswer(const LoginAnswer&) = delete;
  LoginAnswer& operator=(const LoginAnswer&) = delete;

  void owe(std::function<void(Result<Login>)> done) { done_ = std::move(done); }

  // However it failed, nobody is logged in: every error becomes unauthorized, for not_found of a
  // program must not pass for an object's. Who is told may destroy the source.
  void tell(Result<Login> login) {
    if (!login.ok()) login = Error(ErrorKind::unauthorized, login.error().render());
    if (const auto done = std::exchange(done_, nullptr)) done(std::move(login));
  }
  // From the loop: for what is known while fetch() runs.
  void tell_later(Result<Login> login) {
    loop_.post([weak = std::weak_ptr(alive_), this, login = std::move(login)] {
      if (!weak.expired()) tell(login);
    });
  }

 private:
  loop::EventLoop& loop_;
  std::function<void(Result<Login>)> done_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace kubewatch::client
