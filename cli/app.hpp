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
// What is below an app in the tree, and the one of that name; null: none.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
const CLI::App* subcommand_of(const CLI::App& app, const std::string& name);
// `, did you mean "watch"?` of a word that is none of `known`, for who was to name what is below
// `app`; "" where nothing is near. On top it may be a command's subcommand: "run-controller
// trigger" for "trigger".
std::string did_you_mean_command(const CLI::App& app, const std::string& word,
                                 const std::vector<std::string>& known);
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
