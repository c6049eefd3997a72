#include "runtime/jq_values.hpp"

#include <fmt/format.h>

#include "runtime/changes.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using core::ObjectKey;
using test::change_of;
using test::meta_named;
using Keys = std::vector<ObjectKey>;

namespace {

jq::Program program(const std::string& text) {
  auto compiled = jq::Program::compile(text);
  REQUIRE(compiled.ok());
  return *compiled;
}

// Whether each state of one object is news after those before it.
std::vector<bool> news(const std::string& text, const std::vector<std::string>& states) {
  PredicateFilter filter(predicates::jq(program(text)));
  std::vector<bool> out;
  for (const std::string& state : states) {
    const StoreChange change = change_of(meta_named("a"), ChangeType::modified, state);
    out.push_back(filter.passes(TimePoint{}, change));
  }
  return out;
}

std::string host(const std::string& name, const std::string& spec, int version = 1) {
  return fmt::format(
      R"({{"metadata":{{"namespace":"shop","name":"{}","uid":"u-{}","resourceVersion":"{}"}},)"
      R"("spec":{}}})",
      name, name, version, spec);
}

}  // namespace

TEST_CASE("what a jq program reads of an object is news when it changes, and only then") {
  CHECK(news(".spec.image", {R"({"spec":{"image":"x:1"}})",
                             R"({"status":{"phase":"Ready"},"spec":{"image":"x:1"}})",
                             R"({"spec":{"image":"x:2"}})"}) ==
        std::vector<bool>{true, false, true});
  // Absent is null, which is a value: kinds without the member are not told for ever.
  CHECK(news(".spec.image", {"{}", R"({"spec":{}})", R"({"spec":{"image":"x"}})"}) ==
        std::vector<bool>{true, false, true});
  // All outputs, and where one ends.
  const std::string several = R"({"spec":["a","b"]})";
  CHECK(news(".spec[]", {several, several, R"({"spec":["b","a"]})", R"({"spec":["ba"]})",
                         R"({"spec":[]})", R"({"spec":[]})"}) ==
        std::vector<bool>{true, false, true, true, true, false});
}

TEST_CASE("of an object on which the program fails nothing is known, so each change passes") {
  const std::string wrong = R"({"spec":"text"})";
  CHECK(news(".spec.image", {wrong, wrong}) == std::vector<bool>{true, true});
  CHECK(news(".spec.image?", {wrong, wrong}) == std::vector<bool>{true, false});
  CHECK(news(".", {"no json", "no json"}) == std::vector<bool>{true, true});
}

TEST_CASE("an index by a jq program finds objects by its outputs") {
  Store store;
  store.add_index("host", index_by_jq(program(".spec.hosts[]")));
  store.begin_init();
  REQUIRE(store.init_apply(host("a", R"({"hosts":["x.dev","y.dev","x.dev"]})")).ok());
  REQUIRE(store.init_apply(host("b", R"({"hosts":["y.dev",8080,true,null,["z.dev"]]})")).ok());
  REQUIRE(store.init_apply(host("c", R"({"hosts":5})")).ok());  // cannot be iterated over
  REQUIRE(store.init_apply(host("d", "{}")).ok());
  store.finish_init("5");
  CHECK(store.keys_indexed("host", "x.dev") == Keys{{"shop", "a"}});
  CHECK(store.keys_indexed("host", "y.dev") == Keys{{"shop", "a"}, {"shop", "b"}});
  CHECK(store.keys_indexed("host", "8080") == Keys{{"shop", "b"}});
  CHECK(store.keys_indexed("host", "true") == Keys{{"shop", "b"}});
  for (const char* none : {"", "null", "z.dev", "[\"z.dev\"]", "5"}) {
    CAPTURE(none);
    CHECK(store.keys_indexed("host", none).empty());
  }
  REQUIRE(store.apply(host("a", R"({"hosts":["z.dev"]})", 6)).ok());
  CHECK(store.keys_indexed("host", "x.dev").empty());
  CHECK(store.keys_indexed("host", "z.dev") == Keys{{"shop", "a"}});
}
