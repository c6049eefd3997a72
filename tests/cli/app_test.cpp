#include "cli/app.hpp"

#include <fstream>
#include <sstream>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "cli/exit_code.hpp"
#include "cli/help/docs.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome run(const std::vector<std::string>& words) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = run_app(words, out, err);
  return {code, out.str(), err.str()};
}

}  // namespace

TEST_CASE("it is told why stdout cannot be written") {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"version"}, {"--help"}, {"help", "watch"}}) {
    INFO(words.front());
    std::ofstream full("/dev/full");
    std::ostringstream err;
    CHECK(run_app(words, full, err) == kFailed);
    CHECK(err.str() == "error: cannot write to stdout: No space left on device\n");
  }
}

TEST_CASE("what somebody else says begins no line of an error, and what is ours keeps its lines") {
  const auto told = [](const std::string& message) {
    std::ostringstream out;
    std::ostringstream err;
    const GlobalOptions global;
    Context context{global, out, err};
    CHECK(fail(context, kUsage, message) == kUsage);
    return err.str();
  };
  CHECK(told("plain") == "error: plain\n");
  CHECK(told("x\n::error::y") == "error: x ::error::y\n");
  CHECK(told("x\r\n  ::error::y\n\t##[error]z") == "error: x ::error::y ##[error]z\n");
  CHECK(told("x\n \n\t ::error::y\n::warning::z\n") == "error: x ::error::y ::warning::z\n");
  CHECK(told("x\nlines of\ra server\n") == "error: x lines of a server\n");
  CHECK(told("--when: ends too early\n  .a ==\n      ^") ==
        "error: --when: ends too early\n  .a ==\n      ^\n");
  CHECK(told("here:\n\n  one\n  two\nthree") == "error: here:\n  one\n  two three\n");
}

TEST_CASE("a flag that may be given often takes one value each time and leaves targets alone") {
  // Would swallow pod/b as a second condition, and then name only one target.
  const auto seen = run({"wait-condition", "--for", "delete", "pod/b", "--for=nonsense"});
  CHECK(seen.code == kUsage);
  CHECK(seen.err.find("nonsense") != std::string::npos);
  CHECK(seen.err.find("pod/b") == std::string::npos);
}

TEST_CASE("an empty -n is the context's namespace, however often it is given") {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"-n="}, {"-n", ""}, {"-n", "", "--namespace="}, {"-n", "", "-n", ""}}) {
    std::vector<std::string> words = {"watch", "cm", "--from-recording", "/nowhere/at/all"};
    words.insert(words.end(), flags.begin(), flags.end());
    CHECK(run(words).err.find("/nowhere/at/all") != std::string::npos);
  }
  CHECK(run({"watch", "cm", "-n", "a", "-n", ""}).code == kUsage);
}

TEST_CASE("of a flag that takes one value the last one given counts") {
  const auto seen = run({"version", "-o", "text", "-v=1", "-o=json", "-v", "0"});
  CHECK(seen.code == kDone);
  CHECK(seen.out.starts_with("{"));
  // Each is checked all the same.
  CHECK(run({"version", "-v", "99", "-v", "0"}).code == kUsage);
  // Words without a flag do not replace each other.
  CHECK(run({"version", "a", "b"}).code == kUsage);
  CHECK(run({"crd-gen", "diff", "a", "b", "c"}).code == kUsage);
}

TEST_CASE("two conditions of which one would be dropped are refused") {
  for (const char* flag : {"--selector", "--field-selector", "--when", "--until", "--exec"}) {
    const auto seen = run({"watch", "pods", flag, ".a", flag, ".b"});
    CHECK(seen.code == kUsage);
    CHECK(seen.err.find(std::string(flag) + " may be given once only") != std::string::npos);
  }
  CHECK(run({"reflect", "pods", "--jq", ".a", "--jq", ".b"}).err.find("once only") !=
        std::string::npos);
}

