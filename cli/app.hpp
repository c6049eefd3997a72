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
std::unique_ptr<CommandTree> build_tree();

// Returns the exit code. `words` without argv[0].
int run_app(const std::vector<std::string>& words, std::ostream& out, std::ostream& err);

}  // namespace kubewatch::cli
