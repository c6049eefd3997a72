// Many watchers of one server over TLS: the lag of each event, from the time that the update
// carries to the byte that completes its marker. Reads with OpenSSL and epoll alone, so that what
// is measured is the server and not this program: its own CPU is told.
//
//   bench_watchers HTTPS_URL COUNT EVENTS CA_FILE TOKEN     prints "open" when all are, then one
//   line:
//   {"watchers", "events", "p50Ms", "p99Ms", "maxMs", "missing", "cpuShare"}
// The last is of one core, from "open" to the last event or the end of the wait for it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view kSent = "\"bench.kubewatch.dev/sent\":\"";
constexpr std::size_t kLongest = 64;  // of the marker and its number, over two pieces
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLongestWait = 120 * kSecond;
constexpr useconds_t kPauseMicroseconds = 1000;

[[noreturn]] void fail(const std::string& message) {
  ::fprintf(stderr, "bench_watchers: %s\n", message.c_str());
  ::exit(1);
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Lags {
  std::int64_t since = now();
  std::vector<double> milliseconds;
};

// Finds the times in a stream, however it is cut.
class Markers {
 public:
  void data(std::string_view bytes, Lags& lags) {
    rest_.append(bytes);
    const std::size_t read = scan(rest_, lags);
    rest_.erase(0, std::max(read, tail_of(rest_)));
  }

 private:
  static std::size_t tail_of(std::string_view bytes) {
    return bytes.size() - std::min(bytes.size(), kLongest);
  }
  // The place behind the last marker that was whole.
  static std::size_t scan(std::string_view bytes, Lags& lags) {
    std::size_t from = 0;
    while (true) {
      const void* found =
          ::memmem(bytes.data() + from, bytes.size() - from, kSent.data(), kSent.size());
      if (found == nullptr) return from;
      const auto begin =
          static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data()) + kSent.size();
      const std::size_t end = bytes.find('"', begin);
      if (end == std::string_view::npos) return from;
      const std::int64_t sent = ::atoll(std::string(bytes.substr(begin, end - begin)).c_str());
      if (sent > lags.since) {
        lags.milliseconds.push_back(static_cast<double>(now() - sent) / 1e6);
      }
      from = end;
    }
  }
  std::string rest_;
};

struct SslFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

// One watch: connected and asked while blocking, read when there is something.
class Watcher {
 public:
  Watcher(SSL_CTX* tls, const sockaddr_in& server, const std::string& request)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), ssl_(SSL_new(tls)) {
    if (fd_ < 0 || ::connect(fd_, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) {
      fail(std::string("connect: ") + ::strerror(errno));
    }
    SSL_set_fd(ssl_.get(), fd_);
    if (SSL_connect(ssl_.get()) != 1) fail("TLS handshake refused");
    if (SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size())) <= 0) {
      fail("cannot send the request");
    }
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
      char byte = 0;
      if (SSL_read(ssl_.get(), &byte, 1) != 1) fail("no answer to the watch");
      head += byte;
    }
    if (!head.starts_with("HTTP/1.1 200")) fail(head.substr(0, head.find('\r')));
    if (::fcntl(fd_, F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() { ::close(fd_); }
  int fd() const { return fd_; }
  // What is buffered is read too: no event would come for it.
  void read(Lags& lags) {
    std::array<char, 32768> bytes;
    while (true) {
      const int count = SSL_read(ssl_.get(), bytes.data(), bytes.size());
      if (count <= 0) {
        if (SSL_get_error(ssl_.get(), count) == SSL_ERROR_WANT_READ) return;
        fail("a watch ended");
      }
      markers_.data({bytes.data(), static_cast<std::size_t>(count)}, lags);
      if (SSL_has_pending(ssl_.get()) == 0) return;
    }
  }

 private:
  int fd_;
  std::unique_ptr<SSL, SslFree> ssl_;
  Markers markers_;
};

struct Url {
  std::string host;
  std::uint16_t port = 0;
  std::string target;
};

Url url_of(std::string_view text) {
  constexpr std::string_view kScheme = "https://";
  if (!text.starts_with(kScheme)) fail("an https URL is wanted");
  text.remove_prefix(kScheme.size());
  const std::size_t slash = text.find('/');
  const std::size_t colon = text.find(':');
  if (slash == std::string_view::npos || colon > slash) fail("https://IP:PORT/PATH is wanted");
  return {std::string(text.substr(0, colon)),
          static_cast<std::uint16_t>(::atoi(std::string(text.substr(colon + 1)).c_str())),
          std::string(text.substr(slash))};
}

void read_all(int poll, std::size_t wanted, Lags& lags) {
  const std::int64_t deadline = now() + kLongestWait;
  std::array<epoll_event, 256> events;
  while (lags.milliseconds.size() < wanted && now() < deadline) {
    // Looks, and is not woken: waking a reader on the same machine costs the server an interrupt of
    // the other core for each event, which watchers elsewhere do not. The pause is in the lag.
    const int count = ::epoll_wait(poll, events.data(), events.size(), 0);
    if (count == 0) ::usleep(kPauseMicroseconds);
    for (int i = 0; i < count; ++i) {
      static_cast<Watcher*>(events[static_cast<std::size_t>(i)].data.ptr)->read(lags);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) fail("HTTPS_URL COUNT EVENTS CA_FILE TOKEN");
  const Url url = url_of(argv[1]);
  const auto count = static_cast<std::size_t>(::atoll(argv[2]));
  const auto events = static_cast<std::size_t>(::atoll(argv[3]));
  SSL_CTX* tls = SSL_CTX_new(TLS_client_method());
  if (SSL_CTX_load_verify_file(tls, argv[4]) != 1) fail(std::string("cannot read ") + argv[4]);
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_read_ahead(tls, 1);  // a record's head and body in one read
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(url.port);
  if (::inet_pton(AF_INET, url.host.c_str(), &server.sin_addr) != 1) fail("an IPv4 is wanted");
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: {}:{}\r\nAuthorization: Bearer {}\r\n\r\n", url.target,
                  url.host, url.port, argv[5]);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (std::size_t i = 0; i < count; ++i) {
    watchers.push_back(std::make_unique<Watcher>(tls, server, request));
    Watcher& one = *watchers.back();
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.ptr = &one;
    if (::epoll_ctl(poll, EPOLL_CTL_ADD, one.fd(), &wanted) != 0) fail("epoll_ctl");
  }
  Lags lags;
  ::puts("open");
  ::fflush(stdout);
  const double cpu = cpu_seconds();
  const std::size_t wanted = count * events;
  read_all(poll, wanted, lags);
  const double share = (cpu_seconds() - cpu) /
                       (static_cast<double>(now() - lags.since) / static_cast<double>(kSecond));
  auto& all = lags.milliseconds;
  if (all.empty()) fail("no event came");
  std::sort(all.begin(), all.end());
  const auto at = [&](double part) {
    return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
  };
  ::printf(
      "%s\n",
      fmt::format(R"({{"watchers":{},"events":{},"p50Ms":{:.2f},"p99Ms":{:.2f},"maxMs":{:.2f},)"
                  R"("missing":{},"cpuShare":{:.2f}}})",
                  count, events, at(0.5), at(0.99), all.back(),
                  wanted - std::min(wanted, all.size()), share)
          .c_str());
  return 0;
}
