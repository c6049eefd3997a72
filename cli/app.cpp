#include "cli/app.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "base/time.hpp"
#include "cli/argv.hpp"
#include "cli/exit_code.hpp"
#include "cli/help.hpp"

namespace kubewatch::cli {

namespace {

void bind_server_flags(CLI::App& app, client::ConfigOverrides& config) {
  const std::string group = "Server and identity";
  app.add_option("--kubeconfig", config.kubeconfig, "path of the kubeconfig file")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--context", config.context, "context of the kubeconfig")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--cluster", config.cluster, "cluster of the kubeconfig")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--user", config.user, "user of the kubeconfig")->type_name("NAME")->group(group);
  app.add_option("-n,--namespace", config.namespace_, "namespace of the request")
      ->type_name("NAME")
      ->group(group);
  app.add_option("-s,--server", config.server, "address of the API server")
      ->type_name("URL")
      ->group(group);
  app.add_option("--token", config.token, "bearer token")->type_name("TOKEN")->group(group);
  app.add_option("--as", config.as, "user to impersonate")->type_name("USER")->group(group);
  app.add_option("--as-uid", config.as_uid, "uid to impersonate")->type_name("UID")->group(group);
  app.add_option("--as-group", config.as_groups, "group to impersonate, repeatable")
      ->type_name("GROUP")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--as-user-extra", config.as_user_extra,
                 "extra of the impersonated user, KEY=VALUE")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--certificate-authority", config.certificate_authority, "CA file of the server")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--client-certificate", config.client_certificate, "client certificate file")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--client-key", config.client_key, "client key file")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--insecure-skip-tls-verify", config.insecure_skip_tls_verify,
               "do not check the server's certificate: insecure")
      ->group(group);
  app.add_option("--tls-server-name", config.tls_server_name, "name to check the certificate for")
      ->type_name("NAME")
      ->group(group);
  app.add_option_function<std::string>(
         "--request-timeout",
         [&config](const std::string& text) {
           auto parsed = base::parse_duration(text);
           if (!parsed.ok())
             throw CLI::ValidationError("--request-timeout", parsed.error().render());
           config.request_timeout = *parsed;
         },
         "how long one request may take; watches are not limited")
      ->type_name("DURATION")
      ->group(group);
  app.add_option("--proxy-url", config.proxy_url, "proxy of all requests")
      ->type_name("URL")
      ->group(group);
}

void bind_output_flags(CLI::App& app, GlobalOptions& global) {
  const std::string group = "Logs and colour";
  app.add_option("-v,--v", global.log.verbosity, "verbosity; 6 shows each request")
      ->type_name("LEVEL")
      ->check(CLI::Range(0, 10))
      ->group(group);
  app.add_option_function<std::string>(
         "--log-format",
         [&global](const std::string& text) {
           global.log.format = text == "json" ? base::LogFormat::json : base::LogFormat::text;
         },
         "text or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}))
      ->group(group);
  app.add_option_function<std::string>(
         "--log-filter",
         [&global](const std::string& text) {
           auto parsed = base::LogFilter::parse(text);
           if (!parsed.ok()) throw CLI::ValidationError("--log-filter", parsed.error().message());
           global.log.filter = std::move(*parsed);
         },
         "levels by part, as in warn,runtime=debug,controller/website=6")
      ->type_name("FILTER")
      ->group(group);
  app.add_option("--color", global.color, "auto, always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->group(group);
}

bool wants_color(const GlobalOptions& global) {
  if (global.color != "auto") return global.color == "always";
  const char* no_color = ::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && ::isatty(STDERR_FILENO) != 0;
}

int usage_error(std::ostream& err, const CLI::App& app, const std::string& message) {
  const auto* chosen = app.get_subcommands().empty() ? nullptr : app.get_subcommands().front();
  err << "error: " << base::escape_for_terminal(message) << "\nSee '" << app.get_name()
      << (chosen != nullptr ? " " + chosen->get_name() : "") << " --help'.\n";
  return kUsage;
}

}  // namespace

std::unique_ptr<CommandTree> build_tree() {
  auto tree = std::make_unique<CommandTree>();
  tree->app =
      std::make_unique<CLI::App>("Watches, caches and reconciles Kubernetes objects.", "kubewatch");
  CLI::App& app = *tree->app;
  app.set_help_flag("-h,--help", "print this help");
  app.formatter(make_help_formatter());
  bind_server_flags(app, tree->global.config);
  bind_output_flags(app, tree->global);
  tree->commands = all_commands();
  for (auto& command : tree->commands) {
    CLI::App* sub = app.add_subcommand(command->name(), command->summary());
    sub->fallthrough();
    sub->formatter(make_help_formatter());
    sub->footer(std::string(page_of(command->name())));
    command->bind(*sub);
  }
  return tree;
}

int run_app(const std::vector<std::string>& words, std::ostream& out, std::ostream& err) {
  auto tree = build_tree();
  CLI::App& app = *tree->app;
  std::vector<std::string> reversed = normalise_argv(words);
  std::reverse(reversed.begin(), reversed.end());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    out << (chosen.empty() ? app.help() : chosen.front()->help());
    return kDone;
  } catch (const CLI::ParseError& e) {
    return usage_error(err, app, e.what());
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    err << app.help();
    return kUsage;
  }
  tree->global.log.color = wants_color(tree->global);
  base::configure_log(tree->global.log);
  Context context{tree->global, out, err};
  for (auto& command : tree->commands) {
    if (command->name() != chosen.front()->get_name()) continue;
    const int code = command->run(context);
    out.flush();
    if (!out && code == kDone) return fail(context, kFailed, "cannot write to stdout");
    return code;
  }
  return kFailed;
}

int fail(Context& context, const base::Error& error) {
  return fail(context, exit_code_of(error), error.render());
}

int fail(Context& context, int code, const std::string& message) {
  context.err << "error: " << base::escape_for_terminal(message, true) << "\n";
  return code;
}

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> all;
  all.push_back(make_run_controller());
  all.push_back(make_watch());
  all.push_back(make_reflect());
  all.push_back(make_wait_condition());
  all.push_back(make_apply_ssa());
  all.push_back(make_sandbox());
  all.push_back(make_completion());
  all.push_back(make_version());
  return all;
}

}  // namespace kubewatch::cli
