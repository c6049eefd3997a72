// One command of the binary: its flags, its page, its run. One source and one page in cli/verbs
// each; help, man pages and completions are made from these and nothing else.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "client/config.hpp"

namespace CLI {
class App;
}

namespace kubewatch::cli {

// What the global flags said.
struct GlobalOptions {
  client::ConfigOverrides config;
  base::LogOptions log;
  std::string color = "auto";
  // All that -n and --context named. A command that does not take several gets one, the last of
  // those that were repeated, in `config`, and need not look here.
  std::vector<std::string> namespaces;
  std::vector<std::string> contexts;
};

struct Context {
  const GlobalOptions& global;
  std::ostream& out;                  // data
  std::ostream& err;                  // everything else
  std::string program = "kubewatch";  // as the user calls it: "kubectl kubewatch" of a plugin
};

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  // One line for the list of commands.
  virtual std::string summary() const = 0;
  virtual void bind(CLI::App& app) = 0;
  // Returns the exit code; errors are rendered by fail().
  virtual int run(Context& context) = 0;
  // Whether it looks at GlobalOptions::namespaces and contexts, so that -n a,b and several
  // --context are no error.
  virtual bool several_namespaces() const { return false; }
  virtual bool several_contexts() const { return false; }

  // `run-controller check`: in the order of the help page. The command itself runs when none of
  // them is named; its own flags are not theirs.
  const std::vector<std::unique_ptr<Command>>& subcommands() const { return subcommands_; }

 protected:
  void add(std::unique_ptr<Command> subcommand) { subcommands_.push_back(std::move(subcommand)); }

 private:
  std::vector<std::unique_ptr<Command>> subcommands_;
};

// A command that is not made yet: a process makes the one that it runs.
struct CommandMaker {
  const char* name;  // the command's
  std::unique_ptr<Command> (*make)();
};
// In the order of the help page.
const std::vector<CommandMaker>& command_makers();

// The long text of a command, from cli/verbs/NAME.md; of a subcommand "run-controller-check", from
// run_controller_check.md.
std::string_view page_of(const std::string& command);

// Prints "error: ..." for people, escaped, and returns the exit code. Further lines of a message
// stay lines where they are indented: no line is begun by what somebody else says.
int fail(Context& context, const base::Error& error);
int fail(Context& context, int code, const std::string& message);
// Of a command that ends with `code`: something beside what it was asked for failed. "" = nothing.
int fail_too(Context& context, int code, const std::string& message);

// Each defined in its verbs/ file.
std::unique_ptr<Command> make_run_controller();
std::unique_ptr<Command> make_watch();
std::unique_ptr<Command> make_reflect();
std::unique_ptr<Command> make_wait_condition();
std::unique_ptr<Command> make_apply_ssa();
std::unique_ptr<Command> make_sandbox();
std::unique_ptr<Command> make_completion();
std::unique_ptr<Command> make_version();
std::unique_ptr<Command> make_help();

// Of run-controller.
std::unique_ptr<Command> make_run_controller_check();
std::unique_ptr<Command> make_run_controller_rbac();
std::unique_ptr<Command> make_run_controller_test();
std::unique_ptr<Command> make_run_controller_replay();
std::unique_ptr<Command> make_run_controller_explain();
std::unique_ptr<Command> make_run_controller_runs();
std::unique_ptr<Command> make_run_controller_trigger();
std::unique_ptr<Command> make_run_controller_retry();
std::unique_ptr<Command> make_run_controller_queue();
std::unique_ptr<Command> make_run_controller_log_level();
std::unique_ptr<Command> make_run_controller_finalizers();

}  // namespace kubewatch::cli
