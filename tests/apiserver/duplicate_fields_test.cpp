// Fields that are said twice, by their paths, and where they stand among those that nobody knows.
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

TEST_CASE("faults are told in the order of the text, and none of what stands in an unknown field") {
  const std::string text =
      R"({"zz":1,"metadata":{"bar":1,"labels":{"a":"1","a":"2"}},"foo":{"x":1,"x":2},)"
      R"("data":{"a":"1","a":"2"},"foo":2})";
  CHECK(duplicate_fields(text).size() == 4);
  CHECK(
      faults_in_order(text, duplicate_fields(text),
                      {unknown_field("foo"), unknown_field("metadata.bar"), unknown_field("zz")}) ==
      Told{R"(unknown field "zz")", R"(unknown field "metadata.bar")",
           R"(duplicate field "metadata.labels.a")", R"(unknown field "foo")",
           R"(duplicate field "data.a")"});
  // A name that only begins alike is another one.
  CHECK(
      faults_in_order(R"({"b":1,"b":2,"a":1})", {R"(duplicate field "b")"}, {unknown_field("a")}) ==
      Told{R"(duplicate field "b")", R"(unknown field "a")"});
  CHECK(faults_in_order(R"({"foobar":1,"foobar":2,"foo":1})", {R"(duplicate field "foobar")"},
                        {unknown_field("foo")}) ==
        Told{R"(duplicate field "foobar")", R"(unknown field "foo")"});
  // What is not found comes last, and a text that cannot be read leaves them as they are.
  CHECK(faults_in_order(R"({"b":1})", {}, {unknown_field("a"), unknown_field("b")}) ==
        Told{R"(unknown field "b")", R"(unknown field "a")"});
  CHECK(faults_in_order("a: 1", {}, {unknown_field("b"), unknown_field("a")}) ==
        Told{R"(unknown field "b")", R"(unknown field "a")"});
}

// Nothing is timed: to look each key up by its whole path would be 10 GB.
TEST_CASE("a text with a very long name is gone over in passing") {
  std::string inner = R"("k":0)";
  for (int i = 0; i < 20000; ++i) inner += R"(,"k":0)";
  const std::string text = "{\"" + std::string(500000, 'n') + "\":{" + inner + R"(},"b":1,"a":1})";
  CHECK(faults_in_order(text, {}, {unknown_field("a"), unknown_field("b")}) ==
        Told{R"(unknown field "b")", R"(unknown field "a")"});
}
