// kubewatch run-controller explain: why an object runs, or does not. Asks a running controller.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/controller/control_flags.hpp"
#include "cli/exit_code.hpp"

namespace kubewatch::cli {

namespace {

class Explain : public Command {
 public:
  std::string name() const override { return "explain"; }
  std::string summary() const override { return "say why an object runs, or does not"; }

  void bind(CLI::App& app) override {
    control_.bind_target(app, "such as website/blog");
    app.add_option("--controller", controller_,
                   "only this rule; without KIND/NAME a rule that has no `for`")
        ->type_name("NAME");
    control_.bind(app);
  }

  int run(Context& context) override {
    if (control_.target().empty() && controller_.empty()) {
      return fail(context, kUsage, "name KIND/NAME, or with --controller a rule that has no `for`");
    }
    auto args = control_.target_args(context, ControlFlags::Names::object);
    if (!args.ok()) return fail(context, args.error());
    if (!controller_.empty()) (*args)["controller"] = controller_;
    const auto print = [&](const Json& answer) {
      for (const Json& rule : answer["rules"]) print_rule(context, rule);
    };
    return control_.ask(context, "explain", *args, print, code_of);
  }

 private:
  static void print_rule(Context& context, const Json& rule) {
    const auto line = [&](const std::string& text) {
      context.out << base::escape_for_terminal(text) << "\n";
    };
    line(fmt::format("{}: {} ({})", base::string_at(rule, {"controller"}),
                     base::string_at(rule, {"state"}), base::string_at(rule, {"file"})));
    line("  " + base::string_at(rule, {"text"}));
    for (const Json& detail : rule["details"]) line("  " + detail.get<std::string>());
    if (const auto wait = base::int_at(rule, {"nextRunMilliseconds"})) {
      line("  next run: in " + base::format_duration(Duration{*wait}));
    }
  }

  // 5: no rule found the object at all.
  static int code_of(const Json& answer) {
    for (const Json& rule : answer["rules"]) {
      if (base::string_at(rule, {"state"}) != "not-found") return kDone;
    }
    return kNotFound;
  }

  std::string controller_;
  ControlFlags control_;
};

}  // namespace

std::unique_ptr<Command> make_run_controller_explain() {
  return std::make_unique<Explain>();
}

}  // namespace kubewatch::cli
