// The server's TLS settings: one certificate, TLS 1.2 and newer, HTTP/1.1.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "http/server.hpp"

struct ssl_ctx_st;

namespace kubewatch::http {

struct SslContextFree {
  void operator()(ssl_ctx_st* context) const;
};
using SslContextPtr = std::unique_ptr<ssl_ctx_st, SslContextFree>;

// Errors: invalid.
Result<SslContextPtr> make_server_context(const ServerTls& tls);

}  // namespace kubewatch::http
