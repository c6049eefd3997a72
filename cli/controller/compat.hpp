// run-controller --compat shell-operator: its flags, and one compat::Engine from its start to its
// end. Used by run-controller.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/controller/metrics_flags.hpp"
#include "cli/session.hpp"
#include "compat/engine.hpp"

namespace CLI {
class App;
}

namespace kubewatch::cli {

class CompatFlags {
 public:
  void bind(CLI::App& app);
  // --compat was given.
  bool asked() const { return !words_.empty(); }
  // Errors: invalid.
  Result<void> check() const;
  // What of the engine's options these flags say.
  compat::EngineOptions options() const;

 private:
  std::vector<std::string> words_;  // tool, folder
  std::optional<Duration> timeout_;
};

struct CompatRun {
  compat::EngineOptions options;
  bool once = false;
  std::optional<Duration> until_idle;
  bool dry_run = false;
};

// Until a signal, or until all is done. The exit code.
int run_compat(Context& context, Session& session, CompatRun run, const MetricsFlags& metrics);

}  // namespace kubewatch::cli
