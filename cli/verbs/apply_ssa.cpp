// kubewatch apply-ssa: server-side apply of files, saying what changed. The flags and their sense;
// the work is in cli/apply.
#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/apply/apply_run.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/resource_args.hpp"
#include "cli/session.hpp"
#include "cli/session_recording.hpp"
#include "cli/wait/waiter.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMostAppliedAtOnce = 256;
constexpr Duration kColumnsWithin{10000};

// --validate as kubectl has it, in the server's words.
std::string validation_of(const std::string& word) {
  if (word.empty() || word == "warn") return word.empty() ? "" : "Warn";
  return word == "ignore" || word == "false" ? "Ignore" : "Strict";
}

class ApplySsa : public Command {
 public:
  std::string name() const override { return "apply-ssa"; }
  std::string summary() const override { return "server-side apply that says what changed"; }

  void bind(CLI::App& app) override {
    bind_files(app);
    bind_ownership(app);
    app.add_option("--subresource", options_.subresource, "status or scale")
        ->type_name("NAME")
        ->check(CLI::IsMember({"status", "scale"}));
    app.add_option(
           "--validate", validate_,
           "strict, warn or ignore, for the server; an apply refuses unknown fields in any case")
        ->type_name("MODE")
        ->check(CLI::IsMember({"strict", "warn", "ignore", "true", "false"}));
    app.add_option("--dry-run", dry_run_, "none or server; server shows what would change")
        ->type_name("MODE")
        ->check(CLI::IsMember({"none", "server", "client"}));
    app.add_flag("--diff", diff_, "only show what would change; exit code 9 when anything would");
    app.add_flag("--prune", prune_, "delete what belongs to the ApplySet and is applied no more");
    app.add_option("--applyset", apply_set_, "parent of the set for --prune, [TYPE[.GROUP]/]NAME")
        ->type_name("PARENT");
    app.add_option("--concurrency", concurrency_,
                   "objects at the same time at most; fewer while the server answers quickly")
        ->type_name("N")
        ->check(CLI::Range(std::size_t{1}, kMostAppliedAtOnce));
    bind_wait(app);
    recording_.bind(app, SessionRecording::Use::writes);
    PrintFlagChoice choice;
    choice.own = {"text", "name", "json"};
    choice.default_format = "text";
    choice.sort_by = false;
    bind_print(app, print_, choice);
  }

  int run(Context& context) override {
    if (auto sound = check(); !sound.ok()) return fail(context, sound.error());
    style_.terminal = terminal_of(context.global.color, STDOUT_FILENO);
    if (auto sound = make_printer({}); !sound.ok()) {
      return fail(context, kUsage, sound.error().render());
    }
    // Before anything asks for a server.
    loop::EventLoop loop;
    auto manifests = read_resource_files(loop, files_);
    if (!manifests.ok()) return fail(context, kUsage, manifests.error().render());
    if (manifests->empty()) return fail(context, nothing_in_files(files_));
    auto session = recording_.open(context.global.config, {}, &loop);
    if (!session.ok()) return fail(context, session.error());
    style_.now = loop.wall();
    for (const auto& manifest : *manifests) recording_.learn(manifest.object);
    const int code = apply(context, **session, std::move(*manifests));
    return fail_too(context, code, recording_.end());
  }

 private:
  Result<void> make_printer(PrinterSetup setup) {
    setup.terminal = style_.terminal;
    KW_ASSIGN(printer_, ObjectPrinter::make(print_, std::move(setup)));
    const OutputFormat& format = printer_->format();
    const bool own = format.kind == OutputFormat::Kind::own;
    style_.output = own ? format.text : "";
    style_.printer = own ? nullptr : printer_.get();
    return {};
  }

  // Of several kinds the rows come in the order of the files, and a header at each change of kind
  // would make no table.
  Result<void> lay_out_table(const ApplyRun& run) {
    if (style_.printer == nullptr || !printer_->is_table()) return {};
    PrinterSetup setup;
    setup.with_namespace = run.several_namespaces();
    setup.several_kinds = run.several_kinds();
    // What is printed of a scale is a Scale, whatever it scales.
    setup.common_columns = setup.several_kinds || options_.subresource == "scale";
    own_columns_ = !setup.common_columns;
    return make_printer(std::move(setup));
  }

  void bind_files(CLI::App& app) {
    bind_resource_files(app, files_, false);
    app.add_option("-l,--selector", files_.selection.label_selector,
                   "apply only the objects of the files whose labels match")
        ->type_name("SELECTOR");
    app.add_flag("--strip-server-fields", strip_,
                 "drop what the server keeps: status, uid, resourceVersion, managedFields, ...");
  }

