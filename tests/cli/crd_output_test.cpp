// What crd-gen may call the files that it writes below -o DIR.
#include "cli/crd/output.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

TEST_CASE("the name of a written file stays in its folder") {
  CHECK(check_file_names({{"demo.example.com_things.yaml", ""}, {"a_b.hpp", ""}}).ok());
  for (const char* bad :
       {"../../x_things.yaml", "/etc/x", "a/b.yaml", ".hidden", "", "a\nb.yaml"}) {
    CAPTURE(bad);
    CHECK(check_file_names({{bad, ""}}).error().kind() == ErrorKind::invalid);
  }
}

TEST_CASE("two kinds are not written to one file") {
  const auto twice = check_file_names({{"a_b.yaml", "x"}, {"a_c.yaml", ""}, {"a_b.yaml", "y"}});
  REQUIRE_FALSE(twice.ok());
  CHECK_THAT(twice.error().message(), Catch::Contains("a_b.yaml"));
}

}  // namespace kubewatch::cli
