// A kubewatch process of a case, its log, and its answers over the control socket.
#pragma once

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "client/config.hpp"
#include "e2e/world.hpp"
#include "loop/process.hpp"

namespace kubewatch::e2e {

// One kubewatch process.
class Kubewatch {
 public:
  // `before`: words in front of the command, as `sh -c 'ulimit ...; exec "$@"' sh`.
  Kubewatch(World& w, std::vector<std::string> words, const std::vector<std::string>& before = {})
      : w_(w) {
    loop::ProcessOptions options;
    options.argv = std::move(words);
    options.argv.insert(options.argv.begin(), {KUBEWATCH_BINARY, "run-controller"});
    options.argv.insert(options.argv.begin(), before.begin(), before.end());
    options.environment = {"PATH=" + std::string(::getenv("PATH")), "FOLDER=" + w.folder(),
                           "KUBECONFIG=" + w.folder() + "/kubeconfig"};
    options.timeout = Duration{0};
    options.max_stderr_line = 1U << 20U;
    auto started = loop::Process::start(
        w.loop(), std::move(options), [this](std::string_view line) { log.emplace_back(line); },
        [this](loop::ProcessExit end) { exit = std::move(end); });
    if (!started.ok()) FAIL(started.error().render());
    process = std::move(*started);
  }
  bool says(const std::string& text) const {
    return std::any_of(log.begin(), log.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  }
  void end(int signal = SIGTERM) {
    ::kill(process->pid(), signal);
    REQUIRE(w_.eventually([this] { return exit.has_value(); }));
  }

  std::vector<std::string> log;
  std::optional<loop::ProcessExit> exit;
  std::unique_ptr<loop::Process> process;

 private:
  World& w_;
};

inline std::unique_ptr<Kubewatch> controller(World& w, const std::vector<std::string>& more = {}) {
  w.file("kubeconfig", client::render_kubeconfig(w.server().config(), "e2e"));
  std::vector<std::string> words = {"-f", w.folder() + "/rules.yaml", "--socket",
                                    w.folder() + "/c.sock"};
  words.insert(words.end(), more.begin(), more.end());
  return std::make_unique<Kubewatch>(w, words);
}

// A subcommand's answer; null when it failed.
inline Json ask(World& w, std::vector<std::string> words) {
  words.insert(words.end(), {"--socket", w.folder() + "/c.sock", "-n", w.ns(), "-o", "json"});
  Kubewatch client(w, words);
  REQUIRE(w.eventually([&] { return client.exit.has_value(); }));
  if (client.exit->code != 0) return nullptr;
  auto answer = base::parse_json(client.exit->out);
  return answer.ok() ? *answer : Json(nullptr);
}

}  // namespace kubewatch::e2e
