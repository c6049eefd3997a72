// Runs the cases on one server. Where KUBEWATCH_E2E_RESULTS names a folder, each case's beginning
// and verdict go to a file there, for report.sh, and the output holds nothing but what failed, each
// time with the last lines of the log: ctest and CI cut it.
#define CATCH_CONFIG_RUNNER
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "base/log.hpp"
#include "e2e/server.hpp"
#include "loop/process.hpp"
#include "support/catch.hpp"

namespace {

constexpr std::size_t kShownLines = 100;

std::ofstream g_results;
std::vector<std::string> g_log;  // of the case that runs

struct Recorder : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    if (g_results.is_open()) {
      g_results << "begin " << info.name << std::endl;
      g_log.clear();
      kubewatch::base::capture_log(&g_log);
    } else {
      std::cerr << "e2e: " << info.name << std::endl;
    }
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (!g_results.is_open()) return;
    kubewatch::base::capture_log(nullptr);
    const bool passed = stats.totals.assertions.allPassed();
    g_results << (passed ? "pass " : "fail ") << stats.testInfo.name << std::endl;
    if (passed) return;
    std::cout << "e2e: FAILED: " << stats.testInfo.name << "; the last lines of its log:\n";
    const std::size_t from = g_log.size() - std::min(g_log.size(), kShownLines);
    for (std::size_t i = from; i < g_log.size(); ++i) std::cout << g_log[i] << "\n";
    std::cout << std::flush;
  }
};
CATCH_REGISTER_LISTENER(Recorder)

}  // namespace

int main(int argc, char** argv) {
  const char* server = std::getenv("KUBEWATCH_E2E_SERVER");
  const bool real = server != nullptr && std::string(server) == "real";
  const char* results = std::getenv("KUBEWATCH_E2E_RESULTS");
  std::string file;
  if (results != nullptr) {
    std::filesystem::create_directories(results);
    file = std::string(results) + (real ? "/kube-apiserver" : "/sandbox");
    std::filesystem::remove(file);
  }
  if (kubewatch::e2e::real_is_missing()) {
    std::cout << "e2e: no real kube-apiserver was started; KUBEWATCH_E2E_REQUIRE=kube-apiserver "
                 "builds and runs it\n";
    return 77;
  }
  if (!file.empty()) {
    g_results.open(file);
    std::cerr << "e2e: if this says nothing more, the case that hangs is the last line of " << file
              << "\n";
  }
  kubewatch::loop::become_subreaper();
  if (const char* level = std::getenv("KUBEWATCH_E2E_VERBOSITY"); level != nullptr) {
    kubewatch::base::LogOptions log;
    log.verbosity = std::atoi(level);
    kubewatch::base::configure_log(log);
  }
  return Catch::Session().run(argc, argv);
}
