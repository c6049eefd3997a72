#include "cli/help/help.hpp"

#include <CLI/CLI.hpp>

#include "cli/app.hpp"
#include "cli/help/docs.hpp"

namespace kubewatch::cli {

namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(34); }

  // The page comes first: it says what the command is for; CLI11 would put it last.
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    std::string out = app->get_parent() != nullptr && !app->get_footer().empty()
                          ? app->get_footer() + "\n"
                          : app->get_description() + "\n\n";
    out += make_usage(app, full_name(app));
    out += make_positionals(app);
    out += make_groups(app, mode);
    out += make_subcommands(app, mode);
    if (app->get_parent() != nullptr) {
      out += "\nGlobal flags (server, identity, logs) are listed by 'kubewatch --help'.\n";
    } else {
      out += topics_line();
    }
    out += std::string("\nExit status: ") + kExitStatus;
    return as_called(app, std::move(out));
  }

  // "-R,--recursive,--no-recursive": CLI11 would show what the negated name sets.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string out = CLI::Formatter::make_option_name(option, positional);
    constexpr std::string_view kFalse = "{false}";
    for (auto at = out.find(kFalse); at != std::string::npos; at = out.find(kFalse)) {
      out.erase(at, kFalse.size());
    }
    return out;
  }

 private:
  static std::string topics_line() {
    std::string out = "\nTopics:";
    for (const Topic& topic : topics()) out += " " + topic.name;
    return out + " (kubewatch help TOPIC)\n";
  }

  // Commands in the pages are written as the user must type them: those of a kubectl plugin begin
  // with kubectl. Other words, as kubewatch.dev, stay.
  static std::string as_called(const CLI::App* app, std::string text) {
    while (app->get_parent() != nullptr) app = app->get_parent();
    if (app->get_name() == "kubewatch") return text;
    std::vector<std::string> followers = {"--help"};
    for (const CLI::App* one : subcommands_of(*app)) {
      followers.push_back(one->get_name());
    }
    for (const auto& follower : followers) {
      const std::string from = "kubewatch " + follower;
      const std::string to = app->get_name() + " " + follower;
      for (auto at = text.find(from); at != std::string::npos;
           at = text.find(from, at + to.size())) {
        const bool named = at >= 8 && text.compare(at - 8, 8, "kubectl ") == 0;
        if (!named) text.replace(at, from.size(), to);
      }
    }
    return text;
  }

  static std::string full_name(const CLI::App* app) {
    return app->get_parent() == nullptr ? app->get_name()
                                        : full_name(app->get_parent()) + " " + app->get_name();
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_help_formatter() {
  return std::make_shared<HelpFormatter>();
}

}  // namespace kubewatch::cli
