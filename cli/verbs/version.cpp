// kubewatch version: this binary's version, and the server's when asked.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/session.hpp"
#include "client/sender.hpp"

namespace kubewatch::cli {

namespace {

class Version : public Command {
 public:
  std::string name() const override { return "version"; }
  std::string summary() const override { return "print the version"; }

  void bind(CLI::App& app) override {
    app.add_flag("--server-version", server_, "print the server's version as well");
    app.add_option("-o,--output", output_, "text or json")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"text", "json"}));
  }

  int run(Context& context) override {
    Json answer = {{"version", KUBEWATCH_VERSION}};
    if (server_) {
      auto session = Session::open(context.global.config);
      if (!session.ok()) return fail(context, session.error());
      const auto body = (*session)->read("/version", "GET /version");
      if (!body.ok()) return fail(context, body.error());
      auto parsed = base::parse_json(*body);
      if (!parsed.ok()) {
        return fail(context,
                    client::unreadable_answer(parsed.error()).with_context("GET /version"));
      }
      if (base::string_at(*parsed, {"gitVersion"}).empty()) {
        return fail(context, kFailed, "GET /version: what was answered names no version");
      }
      answer["server"] = std::move(parsed).value();
    }
    if (output_ == "json") {
      context.out << shown_json(base::dump_json(answer)) << "\n";
    } else {
      context.out << "kubewatch " << KUBEWATCH_VERSION << "\n";
      if (server_) {
        context.out << "server "
                    << base::escape_for_terminal(base::string_at(answer, {"server", "gitVersion"}))
                    << "\n";
      }
    }
    return 0;
  }

 private:
  bool server_ = false;
  std::string output_ = "text";
};

}  // namespace

std::unique_ptr<Command> make_version() {
  return std::make_unique<Version>();
}

}  // namespace kubewatch::cli
