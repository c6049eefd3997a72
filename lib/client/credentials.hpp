// The headers that say who we are: bearer token, token file, basic auth, impersonation. Reads token
// files again when they age or the server refuses them. Client certificates are the transport's
// business.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "client/config.hpp"
#include "http/message.hpp"

namespace kubewatch::client {

// Credentials go over https, or stay on this machine.
bool sends_credentials(const ClientConfig& config);

// For a start: a token file that is missing or empty is then a wrong configuration, as a missing
// certificate is, and not what a later try may mend. Errors: as Credentials::authorize.
Result<void> check_token(const ClientConfig& config);

class Credentials {
 public:
  // `config` must outlive it.
  explicit Credentials(const ClientConfig& config);

  // Errors: those of the token file, when no earlier content of it is known; invalid (a token that
  // cannot stand in a header).
  Result<void> authorize(http::Headers& headers, TimePoint now);
  // The server said 401: the next authorize() reads the token file again.
  void refused() { read_at_.reset(); }
  // The same, at once: true when the file now holds another token, so that asking again may help.
  // `headers` then carry it.
  bool renew(http::Headers& headers, TimePoint now);
  // There are credentials, but the server is reached without TLS and is not on this machine, so
  // none are ever sent.
  bool withheld() const { return withheld_; }

 private:
  Result<void> refresh_token(TimePoint now);
  Result<void> set_authorization(http::Headers& headers, TimePoint now);

  const ClientConfig& config_;
  bool withheld_ = false;
  std::string token_;
  std::optional<TimePoint> read_at_;
};

}  // namespace kubewatch::client
