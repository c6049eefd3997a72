// kubewatch run-controller: loads rules, runs the engine, ends when asked or when all is done.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/controller/checked_rules.hpp"
#include "cli/controller/compat.hpp"
#include "cli/controller/dry_run_printer.hpp"
#include "cli/controller/election.hpp"
#include "cli/controller/end_watch.hpp"
#include "cli/controller/extras.hpp"
#include "cli/controller/metrics_flags.hpp"
#include "cli/controller/preflight.hpp"
#include "cli/controller/recording.hpp"
#include "cli/controller/rules.hpp"
#include "cli/controller/run_log.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/manifests.hpp"
#include "cli/session.hpp"
#include "hooks/default_concurrency.hpp"
#include "hooks/driver.hpp"
#include "hooks/engine.hpp"
#include "hooks/hook_cgroups.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_reload.hpp"
#include "hooks/start_patience.hpp"
#include "hooks/state_store.hpp"
#include "http/listen_address.hpp"
#include "loop/guardian.hpp"

namespace kubewatch::cli {

namespace {

// Of a path or an address that was given: what is wrong with it, or what the machine has against
// it.
int code_of_place(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::invalid:
    case ErrorKind::not_found:
    case ErrorKind::forbidden: return kUsage;
    default: return kFailed;
  }
}

// What the control socket and reloading need to know.
struct ExtraFlags {
  std::string socket;
  std::vector<std::string> rule_files;
  hooks::RuleReloader::Before rules;
};

struct Ends {
  bool once = false;
  std::optional<Duration> until_idle;
  bool by_itself() const { return once || until_idle.has_value(); }
};

// One engine from its start to its end: by a signal, by being done, by losing the lead.
class Supervision {
 public:
  Supervision(Context& context, Session& session, Ends ends, ExtraFlags extra,
              const MetricsFlags& metrics, Recording& recording)
      : context_(context),
        session_(session),
        ends_(ends),
        extra_(std::move(extra)),
        recording_(recording),
        metrics_flags_(metrics) {}

  // Before run(): what hooks would do is printed, nothing is written.
  void make_dry() {
    printer_.emplace(context_.out);
    session_.make_dry([this](const hooks::DryWrite& write) { printer_->on_write(write); });
  }

  int run(std::vector<hooks::Rule> rules, hooks::EngineOptions options,
          std::optional<ElectionPlan> plan) {
    if (printer_) {
      for (hooks::Rule& rule : rules) hooks::make_dry(rule);
      options.concurrency = 1;
    }
    preflight_.emplace(session_.client());
    std::vector<hooks::Rule> to_ask_for = rules;
    make_engine(std::move(rules), std::move(options));
    auto served = metrics_flags_.serve(session_.loop(), hooks::metrics_of(*engine_));
    if (!served.ok()) return fail(context_, kFailed, served.error().render());
    metrics_ = std::move(*served);
    if (plan) {
      preflight_->ask_for_leases(plan->rights());
      elect(std::move(*plan));
    }
    Interrupt interrupt(
        session_.loop(),
        [this] {
          base::log_info("shutting down: running hooks end first, a second signal ends at once");
          interrupted_ = true;
          end();
        },
        [this] {
          metrics_.reset();
          engine_.reset();  // hooks that still run do not outlive us
        },
        follows_rules() ? Hangup::other : Hangup::ends);
    if (ends_.by_itself()) watch_for_end();
    extras_.emplace(session_, *engine_, *preflight_);
    if (auto opened = extras_->open_socket(extra_.socket); !opened.ok()) {
      return fail(context_, code_of_place(opened.error()), opened.error().render());
    }
    if (follows_rules()) extras_->follow_rules(extra_.rule_files, extra_.rules);
    engine_->start();
    preflight_->ask(std::move(to_ask_for));
    if (election_) election_->start();
    session_.loop().run();
    if (!ending_ && code_ == kDone) {
      return fail(context_, kFailed, "the event loop ended by itself");
    }
    return code_;
  }

