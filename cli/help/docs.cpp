#include "cli/help/docs.hpp"

#include <fmt/format.h>

#include <utility>

#include <CLI/CLI.hpp>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "cli/help/option_type.hpp"
#include "hooks/metrics_table.hpp"

namespace kubewatch::cli {

namespace {

struct Flag {
  std::string names;  // "-n, --namespace"
  std::vector<std::string> words;
  std::string argument;  // "" for a switch
  std::string text;
  std::vector<std::string> values;
};

std::vector<std::string> words_of(const CLI::Option& option) {
  std::vector<std::string> words;
  for (const auto& name : option.get_snames()) words.push_back("-" + name);
  for (const auto& name : option.get_lnames()) words.push_back("--" + name);
  return words;
}

std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    // Hidden ones, of no group, are there to be refused, or for our own tools.
    if (!option->nonpositional() || option->get_group().empty()) continue;
    Flag flag;
    flag.words = words_of(*option);
    flag.names = base::join(flag.words, ", ");
    flag.text = option->get_description();
    flag.values = choices_of(*option);
    if (option->get_items_expected_max() > 0) {
      flag.argument = argument_of(*option);
      if (flag.argument.empty()) flag.argument = "VALUE";
    }
    flags.push_back(std::move(flag));
  }
  return flags;
}

// A command or subcommand, with where it stands: {"run-controller", "check"}.
struct Node {
  std::vector<std::string> path;
  const Command* command;
  const CLI::App* app;
};

void flatten(const std::vector<std::unique_ptr<Command>>& commands, const Node& parent,
             std::vector<Node>& out) {
  for (const auto& command : commands) {
    Node node{parent.path, command.get(), parent.app->get_subcommand(command->name())};
    node.path.push_back(command->name());
    out.push_back(node);
    flatten(command->subcommands(), node, out);
  }
}

// Each command, followed by its subcommands.
std::vector<Node> nodes_of(const CommandTree& tree) {
  std::vector<Node> out;
  flatten(tree.commands, {{}, nullptr, tree.app.get()}, out);
  return out;
}

std::string roff(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line_start = i == 0 || text[i - 1] == '\n';
    if (line_start && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '-') {
      out += "\\-";
    } else {
      out += text[i];
    }
  }
  return out;
}

// The pages are plain paragraphs, and examples indented by four.
std::string roff_page(const std::string& page) {
  std::string out;
  bool code = false;
  for (const auto& line : base::split(page, '\n')) {
    const bool is_code = line.starts_with("    ");
    if (is_code != code) out += is_code ? ".PP\n.nf\n.RS 4\n" : ".RE\n.fi\n";
    code = is_code;
    if (line.empty()) {
      out += ".PP\n";
    } else {
      out += roff(is_code ? line.substr(4) : line) + "\n";
    }
  }
  return out + (code ? ".RE\n.fi\n" : "");
}

std::string roff_flags(const CLI::App& app) {
  std::string out;
  for (const auto& flag : flags_of(app)) {
    out += ".TP\n\\fB" + roff(flag.names) + "\\fR";
    if (!flag.argument.empty()) out += " \\fI" + roff(flag.argument) + "\\fR";
    out += "\n" + roff(flag.text);
    if (!flag.values.empty()) out += " (" + roff(base::join(flag.values, ", ")) + ")";
    out += "\n";
  }
  return out;
}

std::string header(const std::string& name) {
  return fmt::format(
      ".\\\" Made from the command tree; see CONTRIBUTING.md.\n.TH {} 1 \"\" \"kubewatch {}\" "
      "\"kubewatch\"\n",
      roff(name), KUBEWATCH_VERSION);
}

std::string roff_exit_status() {
  return ".SH EXIT STATUS\n" + roff(kExitStatus);
}

