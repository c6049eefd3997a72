#include "cli/argv.hpp"

#include "support/catch.hpp"

namespace kubewatch::cli {

using Words = std::vector<std::string>;

TEST_CASE("flags are brought into the form that kubectl means") {
  struct Row {
    const char* name;
    Words given;
    Words expected;
  };
  const Row rows[] = {
      {"short with equals", {"watch", "-n=shop", "pods"}, {"watch", "-n", "shop", "pods"}},
      {"short with an empty value", {"-l="}, {"-l", ""}},
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
    CHECK(normalise_argv(row.given) == row.expected);
  }
}

}  // namespace kubewatch::cli