 private:
  // A dry run is of the rules as they are now.
  bool follows_rules() const { return !ends_.by_itself() && !printer_; }

  void make_engine(std::vector<hooks::Rule> rules, hooks::EngineOptions options) {
    hooks::EngineCallbacks callbacks;
    callbacks.on_run = [this](const hooks::RunRecord& run) {
      printer_ ? printer_->on_run(run) : log_run(run);
      if (extras_) extras_->on_run(run);
    };
    // The log has it already.
    callbacks.on_held = [this](const hooks::RunRecord& run) {
      if (printer_) printer_->on_run(run);
      if (extras_) extras_->on_run(run);
    };
    if (printer_) {
      callbacks.on_exchange = [this](const hooks::HookExchange& exchange) {
        printer_->on_exchange(exchange);
      };
    }
    recording_.follow(callbacks);
    callbacks.on_kinds_came = [this](const hooks::Rule& rule) { preflight_->ask({rule}); };
    callbacks.on_fatal = [this](const Error& error) { give_up(error); };
    engine_.emplace(session_.loop(), session_.client(), std::move(rules), std::move(options),
                    std::move(callbacks));
  }

  void elect(ElectionPlan plan) {
    Election::Callbacks callbacks;
    callbacks.on_lost = [this](const std::string& why, Duration within) { on_lost(why, within); };
    callbacks.on_fatal = [this](const Error& error) { give_up(error); };
    election_.emplace(session_, std::move(plan), *engine_, std::move(callbacks));
  }

  void watch_for_end() {
    const Duration quiet = ends_.until_idle.value_or(kOnceQuiet);
    watch_.emplace(
        session_.loop(), [this] { return engine_->status(); }, quiet, ends_.once,
        [this] { end(); });
    engine_->on_progress([this] { watch_->look(); });
  }

  // At the start: nothing was led, nothing has run.
  void give_up(const Error& error) {
    if (std::exchange(ending_, true)) return;
    code_ = fail(context_, error);
    session_.loop().stop();
  }

  void end() {
    if (ending_) return;
    ending_ = true;
    was_idle_ = engine_->status().idle;
    if (ends_.by_itself()) code_ = end_code(engine_->status());
    engine_->shut_down([this] { on_drained(); });
    if (election_) election_->leave();
  }

  // All runs have ended. Where some were cut off, the leases must run out by themselves.
  void on_drained() {
    if (lost_) return;
    code_ = fail_too(context_, code_, recording_.end(was_idle_));
    const auto& cut_off = engine_->cut_off();
    if (!cut_off.empty()) {
      code_ = fail(
          context_, kFailed,
          fmt::format("ended with {} run{} cut off; not all that they had to write is "
                      "written: {}",
                      cut_off.size(), cut_off.size() == 1 ? "" : "s", base::join(cut_off, ", ")));
    }
    if (!election_ || !cut_off.empty()) return session_.loop().stop();
    election_->release([this] { session_.loop().stop(); });
  }

  void on_lost(const std::string& why, Duration within) {
    lost_ = ending_ = true;
    // First: the message may have to wait for whoever reads it.
    engine_->abandon(within, [this] { session_.loop().stop(); });
    code_ = fail(context_, kFailed, "not the leader any more: " + why);
  }

  // Of --once and --until-idle: 0 only when everything was done.
  int end_code(const hooks::EngineStatus& status) {
    if (status.waiting_rules > 0) {
      return fail(context_, kFailed,
                  fmt::format("{} of the rules never started: {}", status.waiting_rules,
                              first_of(engine_->why_not_started())));
    }
    if (interrupted_ && !status.idle) {
      return fail(context_, kFailed, "interrupted before everything was reconciled");
    }
    // "Not yet" is no failure; only --once waits until everything is ready.
    const std::size_t waiting = ends_.once ? status.unfinished : 0;
    const std::size_t failed = status.failing + status.given_up;
    if (failed == 0 && status.parked == 0 && waiting == 0) return kDone;
    return fail(context_, kFailed,
                fmt::format("not everything is reconciled: {} failed, {} parked, {} not ready yet: "
                            "{}",
                            failed, status.parked, status.unfinished, first_of(unreconciled())));
  }

