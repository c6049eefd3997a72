// The command line as a whole: builds the CLI11 tree from the commands, parses, runs one, renders
// errors.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace CLI {
class App;
}

namespace kubewatch::cli {

// The tree: also the source of completions and man pages. `global` must outlive it.
struct CommandTree {
  std::unique_ptr<CLI::App> app;
  std::vector<std::unique_ptr<Command>> commands;
  GlobalOptions global;
};
// `program`: what the user typed to start us, for help and usage: "kubectl kubewatch" of a plugin.
// `words`: what was typed. Only what they name has flags, and where they name a command the others
// are there by name alone and are not in `commands`: all of them take longer to make than `version`
// needs, and memory that a controller keeps.
std::unique_ptr<CommandTree> build_tree(const std::string& program = "kubewatch",
                                        const std::vector<std::string>& words = {});
// A subcommand of this name, with its command: "run-controller trigger" for "trigger"; "" for none.
std::string subcommand_named(const std::string& word);
// The flags that every command takes. `global` must outlive the app.
void bind_global_flags(CLI::App& app, GlobalOptions& global);

// What argv[0] makes of us: "/bin/kubectl-kubewatch" is kubectl's plugin and called "kubectl
// kubewatch", "kubectl_complete-kubewatch" completes its words.
struct Invocation {
  std::string program = "kubewatch";
  bool completes = false;
};
Invocation invocation_of(const std::string& argv0);

// Returns the exit code. `words` without argv[0].
int run_app(const std::vector<std::string>& words, std::ostream& out, std::ostream& err,
            const Invocation& invocation = {});

}  // namespace kubewatch::cli
