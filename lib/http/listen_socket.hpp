// The listening TCP sockets of a server, with the options that accepted sockets inherit on Linux.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::http {

struct ListenSockets {
  std::vector<loop::Fd> sockets;  // one at least
  std::uint16_t port = 0;         // of all of them
};

// "::" is IPv4 as well, and IPv4 alone where there is no IPv6; "localhost" is 127.0.0.1 and ::1, or
// the one of them that there is. Errors: unavailable (about this machine, not about an API server),
// naming address and port.
Result<ListenSockets> listen_on(const std::string& address, std::uint16_t port);

// The local address of a connected socket, without port: "127.0.0.1", "::1"; IPv4 in IPv6 as IPv4.
std::string local_address_of(int fd);

}  // namespace kubewatch::http
