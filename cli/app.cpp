#include "cli/app.hpp"

#include <unistd.h>

#include <algorithm>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/document_words.hpp"
#include "base/strings.hpp"
#include "base/time.hpp"
#include "cli/argv.hpp"
#include "cli/crd/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/help/complete.hpp"
#include "cli/help/help.hpp"
#include "cli/resource_args.hpp"
#include "cli/terminal.hpp"
#include "cli/watched_output.hpp"

namespace kubewatch::cli {

namespace {

void bind_server_flags(CLI::App& app, GlobalOptions& global) {
  client::ConfigOverrides& config = global.config;
  const std::string group = "Server and identity";
  app.add_option("--kubeconfig", config.kubeconfig, "path of the kubeconfig file")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--context", global.contexts,
                 "context of the kubeconfig; several where a command takes them")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--cluster", config.cluster, "cluster of the kubeconfig")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--user", config.user, "user of the kubeconfig")->type_name("NAME")->group(group);
  app.add_option("-n,--namespace", global.namespaces,
                 "namespace of the request; a,b where a command takes several")
      ->type_name("NAME")
      ->allow_extra_args(false)
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
           // As with kubectl a bare number is seconds.
           const bool bare =
               !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
           auto parsed = base::parse_duration(bare ? text + "s" : text);
           if (!parsed.ok())
             throw CLI::ValidationError("--request-timeout", parsed.error().render());
           config.request_timeout = *parsed;
         },
         "how long one request may take, seconds where no unit is given; watches are not limited")
      ->type_name("DURATION")
      ->group(group);
  app.add_option("--proxy-url", config.proxy_url, "proxy of all requests")
      ->type_name("URL")
      ->group(group);
  app.add_option("--cache-dir", config.cache_dir,
                 "where discovery is kept for ten minutes (default $KUBECACHEDIR, ~/.kube/cache)")
      ->type_name("FOLDER")
      ->group(group);
  app.add_flag("--disable-compression", config.disable_compression,
               "ask for answers without gzip: less CPU time where the network is fast")
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

// What -n and --context mean for this command. Errors: invalid.
Result<void> settle_scopes(GlobalOptions& global, const Command& command) {
  auto& namespaces = global.namespaces;
  if (!namespaces.empty() && !command.several_namespaces()) namespaces = {namespaces.back()};
  // -n "" is the context's, as in kubectl.
  const bool named = std::any_of(namespaces.begin(), namespaces.end(),
                                 [](const std::string& name) { return !name.empty(); });
  if (!named) namespaces.clear();
  KW_ASSIGN(namespaces, split_namespaces(namespaces));
  if (namespaces.size() > 1 && !command.several_namespaces()) {
    return Error(ErrorKind::invalid,
                 "-n " + base::join(namespaces, ",") + ": this command works in one namespace");
  }
  if (!global.contexts.empty() && !command.several_contexts()) {
    global.contexts = {global.contexts.back()};
  }
  if (!namespaces.empty()) global.config.namespace_ = namespaces.front();
  if (!global.contexts.empty()) global.config.context = global.contexts.front();
  return {};
}

// From the app down to the command that was named last.
std::vector<const CLI::App*> chosen_path(const CLI::App& app) {
  std::vector<const CLI::App*> path = {&app};
  while (!path.back()->get_subcommands().empty()) {
    path.push_back(path.back()->get_subcommands().front());
  }
  return path;
}

// Of a message. Lines of ours within one are indented, as a program with the mark under its fault
// is. What comes from a server, a peer or a file begins no line, where a CI would take it for a
// command ("::", "##"), indented or not.
std::string in_its_lines(std::string_view message) {
  std::string out;
  while (true) {
    const std::size_t end = message.find_first_of("\r\n");
    out += message.substr(0, end);
    if (end == std::string_view::npos) return out;
    message.remove_prefix(end + 1);
    const std::size_t text = message.find_first_not_of(" \t\r\n");
    if (text == std::string_view::npos) return out;
    const std::string_view rest = message.substr(text);
    const bool indented = text > 0 && message[text - 1] == ' ';
    if (indented && !rest.starts_with("::") && !rest.starts_with("##")) {
      const std::size_t line = message.find_last_of("\r\n", text);
      out += '\n';
      message.remove_prefix(line == std::string_view::npos ? 0 : line + 1);
    } else {
      out += ' ';
      message = rest;
    }
  }
}