  void bind_ownership(CLI::App& app) {
    app.add_option("--field-manager", options_.manager, "name that owns the applied fields")
        ->type_name("NAME");
    app.add_flag("--force-conflicts", force_,
                 "take conflicting fields from their managers; =PATH takes only these, repeatable");
    app.add_option("--force-owner", force_owners_,
                   "take conflicting fields from this manager only, repeatable")
        ->type_name("MANAGER")
        ->allow_extra_args(false);
    app.add_option("--migrate-from", options_.migrate_from,
                   "take over what this manager updated, as from kubectl's client-side apply")
        ->type_name("MANAGER")
        ->allow_extra_args(false);
  }

  void bind_wait(CLI::App& app) {
    app.add_flag("--wait", wait_, "wait until the applied objects are ready, or as --for says");
    bind_wait_goal(app, wait_flags_);
    timeout_ = app.get_option("--timeout");
  }

  Result<void> check() {
    const auto wrong = [](const char* text) { return Error(ErrorKind::invalid, text); };
    if (!files_.from_files()) return wrong("must specify one of -f and -k");
    KW_TRY(check_resource_files(files_));
    KW_TRY(check_selection(files_.selection));
    KW_TRY(recording_.check());
    KW_TRY(check_wait());
    KW_ASSIGN(options_.force, parse_force(force_, force_owners_));
    if (dry_run_ == "client") {
      return wrong(
          "--dry-run=client doesn't work with server-side apply (did you mean --dry-run=server "
          "instead?)");
    }
    if (options_.manager.empty()) return wrong("--field-manager needs a name");
    if (prune_ && apply_set_.empty()) return wrong("--prune needs --applyset: the set to prune");
    if (prune_ && !files_.selection.label_selector.empty()) {
      return wrong("--prune would delete what -l leaves out: give one of them");
    }
    if (!prune_ && !apply_set_.empty()) return wrong("--applyset requires --prune");
    if (prune_ && !options_.subresource.empty()) {
      return wrong("--prune and --subresource cannot be used together");
    }
    style_.diff = diff_;
    style_.dry_run = options_.dry_run = diff_ || dry_run_ == "server";
    style_.subresource = options_.subresource;
    options_.field_validation = validation_of(validate_);
    // A recording has each object's states, and none of its neighbours'.
    options_.list_many = !recording_.records();
    if (options_.dry_run && recording_.records()) {
      return wrong("a dry run writes nothing that --record could keep");
    }
    return {};
  }

  Result<void> check_wait() {
    const bool given = !wait_flags_.conditions.empty() || !wait_flags_.fail_if.empty() ||
                       wait_flags_.any || wait_flags_.strict || wait_flags_.strict_grace ||
                       wait_flags_.hold || timeout_->count() > 0;
    if (!wait_ && given) {
      return Error(ErrorKind::invalid, "what to wait for is said, but not --wait");
    }
    if (!wait_) return {};
    if (diff_ || dry_run_ == "server") {
      return Error(ErrorKind::invalid, "--wait has nothing to wait for in a dry run");
    }
    if (wait_flags_.conditions.empty()) wait_flags_.conditions = {"ready"};
    wait_flags_.output = print_.output == "json" ? "json-line" : "text";
    wait_flags_.quiet =
        !print_.output.empty() && print_.output != "json" && print_.output != "text";
    KW_ASSIGN(goal_, wait_goal_of(wait_flags_));
    return {};
  }

