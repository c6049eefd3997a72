// kubewatch apply-ssa: server-side apply of files, saying what changed. The flags and their sense;
// the work is in cli/apply.
#include <fmt/format.h>

#include <ostream>

#include "base/strings.hpp"
#include "cli/apply/apply_run.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/manifests.hpp"
#include "cli/session.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMostAtOnce = 256;

// --validate as kubectl has it, in the server's words.
std::string validation_of(const std::string& word) {
  if (word == "warn") return "Warn";
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
    app.add_option("--validate", validate_, "strict, warn or ignore: fields the schema lacks")
        ->type_name("MODE")
        ->check(CLI::IsMember({"strict", "warn", "ignore", "true", "false"}));
    app.add_option("--dry-run", dry_run_, "none or server; server shows what would change")
        ->type_name("MODE")
        ->check(CLI::IsMember({"none", "server", "client"}));
    app.add_flag("--diff", diff_, "only show what would change; exit code 9 when anything would");
    app.add_flag("--prune", prune_, "delete what belongs to the ApplySet and is applied no more");
    app.add_option("--applyset", apply_set_, "parent of the set for --prune, [TYPE[.GROUP]/]NAME")
        ->type_name("PARENT");
    app.add_option("--concurrency", concurrency_, "objects at the same time")
        ->type_name("N")
        ->check(CLI::Range(std::size_t{1}, kMostAtOnce));
    bind_output(app, style_.output, {"text", "name", "json"});
  }

  int run(Context& context) override {
    if (auto sound = check(); !sound.ok()) return fail(context, sound.error());
    auto manifests = read_manifests(files_, recursive_);
    if (!manifests.ok()) return fail(context, kUsage, manifests.error().render());
    if (manifests->empty()) return fail(context, kUsage, "no objects in the given files");
    auto session = Session::open(context.global.config);
    if (!session.ok()) return fail(context, session.error());
    const auto secrets = hooks::SecretHash::make();
    ApplyReport report(context, style_, secrets);
    ApplyRun run(**session, options_, report, secrets, concurrency_);
    auto taken = run.take(std::move(*manifests), strip_, context.global.config.namespace_);
    if (!taken.ok()) return fail(context, taken.error());
    style_.with_namespace = run.several_namespaces();
    if (!prune_) {
      run.apply_all();
      return report.exit_code();
    }
    return apply_and_prune(context, **session, run, report);
  }

 private:
  void bind_files(CLI::App& app) {
    app.add_option("-f,--filename", files_, "files, folders or - for stdin, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->required();
    app.add_flag("-R,--recursive", recursive_, "folders with all that is below them");
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

  Result<void> check() {
    const auto wrong = [](const char* text) { return Error(ErrorKind::invalid, text); };
    KW_ASSIGN(options_.force, parse_force(force_, force_owners_));
    if (dry_run_ == "client") {
      return wrong(
          "--dry-run=client doesn't work with server-side apply (did you mean --dry-run=server "
          "instead?)");
    }
    if (options_.manager.empty()) return wrong("--field-manager needs a name");
    if (prune_ && apply_set_.empty()) return wrong("--prune needs --applyset: the set to prune");
    if (!prune_ && !apply_set_.empty()) return wrong("--applyset requires --prune");
    if (prune_ && !options_.subresource.empty()) {
      return wrong("--prune and --subresource cannot be used together");
    }
    style_.diff = diff_;
    style_.dry_run = options_.dry_run = diff_ || dry_run_ == "server";
    style_.subresource = options_.subresource;
    options_.field_validation = validation_of(validate_);
    return {};
  }

  // The parent names every member there may be before anything is written, and only the present
  // ones once all went well: killed in between, the next run still finds what is obsolete.
  int apply_and_prune(Context& context, Session& session, ApplyRun& run, ApplyReport& report) {
    auto set = ApplySetRun::open(session, apply_set_, options_.dry_run);
    if (!set.ok()) return fail(context, set.error());
    const auto contents = run.join(set->id(), set->parent_namespace());
    if (!contents.ok()) return fail(context, contents.error());
    const auto widened = set->widen(*contents);
    if (!widened.ok()) return fail(context, widened.error());
    if (*widened) {
      context.err << base::escape_for_terminal(fmt::format(
                         "warning: other managers had written to {}; its ApplySet fields are taken "
                         "back from them",
                         set->parent_text()))
                  << "\n";
    }
    run.apply_all();
    if (!run.all_well()) {
      context.err << "nothing was pruned, because not everything could be applied\n";
      return report.exit_code();
    }
    auto obsolete = set->find_obsolete(run.applied_uids());
    if (!obsolete.ok()) {
      report.count(fail(context, std::move(obsolete).error().with_context("nothing was pruned")));
      return report.exit_code();
    }
    bool all_gone = true;
    for (auto& member : *obsolete) {
      set->remove(member);
      report.add_pruned(member);
      all_gone = all_gone && !member.error;
    }
    if (!all_gone) return report.exit_code();
    if (auto narrowed = set->narrow(); !narrowed.ok()) {
      report.count(fail(context, narrowed.error()));
    }
    return report.exit_code();
  }

  std::vector<std::string> files_;
  bool recursive_ = false;
  bool strip_ = false;
  std::vector<std::string> force_;
  std::vector<std::string> force_owners_;
  std::string validate_ = "strict";
  std::string dry_run_ = "none";
  bool diff_ = false;
  bool prune_ = false;
  std::string apply_set_;
  std::size_t concurrency_ = 16;
  ApplyOptions options_;
  ReportStyle style_;
};

}  // namespace

std::unique_ptr<Command> make_apply_ssa() {
  return std::make_unique<ApplySsa>();
}

}  // namespace kubewatch::cli
