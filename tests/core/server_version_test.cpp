#include "core/server_version.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using core::parse_server_version;

TEST_CASE("a server's version is read from what it says of itself") {
  const auto version = parse_server_version(R"({"major":"1","minor":"27+","gitVersion":"x"})");
  REQUIRE(version);
  CHECK(version->major == 1);
  CHECK(version->minor == 27);
  CHECK(*version < core::ServerVersion{1, 28});
  CHECK(*version < core::ServerVersion{2, 0});
  CHECK_FALSE(*version < core::ServerVersion{1, 27});
}

TEST_CASE("what is no version is none") {
  for (const char* text :
       {"", "nonsense", "[]", "{}", R"({"major":"1"})", R"({"major":1,"minor":2})",
        R"({"major":"","minor":"+"})", R"({"major":"-1","minor":"2"})"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_server_version(text));
  }
}
