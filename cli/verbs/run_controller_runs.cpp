// kubewatch run-controller runs: the last runs of a running controller, and those to come.
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

class Runs : public Command {
 public:
  std::string name() const override { return "runs"; }
  std::string summary() const override { return "list the last runs of a running controller"; }

  void bind(CLI::App& app) override {
    app.add_option("KIND/NAME", target_, "only runs of this kind or object");
    app.add_flag("-w,--watch", watch_, "go on with the runs to come");
    app.add_option("--controller", controller_, "only runs of this rule")->type_name("NAME");
    app.add_option("--limit", limit_, "list at most so many past runs (default 200)")
        ->type_name("N")
        ->check(CLI::Range(1, 2000));
    bind_output(app, output_, {"text", "json"});
    bind_socket(app, socket_);
  }

  int run(Context& context) override {
    Json args = Json::object();
    if (!target_.empty()) {
      const auto target = target_args(target_, context.global.config, true);
      if (!target.ok()) return fail(context, target.error());
      args = **target;
    }
    args["watch"] = watch_;
    args["limit"] = limit_;
    if (!controller_.empty()) args["controller"] = controller_;
    const auto socket = find_socket(socket_);
    if (!socket.ok()) return fail(context, socket.error());
    const auto asked = ask(*socket, "runs", args, [&](const Json& result) {
      print(context, result);
      context.out.flush();
      return static_cast<bool>(context.out);
    });
    return asked.ok() ? kDone : fail(context, asked.error());
  }

 private:
  void print(Context& context, const Json& result) const {
    if (output_ == "json" && !watch_) {
      context.out << base::dump_json_pretty(result) << "\n";
      return;
    }
    for (const Json& run : result["runs"]) {
      if (output_ == "json") {
        context.out << base::dump_json(run) << "\n";
      } else {
        print_run(context, run);
      }
    }
  }

  void print_run(Context& context, const Json& run) const {
    const auto text = [&](const char* name) { return base::string_at(run, {name}); };
    const auto count = [&](const char* name) { return base::int_at(run, {name}).value_or(0); };
    std::string line =
        fmt::format("{} {} {} {} {} {}ms", text("ended"), text("controller"), text("object"),
                    text("reason"), text("outcome"), count("milliseconds"));
    if (count("attempt") > 1) line += fmt::format(" attempt={}", count("attempt"));
    if (run.contains("exitCode")) line += fmt::format(" exit={}", count("exitCode"));
    for (const char* name : {"created", "configured", "deleted"}) {
      if (count(name) > 0) line += fmt::format(" {}={}", name, count(name));
    }
    if (!text("message").empty()) line += " " + text("message");
    context.out << base::escape_for_terminal(line) << "\n";
    // Of one object all is told.
    if (target_.find('/') == std::string::npos) return;
    for (const Json& write : run["writes"]) {
      context.out << "    " << base::escape_for_terminal(write.get<std::string>()) << "\n";
    }
    for (const auto& tail : base::split(text("stderr"), '\n')) {
      if (!tail.empty()) context.out << "    | " << base::escape_for_terminal(tail) << "\n";
    }
  }

  std::string target_;
  bool watch_ = false;
  std::string controller_;
  int limit_ = 200;
  std::string output_ = "text";
  std::string socket_;
};

}  // namespace

std::unique_ptr<Command> make_run_controller_runs() {
  return std::make_unique<Runs>();
}

}  // namespace kubewatch::cli
