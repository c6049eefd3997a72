// A server that is not the bottleneck: LIST, WATCH and streaming lists of generated Pods over plain
// HTTP from memory, JSON only, to one thread of clients on loopback. It answers faster than any
// client reads; it is not an API server (no history, no selectors, no writes, no protobuf).
//
//   line_server realistic|hostile|small COUNT PORT     prints "ready" when it listens
//
//   POST /bench/gone?changed=PERCENT          touches so many objects and ends every watch with 410
//   POST /bench/updates?count=N&rate=R        sends updates to every open watch
//   GET  /bench/state
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/corpus.hpp"
#include "bench/line_api.hpp"

namespace {

using namespace kubewatch::bench;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxHead = 64U << 10U;

struct Connection {
  std::string input;
  Output output;
  bool watching = false;
  bool metadata_only = false;
};

class Server {
 public:
  Server(Corpus& corpus, int port) : api_(corpus), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 64) != 0) {
      ::perror("line_server: listen");
      ::exit(1);
    }
    follow(listener_, EPOLLIN);
  }

  void run() {
    while (true) {
      epoll_event events[64];
      const int count = ::epoll_wait(epoll_, events, 64, api_.updates_wanted > 0 ? 1 : -1);
      for (int i = 0; i < count; ++i) {
        if (events[i].data.fd == listener_) {
          accept_all();
        } else {
          serve(events[i].data.fd, events[i].events);
        }
      }
      if (api_.take_gone()) end_watches();
      send_updates();
    }
  }

 private:
  void follow(int fd, std::uint32_t what) {
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void accept_all() {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      connections_[fd] = std::make_unique<Connection>();
      follow(fd, EPOLLIN | EPOLLOUT | EPOLLET);
    }
  }

  void drop(int fd) {
    ::close(fd);
    connections_.erase(fd);
  }

  void serve(int fd, std::uint32_t what) {
    const auto found = connections_.find(fd);
    if (found == connections_.end()) return;
    Connection& connection = *found->second;
    if ((what & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !read(fd, connection)) return drop(fd);
    flush(fd, connection);
  }

  bool read(int fd, Connection& connection) {
    char buffer[16384];
    while (true) {
      const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
      if (got == 0) return false;
      if (got < 0) break;
      connection.input.append(buffer, static_cast<std::size_t>(got));
    }
    if (errno != EAGAIN || connection.input.size() > kMaxHead) return false;
    std::size_t end = 0;
    while ((end = connection.input.find("\r\n\r\n")) != std::string::npos) {
      const LineRequest request = parse_request(std::string_view(connection.input).substr(0, end));
      connection.input.erase(0, end + 4);
      connection.metadata_only = request.metadata_only;
      connection.watching = api_.answer(request, connection.output);
    }
    return true;
  }

  void flush(int fd, Connection& connection) {
    if (connection.output.send(fd) == Output::Progress::broken) drop(fd);
  }

  template <class Each>
  void each_watch(Each each) {
    std::vector<int> fds;
    for (const auto& [fd, connection] : connections_) {
      if (connection->watching) fds.push_back(fd);
    }
    for (const int fd : fds) each(fd, *connections_[fd]);
  }

  void end_watches() {
    each_watch([this](int fd, Connection& connection) {
      api_.end_as_gone(connection.output);
      connection.watching = false;
      flush(fd, connection);
    });
  }

  // As many as are due by the clock: a slow turn is made up for by the next.
  void send_updates() {
    if (api_.updates_wanted == 0) return void(sent_ = 0);
    if (sent_ == 0) begun_ = Clock::now();
    const std::chrono::duration<double> since = Clock::now() - begun_;
    const auto due = static_cast<std::uint64_t>(since.count() * api_.updates_per_second) + 1;
    while (sent_ < due && api_.updates_wanted > 0) {
      std::vector<OpenWatch> watches;
      each_watch([&](int, Connection& c) { watches.push_back({&c.output, c.metadata_only}); });
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      api_.update(watches, static_cast<std::uint64_t>(
                               std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()));
      ++sent_;
      --api_.updates_wanted;
      each_watch([this](int fd, Connection& connection) { flush(fd, connection); });
    }
  }

  LineApi api_;
  int epoll_;
  int listener_ = -1;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::uint64_t sent_ = 0;  // of the updates asked for last
  Clock::time_point begun_{};
};

}  // namespace

int main(int argc, char** argv) {
  const auto kind = corpus_kind(argc == 4 ? argv[1] : "");
  if (argc != 4 || !kind.ok()) {
    ::fprintf(stderr, "usage: line_server realistic|hostile|small COUNT PORT\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  Corpus corpus(*kind, static_cast<std::size_t>(::atoll(argv[2])));
  Server server(corpus, ::atoi(argv[3]));
  ::printf("ready\n");
  ::fflush(stdout);
  server.run();
}
