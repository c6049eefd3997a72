// kubewatch watch: the flags. What a run of it does is cli/watch.
#include <unistd.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/printers/print_flags.hpp"
#include "cli/session_recording.hpp"
#include "cli/stream_flags.hpp"
#include "cli/watch/watch_run.hpp"

namespace kubewatch::cli {

namespace {

// "a,b" and repeated flags as one list, each once, without empty ones.
std::vector<std::string> flat(const std::vector<std::string>& lists) {
  std::vector<std::string> out;
  for (const std::string& list : lists) {
    for (const std::string& word : base::split(list, ',')) {
      const bool known = std::find(out.begin(), out.end(), word) != out.end();
      if (!word.empty() && !known) out.push_back(word);
    }
  }
  return out;
}

class Watch : public Command {
 public:
  std::string name() const override { return "watch"; }
  std::string summary() const override { return "stream every change of one or more kinds"; }

  bool several_namespaces() const override { return true; }
  bool several_contexts() const override { return true; }

  void bind(CLI::App& app) override {
    ResourceRules rules;
    rules.help = "TYPE[,TYPE...] [NAME...], or TYPE/NAME...; neither needs to exist yet";
    bind_resources(app, options_.resources, rules);
    bind_views(app);
    bind_ends(app);
    bind_more(app);
    recording_.bind(app);
    bind_stream(app, options_.stream);
    bind_content(app, options_.content);
  }

  int run(Context& context) override {
    options_.namespaces = flat(context.global.namespaces);
    options_.contexts = flat(context.global.contexts);
    options_.terminal = terminal_of(context.global.color, STDOUT_FILENO);
    auto format = parse_output_format(output_, {});
    if (!format.ok()) return fail(context, kUsage, format.error().render());
    options_.output = std::move(*format);
    options_.end.duration = duration_;
    options_.exec.timeout = exec_timeout_.value_or(options_.exec.timeout);
    for (const auto& checked :
         {check_selection(options_.resources.selection), check_stream(options_.stream),
          watch::check(options_, recording_)}) {
      if (!checked.ok()) return fail(context, kUsage, checked.error().render());
    }
    return watch::run_watch(context, options_, recording_);
  }

 private:
  static void repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& into,
                         const std::string& type, const std::string& text) {
    app.add_option(name, into, text)->type_name(type)->allow_extra_args(false);
  }

  void bind_views(CLI::App& app) {
    app.add_option("-o,--output", output_, format_words({}))->type_name("FORMAT");
    app.add_flag("--diff", options_.diff,
                 "show what changed, field by field, and who changed it; also in -o json")
        ->group("What is shown");
    repeatable(app, "--fields", options_.fields, "PATH[,PATH...]",
               "show only these, and only events that changed one of them: jq, or JSONPath in "
               "braces");
    repeatable_group(app, "--fields");
    app.add_option("--when", options_.when,
                   "show only events for which this is true; the object, with .old, .event and "
                   ".initial")
        ->type_name("JQ")
        ->group("What is shown");
    app.add_flag("--watch-only", options_.watch_only, "leave out what is there at the beginning")
        ->group("What is shown");
    bind_label_columns(app, options_.label_columns, options_.show_labels, "What is shown");
    app.add_flag("--no-headers", options_.no_headers, "no line with the names of the columns")
        ->group("What is shown");
  }

  static void repeatable_group(CLI::App& app, const std::string& name) {
    app.get_option(name)->group("What is shown");
  }

  void bind_ends(CLI::App& app) {
    app.add_option("--until", options_.end.until,
                   "end once an event is shown for which this is true: condition=TYPE[=STATUS], "
                   "jsonpath=..., create, delete, or jq")
        ->type_name("CONDITION")
        ->group("When it ends");
    app.add_option("--max-events", options_.end.max_events, "end after so many events")
        ->type_name("N")
        ->check([](const std::string& text) {
          const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
          return std::string(!digits || text == "0" ? "must be 1 or more" : "");
        })
        ->group("When it ends");
    add_duration(app, "--duration", duration_,
                 "end after this time; with --until: exit code 3 if it was not met")
        ->group("When it ends");
    app.add_option("--checkpoint", options_.checkpoint,
                   "remember in this file what was seen; the next run with it tells only what "
                   "has changed since, deletions included")
        ->type_name("FILE")
        ->group("When it ends");
  }

  void bind_more(CLI::App& app) {
    auto* exec = app.add_option("--exec", options_.exec.command,
                                "run this by /bin/sh for each event, with the object on stdin and "
                                "the event in KW_* variables");
    exec->type_name("COMMAND")->group("Commands");
    add_duration(app, "--exec-timeout", exec_timeout_, "how long one may run (default 30s)")
        ->needs(exec)
        ->group("Commands");
    app.add_option("--exec-parallel", options_.exec.parallel,
                   "for how many objects at the same time (default 4)")
        ->type_name("N")
        ->check(CLI::Range(1, 64).description(""))
        ->needs(exec)
        ->group("Commands");
    app.add_flag("--stats", options_.stats, "tell on stderr at the end what came and how fast")
        ->group("Statistics");
    add_duration(app, "--stats-interval", options_.stats_interval, "tell it again and again")
        ->group("Statistics");
  }

  watch::RunOptions options_;
  std::string output_ = "table";
  std::optional<Duration> duration_;
  std::optional<Duration> exec_timeout_;
  SessionRecording recording_;
};

}  // namespace

std::unique_ptr<Command> make_watch() {
  return std::make_unique<Watch>();
}

}  // namespace kubewatch::cli
