// The jqFilter of a binding, object by object.
#include "compat/object_filter.hpp"

#include "base/strings.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using compat::ObjectFilter;

namespace {

struct Fixture {
  std::vector<std::string> problems;
  ObjectFilter filter;
  explicit Fixture(const std::string& program)
      : filter(*jq::Program::compile(program),
               [this](const std::string& what) { problems.push_back(what); }) {}
};

const core::ObjectKey kKey{"shop", "a"};

}  // namespace

TEST_CASE("a change counts when the result of the filter changes") {
  Fixture f(".data");
  CHECK(f.filter.take(kKey, R"({"data":{"a":1},"x":1})"));
  CHECK(f.filter.result(kKey) == R"({"a":1})");
  CHECK_FALSE(f.filter.take(kKey, R"({"data":{"a":1},"x":2})"));
  CHECK(f.filter.take(kKey, R"({"data":{"a":2},"x":2})"));
  CHECK(f.filter.take(kKey, R"({"x":2})"));
  CHECK(f.filter.result(kKey) == "null");
  f.filter.forget(kKey);
  CHECK(f.filter.take(kKey, R"({"x":2})"));
}

TEST_CASE("several results are a list and none is null") {
  Fixture several(".a[]");
  several.filter.take(kKey, R"({"a":[1,2]})");
  CHECK(several.filter.result(kKey) == "[1,2]");
  several.filter.take(kKey, R"({"a":[]})");
  CHECK(several.filter.result(kKey) == "null");
}

TEST_CASE("a filter that fails on an object is told and hides none of its changes") {
  Fixture f(".a + {}");
  CHECK(f.filter.take(kKey, R"({"a":1})"));
  CHECK(f.filter.take(kKey, R"({"a":1})"));
  CHECK(f.filter.result(kKey) == "null");
  CHECK(f.problems.size() == 2);
  CHECK(f.problems[0].find("shop/a") != std::string::npos);
}

TEST_CASE("of a Secret that a filter fails on no value is told") {
  const std::string secret = R"({"metadata":{"name":"a"},"data":{"conf":")" +
                             base::base64_encode("password=hunter22-and-more") + R"("}})";
  for (const char* program : {".data.conf | @base64d | fromjson", ".data.conf | error"}) {
    INFO(program);
    Fixture f(program);
    f.filter.of_kind({"", "v1", "Secret"});
    CHECK(f.filter.take(kKey, secret));
    REQUIRE(f.problems.size() == 1);
    CHECK(f.problems[0].find("jqFilter fails on shop/a") != std::string::npos);
    CHECK(f.problems[0].find("hunter22") == std::string::npos);
    CHECK(f.problems[0].find(base::base64_encode("password=hunter22")) == std::string::npos);
    Fixture other(program);
    other.filter.of_kind({"", "v1", "ConfigMap"});
    other.filter.take(kKey, R"({"data":{"conf":"cGxhaW4="}})");
    REQUIRE(other.problems.size() == 1);
    CHECK(other.problems[0].find("not shown") == std::string::npos);
  }
}

TEST_CASE("without a filter every change counts and there is no result") {
  ObjectFilter filter(std::nullopt, [](const std::string&) {});
  CHECK(filter.take(kKey, "{}"));
  CHECK(filter.take(kKey, "{}"));
  CHECK_FALSE(filter.result(kKey).has_value());
}