int usage_error(std::ostream& err, const CLI::App& app, const std::string& message) {
  std::string name;
  for (const CLI::App* one : chosen_path(app)) name += one->get_name() + " ";
  err << "error: " << base::escape_for_terminal(message) << "\nSee '" << name << "--help'.\n";
  return kUsage;
}

std::string named_by_f(const CLI::App& command, const std::string& word) {
  const bool path = word.find_first_of("./") != std::string::npos;
  if (!path || command.get_option_no_throw("--filename") == nullptr) return "";
  return "; files are named by -f";
}

// The word that was to be a command or a subcommand and is none, told with the nearest that is; ""
// when the error is another one. CLI11 itself asks for the command's required flags first, or says
// no more than that a word was not expected.
std::string unknown_command(const CLI::App& app) {
  const CLI::App* last = chosen_path(app).back();
  const auto words = app.remaining(true);
  if (words.empty() || words.front().starts_with('-')) return "";
  std::vector<std::string> known;
  for (const CLI::App* one : subcommands_of(*last)) {
    known.push_back(one->get_name());
  }
  if (known.empty()) return "";
  const std::string& word = words.front();
  std::string out =
      "unknown " + std::string(last == &app ? "command" : "subcommand") + " \"" + word + "\"";
  out += did_you_mean_command(*last, word, known);
  return out + " (known: " + base::join(known, ", ") + ")" + named_by_f(*last, word);
}

// With the nearest that the command or the app has.
std::string unknown_flag(const CLI::App& app, const std::string& word) {
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const CLI::App* one : {chosen_path(app).back(), &app}) {
    for (const CLI::Option* option : one->get_options()) {
      const auto& names = option->get_lnames();
      known.insert(known.end(), names.begin(), names.end());
    }
  }
  const std::size_t dashes = std::min(flag.find_first_not_of('-'), flag.size());
  const std::string name = flag.substr(dashes);
  // What it begins, if that is one alone.
  std::set<std::string> close;
  for (const std::string& one : known) {
    if (!name.empty() && one.starts_with(name)) close.insert(one);
  }
  const auto near = base::suggest(name, known);
  if (close.size() != 1) close = {near.begin(), near.begin() + (near.empty() ? 0 : 1)};
  return "unknown flag \"" + flag + "\"" +
         (close.empty() ? "" : ", did you mean \"--" + *close.begin() + "\"?");
}

// What nobody takes: the first flag of it, else all the words as they were `given`; "" when the
// error is another one. A flag is told even where CLI11 misses one that is required: it may be that
// one. What comes after `--` is no flag.
std::string unexpected(const CLI::App& app, const CLI::ParseError& error,
                       const std::vector<std::string>& given) {
  const auto is = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  if (!is(CLI::ExitCodes::ExtrasError) && !is(CLI::ExitCodes::RequiredError)) return "";
  const auto dashes = std::find(given.begin(), given.end(), "--");
  auto words = app.remaining(true);
  std::erase(words, "--");
  for (const std::string& word : words) {
    if (!word.starts_with('-') || word.size() < 2) continue;
    const bool literal = std::find(dashes, given.end(), word) != given.end() &&
                         std::find(given.begin(), dashes, word) == dashes;
    if (!literal) return unknown_flag(app, word);
  }
  if (words.empty() || !is(CLI::ExitCodes::ExtrasError)) return "";
  std::string out = words.size() == 1 ? "unexpected argument" : "unexpected arguments";
  for (const std::string& word : words) {
    out += (&word == &words.front() ? " \"" : ", \"") + word + "\"";
  }
  return out + named_by_f(*chosen_path(app).back(), words.front());
}

// A flag of the command itself, given along with a subcommand, would do nothing.
std::string misplaced_flag(const std::vector<const CLI::App*>& path) {
  for (std::size_t i = 1; i + 1 < path.size(); ++i) {
    for (const CLI::Option* option : path[i]->get_options()) {
      if (option->count() == 0) continue;
      return option->get_name() + " is no flag of '" + path[i]->get_name() + " " +
             path.back()->get_name() + "', or stands before it";
    }
  }
  return "";
}

