#include "cli/printers/custom_columns.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

TEST_CASE("custom columns are headers with relaxed paths, and <none> where nothing is") {
  const auto columns = CustomColumns::parse(
      "NAME:metadata.name,LABEL:{.metadata.labels['a\\.b/c']},ALL:.list[*].x,"
      "BOTH:.metadata['name','none'],NONE:.none,WHOLE:.metadata.labels,NULL:.nothing");
  REQUIRE(columns.ok());
  CHECK(columns->headers() ==
        std::vector<std::string>{"NAME", "LABEL", "ALL", "BOTH", "NONE", "WHOLE", "NULL"});
  const Json object = Json::parse(R"({"metadata":{"name":"web","labels":{"a.b/c":"d"}},
                                      "list":[{"x":1},{"x":2.0}],"nothing":null})");
  CHECK(columns->cells(object) ==
        std::vector<std::string>{"web", "d", "1,2", "web", "<none>", R"({"a.b/c":"d"})", "<none>"});
}

TEST_CASE("a file of custom columns has headers above paths") {
  const auto columns = CustomColumns::parse_file("NAME  KIND\nmetadata.name   {.kind}\n");
  REQUIRE(columns.ok());
  CHECK(columns->headers().size() == 2);
  CHECK(columns->cells(Json::parse(R"({"kind":"Pod","metadata":{"name":"a"}})")) ==
        std::vector<std::string>{"a", "Pod"});
  CHECK_FALSE(CustomColumns::parse_file("NAME KIND\n.a\n").ok());
  CHECK_FALSE(CustomColumns::parse_file("").ok());
}

TEST_CASE("a wrong column is shown with a caret") {
  const auto caret_of = [](const std::string& spec) {
    const auto columns = CustomColumns::parse(spec);
    return columns.ok() ? std::string() : columns.error().message();
  };
  CHECK(caret_of("A:.a,B").find("\n  A:.a,B\n       ^") != std::string::npos);
  CHECK(caret_of("A:.a,B:.b[").find("\n  A:.a,B:.b[\n            ^") != std::string::npos);
  CHECK(caret_of("A:{.a}{.b}").find("unexpected path string") != std::string::npos);
  CHECK_FALSE(caret_of("").empty());
}

}  // namespace kubewatch::cli
