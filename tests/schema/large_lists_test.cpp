// Lists of a size at which comparing each item with each other would not end: 10^10 comparisons.
// Nothing is timed.
#include "base/json.hpp"
#include "schema/compiled_schema.hpp"
#include "schema/rule_checker.hpp"
#include "support/catch.hpp"

namespace kubewatch::schema {

namespace {

constexpr int kMany = 100000;

// The schema of a list `v` of that type with a rule of its own; items in YAML's flow style.
std::shared_ptr<const CompiledSchema> list_of(const char* items, const char* list_type,
                                              const char* rule) {
  Json list = {{"type", "array"}, {"items", Json::parse(items)}};
  if (list_type != nullptr) list["x-kubernetes-list-type"] = list_type;
  if (std::string(list_type == nullptr ? "" : list_type) == "map") {
    list["x-kubernetes-list-map-keys"] = {"a"};
  }
  if (rule != nullptr) list["x-kubernetes-validations"] = Json::array({{{"rule", rule}}});
  const Json root = {{"type", "object"}, {"properties", {{"v", list}}}};
  auto out = CompiledSchema::of(root, &rule_checker());
  REQUIRE(out.ok());
  return std::move(out).value();
}

template <class Item>
Json many(bool backwards, Item item) {
  Json list = Json::array();
  for (int i = 0; i < kMany; ++i) list.push_back(item(backwards ? kMany - 1 - i : i));
  return {{"v", std::move(list)}};
}

Json object_item(int i) {
  return {{"a", i}, {"b", "same"}};
}

Json list_item(int i) {
  return Json::array({"same", std::to_string(i)});
}

std::string told(const CompiledSchema& schema, const Json& object, const Json* old) {
  FieldErrors errors;
  schema.validate(object, old, errors);
  return errors.empty() ? "" : sentence(errors.front());
}

constexpr const char* kObject =
    R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}}})";
constexpr const char* kList = R"({"type":"array","items":{"type":"string"}})";

}  // namespace

TEST_CASE("large sets of objects and lists are equal in any order, and differ by one item") {
  for (const bool objects : {true, false}) {
    const char* items = objects ? kObject : kList;
    Json (*item)(int) = objects ? object_item : list_item;
    CAPTURE(items);
    const auto schema = list_of(items, "set", "self == oldSelf");
    const Json before = many(false, item);
    Json after = many(true, item);
    CHECK(told(*schema, after, &before) == "");
    after["v"][0] = item(kMany);
    CHECK(told(*schema, after, &before) == "v: Invalid value: failed rule: self == oldSelf");
  }
}

TEST_CASE("a large set and its turned copy make the same set, item by item") {
  const auto schema = list_of(kObject, "set", "(self + oldSelf).size() == self.size()");
  const Json before = many(false, object_item);
  CHECK(told(*schema, many(true, object_item), &before) == "");
  const auto keyed = list_of(kObject, "map", "(self + oldSelf).size() == self.size()");
  CHECK(told(*keyed, many(true, object_item), &before) == "");
}

TEST_CASE("one duplicate in a large set of objects, and one key twice in a large list, are found") {
  Json list = many(false, object_item);
  list["v"].push_back(object_item(7));
  const std::string at = "v[" + std::to_string(kMany) + "]: Duplicate value: ";
  CHECK(told(*list_of(kObject, "set", nullptr), list, nullptr) == at + R"({"a":7,"b":"same"})");
  CHECK(told(*list_of(kObject, "map", nullptr), list, nullptr) == at + R"({"a":7})");
  // What was so before may stay: both sides are looked through.
  CHECK(told(*list_of(kObject, "set", nullptr), list, &list) == "");
}

TEST_CASE(
    "a large list that has not changed is compared once, not for each item that breaks a rule") {
  const char* wrong = R"({"type":"integer","x-kubernetes-validations":[{"rule":"self < 0"}]})";
  const auto schema = list_of(wrong, nullptr, nullptr);
  const auto number = [](int i) { return Json(i); };
  const Json before = many(false, number);
  CHECK(told(*schema, before, &before) == "");
  Json after = before;
  after["v"].push_back(-1);
  CHECK(told(*schema, after, &before) == "v[0]: Invalid value: 0: failed rule: self < 0");
}

}  // namespace kubewatch::schema
