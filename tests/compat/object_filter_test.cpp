// The jqFilter of a binding, object by object.
#include "compat/object_filter.hpp"

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

TEST_CASE("without a filter every change counts and there is no result") {
  ObjectFilter filter(std::nullopt, [](const std::string&) {});
  CHECK(filter.take(kKey, "{}"));
  CHECK(filter.take(kKey, "{}"));
  CHECK_FALSE(filter.result(kKey).has_value());
}
