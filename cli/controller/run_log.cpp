#include "cli/controller/run_log.hpp"

#include "base/log.hpp"
#include "hooks/verdict.hpp"

namespace kubewatch::cli {

void log_run(const hooks::RunRecord& run) {
  base::LogFields fields = {{"controller", run.controller}, {"object", run.object}};
  if (!run.reason.empty()) fields.emplace_back("reason", run.reason);
  fields.emplace_back("run", run.id);
  fields.emplace_back("attempt", std::to_string(run.attempt));
  const auto count = [&](std::string_view name, std::size_t n) {
    if (n > 0) fields.emplace_back(name, std::to_string(n));
  };
  count("created", run.created);
  count("configured", run.configured);
  count("unchanged", run.unchanged);
  count("deleted", run.deleted);
  fields.emplace_back("ms", std::to_string(run.elapsed.count()));
  if (!run.trace.empty()) fields.emplace_back("trace", run.trace);
  if (!run.message.empty()) fields.emplace_back("message", run.message);
  base::log(hooks::is_fine(run.outcome) ? base::LogLevel::info : base::LogLevel::error,
            "run " + run.outcome, fields);
}

}  // namespace kubewatch::cli
