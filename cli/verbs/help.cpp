// kubewatch help: the help of a command, or a page that is no command's, without man(1).
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/document_words.hpp"
#include "base/strings.hpp"
#include "cli/app.hpp"
#include "cli/exit_code.hpp"
#include "cli/help/docs.hpp"

namespace kubewatch::cli {

namespace {

class Help : public Command {
 public:
  std::string name() const override { return "help"; }
  std::string summary() const override { return "print the help of a command, or a topic"; }

  void bind(CLI::App& app) override {
    app.add_option("WORD", words_, "a command and its subcommand, or a topic")->type_name("");
  }

  int run(Context& context) override {
    for (const Topic& topic : topics()) {
      if (words_.empty() || topic.name != words_.front()) continue;
      if (words_.size() == 1) return print_topic(context, topic);
      return fail(context, kUsage, topic.name + " is a topic: it takes no further word");
    }
    const auto tree = build_tree(context.program, words_);
    const CLI::App* app = tree->app.get();
    for (const std::string& word : words_) {
      const CLI::App* inner = subcommand_of(*app, word);
      if (inner == nullptr) return fail(context, kUsage, no_help_of(word, *app));
      app = inner;
    }
    context.out << app->help();
    return kDone;
  }

 private:
  static int print_topic(Context& context, const Topic& topic) {
    context.out << fmt::format("kubewatch-{}({}): {}\n\n{}", topic.name, topic.section,
                               topic.summary, page_of(topic.name))
                << (topic.more_text != nullptr ? topic.more_text() : "");
    return kDone;
  }

  static std::string no_help_of(const std::string& word, const CLI::App& app) {
    std::vector<std::string> known;
    for (const CLI::App* one : subcommands_of(app)) {
      known.push_back(one->get_name());
    }
    const bool top = app.get_parent() == nullptr;
    if (top) {
      for (const Topic& topic : topics()) known.push_back(topic.name);
    }
    std::string out = fmt::format(
        "{} {}", top ? "there is no command or topic" : app.get_name() + " has no subcommand",
        base::in_quotes(word));
    if (known.empty()) return out;
    const std::string meant = did_you_mean_command(app, word, known);
    return out + (meant.empty() ? "; there are " + base::join(known, ", ") : meant);
  }

  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> make_help() {
  return std::make_unique<Help>();
}

}  // namespace kubewatch::cli
