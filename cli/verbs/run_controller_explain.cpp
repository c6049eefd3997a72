// kubewatch run-controller explain: why an object runs, or does not. Asks a running controller.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/control_client.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"

namespace kubewatch::cli {

namespace {

class Explain : public Command {
 public:
  std::string name() const override { return "explain"; }
  std::string summary() const override { return "say why an object runs, or does not"; }

  void bind(CLI::App& app) override {
    app.add_option("KIND/NAME", target_, "such as website/blog")->required();
    bind_output(app, output_, {"text", "json"});
    bind_socket(app, socket_);
  }

  int run(Context& context) override {
    const auto args = target_args(target_, context.global.config);
    if (!args.ok()) return fail(context, args.error());
    const auto answer = ask_once(socket_, "explain", **args);
    if (!answer.ok()) return fail(context, answer.error());
    if (output_ == "json") {
      context.out << base::dump_json_pretty(**answer) << "\n";
    } else {
      for (const Json& rule : (**answer)["rules"]) print(context, rule);
    }
    return code_of(**answer);
  }

 private:
  static void print(Context& context, const Json& rule) {
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

  std::string target_;
  std::string output_ = "text";
  std::string socket_;
};

}  // namespace

std::unique_ptr<Command> make_run_controller_explain() {
  return std::make_unique<Explain>();
}

}  // namespace kubewatch::cli
