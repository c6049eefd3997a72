// The client's side of tests/bench/hooks: changes objects and says when, watches as the floor of
// what any controller can reach, and starts hooks itself as the limit. $KUBECONFIG says where; each
// prints one line of JSON. Hooks log "NAME NANOSECONDS" (CLOCK_MONOTONIC), see hook.c.
//
//   bench_hooks fill PREFIX COUNT BYTES     makes ConfigMaps labelled bench=yes
//   bench_hooks clear                       deletes the ConfigMaps of namespace default
//   bench_hooks latency UPDATES LOG         spaced changes of one of them: when the answer, the
//                                           event and the hook came
//   bench_hooks await COUNT                 when there were so many ConfigMaps labelled child=yes
//   bench_hooks spawn COUNT HOOK LOG        from posix_spawn to the hook's main()
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "client/apply_result.hpp"
#include "client/client.hpp"

namespace {

using namespace kubewatch;

constexpr Duration kPatience{120000};
constexpr Duration kBetweenChanges{20};
constexpr int kAtOnce = 8;

long long nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const core::ResourceType kConfigMaps = [] {
  core::ResourceType type;
  type.gvk = {"", "v1", "ConfigMap"};
  type.plural = "configmaps";
  type.singular = "configmap";
  return type;
}();

// Milliseconds between two times.
class Spans {
 public:
  void add(long long from, long long to) { ms_.push_back(static_cast<double>(to - from) / 1e6); }
  Json summary() {
    if (ms_.empty()) throw std::runtime_error("nothing was measured");
    std::sort(ms_.begin(), ms_.end());
    return {{"p50", at(0.5)}, {"p90", at(0.9)}, {"p99", at(0.99)}};
  }

 private:
  double at(double share) const {
    return ms_[static_cast<std::size_t>(share * static_cast<double>(ms_.size() - 1))];
  }
  std::vector<double> ms_;
};

// What hooks logged, read as it grows.
class HookLog {
 public:
  explicit HookLog(std::string file) : file_(std::move(file)) {}
  // Starts since the last call.
  std::vector<long long> fresh() {
    std::error_code absent;
    if (std::filesystem::file_size(file_, absent) <= at_ || absent) return {};
    std::ifstream in(file_);
    in.seekg(static_cast<std::streamoff>(at_));
    std::vector<long long> out;
    std::string line;
    while (std::getline(in, line) && !in.eof()) {
      at_ += line.size() + 1;
      out.push_back(std::stoll(line.substr(line.find(' ') + 1)));
    }
    return out;
  }

 private:
  std::string file_;
  std::uintmax_t at_ = 0;
};

class Cluster {
 public:
  Cluster() {
    client::ConfigOverrides overrides;
    const char* file = ::getenv("KUBECONFIG");
    if (file == nullptr) throw std::runtime_error("KUBECONFIG is not set");
    overrides.kubeconfig = file;
    auto config = client::load_config(overrides, {});
    if (!config.ok()) throw std::runtime_error(config.error().render());
    auto transport = client::make_transport(loop_, *config);
    if (!transport.ok()) throw std::runtime_error(transport.error().render());
    transport_ = std::move(*transport);
    client_ = std::make_unique<client::Client>(loop_, *transport_, *config);
  }

  void fill(const std::string& prefix, int count, std::size_t bytes) {
    std::vector<client::PendingPtr> calls(static_cast<std::size_t>(count));
    int sent = 0, done = 0;
    std::string failed;
    while (done < count) {
      for (; sent < count && sent - done < kAtOnce; ++sent) {
        const Json object = {
            {"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", {{"name", prefix + std::to_string(sent)}, {"labels", {{"bench", "yes"}}}}},
            {"data", {{"seq", "0"}, {"text", std::string(bytes, 'x')}}}};
        calls[static_cast<std::size_t>(sent)] =
            client_->create(kConfigMaps, "default", object, {}, [&](Result<Json> answer) {
              if (!answer.ok()) failed = answer.error().render();
              ++done;
            });
      }
      const int before = done;
      wait_for([&] { return done > before; }, "an answer to a create");
    }
    if (!failed.empty()) throw std::runtime_error(failed);
    print({{"created", count}});
  }

  void clear() {
    std::optional<Result<client::ListResult>> answer;
    const auto call = client_->remove_collection(
        kConfigMaps, "default", {}, {},
        [&](Result<client::ListResult> r) { answer.emplace(std::move(r)); });
    wait_for([&] { return answer.has_value(); }, "the deletion");
    if (!answer->ok()) throw std::runtime_error(answer->error().render());
    print({{"cleared", true}});
  }

