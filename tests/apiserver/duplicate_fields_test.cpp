// Fields that are said twice, by their paths.
#include "apiserver/duplicate_fields.hpp"

#include "support/catch.hpp"

using namespace kubewatch::apiserver;

using Told = std::vector<std::string>;

TEST_CASE("fields that are said twice are told once, by their paths") {
  CHECK(duplicate_fields(R"({"a":1,"b":{"c":[{"d":1,"e":2}]}})").empty());
  CHECK(duplicate_fields(R"({"a":1,"a":2,"a":3})") == Told{R"(duplicate field "a")"});
  CHECK(duplicate_fields(R"({"m":{"x":{"y":1,"y":[]}},"m":1})") ==
        Told{R"(duplicate field "m.x.y")", R"(duplicate field "m")"});
  CHECK(duplicate_fields(R"({"s":{"c":[{"n":1},[2],{"p":[{},{"q":1,"q":1}]}]}})") ==
        Told{R"(duplicate field "s.c[2].p[1].q")"});
  // The same key in two objects is no duplicate.
  CHECK(duplicate_fields(R"([{"a":1},{"a":1}])").empty());
}

TEST_CASE("a text that is no JSON has no fields") {
  for (const char* text : {"", "a: 1\na: 2\n", R"({"a":1,"a":2)", R"({"a":1,"a":2}})", "k8s\0\1"}) {
    INFO(text);
    CHECK(duplicate_fields(text).empty());
  }
  CHECK(duplicate_fields(std::string(100000, '[')).empty());
}

// Nothing is timed: the paths of all repetitions would be 10 GB and more.
TEST_CASE("a field that is said thousands of times is told once, below a long name as well") {
  const std::string name(500000, 'k');
  std::string inner = R"("a":0)";
  for (int i = 0; i < 20000; ++i) inner += R"(,"a":0)";
  CHECK(duplicate_fields("{\"data\":{\"" + name + "\":{" + inner + "}}}") ==
        Told{"duplicate field \"data." + name + ".a\""});
  // Each item, and each object of one name, has its own.
  std::string items = R"({"a":0,"a":0})";
  std::string objects = R"("m":{"a":0,"a":0})";
  for (int i = 0; i < 20000; ++i) {
    items += R"(,{"a":0,"a":0})";
    objects += R"(,"m":{"a":0,"a":0})";
  }
  CHECK(duplicate_fields("{\"" + name + "\":[" + items + "]}").size() == 1);
  CHECK(duplicate_fields("{\"" + name + "\":{" + objects + "}}").size() == 1);
  CHECK(duplicate_fields("{\"short\":[" + items + "]}").size() == 100);
}
