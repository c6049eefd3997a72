// The URL of a proxy as Go's net/http reads it, which is kubectl's reading, where libcurl's is
// another. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::http {

// For libcurl: http has port 80 where none is given (libcurl: 1080), and a SOCKS proxy resolves the
// names of servers itself (socks5h).
std::string proxy_for_curl(std::string_view url);

// HOST:PORT, without the credentials that it may hold.
std::string host_of_proxy(std::string_view url);

// The way to the proxy itself is TLS.
bool is_tls_proxy(std::string_view url);

}  // namespace kubewatch::http
