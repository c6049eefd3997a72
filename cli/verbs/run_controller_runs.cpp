// kubewatch run-controller runs: the last runs of a running controller, and those to come.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/controller/control_client.hpp"
#include "cli/controller/control_flags.hpp"
#include "cli/exit_code.hpp"
#include "cli/printers/object_printer.hpp"

namespace kubewatch::cli {

namespace {

class Runs : public Command {
 public:
  std::string name() const override { return "runs"; }
  std::string summary() const override { return "list the last runs of a running controller"; }

  void bind(CLI::App& app) override {
    control_.bind_target(app, "only runs of this kind or object");
    app.add_flag("-w,--watch", watch_, "go on with the runs to come");
    app.add_option("--controller", controller_, "only runs of this rule")->type_name("NAME");
    app.add_option("--limit", limit_, "list at most so many past runs (default 200)")
        ->type_name("N")
        ->check(CLI::Range(1, 2000));
    control_.bind(app);
  }

  int run(Context& context) override {
    auto args = control_.target_args(context);
    if (!args.ok()) return fail(context, args.error());
    (*args)["watch"] = watch_;
    (*args)["limit"] = limit_;
    if (!controller_.empty()) (*args)["controller"] = controller_;
    const auto socket = find_socket(control_.socket());
    if (!socket.ok()) return fail(context, socket.error());
    const auto asked = ask(*socket, "runs", *args, [&](const Json& result) {
      print(context, result);
      context.out.flush();
      return static_cast<bool>(context.out);
    });
    return asked.ok() ? kDone : fail(context, asked.error());
  }

 private:
  void print(Context& context, const Json& result) const {
    if (control_.json() && !watch_) {
      context.out << shown_json(base::dump_json_pretty(result)) << "\n";
      return;
    }
    if (result["runs"].empty() && !watch_) context.err << "No runs found\n";
    for (const Json& run : result["runs"]) {
      if (control_.json()) {
        context.out << shown_json(base::dump_json(run)) << "\n";
      } else {
        print_run(context, run);
      }
    }
  }

  void print_run(Context& context, const Json& run) const {
    const auto text = [&](const char* name) { return base::string_at(run, {name}); };
    const auto count = [&](const char* name) { return base::int_at(run, {name}).value_or(0); };
    std::string line = fmt::format("{} {} {} {}", text("ended"), text("controller"), text("object"),
                                   text("reason"));
    // The words of who asked, or the object that changed.
    if (!text("reasonObject").empty()) line += fmt::format(" ({})", text("reasonObject"));
    line += fmt::format(" {} {}ms", text("outcome"), count("milliseconds"));
    if (count("attempt") > 1) line += fmt::format(" attempt={}", count("attempt"));
    if (run.contains("exitCode")) line += fmt::format(" exit={}", count("exitCode"));
    for (const char* name : {"created", "configured", "deleted"}) {
      if (count(name) > 0) line += fmt::format(" {}={}", name, count(name));
    }
    if (!text("message").empty()) line += " " + text("message");
    context.out << base::escape_for_terminal(line) << "\n";
    // Of one object all is told.
    if (!control_.names_object()) return;
    for (const Json& write : run["writes"]) {
      context.out << "    " << base::escape_for_terminal(write.get<std::string>()) << "\n";
    }
    for (const auto& tail : base::split(text("stderr"), '\n')) {
      if (!tail.empty()) context.out << "    | " << base::escape_for_terminal(tail) << "\n";
    }
  }

  bool watch_ = false;
  std::string controller_;
  int limit_ = 200;
  ControlFlags control_;
};

}  // namespace

std::unique_ptr<Command> make_run_controller_runs() {
  return std::make_unique<Runs>();
}

}  // namespace kubewatch::cli