// An option of the command that was given and says nothing: a script's unset variable would
// otherwise switch the feature off in silence. As in kubectl the global flags may be empty, and
// selectors, which then choose all.
std::string empty_value(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_single_name();
    if (option->get_type_size() == 0 || name == "selector" || name == "field-selector") continue;
    for (const std::string& value : option->results()) {
      if (value.empty()) return option->get_name() + " needs a value that is not empty";
    }
  }
  return "";
}

// What chooses or decides: who gives it twice means both, and would not see that one was dropped.
std::string dropped_value(const CLI::App& command) {
  for (const char* name :
       {"--selector", "--field-selector", "--when", "--until", "--exec", "--jq"}) {
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr || option->results().size() < 2) continue;
    return std::string(name) + " may be given once only: of two the last alone would count";
  }
  return "";
}

using CommandWords = std::vector<std::string>;

bool has(const CommandWords& words, std::string_view name) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

// Without words, which is where the pages are written from, all flags are there.
void add_command(CLI::App& parent, Command& command, const std::string& prefix,
                 const CommandWords& words) {
  const std::string name = prefix + command.name();
  CLI::App* sub = parent.add_subcommand(command.name(), command.summary());
  if (!words.empty() && !has(words, command.name())) return;
  sub->fallthrough();
  sub->require_subcommand(0, 1);
  sub->formatter(make_help_formatter());
  sub->footer(std::string(page_of(name)));
  command.bind(*sub);
  if (!prefix.empty()) {
    // What the command needs is not asked of its subcommands.
    sub->preparse_callback([&parent](std::size_t) {
      for (CLI::Option* option : parent.get_options()) option->required(false);
    });
  }
  for (const auto& inner : command.subcommands()) add_command(*sub, *inner, name + "-", words);
}

Command* find_command(const std::vector<std::unique_ptr<Command>>& commands,
                      const std::vector<const CLI::App*>& path, std::size_t depth) {
  for (const auto& command : commands) {
    if (command->name() != path[depth]->get_name()) continue;
    return depth + 1 == path.size() ? command.get()
                                    : find_command(command->subcommands(), path, depth + 1);
  }
  return nullptr;
}

}  // namespace

void bind_global_flags(CLI::App& app, GlobalOptions& global) {
  // Of what takes one value the last counts, as in kubectl: an alias may bring defaults. Commands
  // inherit it.
  app.option_defaults()->take_last();
  bind_server_flags(app, global);
  bind_output_flags(app, global);
}

Invocation invocation_of(const std::string& argv0) {
  const std::string name =
      argv0.substr(argv0.rfind('/') == std::string::npos ? 0 : argv0.rfind('/') + 1);
  constexpr std::string_view kPlugin = "kubectl-";
  constexpr std::string_view kComplete = "kubectl_complete-";
  Invocation out;
  out.completes = name.starts_with(kComplete);
  if (!out.completes && !name.starts_with(kPlugin)) return out;
  // kubectl runs kubectl-a-b_c for `kubectl a b-c`.
  std::string rest = name.substr(out.completes ? kComplete.size() : kPlugin.size());
  std::replace(rest.begin(), rest.end(), '-', ' ');
  std::replace(rest.begin(), rest.end(), '_', '-');
  if (!rest.empty()) out.program = "kubectl " + rest;
  return out;
}

std::unique_ptr<CommandTree> build_tree(const std::string& program,
                                        const std::vector<std::string>& words) {
  auto tree = std::make_unique<CommandTree>();
  tree->app =
      std::make_unique<CLI::App>("Watches, caches and reconciles Kubernetes objects.", program);
  CLI::App& app = *tree->app;
  // Behind a command the name of another is a word: of `help watch`, or a kind.
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "print this help");
  app.formatter(make_help_formatter());
  bind_global_flags(app, tree->global);
  const auto& makers = command_makers();
  const bool any = std::any_of(makers.begin(), makers.end(),
                               [&words](const auto& maker) { return has(words, maker.name); });
  for (const CommandMaker& maker : makers) {
    if (any && !has(words, maker.name)) {
      app.add_subcommand(maker.name);
    } else {
      tree->commands.push_back(maker.make());
      add_command(app, *tree->commands.back(), "", words);
    }
  }
  return tree;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* subcommand_of(const CLI::App& app, const std::string& name) {
  for (const CLI::App* one : subcommands_of(app)) {
    if (one->get_name() == name) return one;
  }
  return nullptr;
}

