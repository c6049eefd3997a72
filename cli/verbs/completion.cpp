// kubewatch completion: prints the completion script of a shell; and, for
// packaging/regenerate-docs, writes all generated files.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/files.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/help/docs.hpp"

namespace kubewatch::cli {

namespace {

class Completion : public Command {
 public:
  std::string name() const override { return "completion"; }
  std::string summary() const override { return "print the completion script of a shell"; }

  void bind(CLI::App& app) override {
    app.add_option("SHELL", shell_, "bash, zsh or fish")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    // For maintainers: not in help, man pages or completions.
    app.add_option("--write-docs", folder_, "")->group("");
  }

  int run(Context& context) override {
    const auto tree = build_tree();
    if (!folder_.empty()) return write_all(context, *tree);
    if (shell_.empty()) return fail(context, kUsage, "name a shell: bash, zsh or fish");
    context.out << completion_script(shell_);
    return kDone;
  }

 private:
  int write_all(Context& context, const CommandTree& tree) const {
    std::map<std::string, std::string> files;
    for (auto& [name, text] : man_pages(tree)) files["man/" + name] = text;
    files["completions/kubewatch.bash"] = completion_script("bash");
    files["completions/_kubewatch"] = completion_script("zsh");
    files["completions/kubewatch.fish"] = completion_script("fish");
    for (const auto& [name, text] : files) {
      auto written = base::write_generated_file(folder_ + "/" + name, text, 0644);
      if (!written.ok()) return fail(context, written.error());
    }
    return kDone;
  }

  std::string shell_;
  std::string folder_;
};

}  // namespace

std::unique_ptr<Command> make_completion() {
  return std::make_unique<Completion>();
}

}  // namespace kubewatch::cli