  int apply(Context& context, Session& session, std::vector<Manifest> manifests) {
    style_.show_managed_fields = print_.show_managed_fields;
    const auto secrets = hooks::SecretHash::make();
    ApplyReport report(context, style_, secrets);
    ApplyRun run(session, options_, report, secrets, concurrency_);
    auto taken = run.take(std::move(manifests), strip_, context.global.config.namespace_);
    if (!taken.ok()) return fail(context, taken.error());
    style_.with_namespace = run.several_namespaces();
    if (auto laid = lay_out_table(run); !laid.ok()) return fail(context, laid.error());
    // Until here a signal simply ends the process: nothing was written.
    const Interrupt interrupt(session.loop(), [] {});
    const auto stopped = [&] { return interrupt.happened(); };
    run.stop_when(stopped);
    run.on_type([&](const core::ResourceType& type) {
      recording_.note({type});
      // A custom kind's columns are in its definition, which is there: one that came with the
      // objects would be a second kind. Who may not read it gets NAME and AGE.
      if (own_columns_) {
        find_columns(printer_->columns(), session.client(), session.loop(), type, kColumnsWithin,
                     stopped);
      }
    });
    std::optional<ApplySetRun> set;
    if (prune_) {
      auto joined = join_set(context, session, run, report, stopped);
      if (!joined.ok()) return fail(context, joined.error());
      set = std::move(*joined);
      options_.joins_set = true;
      run.name_sets([&set](const std::string& id) { return set->name_of(id); });
    }
    std::optional<Waiter> waiter;
    std::map<const ObjectApply*, std::size_t> targets;
    if (wait_) {
      waiter.emplace(context, session, wait_flags_, std::move(*goal_), runtime::WatcherOptions());
      // The watches are open before the first write: no transition is missed.
      run.listen(
          {[&](const std::vector<ObjectApply*>& applies) -> Result<void> {
             for (const auto* one : applies) {
               targets[one] =
                   waiter->add({one->type(), one->key().namespace_, one->key().name, "", "", ""});
             }
             waiter->start();
             return waiter->until_synced();
           },
           [&](ObjectApply& one) { waiter->expect(targets.at(&one), one.outcome().after); }});
    }
    run.apply_all();
    for (const auto& path : run.idle_paths()) {
      context.err << base::escape_for_terminal("warning: --force-conflicts=" + path +
                                               ": no conflict is at or below this path")
                  << "\n";
    }
    const int code = report.exit_code();
    if (!run.all_well()) {
      if (set) context.err << "nothing was pruned, because not everything could be applied\n";
      if (targets.empty()) return code;
      context.err << (stopped() ? "not waited for: interrupted\n"
                                : "not waited for, because not everything could be applied\n");
      return code;
    }
    context.out.flush();
    // However long the writes took, the time is for what is waited for.
    if (waiter) waiter->restart_clock();
    const int waited = targets.empty() ? int{kDone} : waiter->finish();
    if (!set) return more_telling(code, waited);
    if (waited != kDone) {
      context.err << "nothing was pruned, because what was applied is not as awaited\n";
      return more_telling(code, waited);
    }
    return prune(context, *set, run.applied_uids(), report, stopped);
  }

  // The parent names every member there may be before anything is written, and only the present
  // ones once all went well: killed in between, the next run still finds what is obsolete.
  Result<ApplySetRun> join_set(Context& context, Session& session, ApplyRun& run,
                               ApplyReport& report, const std::function<bool()>& stopped) {
    const auto told = [&](const std::string& what, const Error& why, Duration pause) {
      report.note_pause(what, why.render(), pause, session.loop().now());
    };
    KW_ASSIGN(auto set, ApplySetRun::open(session, apply_set_, options_.dry_run, {stopped, told}));
    KW_ASSIGN(const auto contents, run.join(set.id(), set.parent_namespace()));
    KW_ASSIGN(const bool widened, set.widen(contents));
    if (widened) {
      context.err << base::escape_for_terminal(fmt::format(
                         "warning: other managers had written to {}; its ApplySet fields are taken "
                         "back from them",
                         set.parent_text()))
                  << "\n";
    }
    return set;
  }

  // Once all is applied, and as it was waited for.
  int prune(Context& context, ApplySetRun& set, const std::set<std::string>& applied,
            ApplyReport& report, const std::function<bool()>& stopped) {
    const auto no_prune = [&](const Error& why) {
      report.count(fail(context, Error(why).with_context("nothing was pruned")));
      return report.exit_code();
    };
    const Error interrupted(ErrorKind::canceled, "interrupted");
    if (stopped()) return no_prune(interrupted);
    auto obsolete = set.find_obsolete(applied);
    if (!obsolete.ok()) return no_prune(obsolete.error());
    bool all_gone = true;
    for (auto& member : *obsolete) {
      if (stopped()) {
        member.error =
            Error(interrupted)
                .with_context("not pruned: " + object_name(member.type, member.key.name));
      } else {
        set.remove(member);
      }
      report.add_pruned(member);
      report.flush();
      all_gone = all_gone && !member.error;
    }
    if (!all_gone) return report.exit_code();
    if (auto narrowed = set.narrow(); !narrowed.ok()) {
      report.count(fail(context, narrowed.error()));
    }
    return report.exit_code();
  }

  ResourceFlags files_;
  bool strip_ = false;
  std::vector<std::string> force_;
  std::vector<std::string> force_owners_;
  std::string validate_;
  std::string dry_run_ = "none";
  bool diff_ = false;
  bool prune_ = false;
  std::string apply_set_;
  std::size_t concurrency_ = 32;
  ApplyOptions options_;
  ReportStyle style_;
  PrintFlags print_;
  std::unique_ptr<ObjectPrinter> printer_;
  bool own_columns_ = false;  // tables have those of the one kind
  bool wait_ = false;
  WaitFlags wait_flags_;
  const CLI::Option* timeout_ = nullptr;  // the app's
  std::optional<runtime::WaitGoal> goal_;
  SessionRecording recording_;
};

}  // namespace

std::unique_ptr<Command> make_apply_ssa() {
  return std::make_unique<ApplySsa>();
}

}  // namespace kubewatch::cli
