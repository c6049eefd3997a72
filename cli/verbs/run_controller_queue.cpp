// kubewatch run-controller queue and log-level: what a running controller has to do, and how much
// of it it tells.
#include <fmt/format.h>

#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/controller/control_flags.hpp"

namespace kubewatch::cli {

namespace {

class Queue : public Command {
 public:
  std::string name() const override { return "queue"; }
  std::string summary() const override { return "show what a running controller has to do"; }

  void bind(CLI::App& app) override {
    app.add_option("--limit", limit_, "show at most so many objects of each rule (default 100)")
        ->type_name("N")
        ->check(CLI::Range(1, 1000));
    control_.bind(app);
  }

  int run(Context& context) override {
    Json args = ControlFlags::chosen_namespace(context);
    args["limit"] = limit_;
    return control_.ask(context, "queue", args, [&](const Json& answer) {
      for (const Json& controller : answer["controllers"]) print(context, controller);
    });
  }

 private:
  static void print(Context& context, const Json& controller) {
    const auto count = [&](const char* name) {
      return base::int_at(controller, {name}).value_or(0);
    };
    std::string line =
        fmt::format("{}: {} running, {} ready, {} waiting, {} parked; {} runs, {} failed",
                    base::string_at(controller, {"controller"}), count("running"), count("ready"),
                    count("waiting"), count("parked"), count("runs"), count("failedRuns"));
    if (const auto age = base::int_at(controller, {"oldestReadyMilliseconds"})) {
      line += "; the oldest waits for " + base::format_duration(Duration{*age});
    }
    if (const auto wait = base::int_at(controller, {"scheduleInMilliseconds"})) {
      line += "; its schedule runs it in " + base::format_duration(Duration{*wait});
    }
    context.out << base::escape_for_terminal(line) << "\n";
    for (const Json& object : controller["objects"]) {
      std::string text = fmt::format("  {} {}", base::string_at(object, {"object"}),
                                     base::string_at(object, {"state"}));
      if (const auto wait = base::int_at(object, {"inMilliseconds"})) {
        text += fmt::format(" {} in {}", base::string_at(object, {"reason"}),
                            base::format_duration(Duration{*wait}));
      }
      if (const auto failures = base::int_at(object, {"failures"}).value_or(0); failures > 0) {
        text += fmt::format(" failures={}", failures);
      }
      if (const auto why = base::string_at(object, {"why"}); !why.empty()) text += ": " + why;
      context.out << base::escape_for_terminal(text) << "\n";
    }
  }

  int limit_ = 100;
  ControlFlags control_;
};

class LogLevel : public Command {
 public:
  std::string name() const override { return "log-level"; }
  std::string summary() const override {
    return "show or change the verbosity of a running controller";
  }

  void bind(CLI::App& app) override {
    app.add_option("LEVEL", level_, "as -v takes it; without it the level is shown")
        ->check(CLI::Range(0, 10));
    control_.bind(app);
  }

  int run(Context& context) override {
    Json args = Json::object();
    if (level_) args["level"] = *level_;
    return control_.ask(context, "log-level", args, [&](const Json& answer) {
      context.out << base::int_at(answer, {"verbosity"}).value_or(0) << "\n";
    });
  }

 private:
  std::optional<int> level_;
  ControlFlags control_;
};

}  // namespace

std::unique_ptr<Command> make_run_controller_queue() {
  return std::make_unique<Queue>();
}

std::unique_ptr<Command> make_run_controller_log_level() {
  return std::make_unique<LogLevel>();
}

}  // namespace kubewatch::cli
