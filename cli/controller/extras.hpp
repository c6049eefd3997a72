// What a running controller has beside its engine: the control socket, the list of runs behind it,
// and the rule files that are read again. Owned by run-controller.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/controller/preflight.hpp"
#include "cli/session.hpp"
#include "hooks/control.hpp"
#include "hooks/control_requests.hpp"
#include "hooks/engine.hpp"
#include "hooks/rule_reload.hpp"

namespace kubewatch::cli {

class ControllerExtras {
 public:
  // All must outlive it.
  ControllerExtras(Session& session, hooks::Engine& engine, Preflight& preflight);

  // `flag`: a path; "none": no socket; "": the default, and only a warning when it cannot be.
  // Errors: of the socket that was asked for.
  Result<void> open_socket(const std::string& flag);
  // Follows the rule files, and reads them again on SIGHUP.
  void follow_rules(std::vector<std::string> paths, hooks::RuleReloader::Before before);
  void on_run(const hooks::RunRecord& run) { requests_.on_run(run); }

 private:
  Result<void> listen(const std::string& path);
  void on_rules(std::vector<hooks::Rule> rules);

  Session& session_;
  hooks::Engine& engine_;
  Preflight& preflight_;
  hooks::ControlRequests requests_;
  std::unique_ptr<hooks::ControlServer> server_;
  std::optional<hooks::RuleReloader> reloader_;
  loop::SignalWatch hangup_;
};

}  // namespace kubewatch::cli
