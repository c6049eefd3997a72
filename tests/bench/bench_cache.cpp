// The rows of tests/bench/cache that are ours: a runtime::Reflector on Pods with its indexes.
// Prints a JSON line when it is synced, one when --events updates have arrived, and on SIGUSR1 one
// that tells whether every object reads back as a LIST has it; stays until it is killed. Memory and
// relists are measured from outside, the same way for every program.
//
//   bench_cache [--list auto|paged|unpaged|streaming] [--content full|metadata] [--labels SELECTOR]
//               [--namespace NAME] [--gzip yes|no] [--events N]              $KUBECONFIG says where
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bench/readback.hpp"
#include "client/client.hpp"
#include "core/meta.hpp"
#include "http/transport.hpp"
#include "runtime/reflector.hpp"

namespace {

using namespace kubewatch;
using Clock = std::chrono::steady_clock;

const Clock::time_point kStarted = Clock::now();
constexpr const char* kSent = "bench.kubewatch.dev/sent";

[[noreturn]] void fail(const std::string& message) {
  ::fprintf(stderr, "bench_cache: %s\n", message.c_str());
  ::_exit(1);
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

long long nanoseconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

struct Options {
  runtime::WatcherOptions watcher;
  std::string namespace_;
  bool gzip = true;
  std::size_t events = 0;
};

runtime::ListStrategy strategy(const std::string& name) {
  if (name == "auto") return runtime::ListStrategy::automatic;
  if (name == "paged") return runtime::ListStrategy::paged;
  if (name == "unpaged") return runtime::ListStrategy::unpaged;
  if (name == "streaming") return runtime::ListStrategy::streaming;
  fail("unknown --list " + name);
}

Options parse(int argc, char** argv) {
  Options out;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (++i == argc) fail(flag + " needs a value");
    const std::string value = argv[i];
    if (flag == "--list") {
      out.watcher.strategy = strategy(value);
    } else if (flag == "--content") {
      if (value != "full" && value != "metadata") fail("unknown --content " + value);
      if (value == "metadata") out.watcher.content = core::Content::metadata;
    } else if (flag == "--labels") {
      out.watcher.label_selector = value;
    } else if (flag == "--gzip") {
      if (value != "yes" && value != "no") fail("unknown --gzip " + value);
      out.gzip = value == "yes";
    } else if (flag == "--namespace") {
      out.namespace_ = value;
    } else if (flag == "--events") {
      out.events = static_cast<std::size_t>(::atoll(value.c_str()));
    } else {
      fail("unknown flag " + flag);
    }
  }
  return out;
}

// Updates that carry the time at which they were sent: CPU from the first to the last, and lag.
class Updates {
 public:
  explicit Updates(std::size_t wanted) : wanted_(wanted) {}

  // What was sent before is not an update but the state it found.
  void begin() { since_ = nanoseconds_since_1970(); }

  void seen(const core::ObjectMeta& meta) {
    const std::string* sent = meta.annotation(kSent);
    const long long at = sent == nullptr ? 0 : ::atoll(sent->c_str());
    if (at <= since_ || lags_.size() >= wanted_) return;
    if (lags_.empty()) first_cpu_ = cpu_seconds();
    lags_.push_back(nanoseconds_since_1970() - at);
    if (lags_.size() == wanted_) print();
  }

 private:
  void print() {
    const double cpu = cpu_seconds() - first_cpu_;
    std::sort(lags_.begin(), lags_.end());
    const auto at = [&](double share) {
      return static_cast<double>(
                 lags_[static_cast<std::size_t>(static_cast<double>(lags_.size() - 1) * share)]) /
             1e6;
    };
    ::printf(
        "{\"phase\":\"events\",\"events\":%zu,\"cpu_us_per_event\":%.1f,\"lag_ms_p50\":%.3f,"
        "\"lag_ms_p99\":%.3f}\n",
        lags_.size(), cpu * 1e6 / static_cast<double>(std::max<std::size_t>(1, lags_.size() - 1)),
        at(0.5), at(0.99));
    ::fflush(stdout);
  }

