#include "cli/printers/sort_by.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

std::string ordered(const std::string& path, const Json& items) {
  std::vector<const Json*> objects;
  for (const auto& one : items) objects.push_back(&one);
  const auto order = SortBy::parse(path)->order(objects);
  if (!order.ok()) return order.error().message();
  std::string out;
  for (const std::size_t at : *order) out += (out.empty() ? "" : " ") + items[at]["n"].dump();
  return out;
}

}  // namespace

TEST_CASE("texts sort naturally, numbers by value, what is missing first") {
  const Json items = Json::parse(R"([{"n":1,"a":"web10","c":3},{"n":2,"a":"web2","c":20},
                                     {"n":3},{"n":4,"a":"web02x","c":3.5}])");
  CHECK(ordered(".a", items) == "3 2 4 1");
  CHECK(ordered("{.c}", items) == "3 1 4 2");
  CHECK(ordered("n", items) == "1 2 3 4");
}

TEST_CASE("quantities sort by size where all of them are quantities") {
  const Json sizes =
      Json::parse(R"([{"n":1,"m":"1Gi"},{"n":2,"m":"900Mi"},{"n":3,"m":"100m"},{"n":4,"m":"2k"}])");
  CHECK(ordered(".m", sizes) == "3 4 2 1");
  const Json mixed = Json::parse(R"([{"n":1,"m":"10"},{"n":2,"m":"2x"},{"n":3,"m":"1Gi"}])");
  CHECK(ordered(".m", mixed) == "3 2 1");
}

TEST_CASE("a field that no object has is an error, a path that is wrong one with a caret") {
  CHECK(ordered(".none", Json::parse(R"([{"n":1},{"n":2}])")) ==
        "couldn't find any field with path \"{.none}\" in the list of objects");
  CHECK(ordered(".none", Json::parse(R"([{"n":1}])")) == "1");
  CHECK(ordered(".none", Json::array()).empty());
  CHECK(SortBy::parse(".a[").error().message().find("\n  .a[\n     ^") != std::string::npos);
}

}  // namespace kubewatch::cli