std::string did_you_mean_command(const CLI::App& app, const std::string& word,
                                 const std::vector<std::string>& known) {
  if (app.get_parent() == nullptr) {
    for (const CommandMaker& maker : command_makers()) {
      const auto command = maker.make();
      for (const auto& inner : command->subcommands()) {
        if (inner->name() == word)
          return ", did you mean \"" + command->name() + " " + word + "\"?";
      }
    }
  }
  return base::did_you_mean(word, known);
}

int run_app(const std::vector<std::string>& words, std::ostream& out, std::ostream& err,
            const Invocation& invocation) {
  if (invocation.completes) return run_complete(words, out);
  if (!words.empty() && words.front() == "__complete") {
    return run_complete({words.begin() + 1, words.end()}, out);
  }
  WatchedOutput watched(out);
  auto tree = build_tree(invocation.program, words);
  CLI::App& app = *tree->app;
  if (const std::string invalid = invalid_argument(words, app); !invalid.empty()) {
    return usage_error(err, app, invalid);
  }
  const std::vector<std::string> given = normalise_argv(words, app);
  try {
    app.parse(std::vector<std::string>(given.rbegin(), given.rend()));
  } catch (const CLI::CallForHelp&) {
    out << chosen_path(app).back()->help();
    out.flush();
    if (out) return kDone;
    err << "error: " + cannot_write(out) + "\n";
    return kFailed;
  } catch (const CLI::ParseError& e) {
    std::string unknown = unknown_command(app);
    if (unknown.empty()) unknown = unexpected(app, e, given);
    return usage_error(err, app, unknown.empty() ? e.what() : unknown);
  }
  const auto path = chosen_path(app);
  if (path.size() == 1) {
    err << app.help();
    return kUsage;
  }
  if (const std::string flag = misplaced_flag(path); !flag.empty()) {
    return usage_error(err, app, flag);
  }
  if (const std::string empty = empty_value(*path.back()); !empty.empty()) {
    return usage_error(err, app, empty);
  }
  if (const std::string dropped = dropped_value(*path.back()); !dropped.empty()) {
    return usage_error(err, app, dropped);
  }
  Command& command = *find_command(tree->commands, path, 1);
  if (auto settled = settle_scopes(tree->global, command); !settled.ok()) {
    return usage_error(err, app, settled.error().render());
  }
  tree->global.log.color = terminal_of(tree->global.color, STDERR_FILENO).color;
  base::configure_log(tree->global.log);
  Context context{tree->global, out, err, invocation.program};
  const int code = command.run(context);
  out.flush();
  if (out || watched.told()) return code;
  return fail(context, code == kDone ? kFailed : code, cannot_write(out));
}

int fail(Context& context, const base::Error& error) {
  return fail(context, exit_code_of(error), error.render());
}

int fail(Context& context, int code, const std::string& message) {
  // In one piece: several of us may write to one terminal or log.
  context.err << "error: " + base::escape_for_terminal(in_its_lines(message), true) + "\n";
  return code;
}

int fail_too(Context& context, int code, const std::string& message) {
  return message.empty() ? code : fail(context, code == kDone ? kFailed : code, message);
}

const std::vector<CommandMaker>& command_makers() {
  static const std::vector<CommandMaker> makers = {
      {"run-controller", make_run_controller},
      {"watch", make_watch},
      {"reflect", make_reflect},
      {"wait-condition", make_wait_condition},
      {"apply-ssa", make_apply_ssa},
      {"crd-gen", make_crd_gen},
      {"sandbox", make_sandbox},
      {"completion", make_completion},
      {"version", make_version},
      {"help", make_help},
  };
  return makers;
}

}  // namespace kubewatch::cli