TEST_CASE("global flags may stand behind the command") {
  const auto seen = run({"version", "-v", "2", "--color=never"});
  CHECK(seen.code == kDone);
  CHECK(seen.out.find("kubewatch ") == 0);
}

TEST_CASE("every command has a page and appears in the help") {
  const auto help = run({"--help"}).out;
  for (const CommandMaker& maker : command_makers()) {
    const auto command = maker.make();
    INFO(command->name());
    CHECK(command->name() == maker.name);
    CHECK(page_of(command->name()).size() > 40);
    CHECK(help.find("  " + command->name()) != std::string::npos);
  }
}

TEST_CASE("every topic has a page, and the page of help names it") {
  for (const Topic& topic : topics()) {
    INFO(topic.name);
    CHECK(page_of(topic.name).size() > 40);
    CHECK(page_of("help").find(topic.name) != std::string_view::npos);
  }
}

TEST_CASE("a sandbox refuses what is said about another server") {
  for (const char* flag : {"--server", "--context", "--token", "--as"}) {
    const auto seen = run({"sandbox", flag, "x"});
    CHECK(seen.code == kUsage);
    CHECK(seen.err == std::string("error: ") + flag +
                          " is of no use to a sandbox: it is a server of its own\n");
  }
  // In front of the command it is the flag of the command, too.
  const auto seen = run({"--kubeconfig", "/nowhere/at/all", "sandbox"});
  CHECK(seen.code == kUsage);
  CHECK(seen.err.find("/nowhere/at/all") != std::string::npos);
}

TEST_CASE("only what is named is made") {
  CHECK(build_tree("kubewatch", {"watch", "pods"})->commands.size() == 1);
  const auto tree = build_tree("kubewatch", {"run-controller", "check"});
  REQUIRE(tree->commands.size() == 1);
  const CLI::App* controller = tree->app->get_subcommand("run-controller");
  CHECK(controller->get_subcommand("check")->get_option_no_throw("--schema") != nullptr);
  CHECK(controller->get_subcommand("rbac")->get_options().size() == 1);  // its help
  CHECK(run({"watch", "--help"}).out == run({"--help", "watch"}).out);
}

TEST_CASE("every subcommand has a page and appears in its command's help") {
  for (const CommandMaker& maker : command_makers()) {
    const auto command = maker.make();
    for (const auto& inner : command->subcommands()) {
      INFO(command->name() + " " + inner->name());
      CHECK(page_of(command->name() + "-" + inner->name()).size() > 40);
      CHECK(run({command->name(), "--help"}).out.find("\n  " + inner->name()) != std::string::npos);
      const auto own = run({command->name(), inner->name(), "--help"});
      CHECK(own.code == kDone);
      CHECK(own.out.find("Usage: kubewatch " + command->name() + " " + inner->name()) !=
            std::string::npos);
    }
  }
}

TEST_CASE("a subcommand is not asked for what its command needs") {
  const auto seen = run({"run-controller", "check", "--schema"});
  CHECK(seen.code == kDone);
  CHECK(run({"run-controller"}).code == kUsage);
}

TEST_CASE("a word that is no subcommand is named with the nearest one, whatever else is missing") {
  for (const auto& words : {std::vector<std::string>{"run-controller", "chekc"},
                            {"run-controller", "chekc", "-f", "x.yaml"},
                            {"run-controller", "-f", "x.yaml", "chekc"}}) {
    const auto seen = run(words);
    CHECK(seen.code == kUsage);
    CHECK(seen.err.find("unknown subcommand \"chekc\", did you mean \"check\"?") !=
          std::string::npos);
    CHECK(seen.err.find("--filename") == std::string::npos);
    CHECK(seen.err.find("See 'kubewatch run-controller --help'") != std::string::npos);
  }
  CHECK(run({"run-controller", "rules.yaml"}).err.find("files are named by -f") !=
        std::string::npos);
  const auto command = run({"wach", "pods"});
  CHECK(command.code == kUsage);
  CHECK(command.err.find("unknown command \"wach\", did you mean \"watch\"?") != std::string::npos);
  // Other mistakes keep their own words.
  CHECK(run({"run-controller"}).err.find("--filename is required") != std::string::npos);
}

