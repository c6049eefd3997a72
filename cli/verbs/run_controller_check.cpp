// kubewatch run-controller check: reads rule files, lists what is wrong with them, starts nothing.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/controller/checked_rules.hpp"
#include "cli/controller/rules.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/printers/object_printer.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_schema.hpp"

namespace kubewatch::cli {

namespace {

class Check : public Command {
 public:
  std::string name() const override { return "check"; }
  std::string summary() const override { return "check rule files, start nothing"; }

  void bind(CLI::App& app) override {
    app.add_option("-f,--filename", rule_files_, "rule files or folders, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_flag("--schema", schema_,
                 "print the JSON Schema of a Controller document, for editors");
    bind_output(app, output_, {"text", "json"});
  }

  int run(Context& context) override {
    if (schema_) {
      context.out << base::dump_json_pretty(hooks::rule_schema()) << "\n";
      return kDone;
    }
    if (rule_files_.empty()) return fail(context, kUsage, "name the rule files with -f");
    const auto loaded = load_checked_rules(rule_files_);
    output_ == "json" ? print_json(context, loaded) : print_text(context, loaded);
    return loaded.problems.empty() ? kDone : kFindings;
  }

 private:
  static void print_text(Context& context, const hooks::LoadedRules& loaded) {
    for (const auto& problem : loaded.problems) {
      context.out << base::escape_for_terminal(problem.str()) << "\n";
    }
    if (!loaded.problems.empty()) {
      fail(context, kFindings, count_of_problems(loaded.problems));
      return;
    }
    const std::size_t count = loaded.rules.size();
    context.out << fmt::format("{} rule{} ok\n", count, count == 1 ? "" : "s");
  }

  static void print_json(Context& context, const hooks::LoadedRules& loaded) {
    Json out = {{"rules", Json::array()}, {"problems", Json::array()}};
    for (const auto& rule : loaded.rules) {
      if (!rule.name.empty()) out["rules"].push_back(rule.name);
    }
    for (const auto& problem : loaded.problems) {
      out["problems"].push_back({{"file", problem.file},
                                 {"line", problem.line},
                                 {"column", problem.column},
                                 {"message", problem.message}});
    }
    context.out << shown_json(base::dump_json_pretty(out)) << "\n";
  }

  std::vector<std::string> rule_files_;
  bool schema_ = false;
  std::string output_ = "text";
};

}  // namespace

std::unique_ptr<Command> make_run_controller_check() {
  return std::make_unique<Check>();
}

}  // namespace kubewatch::cli
