// Runs the cases on one server. Where KUBEWATCH_E2E_RESULTS names a folder, each case's beginning
// and verdict go to a file there, for report.sh, and the output holds nothing but what failed:
// ctest and CI cut it.
#define CATCH_CONFIG_RUNNER
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/log.hpp"
#include "loop/process.hpp"
#include "support/catch.hpp"

namespace {

std::ofstream g_results;

struct Recorder : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    if (g_results.is_open()) {
      g_results << "begin " << info.name << std::endl;
    } else {
      std::cerr << "e2e: " << info.name << std::endl;
    }
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (!g_results.is_open()) return;
    g_results << (stats.totals.assertions.allPassed() ? "pass " : "fail ") << stats.testInfo.name
              << std::endl;
  }
};
CATCH_REGISTER_LISTENER(Recorder)

}  // namespace

int main(int argc, char** argv) {
  const char* server = std::getenv("KUBEWATCH_E2E_SERVER");
  const bool real = server != nullptr && std::string(server) == "real";
  const char* folder = std::getenv("KUBEWATCH_E2E_FOLDER");
  const char* results = std::getenv("KUBEWATCH_E2E_RESULTS");
  std::string file;
  if (results != nullptr) {
    std::filesystem::create_directories(results);
    file = std::string(results) + (real ? "/kube-apiserver" : "/sandbox");
    std::filesystem::remove(file);
  }
  if (real &&
      (folder == nullptr || !std::filesystem::exists(std::string(folder) + "/kubeconfig"))) {
    std::cout << "e2e: no real kube-apiserver was started; KUBEWATCH_E2E_REQUIRE=kube-apiserver "
                 "builds and runs it\n";
    return 77;
  }
  if (!file.empty()) {
    g_results.open(file);
    std::cerr << "e2e: the case that has begun and not ended is the last line of " << file << "\n";
  }
  kubewatch::loop::become_subreaper();
  if (const char* level = std::getenv("KUBEWATCH_E2E_VERBOSITY"); level != nullptr) {
    kubewatch::base::LogOptions log;
    log.verbosity = std::atoi(level);
    kubewatch::base::configure_log(log);
  }
  return Catch::Session().run(argc, argv);
}
