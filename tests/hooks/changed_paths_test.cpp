// Which paths changed between two states of an object.
#include "hooks/changed_paths.hpp"

#include "support/catch.hpp"

using namespace kubewatch::hooks;

namespace {

using Paths = std::vector<std::string>;

Paths changed(const std::string& before, const std::string& after, std::size_t max = 10) {
  return changed_paths(before, after, max);
}

}  // namespace

TEST_CASE("the deepest paths that differ are named, added and removed ones too") {
  CHECK(changed(R"({"spec":{"a":1,"b":{"c":2}}})", R"({"spec":{"a":1,"b":{"c":3}}})") ==
        Paths{".spec.b.c"});
  CHECK(changed(R"({"spec":{"a":1}})", R"({"spec":{"a":1,"b":{"c":3}}})") == Paths{".spec.b"});
  CHECK(changed(R"({"spec":{"a":1,"b":2}})", R"({"spec":{"b":2}})") == Paths{".spec.a"});
  CHECK(changed(R"({"a":{"b":1}})", R"({"a":[1]})") == Paths{".a"});
  CHECK(changed(R"({"a":1,"b":2})", R"({"b":2,"a":1})").empty());
}

TEST_CASE("lists of one length are compared item by item, others as a whole") {
  CHECK(changed(R"({"l":[{"x":1},{"x":2}]})", R"({"l":[{"x":1},{"x":3}]})") == Paths{".l[1].x"});
  CHECK(changed(R"({"l":[1,2]})", R"({"l":[1,2,3]})") == Paths{".l"});
}

TEST_CASE("keys that are no words are written in brackets") {
  CHECK(changed(R"({"labels":{"a/b":"1","0":2,"c\"d":3}})",
                R"({"labels":{"a/b":"2","0":3,"c\"d":4}})") ==
        Paths{R"(.labels["a/b"])", R"(.labels["0"])", R"(.labels["c\"d"])"});
}

TEST_CASE("what the server counts is no change") {
  CHECK(changed(
            R"({"metadata":{"resourceVersion":"1","generation":1,"managedFields":[1],"name":"a"}})",
            R"({"metadata":{"resourceVersion":"2","generation":2,"name":"b"}})") ==
        Paths{".metadata.name"});
}

TEST_CASE("too many paths are cut, and said to be") {
  CHECK(changed(R"({"a":1,"b":1,"c":1})", R"({"a":2,"b":2,"c":2})", 2) == Paths{".a", ".b", "..."});
  CHECK(changed(R"({"a":1,"b":1})", R"({"a":2,"b":2})", 2) == Paths{".a", ".b"});
}

TEST_CASE("broken and deep texts are no trouble") {
  CHECK(changed("", R"({"a":1})").empty());
  CHECK(changed("{\"a\":", R"({"a":1})").empty());
  CHECK(changed("[]", "{}").empty());
  std::string deep_a = "1";
  std::string deep_b = "2";
  for (int i = 0; i < 5000; ++i) {
    deep_a = "{\"a\":" + deep_a + "}";
    deep_b = "{\"a\":" + deep_b + "}";
  }
  CHECK(changed(deep_a, deep_b).size() == 1);
}
