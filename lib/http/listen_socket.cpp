// Plain sockets; the one look-up of an address is a numeric one or "localhost".
#include "http/listen_socket.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "http/listen_address.hpp"

namespace kubewatch::http {

namespace {

constexpr int kBacklog = 1024;
constexpr unsigned kUserTimeoutMs = 30000;
constexpr int kKeepAliveIdleSeconds = 30;
constexpr const char* kAllAddresses = "::";
constexpr const char* kAllAddressesOfIpv4 = "0.0.0.0";

Error cannot_listen(const std::string& address, std::uint16_t port, const std::string& why) {
  return Error(ErrorKind::unavailable,
               "cannot listen on " + to_string(ListenAddress{address, port}) + ": " + why);
}

std::string explain(int number) {
  switch (number) {
    case EADDRINUSE: return "the address is in use; stop the other program or choose another port";
    case EADDRNOTAVAIL: return "this machine does not have that address";
    case EACCES: return "permission denied; ports below 1024 need a privilege";
    default: return std::strerror(number);
  }
}

void set(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof(value));
}

// Accepted sockets inherit all of these.
void set_options(int fd) {
  set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kUserTimeoutMs));
}

bool has_no_ipv6(int number) {
  return number == EAFNOSUPPORT || number == EADDRNOTAVAIL;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

Result<ListenSocket> listen_on(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int looked_up = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (looked_up != 0) return cannot_listen(address, port, gai_strerror(looked_up));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, freeaddrinfo);
  const int type = found->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const int fd = socket(found->ai_family, type, found->ai_protocol);
  const bool all = address == kAllAddresses;
  if (fd >= 0) {
    set_options(fd);
    // Whatever net.ipv6.bindv6only says.
    if (all) set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, kBacklog) == 0) {
      return ListenSocket{fd, port_of(fd)};
    }
  }
  const int number = errno;
  if (fd >= 0) close(fd);
  if (all && has_no_ipv6(number)) return listen_on(kAllAddressesOfIpv4, port);
  return cannot_listen(address, port, explain(number));
}

std::string local_address_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  std::array<char, NI_MAXHOST> text{};
  if (getnameinfo(reinterpret_cast<sockaddr*>(&address), size, text.data(), text.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return {};
  }
  const std::string out = text.data();
  return out.rfind("::ffff:", 0) == 0 ? out.substr(7) : out;
}

}  // namespace kubewatch::http