TEST_CASE("an unknown flag is named with the nearest one, and not what stands behind it") {
  const auto says = [](const std::vector<std::string>& words) {
    const auto seen = run(words);
    CHECK(seen.code == kUsage);
    return seen.err.substr(0, seen.err.find('\n'));
  };
  CHECK(says({"--contxt", "x", "apply-ssa", "-f", "cm.yaml"}) ==
        "error: unknown flag \"--contxt\", did you mean \"--context\"?");
  CHECK(says({"apply-ssa", "-f", "cm.yaml", "--dryrun=server"}) ==
        "error: unknown flag \"--dryrun\", did you mean \"--dry-run\"?");
  CHECK(says({"apply-ssa", "--fil", "x"}) ==
        "error: unknown flag \"--fil\", did you mean \"--filename\"?");
  CHECK(says({"watch", "pods", "--frobnicate", "--wen", "x"}) ==
        "error: unknown flag \"--frobnicate\"");
  CHECK(says({"watch", "pods", "-AZ"}) == "error: unknown flag \"-Z\"");
  // Whatever is missing: it may be just that.
  CHECK(says({"run-controller", "--oncee"}) ==
        "error: unknown flag \"--oncee\", did you mean \"--once\"?");
}

TEST_CASE("words that a command does not take are named as they were given") {
  CHECK(run({"version", "b", "a"}).err.starts_with("error: unexpected arguments \"b\", \"a\"\n"));
  CHECK(
      run({"completion", "bash", "fish"}).err.starts_with("error: unexpected argument \"fish\"\n"));
  CHECK(run({"version", "--", "--a"}).err.starts_with("error: unexpected argument \"--a\"\n"));
  // As of `-f *.yaml`.
  CHECK(run({"apply-ssa", "-f", "a.yaml", "b.yaml"})
            .err.starts_with("error: unexpected argument \"b.yaml\"; files are named by -f\n"));
}

TEST_CASE("a flag of the command before its subcommand is refused, not dropped") {
  const auto seen = run({"run-controller", "--once", "check", "-f", "x.yaml"});
  CHECK(seen.code == kUsage);
  CHECK(seen.err.find("--once is no flag of 'run-controller check'") != std::string::npos);
  CHECK(seen.err.find("See 'kubewatch run-controller check --help'") != std::string::npos);
  CHECK(run({"run-controller", "check", "--once", "-f", "x.yaml"}).code == kUsage);
}

TEST_CASE("errors become the documented exit codes") {
  using base::Error;
  using base::ErrorKind;
  const base::ApiStatus answered{422, "Invalid", "m", {}, ""};
  struct Row {
    Error error;
    int code;
  };
  const Row rows[] = {
      {Error(ErrorKind::invalid, "a file"), kUsage},
      {Error(ErrorKind::invalid, "refused", answered), kFailed},
      {Error(ErrorKind::timeout, "t"), kTimedOut},
      {Error(ErrorKind::not_found, "n"), kNotFound},
      {Error(ErrorKind::conflict, "c"), kConflict},
      {Error(ErrorKind::already_exists, "e"), kConflict},
      {Error(ErrorKind::forbidden, "f"), kForbidden},
      {Error(ErrorKind::unauthorized, "u"), kForbidden},
      {Error(ErrorKind::unreachable, "u"), kUnreachable},
      {Error(ErrorKind::internal, "i"), kFailed},
  };
  for (const auto& row : rows) {
    INFO(row.error.render());
    CHECK(exit_code_of(row.error) == row.code);
  }
}

TEST_CASE("errors reach the terminal escaped") {
  const auto seen = run({"watch", "pods", "--\x1b[31mred"});
  CHECK(seen.code == kUsage);
  CHECK(seen.err.find('\x1b') == std::string::npos);
}

}  // namespace kubewatch::cli
