// kubewatch run-controller replay: runs rules on a recording and compares what they write.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/files.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/controller/checked_rules.hpp"
#include "cli/controller/rules.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/printers/object_printer.hpp"
#include "hooks/recording_format.hpp"
#include "hooks/rule_file.hpp"
#include "rehearsal/replay.hpp"

namespace kubewatch::cli {

namespace {

class Replay : public Command {
 public:
  std::string name() const override { return "replay"; }
  std::string summary() const override {
    return "run rules on a recording, with no cluster, and compare what they write";
  }

  void bind(CLI::App& app) override {
    app.add_option("recording", file_, "what run-controller --record has written")
        ->type_name("FILE");
    app.add_option("-f,--filename", rule_files_, "rule files or folders, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false);
    add_duration(app, "--step-timeout", patience_,
                 "real time that what one event leads to may take (default 10m)");
    bind_output(app, output_, {"text", "json"});
  }

  int run(Context& context) override {
    if (file_.empty()) return fail(context, kUsage, "name the recording");
    if (rule_files_.empty()) return fail(context, kUsage, "name the rule files with -f");
    auto loaded = load_checked_rules(rule_files_);
    if (!loaded.problems.empty()) {
      return refuse_rules(context, loaded.problems, "nothing was run", "the rules");
    }
    const auto bytes = base::read_file(file_, hooks::kMaxRecording + (1U << 20U));
    if (!bytes.ok()) return fail(context, kUsage, bytes.error().render());
    rehearsal::ReplayOptions options;
    if (patience_) options.patience = *patience_;
    auto report = rehearsal::replay(*bytes, std::move(loaded.rules), options);
    if (!report.ok()) {
      const int code = report.error().kind() == ErrorKind::invalid ? kUsage : kFailed;
      return fail(context, code, fmt::format("recording {}: {}", file_, report.error().render()));
    }
    return print(context, *report);
  }

 private:
  int print(Context& context, const rehearsal::ReplayReport& report) const {
    if (output_ == "json") {
      context.out << shown_json(base::dump_json_pretty(rehearsal::json_of(report))) << "\n";
    } else {
      context.out << base::escape_for_terminal(rehearsal::text_of(report, file_), true);
    }
    context.out.flush();
    if (!report.early.empty()) {
      return fail(context, kFailed,
                  fmt::format("recording {} ends early at {}: {} events replayed", file_,
                              base::escape_for_terminal(report.early), report.events));
    }
    return report.differences.empty() ? kDone : kFindings;
  }

  std::string file_;
  std::vector<std::string> rule_files_;
  std::optional<Duration> patience_;
  std::string output_ = "text";
};

}  // namespace

std::unique_ptr<Command> make_run_controller_replay() {
  return std::make_unique<Replay>();
}

}  // namespace kubewatch::cli
