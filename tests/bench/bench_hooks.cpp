// How fast a change becomes a hook: `kubewatch sandbox` and `kubewatch run-controller` as users run
// them, a static C hook that notes when it started, and the limit of the machine (spawning that
// hook and nothing else) measured in the same run. Figures are for ratios; times do not travel
// between machines.
//
//   bench_hooks KUBEWATCH HOOK [UPDATES [OBJECTS]]
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "client/apply_result.hpp"
#include "client/client.hpp"

extern char** environ;

namespace {

using namespace kubewatch;
using Clock = std::chrono::steady_clock;

long long nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

const core::ResourceType kConfigMaps = [] {
  core::ResourceType type;
  type.gvk = {"", "v1", "ConfigMap"};
  type.plural = "configmaps";
  type.singular = "configmap";
  return type;
}();

pid_t launch(const std::vector<std::string>& argv, const std::string& log) {
  std::vector<char*> raw;
  for (const auto& word : argv) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(fd, 1);
    ::dup2(fd, 2);
    ::execv(raw[0], raw.data());
    ::_exit(127);
  }
  return pid;
}

class Bench {
 public:
  Bench(std::string kubewatch, std::string hook)
      : kubewatch_(std::filesystem::absolute(kubewatch)), hook_(std::filesystem::absolute(hook)) {
    char folder[] = "/tmp/kubewatch-bench-XXXXXX";
    if (::mkdtemp(folder) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = folder;
    log_ = folder_ + "/hooks.log";
    sandbox_ = launch({kubewatch_, "sandbox", "--kubeconfig", folder_ + "/kubeconfig"},
                      folder_ + "/sandbox.log");
    wait_for([&] { return std::filesystem::exists(folder_ + "/kubeconfig"); }, "the sandbox");
    client::ConfigOverrides overrides;
    overrides.kubeconfig = folder_ + "/kubeconfig";
    auto config = client::load_config(overrides, {});
    if (!config.ok()) throw std::runtime_error(config.error().render());
    auto transport = client::make_transport(loop_, *config);
    if (!transport.ok()) throw std::runtime_error(transport.error().render());
    transport_ = std::move(*transport);
    client_ = std::make_unique<client::Client>(loop_, *transport_, *config);
    std::ofstream(folder_ + "/rules.yaml")
        << "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: bench}\nspec:\n"
           "  for: {apiVersion: v1, kind: ConfigMap, labelSelector: bench}\n"
           "  reconcile:\n    exec: ["
        << hook_ << "]\n    env: {BENCH_LOG: " << log_ << ", SEQ: {jq: .data.seq}}\n";
  }

  ~Bench() {
    end(controller_);
    end(sandbox_);
    client_.reset();
    transport_.reset();
    std::filesystem::remove_all(folder_);
  }

  void latency(int updates) {
    apply("one", 0);
    start_controller();
    wait_for([&] { return starts().count(0) == 1; }, "the first run");
    std::vector<double> from_sent;
    std::vector<double> from_answered;
    for (int seq = 1; seq <= updates; ++seq) {
      const long long sent = nanoseconds();
      apply("one", seq);
      const long long answered = nanoseconds();
      wait_for([&] { return starts().count(seq) == 1; }, "a run");
      const long long started = starts()[seq];
      from_sent.push_back(static_cast<double>(started - sent) / 1e6);
      from_answered.push_back(static_cast<double>(started - answered) / 1e6);
      spend(Duration{20});
    }
    print("change sent -> hook started", from_sent);
    print("event -> hook started (change answered -> hook started)", from_answered);
    end(controller_);
    controller_ = 0;
  }

  void throughput(int objects) {
    std::filesystem::remove(log_);
    remove("one");
    for (int i = 0; i < objects; ++i) apply("many-" + std::to_string(i), i);
    const long long begin = nanoseconds();
    start_controller();
    wait_for([&] { return starts().size() >= static_cast<std::size_t>(objects); }, "all runs");
    long long first = 0;
    long long last = 0;
    for (const auto& [seq, at] : starts()) {
      first = first == 0 ? at : std::min(first, at);
      last = std::max(last, at);
    }
    const double rate = objects / (static_cast<double>(last - first) / 1e9);
    const double limit = spawn_limit(objects);
    ::printf(
        "%d objects at start: %.0f hooks/s from the first hook to the last, %.2f s from launch "
        "to the last\n",
        objects, rate, static_cast<double>(last - begin) / 1e9);
    ::printf(
        "limit in the same run: %.0f/s spawning that hook two at a time and nothing else; "
        "ratio %.2f\n",
        limit, rate / limit);
  }

 private:
  void spend(Duration how_long) {
    loop_.run_until([] { return false; }, how_long);
  }

  template <class Done>
  void wait_for(Done done, const char* what) {
    const auto deadline = Clock::now() + std::chrono::seconds(120);
    while (!done()) {
      if (Clock::now() > deadline) throw std::runtime_error(std::string("no sign of ") + what);
      spend(Duration{1});
    }
  }

  void apply(const std::string& name, int seq) {
    const Json object = {{"apiVersion", "v1"},
                         {"kind", "ConfigMap"},
                         {"metadata", {{"name", name}, {"labels", {{"bench", "yes"}}}}},
                         {"data", {{"seq", std::to_string(seq)}}}};
    core::PatchParams params;
    params.type = core::PatchType::apply;
    params.field_manager = "bench";
    std::optional<Result<client::ApplyResult>> answer;
    const auto pending =
        client_->patch(kConfigMaps, {"default", name}, object, params,
                       [&](Result<client::ApplyResult> r) { answer.emplace(std::move(r)); });
    loop_.run_until([&] { return answer.has_value(); }, Duration{30000});
    if (!answer || !answer->ok()) throw std::runtime_error("apply failed");
  }

  void remove(const std::string& name) {
    bool done = false;
    const auto pending =
        client_->remove(kConfigMaps, {"default", name}, {}, [&](Result<Json>) { done = true; });
    loop_.run_until([&] { return done; }, Duration{30000});
  }

  void start_controller() {
    controller_ = launch({kubewatch_, "run-controller", "-f", folder_ + "/rules.yaml",
                          "--kubeconfig", folder_ + "/kubeconfig"},
                         folder_ + "/controller.log");
  }

  // Sequence number -> start, of complete lines.
  std::map<int, long long> starts() const {
    std::map<int, long long> out;
    std::ifstream in(log_);
    int seq = 0;
    long long at = 0;
    while (in >> seq >> at) out[seq] = at;
    return out;
  }

  double spawn_limit(int count) const {
    const std::string log = "BENCH_LOG=" + folder_ + "/limit.log";
    const std::string seq = "SEQ=0";
    char* environment[] = {const_cast<char*>(log.c_str()), const_cast<char*>(seq.c_str()), nullptr};
    char* argv[] = {const_cast<char*>(hook_.c_str()), nullptr};
    const auto begin = Clock::now();
    int running = 0;
    for (int i = 0; i < count; ++i) {
      if (running == 2) {
        ::waitpid(-1, nullptr, 0);
        --running;
      }
      pid_t pid = 0;
      if (::posix_spawn(&pid, hook_.c_str(), nullptr, nullptr, argv, environment) == 0) ++running;
    }
    while (running-- > 0) ::waitpid(-1, nullptr, 0);
    return count / std::chrono::duration<double>(Clock::now() - begin).count();
  }

  static void end(pid_t pid) {
    if (pid <= 0) return;
    ::kill(pid, SIGTERM);
    ::waitpid(pid, nullptr, 0);
  }

  static void print(const char* what, std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
      return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    ::printf("%s: p50 %.2f ms, p90 %.2f ms, p99 %.2f ms over %zu spaced updates\n", what, at(0.5),
             at(0.9), at(0.99), values.size());
  }

  std::string kubewatch_;
  std::string hook_;
  std::string folder_;
  std::string log_;
  pid_t sandbox_ = 0;
  pid_t controller_ = 0;
  loop::EventLoop loop_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    ::fprintf(stderr, "usage: bench_hooks KUBEWATCH HOOK [UPDATES [OBJECTS]]\n");
    return 2;
  }
  try {
    Bench bench(argv[1], argv[2]);
    bench.latency(argc > 3 ? ::atoi(argv[3]) : 300);
    bench.throughput(argc > 4 ? ::atoi(argv[4]) : 1000);
  } catch (const std::exception& e) {
    ::fprintf(stderr, "bench_hooks: %s\n", e.what());
    return 1;
  }
  return 0;
}
