// The engine on hooks that are real processes, and a server that is scripted.
#include "compat/engine.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/log.hpp"
#include "client/rig.hpp"
#include "client/temp_dir.hpp"

using namespace kubewatch;
using namespace kubewatch::compat;

namespace {

// Of the two runs that the hooks of DIR/hooks have, tried again at once.
std::vector<std::string> outcomes_of_two_runs(const test::TempDir& dir,
                                              const client::ClientConfig& config) {
  loop::EventLoop loop;
  test::ScriptedTransport transport(loop);
  transport.route(
      "GET", "", 200,
      R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[{"version":"v1"}]}]})");
  client::Client client(loop, transport, config);
  EngineOptions options;
  options.folder = dir.path() + "/hooks";
  options.retry = {Duration{1}, Duration{1}, 1.0, 0.0};
  std::vector<std::string> outcomes;
  EngineCallbacks callbacks;
  callbacks.on_run = [&](const hooks::RunRecord& run) { outcomes.push_back(run.outcome); };
  Engine engine(loop, client, std::move(options), std::move(callbacks));
  REQUIRE(engine.start().ok());
  CHECK(loop.run_until([&] { return outcomes.size() == 2; }, Duration{60000}));
  return outcomes;
}

}  // namespace

TEST_CASE("a token that is renewed between two runs is in no log") {
  const test::TempDir dir;
  client::ClientConfig config = test::scripted_config();
  config.token.clear();
  config.token_file = dir.write("token", "token-of-today");
  // It fails once, and finds another token then.
  const std::string hook = dir.write("hooks/hook.sh", R"sh(#!/bin/sh
if [ "${1:-}" = --config ]; then
  echo '{"configVersion":"v1","onStartup":1}'
  exit 0
fi
cd "${0%/*}/.."
echo "it has $(cat token)" >&2
if [ -e failed ]; then exit 0; fi
: >failed
printf token-of-tomorrow >token
exit 1
)sh");
  REQUIRE(chmod(hook.c_str(), 0755) == 0);
  std::vector<std::string> log;
  base::capture_log(&log);
  const auto outcomes = outcomes_of_two_runs(dir, config);
  base::capture_log(nullptr);
  CHECK(outcomes == std::vector<std::string>{"failed", "done"});
  const auto lines_with = [&](const std::string& text) {
    return std::count_if(log.begin(), log.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  };
  CHECK(lines_with("it has ***") >= 2);
  CHECK(lines_with("token-of") == 0);
}

TEST_CASE("hooks go on when a cleaner of temporary folders took the folder of their files") {
  const test::TempDir dir;
  const test::TempDir temporary;
  // It fails once, and has taken all of it then.
  const std::string hook = dir.write("hooks/hook.sh", R"sh(#!/bin/sh
if [ "${1:-}" = --config ]; then
  echo '{"configVersion":"v1","onStartup":1}'
  exit 0
fi
cd "${0%/*}/.."
if [ -e failed ]; then grep -q current-context "$KUBECONFIG"; exit; fi
: >failed
rm -r "${KUBECONFIG%/*}"
exit 1
)sh");
  REQUIRE(chmod(hook.c_str(), 0755) == 0);
  const char* before = std::getenv("TMPDIR");
  const std::string was = before == nullptr ? "" : before;
  setenv("TMPDIR", temporary.path().c_str(), 1);
  const auto outcomes = outcomes_of_two_runs(dir, test::scripted_config());
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", was.c_str(), 1);
  CHECK(outcomes == std::vector<std::string>{"failed", "done"});
  CHECK(std::filesystem::is_empty(temporary.path()));
}
