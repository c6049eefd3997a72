// Loads a real API server with the Pods of a corpus. `fill` writes them into etcd itself, as JSON,
// which kube-apiserver reads as it reads its own: the objects, managedFields and status included,
// are then those of the line-rate server, and 100k take half a minute instead of ten. `touch`
// patches them through the API.
//
//   load fill realistic|hostile|small FROM TO ETCD_URL
//   load touch realistic|hostile|small POOL COUNT RATE        $KUBECONFIG says where
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/json.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "bench/corpus.hpp"
#include "client/apply_result.hpp"
#include "client/client.hpp"
#include "http/transport.hpp"

namespace {

using namespace kubewatch;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kInFlight = 16;
constexpr std::size_t kBatch = 32;  // objects written by one transaction of etcd

[[noreturn]] void fail(const std::string& message) {
  ::fprintf(stderr, "load: %s\n", message.c_str());
  ::_exit(1);
}

std::size_t number(const char* text) {
  return static_cast<std::size_t>(::atoll(text));
}

class Fill {
 public:
  Fill(loop::EventLoop& loop, http::Transport& transport, std::string etcd)
      : loop_(loop), transport_(transport), etcd_(std::move(etcd)) {}

  void run(const bench::Corpus& corpus, std::size_t from) {
    std::set<std::string> namespaces;
    for (std::size_t i = from; i < corpus.size(); ++i) {
      const auto& name = corpus.name(i);
      if (namespaces.insert(name.namespace_).second) put_namespace(name.namespace_);
      put("/registry/pods/" + name.namespace_ + "/" + name.name,
          std::string(R"({"kind":"Pod","apiVersion":"v1",)").append(corpus.item(i).substr(1)));
    }
    send();
    wait(1);
  }

 private:
  void put_namespace(const std::string& name) {
    put("/registry/namespaces/" + name,
        fmt::format(R"({{"kind":"Namespace","apiVersion":"v1","metadata":{{"name":"{}",)"
                    R"("uid":"{}","creationTimestamp":"2026-01-02T03:04:05Z",)"
                    R"("labels":{{"kubernetes.io/metadata.name":"{}"}}}},)"
                    R"("spec":{{"finalizers":["kubernetes"]}},"status":{{"phase":"Active"}}}})",
                    name, base::Random(std::hash<std::string>()(name)).uuid(), name));
  }

  void put(const std::string& key, const std::string& value) {
    batch_ +=
        fmt::format(R"({}{{"requestPut":{{"key":"{}","value":"{}"}}}})", batched_ == 0 ? "" : ",",
                    base::base64_encode(key), base::base64_encode(value));
    if (++batched_ == kBatch) send();
  }

  void send() {
    if (batched_ == 0) return;
    wait(kInFlight);
    http::Request request;
    request.method = "POST";
    request.url = etcd_ + "/v3/kv/txn";
    request.headers.add("Content-Type", "application/json");
    request.body = fmt::format(R"({{"success":[{}]}})", std::exchange(batch_, {}));
    batched_ = 0;
    const std::size_t id = next_++;
    calls_[id] = http::fetch(transport_, std::move(request), [this, id](Result<http::Response> r) {
      if (!r.ok()) fail(r.error().render());
      if (r->status != 200) fail(fmt::format("etcd says {}: {}", r->status, r->body));
      calls_.erase(id);
    });
  }

  // Until fewer than `limit` requests are open.
  void wait(std::size_t limit) {
    if (!loop_.run_until([&] { return calls_.size() < limit; }, Duration{60000})) {
      fail("etcd does not answer");
    }
  }

  loop::EventLoop& loop_;
  http::Transport& transport_;
  std::string etcd_;
  std::string batch_;
  std::size_t batched_ = 0;
  std::size_t next_ = 0;
  std::map<std::size_t, std::unique_ptr<http::Call>> calls_;
};

// Merge patches that write the time at which they are sent, spaced by the clock.
class Touch {
 public:
  Touch(loop::EventLoop& loop, client::Client& client) : loop_(loop), client_(client) {
    pods_.gvk = {"", "v1", "Pod"};
    pods_.plural = "pods";
    pods_.singular = "pod";
  }

  void run(const bench::Corpus& corpus, std::size_t count, double rate) {
    const auto begun = Clock::now();
    for (std::size_t i = 0; i < count; ++i) {
      const std::chrono::duration<double> due(static_cast<double>(i) / rate);
      const auto left = std::chrono::duration_cast<Duration>(due - (Clock::now() - begun));
      if (left.count() > 0) loop_.run_until([] { return false; }, left);
      loop_.run_until([this] { return calls_.size() < kInFlight; }, Duration{60000});
      patch(corpus.name((i + 1) * 7919U % corpus.size()));
    }
    loop_.run_until([this] { return calls_.empty(); }, Duration{60000});
    const std::chrono::duration<double> wall = Clock::now() - begun;
    ::printf("{\"patched\":%zu,\"failed\":%zu,\"per_second\":%.1f}\n", count, failed_,
             static_cast<double>(count) / wall.count());
  }

 private:
  void patch(const bench::PodName& name) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const Json change = {
        {"metadata",
         {{"annotations",
           {{"bench.kubewatch.dev/sent",
             std::to_string(
                 std::chrono::duration_cast<std::chrono::nanoseconds>(now).count())}}}}}};
    const std::size_t id = next_++;
    calls_[id] = client_.patch(pods_, {name.namespace_, name.name}, change, {},
                               [this, id](Result<client::ApplyResult> r) {
                                 if (!r.ok() && failed_++ == 0) {
                                   ::fprintf(stderr, "load: %s\n", r.error().render().c_str());
                                 }
                                 calls_.erase(id);
                               });
  }

  loop::EventLoop& loop_;
  client::Client& client_;
  core::ResourceType pods_;
  std::size_t next_ = 0;
  std::size_t failed_ = 0;
  std::map<std::size_t, client::PendingPtr> calls_;
};

bench::Corpus corpus(const char* kind, std::size_t count) {
  const auto known = bench::corpus_kind(kind);
  if (!known.ok()) fail(known.error().message());
  return {*known, count};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (argc != 6 || (verb != "fill" && verb != "touch")) {
    ::fprintf(stderr, "usage: load fill CORPUS FROM TO ETCD_URL | touch CORPUS POOL COUNT RATE\n");
    return 2;
  }
  loop::EventLoop loop;
  if (verb == "fill") {
    http::TransportOptions options;
    options.user_agent = "kubewatch-bench";
    auto transport = http::make_curl_transport(loop, std::move(options));
    if (!transport.ok()) fail(transport.error().render());
    Fill(loop, **transport, argv[5]).run(corpus(argv[2], number(argv[4])), number(argv[3]));
    return 0;
  }
  const auto config = client::load_config({}, client::ConfigEnvironment::from_process());
  if (!config.ok()) fail(config.error().render());
  auto transport = client::make_transport(loop, *config);
  if (!transport.ok()) fail(transport.error().render());
  client::Client client(loop, **transport, *config);
  Touch(loop, client).run(corpus(argv[2], number(argv[3])), number(argv[4]), ::atof(argv[5]));
}