  void latency(int updates, const std::string& log) {
    HookLog hooks(log);
    hooks.fresh();
    long long event_at = 0;
    std::string wanted = "\"seq\":\"";
    bool open = false;
    core::WatchParams params;
    params.label_selector = "bench=yes";
    const auto watch = client_->watch(
        kConfigMaps, "default", params,
        {[&] { open = true; },
         [&](const core::WatchEvent& event) {
           if (event_at == 0 && event.object.find(wanted) != std::string_view::npos) {
             event_at = nanoseconds();
           }
         },
         [](Result<void>) { throw std::runtime_error("the watch ended"); }});
    wait_for([&] { return open; }, "an open watch");
    Spans answers, events, starts, reactions;
    int runs = 0;
    for (int seq = 1; seq <= updates; ++seq) {
      wanted = "\"seq\":\"" + std::to_string(seq) + "\"";
      event_at = 0;
      const long long sent = nanoseconds();
      long long answered = 0;
      core::PatchParams merge;
      merge.type = core::PatchType::merge;
      const auto call = client_->patch(kConfigMaps, {"default", "one-0"},
                                       {{"data", {{"seq", std::to_string(seq)}}}}, merge,
                                       [&](const Result<client::ApplyResult>& answer) {
                                         if (answer.ok()) answered = nanoseconds();
                                       });
      long long started = 0;
      wait_for(
          [&] {
            for (const long long at : hooks.fresh()) {
              if (started == 0) started = at;
              ++runs;
            }
            return answered != 0 && event_at != 0 && started != 0;
          },
          "the answer, the event and the hook of a change");
      answers.add(sent, answered);
      events.add(sent, event_at);
      starts.add(sent, started);
      reactions.add(event_at, started);
      spend(kBetweenChanges);
    }
    runs += static_cast<int>(hooks.fresh().size());
    print({{"updates", updates},
           {"runs", runs},
           {"answer_ms", answers.summary()},
           {"event_ms", events.summary()},
           {"hook_ms", starts.summary()},
           {"event_to_hook_ms", reactions.summary()}});
  }

  void await(int count) {
    int seen = 0;
    core::WatchParams params;
    params.label_selector = "child=yes";
    const auto watch =
        client_->watch(kConfigMaps, "default", params,
                       {[] {},
                        [&](const core::WatchEvent& event) {
                          if (event.type == core::WatchEventType::added) ++seen;
                        },
                        [](Result<void>) { throw std::runtime_error("the watch ended"); }});
    wait_for([&] { return seen >= count; }, "all children");
    print({{"at_ns", nanoseconds()}});
  }

  static void print(const Json& line) {
    ::printf("%s\n", base::dump_json(line).c_str());
    ::fflush(stdout);
  }

 private:
  void spend(Duration how_long) {
    loop_.run_until([] { return false; }, how_long);
  }

  void wait_for(const std::function<bool()>& done, const char* what) {
    const TimePoint deadline = loop_.now() + kPatience;
    while (!done()) {
      if (loop_.now() > deadline) throw std::runtime_error(std::string("no sign of ") + what);
      loop_.run_until(done, Duration{1});
    }
  }

  loop::EventLoop loop_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_;
};

void spawn(int count, const std::string& hook, const std::string& file) {
  HookLog log(file);
  Spans spans;
  const std::string variable = "BENCH_LOG=" + file;
  const std::string name = "KW_NAME=one";
  char* environment[] = {const_cast<char*>(variable.c_str()), const_cast<char*>(name.c_str()),
                         nullptr};
  char* argv[] = {const_cast<char*>(hook.c_str()), nullptr};
  for (int i = 0; i < count; ++i) {
    const long long begun = nanoseconds();
    pid_t pid = 0;
    if (::posix_spawn(&pid, hook.c_str(), nullptr, nullptr, argv, environment) != 0) {
      throw std::runtime_error("cannot start " + hook);
    }
    ::waitpid(pid, nullptr, 0);
    for (const long long at : log.fresh()) spans.add(begun, at);
  }
  Cluster::print({{"spawn_ms", spans.summary()}});
}

int usage() {
  ::fprintf(stderr,
            "usage: bench_hooks fill PREFIX COUNT BYTES | clear | latency UPDATES LOG | await "
            "COUNT | spawn COUNT HOOK LOG\n");
  return 2;
}

int run(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "spawn" && words.size() == 4) {
    spawn(std::stoi(words[1]), words[2], words[3]);
    return 0;
  }
  Cluster cluster;
  if (verb == "fill" && words.size() == 4) {
    cluster.fill(words[1], std::stoi(words[2]), std::stoul(words[3]));
  } else if (verb == "clear" && words.size() == 1) {
    cluster.clear();
  } else if (verb == "latency" && words.size() == 3) {
    cluster.latency(std::stoi(words[1]), words[2]);
  } else if (verb == "await" && words.size() == 2) {
    cluster.await(std::stoi(words[1]));
  } else {
    return usage();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& e) {
    ::fprintf(stderr, "bench_hooks: %s\n", e.what());
    return 1;
  }
}
