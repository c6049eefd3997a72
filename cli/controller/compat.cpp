#include "cli/controller/compat.hpp"

#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "cli/controller/dry_run_printer.hpp"
#include "cli/controller/end_watch.hpp"
#include "cli/controller/run_log.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/interrupt.hpp"

namespace kubewatch::cli {
namespace {

class CompatController {
 public:
  CompatController(Context& context, Session& session, CompatRun run, const MetricsFlags& metrics)
      : context_(context), session_(session), run_(std::move(run)), metrics_flags_(metrics) {}

  int run() {
    run_.options.dry = run_.dry_run;
    if (run_.dry_run) {
      printer_.emplace(context_.out);
      session_.make_dry([this](const hooks::DryWrite& write) { printer_->on_write(write); });
    }
    make_engine();
    hooks::MetricsSource source = hooks::metrics_of(*engine_);
    source.hooks_alone = [this] { return engine_->hook_metrics_text(); };
    auto served = metrics_flags_.serve(session_.loop(), std::move(source));
    if (!served.ok()) return fail(context_, kFailed, served.error().render());
    const auto metrics = *std::move(served);
    Interrupt interrupt(
        session_.loop(),
        [this] {
          base::log_info("shutting down: running hooks end first, a second signal ends at once");
          end();
        },
        [this] { engine_.reset(); });  // hooks that still run do not outlive us
    if (by_itself()) {
      watch_.emplace(
          session_.loop(), [this] { return engine_->status(); },
          run_.until_idle.value_or(kOnceQuiet), false, [this] { end(); });
      engine_->on_progress([this] { watch_->look(); });
    }
    if (auto started = engine_->start(); !started.ok()) {
      return fail(context_, kUsage, started.error().render());
    }
    session_.loop().run();
    return code_;
  }

 private:
  bool by_itself() const { return run_.once || run_.until_idle; }

  void make_engine() {
    compat::EngineCallbacks callbacks;
    callbacks.on_run = [this](const hooks::RunRecord& run) {
      if (printer_) return printer_->on_run(run);
      hooks::RunRecord told = run;
      told.reason.clear();  // a batch of contexts has many
      log_run(told);
    };
    callbacks.on_fatal = [this](const Error& error) {
      code_ = fail(context_, error);
      session_.loop().stop();
    };
    engine_.emplace(session_.loop(), session_.client(), run_.options, std::move(callbacks));
  }

  void end() {
    if (ending_) return;
    ending_ = true;
    if (by_itself()) code_ = end_code();
    engine_->shut_down([this] {
      const auto& cut_off = engine_->cut_off();
      if (!cut_off.empty()) {
        code_ =
            fail(context_, kFailed,
                 "ended with hooks cut off before they were done: " + base::join(cut_off, ", "));
      }
      session_.loop().stop();
    });
  }

  int end_code() {
    const auto status = engine_->status();
    if (status.idle && status.failing == 0 && status.waiting_rules == 0) return kDone;
    return fail(context_, kFailed,
                fmt::format("not everything is done: hooks that do not run: {}, queues that wait "
                            "for a hook that fails: {}{}",
                            status.waiting_rules, status.failing,
                            status.idle ? "" : ", and it was not idle yet"));
  }

  Context& context_;
  Session& session_;
  CompatRun run_;
  const MetricsFlags& metrics_flags_;
  int code_ = kDone;
  bool ending_ = false;
  std::optional<DryRunPrinter> printer_;
  std::optional<compat::Engine> engine_;
  std::optional<EndWatch> watch_;
};

}  // namespace

void CompatFlags::bind(CLI::App& app) {
  app.add_option("--compat", words_,
                 "run the hooks of a folder as another tool would; TOOL is shell-operator")
      ->type_name("TOOL HOOKS_DIR")
      ->type_size(2)
      ->expected(1);
  add_duration(app, "--hook-timeout", timeout_,
               "with --compat: how long a hook may run (default 10m, 0 = without end)");
}

Result<void> CompatFlags::check() const {
  if (!asked()) {
    if (!timeout_) return {};
    return Error(ErrorKind::invalid,
                 "--hook-timeout goes with --compat; a rule says it for its hook (timeout)");
  }
  // The parser takes two words, flags or not.
  for (const std::string& word : words_) {
    if (!word.starts_with('-')) continue;
    return Error(ErrorKind::invalid, "--compat needs two words, shell-operator HOOKS_DIR: \"" +
                                         base::escape_for_terminal(word) +
                                         "\" is none of them (./-x names a folder -x)");
  }
  if (words_[0] != "shell-operator") {
    return Error(ErrorKind::invalid, "--compat knows shell-operator only, not \"" +
                                         base::escape_for_terminal(words_[0]) + "\"");
  }
  return {};
}

compat::EngineOptions CompatFlags::options() const {
  compat::EngineOptions out;
  out.folder = words_[1];
  if (timeout_) out.hook_timeout = *timeout_;
  return out;
}

int run_compat(Context& context, Session& session, CompatRun run, const MetricsFlags& metrics) {
  return CompatController(context, session, std::move(run), metrics).run();
}

}  // namespace kubewatch::cli