  std::vector<std::string> unreconciled() {
    std::vector<std::string> all;
    for (const hooks::Driver* driver : engine_->drivers()) {
      for (const std::string& one : driver->unreconciled()) {
        all.push_back(driver->rule().name + ": " + one);
      }
    }
    return all;
  }

  static std::string first_of(std::vector<std::string> all) {
    constexpr std::size_t kShown = 5;
    const std::size_t more = all.size() > kShown ? all.size() - kShown : 0;
    all.resize(all.size() - more);
    return base::join(all, "; ") + (more > 0 ? fmt::format("; and {} more", more) : "");
  }

  Context& context_;
  Session& session_;
  std::optional<Preflight> preflight_;  // a dry run changes the client first
  Ends ends_;
  ExtraFlags extra_;
  Recording& recording_;
  int code_ = kDone;
  bool ending_ = false;
  bool lost_ = false;
  bool interrupted_ = false;
  bool was_idle_ = false;
  std::optional<DryRunPrinter> printer_;
  std::optional<Election> election_;  // outlives the engine, whose writes it lets through
  std::optional<hooks::Engine> engine_;
  std::optional<EndWatch> watch_;
  std::optional<ControllerExtras> extras_;
  const MetricsFlags& metrics_flags_;
  std::unique_ptr<hooks::MetricsServer> metrics_;  // reads the engine
};

class RunController : public Command {
 public:
  RunController() {
    add(make_run_controller_check());
    add(make_run_controller_test());
    add(make_run_controller_replay());
    add(make_run_controller_rbac());
    add(make_run_controller_explain());
    add(make_run_controller_runs());
    add(make_run_controller_trigger());
    add(make_run_controller_retry());
    add(make_run_controller_queue());
    add(make_run_controller_log_level());
    add(make_run_controller_finalizers());
  }

  std::string name() const override { return "run-controller"; }
  std::string summary() const override {
    return "run controllers written as YAML rules and shell hooks";
  }

