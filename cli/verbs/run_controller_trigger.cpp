// kubewatch run-controller trigger and retry: run objects of a running controller now.
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

int print_triggered(Context& context, const Json& answer, const std::string& output) {
  if (output == "json") {
    context.out << base::dump_json_pretty(answer) << "\n";
    return kDone;
  }
  const auto count = base::int_at(answer, {"triggered"}).value_or(0);
  for (const Json& object : answer["objects"]) {
    context.out << base::escape_for_terminal(object.get<std::string>()) << "\n";
  }
  context.err << fmt::format("{} object{} to run\n", count, count == 1 ? "" : "s");
  return kDone;
}

class Trigger : public Command {
 public:
  std::string name() const override { return "trigger"; }
  std::string summary() const override { return "run objects of a running controller now"; }

  void bind(CLI::App& app) override {
    app.add_option("KIND/NAME", target_, "the object; or KIND, with --selector or --all");
    app.add_option("-l,--selector", selector_, "objects with these labels")->type_name("SELECTOR");
    app.add_flag("--all", all_, "all objects of the rules' selections");
    app.add_option("--reason", reason_, "why, for the hook and the list of runs")
        ->type_name("TEXT");
    bind_output(app, output_, {"text", "json"});
    bind_socket(app, socket_);
  }

  int run(Context& context) override {
    const bool named = target_.find('/') != std::string::npos;
    if (int{named} + int{!selector_.empty()} + int{all_} != 1) {
      return fail(context, kUsage, "name one of KIND/NAME, -l SELECTOR and --all");
    }
    Json args = Json::object();
    if (!target_.empty()) {
      const auto target = target_args(target_, context.global.config, true);
      if (!target.ok()) return fail(context, target.error());
      args = **target;
    }
    if (!selector_.empty()) args["selector"] = selector_;
    if (all_) args["all"] = true;
    args["reason"] = reason_;
    const auto answer = ask_once(socket_, "trigger", args);
    return answer.ok() ? print_triggered(context, **answer, output_)
                       : fail(context, answer.error());
  }

 private:
  std::string target_;
  std::string selector_;
  bool all_ = false;
  std::string reason_;
  std::string output_ = "text";
  std::string socket_;
};

class Retry : public Command {
 public:
  std::string name() const override { return "retry"; }
  std::string summary() const override { return "run the parked objects of a running controller"; }

  void bind(CLI::App& app) override {
    app.add_flag("--parked", parked_, "all parked objects")->required();
    bind_output(app, output_, {"text", "json"});
    bind_socket(app, socket_);
  }

  int run(Context& context) override {
    const auto answer = ask_once(socket_, "retry", Json::object());
    return answer.ok() ? print_triggered(context, **answer, output_)
                       : fail(context, answer.error());
  }

 private:
  bool parked_ = false;
  std::string output_ = "text";
  std::string socket_;
};

}  // namespace

std::unique_ptr<Command> make_run_controller_trigger() {
  return std::make_unique<Trigger>();
}

std::unique_ptr<Command> make_run_controller_retry() {
  return std::make_unique<Retry>();
}

}  // namespace kubewatch::cli
