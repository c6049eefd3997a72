// The table of TypeDefinitions that both servers are asked about (tests/e2e/schema/types.yaml), on
// crd-gen alone: what it takes, and what it refuses for the server's sake.
#include "e2e/schema/table.hpp"
#include "fixture.hpp"
#include "support/catch.hpp"

namespace kubewatch::crdgen {

namespace {

Json table() {
  return tables::read((kFolder.parent_path() / "e2e/schema/types.yaml").string());
}

}  // namespace

TEST_CASE("TypeDefinitions of the table that are valid make a CRD that the server is to take") {
  const Json all = table();
  REQUIRE(all.at("valid").size() >= 24);
  for (const auto& one : all.at("valid")) {
    const auto made =
        generate({TypeFile{"t.yaml", tables::types_text(all, one)}}, ServerCheck::run);
    CAPTURE(one.at("name").get<std::string>());
    CHECK(first_of(made.problems) == "");
    CHECK(made.crds.size() == 1);
  }
}

TEST_CASE("TypeDefinitions of the table that are not are refused with the server's words") {
  const Json all = table();
  REQUIRE(all.at("refused").size() >= 30);
  for (const auto& one : all.at("refused")) {
    const std::string text = tables::types_text(all, one);
    const auto made = generate({TypeFile{"t.yaml", text}}, ServerCheck::run);
    const std::string wanted = "the server refuses this: " + tables::crd_field(one) + ": ";
    std::string told;
    bool found = false;
    for (const Remark& problem : made.problems) {
      told += problem.str() + "\n";
      found = found || (problem.message.find(wanted) != std::string::npos &&
                        problem.message.find(one.at("message")) != std::string::npos);
    }
    CAPTURE(one.at("name").get<std::string>(), told);
    CHECK(found);
    // Without the check nothing is wrong: it is the server that refuses.
    CHECK(first_of(generate({TypeFile{"t.yaml", text}}).problems) == "");
  }
}

}  // namespace kubewatch::crdgen
