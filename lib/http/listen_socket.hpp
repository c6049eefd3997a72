// The listening TCP socket of a server, with the options that accepted sockets inherit on Linux.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace kubewatch::http {

struct ListenSocket {
  int fd = -1;  // the caller's to close
  std::uint16_t port = 0;
};

// "::" is IPv4 as well, and IPv4 alone where there is no IPv6. Errors: unavailable (about this
// machine, not about an API server), naming address and port.
Result<ListenSocket> listen_on(const std::string& address, std::uint16_t port);

// The local address of a connected socket, without port: "127.0.0.1", "::1"; IPv4 in IPv6 as IPv4.
std::string local_address_of(int fd);

}  // namespace kubewatch::http
