// Logging in with what another program or an identity provider gives us: who supplies it, and when
// what we have is still good. Deciding only; login_transport.hpp makes requests wait for it.
// Internal to lib/client.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace kubewatch::client {

// A bearer token, a client certificate with its key, or both.
struct Login {
  std::string token;
  std::string client_cert_pem;
  std::string client_key_pem;
  std::optional<WallTime> expires;  // absent: good until the server refuses it

  bool same_as(const Login& other) const {
    return token == other.token && client_cert_pem == other.client_cert_pem &&
           client_key_pem == other.client_key_pem;
  }
};

// Where logins come from. Owned by who asks it.
class LoginSource {
 public:
  virtual ~LoginSource() = default;
  // One at a time; destroying the source cancels. `done` comes from the loop, never from inside.
  // `refused`: the server said 401 to what the last one gave, or it cannot be used, so nothing kept
  // may be given again.
  // Errors name the program or the issuer, never what it said of tokens.
  virtual void fetch(bool refused, std::function<void(Result<Login>)> done) = 0;
};

// Whether the login at hand may be used, and whether a 401 is worth another one.
class LoginState {
 public:
  // Not yet fetched, refused, or about to expire: fetch first. One that the source gave again is
  // used until it expires: it would give it to each of our requests until then.
  bool usable(WallTime now) const;
  // Expires soon at most: better than none where another one was not to be had.
  bool still_good(WallTime now) const;
  const Login& login() const { return login_; }
  // Which login a request carried; told again when it is refused.
  std::uint64_t generation() const { return generation_; }

  // Of a fetch that succeeded. Returns whether it is another one than before.
  bool took(Login login, TimePoint now);
  // 401 for a request of that generation. Returns whether it is worth asking for a login and
  // sending the request again: not when the source has just given the very login that is refused.
  bool refused(std::uint64_t generation, TimePoint now);
  // The last one was refused, so the source must not give it again from what it keeps.
  bool was_refused() const { return refused_; }

 private:
  Login login_;
  std::uint64_t generation_ = 0;  // 0: none yet
  bool refused_ = false;
  bool kept_to_the_end_ = false;  // the source gave it again
  std::optional<TimePoint> same_again_at_;
};

}  // namespace kubewatch::client