std::string topic_page(const Topic& topic) {
  const std::string full = std::string("kubewatch-") + topic.name;
  std::string title = full;
  for (char& c : title) c = base::to_upper(c);
  std::string out = fmt::format(
      ".\\\" Made from cli/topics; see CONTRIBUTING.md.\n.TH {} {} \"\" \"kubewatch {}\" "
      "\"kubewatch\"\n",
      roff(title), topic.section, KUBEWATCH_VERSION);
  out += ".SH NAME\n" + roff(full) + " \\- " + roff(topic.summary) + "\n";
  out += ".SH DESCRIPTION\n" + roff_page(std::string(page_of(topic.name)));
  if (topic.more != nullptr) out += topic.more();
  const bool shared = topic.name == "objects";
  return out + (shared ? ".SH SEE ALSO\n\\fBkubewatch\\fR(1)\n"
                       : ".SH SEE ALSO\n\\fBkubewatch\\-run\\-controller\\fR(1)\n");
}

std::string see_also(const Node& node) {
  std::string out = ".SH SEE ALSO\n\\fBkubewatch\\fR(1) for the global flags";
  for (const auto& inner : node.command->subcommands()) {
    out += ",\n\\fB" + roff("kubewatch-" + base::join(node.path, "-") + "-" + inner->name()) +
           "\\fR(1)";
  }
  if (node.path.size() > 1) out += ",\n\\fB" + roff("kubewatch-" + node.path.front()) + "\\fR(1)";
  return out + "\n";
}

std::string man_page(const Node& node) {
  const std::string name = base::join(node.path, "-");
  std::string page = header("kubewatch-" + name);
  page += ".SH NAME\n" + roff("kubewatch-" + name) + " \\- " + roff(node.command->summary()) + "\n";
  page += ".SH SYNOPSIS\n\\fBkubewatch " + roff(base::join(node.path, " ")) + "\\fR [flags]\n";
  page += ".SH DESCRIPTION\n" + roff_page(std::string(page_of(name)));
  return page + ".SH OPTIONS\n" + roff_flags(*node.app) + roff_exit_status() + see_also(node);
}

}  // namespace

const char* const kExitStatus =
    "0 done or met; 1 failed in a way not below; 2 wrong usage or invalid file, nothing was\n"
    "started; 3 timed out; 4 the awaited thing failed; 5 not found, nothing matched, or deleted\n"
    "while waiting; 6 conflict; 7 not logged in or forbidden; 8 server unreachable;\n"
    "9 differences or findings; 0 also after a graceful end by SIGTERM, SIGINT or, unless it has\n"
    "rules to read again, SIGHUP of a command that runs until stopped; 128+N ended at once by a\n"
    "second SIGTERM or SIGINT.\n";

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = {
      {"rules", 5, "rule files of run-controller"},
      {"objects", 7, "which objects a command means, and how it prints them"},
      {"hook", 7, "what a hook of run-controller gets and may print"},
      {"connect", 7, "how every command finds its cluster and logs in"},
      {"deploy", 7, "running controllers and caches in a cluster: image, rights, probes, shutdown"},
      {"troubleshooting", 7, "symptoms of controllers, and the commands that show their causes"},
      {"metrics", 7, "what run-controller tells monitoring systems",
       [] { return ".SH METRICS\n" + hooks::metrics_manual(); }, hooks::metrics_text},
      {"compat", 7, "hooks of shell-operator with run-controller --compat"},
  };
  return all;
}

std::map<std::string, std::string> man_pages(const CommandTree& tree) {
  std::map<std::string, std::string> pages;
  std::string top = header("KUBEWATCH");
  top += ".SH NAME\nkubewatch \\- " + roff(tree.app->get_description()) +
         "\n.SH SYNOPSIS\n\\fBkubewatch\\fR \\fICOMMAND\\fR [flags]\n.SH COMMANDS\n";
  for (const Node& node : nodes_of(tree)) {
    const std::string full = "kubewatch-" + base::join(node.path, "-");
    top += ".TP\n\\fB" + roff(full) + "\\fR(1)\n" + roff(node.command->summary()) + "\n";
    pages[full + ".1"] = man_page(node);
  }
  pages["kubewatch.1"] = top + ".SH GLOBAL FLAGS\n" + roff_flags(*tree.app) + roff_exit_status();
  for (const Topic& topic : topics()) {
    pages[fmt::format("kubewatch-{}.{}", topic.name, topic.section)] = topic_page(topic);
  }
  return pages;
}

}  // namespace kubewatch::cli
