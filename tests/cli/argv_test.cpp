#include "cli/argv.hpp"

#include <algorithm>
#include <sstream>

#include <CLI/CLI.hpp>

#include "cli/app.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

using Words = std::vector<std::string>;

// --dry-run is a flag of one command and takes a value of the other.
struct Line {
  Line() {
    app.add_flag("-A,--all-namespaces");
    app.add_flag("-R,--recursive");
    for (const char* option : {"-n,--namespace", "-l,--selector", "-L,--label-columns", "--until",
                               "--exec", "--field-manager", "--context"}) {
      app.add_option(option);
    }
    app.add_option("--shards")->expected(0, 1);
    app.add_subcommand("run-controller")->add_flag("--dry-run");
    app.add_subcommand("apply-ssa")->add_option("--dry-run");
  }
  Words operator()(const Words& given) const { return normalise_argv(given, app); }
  CLI::App app;
};

// As the command has it after the words were read; `name` as "--exec".
Words results_of(const Words& words, const std::string& name) {
  const auto tree = build_tree("kubewatch", words);
  Words given = normalise_argv(words, *tree->app);
  std::reverse(given.begin(), given.end());
  tree->app->parse(std::move(given));
  return subcommand_of(*tree->app, words.front())->get_option(name)->results();
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
  const Line line;
  for (const auto& row : rows) {
    INFO(row.name);
    CHECK(line(row.given) == row.expected);
  }
}

TEST_CASE("the word after an option that takes a value is the value, whatever it looks like") {
  const Line line;
  for (const Words& given : {Words{"--exec", "-x=y"},
                             {"-l", "-a=b"},
                             {"--field-manager", "-A=false"},
                             {"-AL", "-n=y"},
                             {"--until", "--foo="},
                             {"--exec", "--force-conflicts="},
                             {"apply-ssa", "--dry-run", "-n=x"},
                             {"--context", "run-controller", "apply-ssa", "--dry-run", "-n=x"}}) {
    CAPTURE(given);
    CHECK(line(given) == given);
  }
  // "--" is one too, and what is behind it is read on.
  CHECK(line({"--exec", "--", "-n=x"}) == Words{"--exec", "--", "-n", "x"});
  // These have their value, or none.
  CHECK(line({"-ldeep", "-n=x"}) == Words{"-ldeep", "-n", "x"});
  CHECK(line({"-l=deep", "-n=x"}) == Words{"-l", "deep", "-n", "x"});
  CHECK(line({"--until=a", "-n=x"}) == Words{"--until=a", "-n", "x"});
  CHECK(line({"--until=", "-n=x"}) == Words{"--until", "", "-n", "x"});
  CHECK(line({"-A", "-n=x"}) == Words{"-A", "-n", "x"});
  CHECK(line({"--shards", "-n=x"}) == Words{"--shards", "-n", "x"});
  CHECK(line({"run-controller", "--dry-run", "-n=x"}) ==
        Words{"run-controller", "--dry-run", "-n", "x"});
  CHECK(line({"-", "-n=x"}) == Words{"-", "-n", "x"});
}

TEST_CASE("commands get the values that look like flags") {
  CHECK(results_of({"watch", "cm", "--exec", "-x=y"}, "--exec") == Words{"-x=y"});
  CHECK(results_of({"watch", "cm", "--when", "-1==.x"}, "--when") == Words{"-1==.x"});
  CHECK(results_of({"watch", "cm", "-L", "-x=y"}, "--label-columns") == Words{"-x=y"});
  CHECK(results_of({"apply-ssa", "-f", "-", "--field-manager", "-a=b"}, "--field-manager") ==
        Words{"-a=b"});
  CHECK(results_of({"reflect", "cm", "-l", "-a=b"}, "--selector") == Words{"-a=b"});
  CHECK(results_of({"reflect", "cm", "-l", "--foo="}, "--selector") == Words{"--foo="});
}

TEST_CASE("a short flag with an empty value is refused, what takes one may have an empty one") {
  const Line line;
  CHECK(invalid_argument({"watch", "-RA="}, line.app) ==
        "invalid argument \"\" for \"-A, --all-namespaces\": true or false");
  CHECK(invalid_argument({"-l=", "-A=false", "-lA=", "--", "-A="}, line.app).empty());
  CHECK(invalid_argument({"--exec", "-A="}, line.app).empty());
  CHECK_FALSE(invalid_argument({"--exec", "--", "-A="}, line.app).empty());
  std::ostringstream out, err;
  CHECK(run_app({"watch", "pods", "-A="}, out, err, {}) == 2);
  CHECK(err.str().find("-A, --all-namespaces") != std::string::npos);
}

}  // namespace kubewatch::cli
