// kubewatch run-controller trigger and retry: run objects of a running controller now.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/controller/control_flags.hpp"
#include "cli/exit_code.hpp"
#include "hooks/control.hpp"

namespace kubewatch::cli {

namespace {

void print_triggered(Context& context, const Json& answer) {
  const auto count = base::int_at(answer, {"triggered"}).value_or(0);
  for (const Json& object : answer["objects"]) {
    context.out << base::escape_for_terminal(object.get<std::string>()) << "\n";
  }
  context.err << fmt::format("{} object{} to run\n", count, count == 1 ? "" : "s");
}

class Trigger : public Command {
 public:
  std::string name() const override { return "trigger"; }
  std::string summary() const override { return "run objects of a running controller now"; }

  void bind(CLI::App& app) override {
    control_.bind_target(app, "the object; or KIND, with --selector or --all");
    app.add_option("-l,--selector", selector_, "objects with these labels")->type_name("SELECTOR");
    app.add_flag("--all", all_, "all objects of the rules' selections");
    app.add_option("--controller", controller_, "of this rule only")->type_name("NAME");
    app.add_option("--reason", reason_, "why, for the hook and the list of runs")
        ->type_name("TEXT");
    control_.bind(app);
  }

  int run(Context& context) override {
    if (int{control_.names_object()} + int{!selector_.empty()} + int{all_} != 1) {
      return fail(context, kUsage, "name one of KIND/NAME, -l SELECTOR and --all");
    }
    auto args = control_.target_args(context);
    if (!args.ok()) return fail(context, args.error());
    if (!selector_.empty()) (*args)["selector"] = selector_;
    if (all_) (*args)["all"] = true;
    if (!controller_.empty()) (*args)["controller"] = controller_;
    (*args)["reason"] = reason_;
    if (hooks::control_request_line("trigger", *args).size() > hooks::kMaxControlRequest) {
      return fail(context, hooks::too_long_request());
    }
    return control_.ask(context, "trigger", *args,
                        [&](const Json& answer) { print_triggered(context, answer); });
  }

 private:
  std::string selector_;
  bool all_ = false;
  std::string controller_;
  std::string reason_;
  ControlFlags control_;
};

class Retry : public Command {
 public:
  std::string name() const override { return "retry"; }
  std::string summary() const override { return "run the parked objects of a running controller"; }

  void bind(CLI::App& app) override {
    app.add_flag("--parked", parked_, "all parked objects")->required();
    control_.bind(app);
  }

  int run(Context& context) override {
    return control_.ask(context, "retry", ControlFlags::chosen_namespace(context),
                        [&](const Json& answer) { print_triggered(context, answer); });
  }

 private:
  bool parked_ = false;
  ControlFlags control_;
};

}  // namespace

std::unique_ptr<Command> make_run_controller_trigger() {
  return std::make_unique<Trigger>();
}

std::unique_ptr<Command> make_run_controller_retry() {
  return std::make_unique<Retry>();
}

}  // namespace kubewatch::cli
