// CA and client certificate that come from files: looks at first use, for the configuration may be
// old by then, every minute, and when the server or a connection refused us, whether they were
// rotated. Reads files; connects nothing.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "client/config.hpp"
#include "http/transport.hpp"

namespace kubewatch::client {

http::TlsOptions tls_options_of(const ClientConfig& config);

// What the files that `config` names hold now, the rest as in `other`. Absent: one is missing or
// empty, so it is being replaced.
std::optional<http::TlsOptions> read_tls_files(const ClientConfig& config, http::TlsOptions other);

class TlsFiles {
 public:
  // `config` must outlive it.
  explicit TlsFiles(const ClientConfig& config);
  // There are files to look at.
  bool any() const;

  // The material, when it is time to look and the files hold another one than what is in use; a
  // file that is missing or empty is being replaced, and is looked at again soon. accept() or
  // reject() must follow.
  std::optional<http::TlsOptions> look(TimePoint now);
  void accept(http::TlsOptions tls) { in_use_ = std::move(tls); }
  // It cannot be used: certificate and key may be replaced one after the other. Given again only
  // when it changed.
  void reject(http::TlsOptions tls, TimePoint now);
  // A 401 or a failed connection: it may be because of old material.
  void suspect(TimePoint now);

 private:
  const ClientConfig& config_;
  http::TlsOptions in_use_;
  std::optional<http::TlsOptions> rejected_;
  std::optional<TimePoint> looked_at_;
  std::optional<TimePoint> look_at_;
};

}  // namespace kubewatch::client
