#include "cli/help.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

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
    }
    return out;
  }

 private:
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