  void bind(CLI::App& app) override {
    app.add_option("-f,--filename", rule_files_, "rule files or folders, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false);
    compat_.bind(app);
    app.add_flag("--sandbox", sandbox_, "run against the embedded API server");
    app.add_option("--sandbox-file", sandbox_files_,
                   "files or folders of objects that the sandbox starts with, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->needs("--sandbox");
    app.add_flag("--dry-run", dry_run_,
                 "print what each run would write, as a diff, and write nothing");
    app.add_flag("--once", once_, "end when everything is reconciled");
    add_duration(app, "--until-idle", until_idle_, "end when nothing has run for so long");
    app.add_option(
           "--concurrency", concurrency_,
           "objects at the same time over all rules, 0 = no cap (default 2 for each CPU that "
           "may be used, from 4 to 32)")
        ->type_name("N")
        ->check(CLI::Range(0, 100000).description(""));
    add_duration(app, "--shutdown-timeout", shutdown_timeout_,
                 "how long running hooks may go on after SIGTERM (default 25s)");
    app.add_option("--triggers", triggers_, "where HTTP triggers of the rules are listened for")
        ->type_name("ADDRESS:PORT");
    app.add_option("--triggers-host", trigger_hosts_,
                   "a further name that HTTP triggers may call this by, repeatable")
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->needs("--triggers");
    app.add_flag(
        "--fail-fast", fail_fast_,
        "end when the server cannot be reached (exit 8) or does not let us in (7) at start");
    app.add_option("--socket", socket_,
                   "control socket, or none (default: PID.sock in a private folder)")
        ->type_name("FILE");
    app.add_option("--state", state_, "folder that keeps over restarts what was handled")
        ->type_name("FOLDER");
    recording_.bind(app);
    metrics_.bind(app);
    election_.bind(app);
  }

  int run(Context& context) override {
    if (auto checked = metrics_.check(); !checked.ok()) {
      return fail(context, kUsage, checked.error().render());
    }
    if (auto checked = check_compat(); !checked.ok()) {
      return fail(context, kUsage, checked.error().message());
    }
    if (compat_.asked()) return run_compat_hooks(context);
    rules_before_.stamp = hooks::rule_files_stamp(rule_files_);
    auto loaded = load_checked_rules(rule_files_);
    if (!loaded.problems.empty()) return refuse_rules(context, loaded.problems);
    rules_before_.names = hooks::names_of(loaded.rules);
    hooks::CgroupAccess cgroups = hooks::open_cgroups(loaded.rules);
    // Hooks must not outlive us, however we end.
    loop::start_guardian([tree = cgroups.tree] {
      if (tree) tree->leave();
    });
    auto session = open(context);
    if (!session.ok()) return fail(context, session.error());
    (*session)->loop().warn_of_slow_turns();
    return reconcile(context, **session, std::move(loaded.rules), std::move(cgroups));
  }

 private:
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

  // What goes with hooks of another tool, and what is about rules only.
  Result<void> check_compat() const {
    KW_TRY(compat_.check());
    if (!compat_.asked()) {
      if (!rule_files_.empty()) return {};
      return Error(ErrorKind::invalid,
                   "--filename is required, or --compat shell-operator HOOKS_DIR");
    }
    const std::pair<bool, const char*> refused[] = {
        {!rule_files_.empty(), "--filename"}, {!triggers_.empty(), "--triggers"},
        {!socket_.empty(), "--socket"},       {!state_.empty(), "--state"},
        {recording_.wanted(), "--record"},    {election_.given(), "leader election"}};
    for (const auto& [given, flag] : refused) {
      if (!given) continue;
      return Error(ErrorKind::invalid, fmt::format("{} does not go with --compat: it is about "
                                                   "rules, and hooks of another tool have none",
                                                   flag));
    }
    return {};
  }

  // What contradicts each other among the flags about rules.
  Result<void> check_together(bool elected, std::size_t shards) const {
    const auto refused = [](const char* why) { return Error(ErrorKind::invalid, why); };
    if (ends().by_itself() && shards > 1) {
      return refused(
          "--once and --until-idle do not go with shards: no instance knows when all of "
          "them are done");
    }
    if (dry_run_ && elected) {
      return refused("--dry-run writes nothing, Leases neither: leave out --leader-elect");
    }
    if (dry_run_ && !state_.empty()) {
      return refused("--dry-run handles nothing that --state could remember");
    }
    if (!state_.empty() && elected) {
      return refused(
          "--state does not go with --leader-elect: another instance may have worked "
          "meanwhile, so that nothing one of them remembers is sure");
    }
    if (dry_run_ && recording_.wanted()) {
      return refused("--dry-run writes nothing that --record could keep");
    }
    return {};
  }

  Ends ends() const { return {once_, until_idle_}; }

  // A process that ends by itself must not wait for ever for what never comes.
  std::optional<Duration> give_up_start() const {
    if (fail_fast_) return Duration{0};
    return ends().by_itself() ? std::optional(hooks::kPatienceAtStart) : std::nullopt;
  }

  int run_compat_hooks(Context& context) {
    loop::start_guardian();
    auto session = open(context);
    if (!session.ok()) return fail(context, session.error());
    CompatRun run{compat_.options(), once_, until_idle_, dry_run_};
    run.options.concurrency = concurrency_.value_or(hooks::default_concurrency(loop::usable_cpu()));
    run.options.give_up_start = give_up_start();
    if (shutdown_timeout_) run.options.shutdown_timeout = *shutdown_timeout_;
    (*session)->loop().warn_of_slow_turns();
    return run_compat(context, **session, std::move(run), metrics_);
  }

  int reconcile(Context& context, Session& session, std::vector<hooks::Rule> rules,
                hooks::CgroupAccess cgroups) {
    auto plan = election_.plan(rules, session.client().config().namespace_, session.random());
    if (!plan.ok()) return fail(context, plan.error());
    const std::size_t shards = *plan ? (*plan)->shards.count : 1;
    if (auto checked = check_together(plan->has_value(), shards); !checked.ok()) {
      return fail(context, kUsage, checked.error().message());
    }
    hooks::EngineOptions options;
    options.concurrency = concurrency_.value_or(hooks::default_concurrency(loop::usable_cpu()));
    options.give_up_start = give_up_start();
    options.cgroups = std::move(cgroups);
    if (!triggers_.empty()) {
      const auto listen = http::parse_listen_address(triggers_);
      if (!listen.ok()) {
        return fail(context, kUsage, "--triggers: " + listen.error().message());
      }
      options.triggers = {listen->address, listen->port, trigger_hosts_};
      const bool wanted = std::any_of(rules.begin(), rules.end(), [](const hooks::Rule& rule) {
        return std::any_of(rule.triggers.begin(), rule.triggers.end(),
                           [](const auto& trigger) { return !trigger.http_path.empty(); });
      });
      if (!wanted) {
        base::log_warn("no rule has an HTTP trigger: nothing is listened for until one has",
                       {{"triggers", triggers_}});
      }
    }
    if (shutdown_timeout_) options.shutdown_timeout = *shutdown_timeout_;
    if (*plan) {
      options.shards = (*plan)->shards;
      options.hand_over = (*plan)->hand_over;
      (*plan)->give_up_start = options.give_up_start;
    }
    auto traces = trace_target();
    if (!traces.ok()) return fail(context, kUsage, traces.error().render());
    options.traces = std::move(*traces);
    if (!state_.empty()) {
      auto state = open_state(session.client().config());
      if (!state.ok()) {
        return fail(context, code_of_place(state.error()), state.error().render());
      }
      options.state = std::move(*state);
    }
    const bool complete = state_.empty() && !*plan;
    if (auto opened = recording_.open(session, rules, complete); !opened.ok()) {
      return fail(context, code_of_place(opened.error()), opened.error().render());
    }
    Supervision supervision(context, session, ends(), {socket_, rule_files_, rules_before_},
                            metrics_, recording_);
    if (dry_run_) supervision.make_dry();
    return supervision.run(std::move(rules), std::move(options), std::move(*plan));
  }

  Result<std::shared_ptr<hooks::StateStore>> open_state(const client::ClientConfig& config) const {
    const hooks::StateScope scope{hooks::current_boot_id(), config.server, config.ca_pem};
    KW_ASSIGN(auto state, hooks::StateStore::open(state_, scope));
    if (!state->notice().empty()) base::log_warn("state: " + state->notice());
    return std::shared_ptr<hooks::StateStore>(std::move(state));
  }

  std::vector<std::string> rule_files_;
  hooks::RuleReloader::Before rules_before_;
  std::string socket_;
  std::string state_;
  bool sandbox_ = false;
  std::vector<std::string> sandbox_files_;
  bool once_ = false;
  bool dry_run_ = false;
  std::optional<Duration> until_idle_;
  std::optional<std::size_t> concurrency_;
  std::optional<Duration> shutdown_timeout_;
  std::string triggers_;
  std::vector<std::string> trigger_hosts_;
  bool fail_fast_ = false;
  Recording recording_;
  MetricsFlags metrics_;
  ElectionFlags election_;
  CompatFlags compat_;
};

}  // namespace

std::unique_ptr<Command> make_run_controller() {
  return std::make_unique<RunController>();
}

}  // namespace kubewatch::cli
