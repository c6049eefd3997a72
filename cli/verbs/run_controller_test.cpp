// kubewatch run-controller test: runs the test cases of rules on the embedded server.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/controller/checked_rules.hpp"
#include "cli/controller/rules.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/printers/object_printer.hpp"
#include "hooks/rule_file.hpp"
#include "rehearsal/case_runner.hpp"
#include "rehearsal/report.hpp"

namespace kubewatch::cli {

namespace {

class Test : public Command {
 public:
  std::string name() const override { return "test"; }
  std::string summary() const override { return "run the test cases of rules, with no cluster"; }

  void bind(CLI::App& app) override {
    app.add_option("path", paths_, "files, and folders with all that is below them")
        ->type_name("DIR|FILE");
    app.add_option("--case", chosen_, "only cases with this name, repeatable")
        ->type_name("NAME")
        ->allow_extra_args(false);
    app.add_flag("--interrupt", interrupt_,
                 "run each case once more for each of its writes, and twice: with that write "
                 "refused, and with its answer lost; all must end the same");
    add_duration(app, "--step-timeout", patience_, "real time that one step may take (default 1m)");
    bind_output(app, output_, {"text", "json", "junit"});
  }

  int run(Context& context) override {
    if (paths_.empty()) return fail(context, kUsage, "name the files or folders with test cases");
    auto loaded = rehearsal::load_cases(paths_);
    if (const std::string unknown = choose(loaded); !unknown.empty()) {
      return fail(context, kUsage, unknown);
    }
    check_rules(loaded);
    if (!loaded.problems.empty()) {
      return refuse_rules(context, loaded.problems, "nothing was run",
                          "the test cases or their rules");
    }
    std::vector<rehearsal::CaseReport> reports;
    for (const auto& test : loaded.cases) {
      reports.push_back(run_one(test));
      if (output_ == "text") {
        context.out << base::escape_for_terminal(rehearsal::text_of(reports.back()), true)
                    << std::flush;
      }
    }
    print_end(context, reports);
    for (const auto& report : reports) {
      if (!report.failures.empty()) return kFailed;
    }
    return kDone;
  }

 private:
  // A rule file that is wrong is wrong for all its cases: said once, and nothing is run.
  static void check_rules(rehearsal::LoadedCases& loaded) {
    std::set<std::string> files;
    for (const auto& test : loaded.cases) {
      if (test.rules.empty() || !files.insert(test.rules).second) continue;
      auto rules = load_checked_rules({test.rules});
      loaded.problems.insert(loaded.problems.end(), rules.problems.begin(), rules.problems.end());
    }
  }

  // Says which of the chosen names no case has; "" when all are there.
  std::string choose(rehearsal::LoadedCases& loaded) const {
    auto& cases = loaded.cases;
    if (chosen_.empty() || !loaded.problems.empty()) return "";
    std::vector<std::string> names;
    for (const auto& test : cases) names.push_back(test.name);
    for (const auto& name : chosen_) {
      if (std::find(names.begin(), names.end(), name) == names.end()) return no_case(name, names);
    }
    std::erase_if(cases, [this](const rehearsal::TestCase& test) {
      return std::find(chosen_.begin(), chosen_.end(), test.name) == chosen_.end();
    });
    return "";
  }

  static std::string no_case(const std::string& name, std::vector<std::string> names) {
    constexpr std::size_t kShown = 20;
    const std::size_t more = names.size() > kShown ? names.size() - kShown : 0;
    names.resize(names.size() - more);
    for (std::string& one : names) one = "\n  " + one;
    return fmt::format("no test case has the name \"{}\"; there are:{}{}", name,
                       base::join(names, ""),
                       more > 0 ? fmt::format("\n  and {} more", more) : std::string());
  }

  rehearsal::CaseReport run_one(const rehearsal::TestCase& test) const {
    const auto started = std::chrono::steady_clock::now();
    rehearsal::CaseOptions options;
    if (patience_) options.patience = *patience_;
    auto result = rehearsal::run_case(test, options);
    rehearsal::CaseReport report;
    report.name = test.name;
    report.file = test.file;
    report.line = test.line;
    report.runs = result.runs;
    if (interrupt_ && result.ok()) interrupt(test, result, options, report);
    report.failures.insert(report.failures.end(), result.failures.begin(), result.failures.end());
    report.failed_runs = std::move(result.failed_runs);
    report.log = std::move(result.log);
    report.real = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - started);
    return report;
  }

  static void interrupt(const rehearsal::TestCase& test, const rehearsal::CaseResult& plain,
                        const rehearsal::CaseOptions& options, rehearsal::CaseReport& report) {
    if (!test.interrupt) {
      report.note = "not interrupted: the case says interrupt: false";
    } else if (plain.fails_on_purpose) {
      report.note = "not interrupted: its runs fail by themselves";
    } else {
      auto ended = rehearsal::run_interrupted(test, plain, options);
      report.interruptions = ended.interruptions;
      report.failures = std::move(ended.failures);
    }
  }

  void print_end(Context& context, const std::vector<rehearsal::CaseReport>& reports) const {
    if (output_ == "json") {
      context.out << shown_json(base::dump_json_pretty(rehearsal::json_of(reports))) << "\n";
    } else if (output_ == "junit") {
      context.out << rehearsal::junit_of(reports);
    } else {
      context.out << rehearsal::summary_of(reports);
    }
  }

  std::vector<std::string> paths_;
  std::vector<std::string> chosen_;
  bool interrupt_ = false;
  std::optional<Duration> patience_;
  std::string output_ = "text";
};

}  // namespace

std::unique_ptr<Command> make_run_controller_test() {
  return std::make_unique<Test>();
}

}  // namespace kubewatch::cli
