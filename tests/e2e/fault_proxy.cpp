#include "e2e/fault_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>

#include "http/listen_socket.hpp"

namespace kubewatch::e2e {

namespace {

constexpr std::size_t kBuffer = 256U << 10U;
constexpr std::size_t kSlowBytes = 400;
constexpr Duration kSlowPause{10};

enum class Fault { none, cut, reset, stall, slow };

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  return fd;
}

}  // namespace

// One connection: two sockets, what waits to go each way, and its fault.
struct FaultProxy::Link {
  struct Side {
    int fd = -1;
    std::string out;  // waits to be written to fd
    loop::FdWatch readable;
    loop::FdWatch writable;
  };

  FaultProxy& proxy;
  Side client;
  Side server;
  Fault fault = Fault::none;
  std::uint64_t fault_after_bytes = UINT64_MAX;
  std::uint64_t passed = 0;  // from the server
  bool slowed = false;
  bool silent = false;
  loop::Timer timer;
  loop::Timer pause;

  Link(FaultProxy& the_proxy, int client_fd) : proxy(the_proxy) {
    client.fd = client_fd;
    server.fd = connect_to(proxy.upstream_);
    listen(client, server);
    listen(server, client);
    if (!proxy.calm_) choose_fault();
  }
  ~Link() {
    for (Side* side : {&client, &server}) {
      side->readable.reset();
      side->writable.reset();
      ::close(side->fd);
    }
  }

  void choose_fault() {
    constexpr std::array kFaults = {Fault::cut, Fault::cut, Fault::reset, Fault::stall,
                                    Fault::slow};
    fault = kFaults[proxy.random_.below(kFaults.size())];
    // Half of them at a byte, wherever it is: in a handshake, a head, the middle of an event.
    if (proxy.random_.below(4) == 0) fault_after_bytes = proxy.random_.below(200'000);
    const auto twice = static_cast<std::uint64_t>(proxy.plan_.mean_life.count()) * 2;
    timer = proxy.loop_.after(Duration(static_cast<Duration::rep>(proxy.random_.below(twice))),
                              [this] { strike(); });
  }

  void listen(Side& from, Side& to) {
    from.readable = proxy.loop_.on_readable(from.fd, [this, &from, &to] { forward(from, to); });
  }

  void forward(Side& from, Side& to) {
    if (to.out.size() > kBuffer) return from.readable.reset();
    std::array<char, 16384> bytes{};
    const std::size_t most = slowed ? kSlowBytes : bytes.size();
    const ssize_t n = ::recv(from.fd, bytes.data(), most, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return close();
    if (silent) return;  // taken and lost: the other side hears nothing
    to.out.append(bytes.data(), static_cast<std::size_t>(n));
    if (&from == &server) {
      passed += static_cast<std::uint64_t>(n);
      proxy.counts_.bytes += static_cast<std::uint64_t>(n);
      if (passed > fault_after_bytes) {
        to.out.resize(to.out.size() -
                      std::min<std::size_t>(to.out.size(), passed - fault_after_bytes));
        flush(to, from);
        return strike();
      }
    }
    flush(to, from);
    if (slowed && from.readable) {
      from.readable.reset();
      pause = proxy.loop_.after(kSlowPause, [this] {
        pause.reset();
        listen(server, client);
        listen(client, server);
      });
    }
  }

  void flush(Side& to, Side& from) {
    while (!to.out.empty()) {
      const ssize_t n = ::send(to.fd, to.out.data(), to.out.size(), MSG_NOSIGNAL);
      if (n > 0) {
        to.out.erase(0, static_cast<std::size_t>(n));
        continue;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != ENOTCONN) return close();
      if (!to.writable) {
        to.writable = proxy.loop_.on_writable(to.fd, [this, &to, &from] { flush(to, from); });
      }
      return;
    }
    to.writable.reset();
    if (!from.readable && !pause) listen(from, to);
  }

  void strike() {
    fault_after_bytes = UINT64_MAX;
    timer.reset();
    switch (fault) {
      case Fault::none: return;
      case Fault::cut: ++proxy.counts_.cuts; return close();
      case Fault::reset: ++proxy.counts_.resets; return reset();
      case Fault::stall:
        ++proxy.counts_.stalls;
        silent = true;
        timer = proxy.loop_.after(proxy.plan_.stall, [this] { reset(); });
        return;
      case Fault::slow:
        ++proxy.counts_.slow;
        slowed = true;
        fault = Fault::none;
        timer = proxy.loop_.after(proxy.plan_.mean_life, [this] { close(); });
        return;
    }
  }

  void reset() {
    const linger now{1, 0};
    ::setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

  void close() { proxy.forget(this); }
};

FaultProxy::FaultProxy(loop::EventLoop& loop, std::uint16_t upstream, FaultPlan plan,
                       base::Random& random)
    : loop_(loop), upstream_(upstream), plan_(plan), random_(random) {
  auto listening = http::listen_on("127.0.0.1", 0);
  if (!listening.ok()) throw std::runtime_error(listening.error().render());
  listener_ = listening->sockets.front().release();
  port_ = listening->port;
  watch_ = loop_.on_readable(listener_, [this] { accept(); });
}

FaultProxy::~FaultProxy() {
  watch_.reset();
  ::close(listener_);
}

void FaultProxy::accept() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return;
  ++counts_.connections;
  links_.push_back(std::make_unique<Link>(*this, fd));
}

void FaultProxy::forget(Link* link) {
  const auto it = std::find_if(links_.begin(), links_.end(),
                               [&](const auto& one) { return one.get() == link; });
  if (it == links_.end()) return;
  // Not from inside its own callback.
  auto ended = std::shared_ptr<Link>(std::move(*it));
  links_.erase(it);
  ended->client.readable.reset();
  ended->server.readable.reset();
  ended->client.writable.reset();
  ended->server.writable.reset();
  ended->timer.reset();
  ended->pause.reset();
  loop_.post([ended] {});
}

}  // namespace kubewatch::e2e
