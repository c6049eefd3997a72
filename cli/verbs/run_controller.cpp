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
  // `until_finished`: objects whose hook said "not yet" are waited for.
  EndWatch(loop::EventLoop& loop, hooks::Engine& engine, Duration quiet, bool until_finished,
           std::function<void()> end)
      : loop_(loop),
        engine_(engine),
        quiet_(quiet),
        until_finished_(until_finished),
        end_(std::move(end)) {}

  // Retries of what keeps failing are no progress; anything else that runs starts the wait anew.
  void look() {
    const auto status = engine_.status();
    const auto good = status.runs - status.failed_runs;
    const bool at_work = !status.idle && status.failing == 0;
    if (good != good_ || at_work || (until_finished_ && status.unfinished > 0)) timer_.reset();
    good_ = good;
    if (!status.idle || (until_finished_ && status.unfinished > 0)) return;
    if (!timer_) timer_ = loop_.after(quiet_, [this] { end_(); });
  }

 private:
  loop::EventLoop& loop_;
  hooks::Engine& engine_;
  Duration quiet_;
  bool until_finished_;
  std::uint64_t good_ = 0;
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
    if (const auto flag = server_flag_of(context.global.config); !flag.empty()) {
      return Error(ErrorKind::invalid,
                   flag + " and --sandbox exclude each other: the sandbox is a server of its own");
    }
    auto manifests = read_manifests(sandbox_files_, true);
    if (!manifests.ok()) {
      return Error(ErrorKind::invalid, manifests.error().render());
    }
    auto session = Session::open_sandbox(std::move(*manifests));
    // What the files hold was refused: wrong usage, whatever the status.
    if (!session.ok()) return Error(ErrorKind::invalid, session.error().render());
    return session;
  }

  // Of --once and --until-idle: 0 only when everything was done.
  static int end_code(Context& context, const hooks::EngineStatus& status, bool interrupted) {
    if (status.waiting_rules > 0) {
      return fail(context, kFailed,
                  fmt::format("{} of the rules never started: a kind is missing or forbidden",
                              status.waiting_rules));
    }
    if (interrupted && !status.idle) {
      return fail(context, kFailed, "interrupted before everything was reconciled");
    }
    return status.failing > 0 || status.parked > 0 || status.unfinished > 0 ? kFailed : kDone;
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
    std::optional<hooks::Engine> engine(std::in_place, session.loop(), session.client(),
                                        std::move(rules), options, std::move(callbacks));
    bool interrupted = false;
    end = [&] {
      if (ending) return;
      ending = true;
      if (once_ || until_idle_) code = end_code(context, engine->status(), interrupted);
      engine->shut_down([&] { session.loop().stop(); });
    };
    Interrupt interrupt(
        session.loop(),
        [&] {
          base::log_info("shutting down: running hooks end first, a second signal ends at once");
          interrupted = true;
          end();
        },
        [&] { engine.reset(); });  // hooks that still run do not outlive us
    std::optional<EndWatch> watch;
    if (once_ || until_idle_) {
      watch.emplace(session.loop(), *engine, until_idle_.value_or(Duration{300}), once_, end);
      engine->on_progress([&] { watch->look(); });
    }
    engine->start();
    session.loop().run();
    if (!ending && code == kDone) return fail(context, kFailed, "the event loop ended by itself");
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
