// Plain sockets. What a name means is asked of the resolver, but for localhost, of which it often
// knows one address alone.
#include "http/listen_socket.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/strings.hpp"
#include "http/dead_peers.hpp"
#include "http/listen_address.hpp"

namespace kubewatch::http {

namespace {

constexpr int kBacklog = 1024;
constexpr const char* kAllAddresses = "::";
constexpr const char* kAllAddressesOfIpv4 = "0.0.0.0";
constexpr const char* kLocalhost = "localhost";
// The port that the kernel picks on one loopback address may be taken on the other.
constexpr int kPicks = 16;

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
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kServedUserTimeoutMs);
}

// This machine has no such address, or none of its family.
bool is_missing(int number) {
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

// A socket that listens, or errno.
struct Bound {
  loop::Fd fd;
  int number = 0;
};

// Errors: unavailable, where there is no such name.
Result<Bound> bind_to(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int looked_up = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (looked_up != 0) return cannot_listen(address, port, gai_strerror(looked_up));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, freeaddrinfo);
  const int type = found->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK;
  loop::Fd fd(socket(found->ai_family, type, found->ai_protocol));
  if (fd) {
    set_options(fd.get());
    // Whatever net.ipv6.bindv6only says.
    if (address == kAllAddresses) set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (bind(fd.get(), found->ai_addr, found->ai_addrlen) == 0 && listen(fd.get(), kBacklog) == 0) {
      return Bound{std::move(fd)};
    }
  }
  return Bound{loop::Fd(), errno};
}

Result<ListenSockets> listen_on_loopback(std::uint16_t port) {
  for (int pick = 1;; ++pick) {
    ListenSockets out;
    out.port = port;
    int missing = 0;
    bool other_pick = false;
    for (const char* address : {"127.0.0.1", "::1"}) {
      KW_ASSIGN(Bound bound, bind_to(address, out.port));
      if (bound.fd) {
        out.port = port_of(bound.fd.get());
        out.sockets.push_back(std::move(bound.fd));
      } else if (is_missing(bound.number)) {
        missing = bound.number;
      } else if (bound.number == EADDRINUSE && port == 0 && pick < kPicks) {
        other_pick = true;
      } else {
        return cannot_listen(address, out.port, explain(bound.number));
      }
    }
    if (other_pick) continue;
    if (out.sockets.empty()) return cannot_listen(kLocalhost, port, explain(missing));
    return out;
  }
}

}  // namespace

Result<ListenSockets> listen_on(const std::string& address, std::uint16_t port) {
  if (base::to_lower(address) == kLocalhost) return listen_on_loopback(port);
  KW_ASSIGN(Bound bound, bind_to(address, port));
  if (!bound.fd) {
    const bool no_ipv6 = address == kAllAddresses && is_missing(bound.number);
    if (no_ipv6) return listen_on(kAllAddressesOfIpv4, port);
    return cannot_listen(address, port, explain(bound.number));
  }
  ListenSockets out;
  out.port = port_of(bound.fd.get());
  out.sockets.push_back(std::move(bound.fd));
  return out;
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
