#include "cli/argv.hpp"

#include <set>
#include <sstream>

#include <CLI/CLI.hpp>

#include "cli/app.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

using Words = std::vector<std::string>;
const ShortFlags kFlags = {{"-A", "--all-namespaces"}, {"-R", "--recursive"}};

// Those that take a value, of the app and all of its subcommands.
std::set<std::string> valued_letters(const CLI::App& app) {
  std::set<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    for (const auto& name : option->get_snames()) out.insert("-" + name);
  }
  for (const CLI::App* one : subcommands_of(app)) out.merge(valued_letters(*one));
  return out;
}

}  // namespace

TEST_CASE("flags are brought into the form that kubectl means") {
  struct Row {
    const char* name;
    Words given;
    Words expected;
  };
  const Row rows[] = {
      {"short with equals", {"watch", "-n=shop", "pods"}, {"watch", "-n", "shop", "pods"}},
      {"short with an empty value", {"-l="}, {"-l", ""}},
      {"a short flag with its value", {"-A=false", "-n=a"}, {"--all-namespaces=false", "-n", "a"}},
      {"a short flag with an empty value", {"-A="}, {"--all-namespaces", ""}},
      {"several short flags, the last with its value", {"-AR=false"}, {"-A", "--recursive=false"}},
      {"a flag before what takes a value", {"-An=x"}, {"-A", "-n", "x"}},
      {"an attached value that has an equals sign", {"-lAR=x"}, {"-lAR=x"}},
      {"short with a value that has an equals sign", {"-l=a=b"}, {"-l", "a=b"}},
      {"short and attached", {"-nshop"}, {"-nshop"}},
      {"long with equals", {"--namespace=shop"}, {"--namespace=shop"}},
      {"long with an empty value", {"--until=", "--once"}, {"--until", "", "--once"}},
      {"long with a value that ends in equals", {"--token=a="}, {"--token=a="}},
      {"a single dash is a file", {"apply-ssa", "-f", "-"}, {"apply-ssa", "-f", "-"}},
      {"force with an empty path is not force of everything",
       {"--force-conflicts="},
       {"--force-conflicts=."}},
      {"after two dashes all is literal", {"--", "-n=x"}, {"--", "-n=x"}},
  };
  for (const auto& row : rows) {
    INFO(row.name);
    CHECK(normalise_argv(row.given, kFlags) == row.expected);
  }
}

TEST_CASE("a short flag with an empty value is refused, what takes one may have an empty one") {
  CHECK(invalid_argument({"watch", "-RA="}, kFlags) ==
        "invalid argument \"\" for \"-A, --all-namespaces\": true or false");
  CHECK(invalid_argument({"-l=", "-A=false", "-lA=", "--", "-A="}, kFlags).empty());
  std::ostringstream out, err;
  CHECK(run_app({"watch", "pods", "-A="}, out, err, {}) == 2);
  CHECK(err.str().find("-A, --all-namespaces") != std::string::npos);
}

TEST_CASE("short names of what takes no value are known, of all commands") {
  const auto tree = build_tree("kubewatch", {});
  CHECK(short_flags_of(*tree->app) == ShortFlags{{"-A", "--all-namespaces"},
                                                 {"-R", "--recursive"},
                                                 {"-h", "--help"},
                                                 {"-q", "--quiet"},
                                                 {"-w", "--watch"}});
  // Words are read before the command is known.
  for (const std::string& letter : valued_letters(*tree->app)) {
    INFO(letter);
    CHECK(short_flags_of(*tree->app).count(letter) == 0);
  }
  CHECK(valued_letters(*tree->app).count("-n") == 1);
}

}  // namespace kubewatch::cli
