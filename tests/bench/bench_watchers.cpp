// Many watchers of one server, over TLS where its URL says so: the lag of each event, from the time
// that the update carries to the byte that completes its line.
//
//   bench_watchers URL COUNT EVENTS [CA_FILE TOKEN]     prints "open" when all are, then one line:
//   {"watchers", "events", "p50Ms", "p99Ms", "maxMs", "missing"}
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/strings.hpp"
#include "http/transport.hpp"
#include "loop/event_loop.hpp"

namespace {

using namespace kubewatch;

constexpr std::string_view kSent = "\"bench.kubewatch.dev/sent\":\"";
constexpr std::size_t kLongest = 64;  // of the marker and its number, over two pieces

[[noreturn]] void fail(const std::string& message) {
  ::fprintf(stderr, "bench_watchers: %s\n", message.c_str());
  ::exit(1);
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct Lags {
  std::int64_t since = now();
  std::vector<double> milliseconds;
};

// Finds the times in a stream, however it is cut.
class Watcher {
 public:
  explicit Watcher(Lags& lags) : lags_(lags) {}
  void data(std::string_view bytes) {
    rest_.append(bytes);
    std::size_t from = 0;
    for (std::size_t at = 0; (at = rest_.find(kSent, from)) != std::string::npos;) {
      const std::size_t begin = at + kSent.size();
      const std::size_t end = rest_.find('"', begin);
      if (end == std::string::npos) break;
      const std::int64_t sent = ::atoll(rest_.substr(begin, end - begin).c_str());
      if (sent > lags_.since) {
        lags_.milliseconds.push_back(static_cast<double>(now() - sent) / 1e6);
      }
      from = end;
    }
    const std::size_t keep = std::min(rest_.size() - from, kLongest);
    rest_.erase(0, rest_.size() - keep);
  }
  std::unique_ptr<http::Call> call;
  bool open = false;

 private:
  Lags& lags_;
  std::string rest_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 6) fail("URL COUNT EVENTS [CA_FILE TOKEN]");
  const auto count = static_cast<std::size_t>(::atoll(argv[2]));
  const auto events = static_cast<std::size_t>(::atoll(argv[3]));
  loop::EventLoop loop;
  http::TransportOptions options;
  options.user_agent = "kubewatch-bench";
  if (argc == 6) {
    auto ca = base::read_file(argv[4], 1U << 20U);
    if (!ca.ok()) fail(ca.error().render());
    options.tls.ca_pem = *ca;
  }
  auto transport = http::make_curl_transport(loop, options);
  if (!transport.ok()) fail(transport.error().render());
  Lags lags;
  std::vector<std::unique_ptr<Watcher>> watchers;
  std::size_t open = 0;
  for (std::size_t i = 0; i < count; ++i) {
    watchers.push_back(std::make_unique<Watcher>(lags));
    Watcher& one = *watchers.back();
    http::Request request;
    request.url = argv[1];
    request.streaming = true;
    if (argc == 6) request.headers.set("Authorization", "Bearer " + std::string(argv[5]));
    http::CallHandlers handlers;
    handlers.on_head = [&](const http::ResponseHead& head) {
      if (head.status != 200) fail(fmt::format("HTTP {}", head.status));
      ++open;
    };
    handlers.on_data = [&one](std::string_view bytes) { one.data(bytes); };
    handlers.on_done = [](const Result<void>&) { fail("a watch ended"); };
    one.call = (*transport)->start(std::move(request), std::move(handlers));
  }
  if (!loop.run_until([&] { return open == count; }, Duration{120000})) fail("not all opened");
  lags.since = now();
  ::puts("open");
  ::fflush(stdout);
  const std::size_t wanted = count * events;
  loop.run_until([&] { return lags.milliseconds.size() >= wanted; }, Duration{120000});
  auto& all = lags.milliseconds;
  if (all.empty()) fail("no event came");
  std::sort(all.begin(), all.end());
  const auto at = [&](double share) {
    return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
  };
  ::printf("%s\n",
           fmt::format(
               R"({{"watchers":{},"events":{},"p50Ms":{:.2f},"p99Ms":{:.2f},"maxMs":{:.2f},)"
               R"("missing":{}}})",
               count, events, at(0.5), at(0.99), all.back(), wanted - std::min(wanted, all.size()))
               .c_str());
  return 0;
}
