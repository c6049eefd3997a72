// kubewatch run-controller: loads rules, runs the engine, ends when asked or when all is done.
#include <fmt/format.h>

#include <optional>
#include <ostream>

#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/manifests.hpp"
#include "cli/session.hpp"
#include "hooks/engine.hpp"
#include "hooks/rule_file.hpp"

namespace kubewatch::cli {

namespace {

void log_run(const hooks::RunRecord& run) {
  base::LogFields fields = {{"controller", run.controller},
                            {"object", run.object},
                            {"reason", run.reason},
                            {"run", run.id},
                            {"attempt", std::to_string(run.attempt)}};
  const auto count = [&](std::string_view name, std::size_t n) {
    if (n > 0) fields.emplace_back(name, std::to_string(n));
  };
  count("created", run.created);
  count("configured", run.configured);
  count("unchanged", run.unchanged);
  count("deleted", run.deleted);
  fields.emplace_back("ms", std::to_string(run.elapsed.count()));
  if (!run.message.empty()) fields.emplace_back("message", run.message);
  const bool fine = run.outcome == "done" || run.outcome == "not-yet";
  base::log(fine ? base::LogLevel::info : base::LogLevel::error, "run " + run.outcome, fields);
}

// Decides when --once and --until-idle are over: all synced and nothing due or running, for
// `quiet`.
class EndWatch {
 public:
  EndWatch(loop::EventLoop& loop, hooks::Engine& engine, Duration quiet, std::function<void()> end)
      : loop_(loop), engine_(engine), quiet_(quiet), end_(std::move(end)) {}

  void look() {
    if (!engine_.status().idle) {
      timer_.reset();
      return;
    }
    if (!timer_) timer_ = loop_.after(quiet_, [this] { end_(); });
  }

 private:
  loop::EventLoop& loop_;
  hooks::Engine& engine_;
  Duration quiet_;
  std::function<void()> end_;
  loop::Timer timer_;
};

class RunController : public Command {
 public:
  std::string name() const override { return "run-controller"; }
  std::string summary() const override {
    return "run controllers written as YAML rules and shell hooks";
  }

  void bind(CLI::App& app) override {
    app.add_option("-f,--filename", rule_files_, "rule files or folders, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->required();
    app.add_flag("--sandbox", sandbox_, "run against the embedded API server");
    app.add_option("--sandbox-file", sandbox_files_,
                   "files or folders of objects that the sandbox starts with, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->needs("--sandbox");
    app.add_flag("--check", check_, "only check the rules, start nothing");
    app.add_flag("--once", once_, "end when everything is reconciled");
    add_duration(app, "--until-idle", until_idle_, "end when nothing has run for so long");
    app.add_option("--concurrency", concurrency_,
                   "objects at the same time over all rules, 0 = no cap")
        ->type_name("N");
    add_duration(app, "--shutdown-timeout", shutdown_timeout_,
                 "how long running hooks may go on after SIGTERM (default 25s)");
    app.add_flag("--fail-fast", fail_fast_, "exit 8 when the server cannot be reached at start");
  }

  int run(Context& context) override {
    auto loaded = hooks::load_rules(rule_files_);
    if (!loaded.problems.empty()) return refuse(context, loaded.problems);
    if (check_) {
      context.out << fmt::format("{} rule{} ok\n", loaded.rules.size(),
                                 loaded.rules.size() == 1 ? "" : "s");
      return kDone;
    }
    auto session = open(context);
    if (!session.ok()) return fail(context, session.error());
    return reconcile(context, **session, std::move(loaded.rules));
  }

 private:
  static int refuse(Context& context, const std::vector<hooks::Diagnostic>& problems) {
    for (const auto& problem : problems) {
      context.err << base::escape_for_terminal(problem.str()) << "\n";
    }
    return fail(context, kUsage,
                fmt::format("{} problem{} in the rules; nothing was started", problems.size(),
                            problems.size() == 1 ? "" : "s"));
  }

  Result<std::unique_ptr<Session>> open(Context& context) {
    if (!sandbox_) return Session::open(context.global.config);
    auto manifests = read_manifests(sandbox_files_, true);
    if (!manifests.ok()) {
      return Error(ErrorKind::invalid, manifests.error().render());
    }
    return Session::open_sandbox(std::move(*manifests));
  }

  int reconcile(Context& context, Session& session, std::vector<hooks::Rule> rules) {
    hooks::EngineOptions options;
    options.concurrency = concurrency_;
    options.fail_fast = fail_fast_;
    if (shutdown_timeout_) options.shutdown_timeout = *shutdown_timeout_;
    int code = kDone;
    bool ending = false;
    std::function<void()> end;
    hooks::EngineCallbacks callbacks;
    callbacks.on_run = log_run;
    callbacks.on_fatal = [&](const Error& error) {
      code = fail(context, error);
      session.loop().stop();
    };
    hooks::Engine engine(session.loop(), session.client(), std::move(rules), options,
                         std::move(callbacks));
    end = [&] {
      if (ending) return;
      ending = true;
      const auto status = engine.status();
      if ((once_ || until_idle_) && (status.failing > 0 || status.parked > 0)) code = kFailed;
      engine.shut_down([&] { session.loop().stop(); });
    };
    Interrupt interrupt(session.loop(), [&] {
      base::log_info("shutting down: running hooks end first, a second signal ends at once");
      end();
    });
    std::optional<EndWatch> watch;
    if (once_ || until_idle_) {
      watch.emplace(session.loop(), engine, until_idle_.value_or(Duration{300}), end);
      engine.on_progress([&] { watch->look(); });
    }
    engine.start();
    session.loop().run();
    return code;
  }

  std::vector<std::string> rule_files_;
  bool sandbox_ = false;
  std::vector<std::string> sandbox_files_;
  bool check_ = false;
  bool once_ = false;
  std::optional<Duration> until_idle_;
  std::size_t concurrency_ = 0;
  std::optional<Duration> shutdown_timeout_;
  bool fail_fast_ = false;
};

}  // namespace

std::unique_ptr<Command> make_run_controller() {
  return std::make_unique<RunController>();
}

}  // namespace kubewatch::cli