  std::size_t wanted_;
  long long since_ = 0;
  std::vector<long long> lags_;
  double first_cpu_ = 0;
};

// One LIST of everything, compared item by item with the cache.
class Readback {
 public:
  Readback(http::Transport& transport, const client::ClientConfig& config,
           const runtime::Store& store)
      : store_(store) {
    http::Request request;
    request.url = config.server + "/api/v1/pods?resourceVersion=0";
    request.headers.add("Accept", "application/json");
    if (!config.token.empty()) request.headers.add("Authorization", "Bearer " + config.token);
    request.max_body = std::size_t{8} << 30U;
    request.response_timeout = Duration{0};
    http::CallHandlers handlers;
    handlers.on_data = [this](std::string_view bytes) {
      cutter_.feed(bytes, [this](std::string_view item) { compare(item); });
    };
    handlers.on_done = [this](const Result<void>& result) {
      if (!result.ok()) fail(result.error().render());
      print();
    };
    call_ = transport.start(std::move(request), std::move(handlers));
  }

 private:
  void compare(std::string_view item) {
    const auto meta = core::parse_meta(item);
    if (!meta.ok()) fail(meta.error().render());
    const auto object = store_.get(meta->key());
    ++compared_;
    if (object && bench::without_type(object->json) == bench::without_managed_fields(item)) return;
    if (++different_ > 1) return;
    ::fprintf(stderr, "bench_cache: %s/%s differs\nkept: %s\nlist: %s\n", meta->namespace_.c_str(),
              meta->name.c_str(), object ? object->json.c_str() : "nothing",
              std::string(item).c_str());
  }

  void print() const {
    ::printf("{\"phase\":\"checked\",\"compared\":%zu,\"different\":%zu,\"held\":%zu}\n", compared_,
             different_, store_.size());
    ::fflush(stdout);
  }

  const runtime::Store& store_;
  bench::ItemCutter cutter_;
  std::size_t compared_ = 0;
  std::size_t different_ = 0;
  std::unique_ptr<http::Call> call_;
};

core::ResourceType pods() {
  core::ResourceType type;
  type.gvk = {"", "v1", "Pod"};
  type.plural = "pods";
  type.singular = "pod";
  type.namespaced = true;
  return type;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  loop::EventLoop loop;
  client::ConfigOverrides overrides;
  overrides.disable_compression = !options.gzip;
  const auto config = client::load_config(overrides, client::ConfigEnvironment::from_process());
  if (!config.ok()) fail(config.error().render());
  auto transport = client::make_transport(loop, *config);
  if (!transport.ok()) fail(transport.error().render());
  client::Client client(loop, **transport, *config);
  auto random = base::Random::from_system();

  Updates updates(options.events);
  std::unique_ptr<runtime::Reflector> reflector;
  bool synced = false;
  runtime::ReflectorCallbacks callbacks;
  callbacks.want_previous = false;
  // Without --events nobody listens, and the store builds no changes.
  if (options.events > 0) {
    callbacks.on_change = [&](const runtime::StoreChange& change) {
      if (change.type == runtime::ChangeType::modified) updates.seen(change.meta);
    };
  }
  callbacks.on_synced = [&](bool) {
    if (std::exchange(synced, true)) return;
    updates.begin();
    const std::chrono::duration<double> wall = Clock::now() - kStarted;
    ::printf("{\"phase\":\"synced\",\"objects\":%zu,\"wall_s\":%.3f,\"cpu_s\":%.3f}\n",
             reflector->store().size(), wall.count(), cpu_seconds());
    ::fflush(stdout);
  };
  callbacks.on_failure = [](runtime::WatcherFailure where, const Error& error, Duration) {
    ::fprintf(stderr, "bench_cache: %s: %s\n", std::string(to_string(where)).c_str(),
              error.render().c_str());
  };
  reflector.reset(new runtime::Reflector(client, pods(), options.namespace_, options.watcher, {},
                                         random, callbacks));
  std::unique_ptr<Readback> readback;
  const auto on_check = loop.on_signal(SIGUSR1, [&] {
    readback = std::make_unique<Readback>(**transport, *config, reflector->store());
  });
  reflector->start();
  loop.run();
}
