// A loop with servers and clients on it: our server, our transport, and raw sockets for what no
// well-behaved peer would say. Header only; used by the tests of this folder.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/server.hpp"
#include "http/transport.hpp"
#include "loop/event_loop.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

namespace kubewatch::http {

inline std::unique_ptr<Transport> make_transport(loop::EventLoop& loop, TlsOptions tls = {}) {
  TransportOptions options;
  options.user_agent = "kubewatch-test/1";
  options.tls = std::move(tls);
  auto made = make_curl_transport(loop, std::move(options));
  REQUIRE(made.ok());
  return std::move(made).value();
}

inline std::unique_ptr<Server> serve(loop::EventLoop& loop, Handler handler,
                                     ServerOptions options = {}) {
  auto server = Server::listen(loop, std::move(options), std::move(handler));
  if (!server.ok()) FAIL(server.error().render());
  return std::move(server).value();
}

inline std::string url_of(const Server& server, const std::string& path = "/",
                          const std::string& scheme = "http") {
  return scheme + "://127.0.0.1:" + std::to_string(server.port()) + path;
}

// Runs one request to its end.
inline Result<Response> get(loop::EventLoop& loop, Transport& transport, Request request) {
  std::optional<Result<Response>> answer;
  const auto call = fetch(transport, std::move(request), [&answer](Result<Response> result) {
    answer.emplace(std::move(result));
  });
  CHECK_FALSE(answer.has_value());
  REQUIRE(loop.run_until([&] { return answer.has_value(); }, kLimit));
  return std::move(*answer);
}

inline Result<Response> get(loop::EventLoop& loop, Transport& transport, const std::string& url) {
  Request request;
  request.url = url;
  return get(loop, transport, std::move(request));
}

// What a streaming call told us.
struct Stream {
  std::optional<ResponseHead> head;
  std::string data;
  std::vector<std::string> pieces;
  std::optional<Result<void>> end;
  std::unique_ptr<Call> call;

  void start(Transport& transport, Request request) {
    CallHandlers handlers;
    handlers.on_head = [this](const ResponseHead& h) { head = h; };
    handlers.on_data = [this](std::string_view bytes) {
      data.append(bytes);
      pieces.emplace_back(bytes);
    };
    handlers.on_done = [this](Result<void> result) { end.emplace(std::move(result)); };
    call = transport.start(std::move(request), std::move(handlers));
  }
};

inline Request watch_request(std::string url) {
  Request request;
  request.url = std::move(url);
  request.streaming = true;
  return request;
}

// Listens, and gives each connection to `talk` once something readable arrived.
class RawServer {
 public:
  using Talk = std::function<void(int fd, const std::string& received)>;
  RawServer(loop::EventLoop& loop, Talk talk) : loop_(loop), talk_(std::move(talk)) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(listen(fd_, 16) == 0);
    socklen_t size = sizeof(address);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    accepting_ = loop_.on_readable(fd_, [this] { accept_one(); });
  }
  ~RawServer() {
    accepting_.reset();
    watches_.clear();
    for (const int fd : connections_) close(fd);
    close(fd_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  std::string host_port() const { return "127.0.0.1:" + std::to_string(port_); }
  std::size_t accepted() const { return connections_.size(); }
  static void say(int fd, std::string_view text) {
    CHECK(::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  static void hang_up(int fd) { shutdown(fd, SHUT_RDWR); }

 private:
  void accept_one() {
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    connections_.push_back(fd);
    watches_[fd] = loop_.on_readable(fd, [this, fd] {
      std::string bytes(65536, '\0');
      const ssize_t got = recv(fd, bytes.data(), bytes.size(), 0);
      if (got <= 0) {
        watches_[fd].reset();
        return;
      }
      bytes.resize(static_cast<std::size_t>(got));
      talk_(fd, bytes);
    });
  }

  loop::EventLoop& loop_;
  Talk talk_;
  int fd_ = -1;
  std::uint16_t port_ = 0;
  loop::FdWatch accepting_;
  std::vector<int> connections_;
  std::map<int, loop::FdWatch> watches_;
};

// A client that says exactly what it is told and collects what comes back.
class RawClient {
 public:
  RawClient(loop::EventLoop& loop, std::uint16_t port, const std::string& text) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    say(text);
    start_reading(loop);
  }
  ~RawClient() {
    watch_.reset();
    close(fd_);
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void say(const std::string& text) {
    CHECK(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  void start_reading(loop::EventLoop& loop) {
    watch_ = loop.on_readable(fd_, [this] {
      std::string bytes(65536, '\0');
      const ssize_t got = recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got <= 0) {
        closed = true;
        watch_.reset();
        return;
      }
      received.append(bytes, 0, static_cast<std::size_t>(got));
    });
  }
  void stop_reading() { watch_.reset(); }
  int fd() const { return fd_; }
  int status() const { return received.size() < 12 ? 0 : std::stoi(received.substr(9, 3)); }

  std::string received;
  bool closed = false;

 private:
  int fd_ = -1;
  loop::FdWatch watch_;
};

}  // namespace kubewatch::http
