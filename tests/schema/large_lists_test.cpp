// Lists of a size at which comparing each item with each other would not end (10^10 comparisons),
// or writing out a path for each; and schemas whose alternatives would double the work at each
// level. Nothing is timed.
#include "base/json.hpp"
#include "schema/compiled_schema.hpp"
#include "schema/crd_check.hpp"
#include "schema/object_shape.hpp"
#include "schema/rule_checker.hpp"
#include "schema/typed.hpp"
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

TEST_CASE("a large keyed list with too many items may be turned around") {
  Json root = {{"type", "object"}};
  root["properties"]["v"] = {{"type", "array"},
                             {"maxItems", 1},
                             {"x-kubernetes-list-type", "map"},
                             {"x-kubernetes-list-map-keys", {"a"}},
                             {"items", Json::parse(kObject)}};
  auto schema = CompiledSchema::of(root, nullptr);
  REQUIRE(schema.ok());
  const Json before = many(false, object_item);
  Json after = many(true, object_item);
  CHECK(told(**schema, after, &before) == "");
  after["v"][kMany - 1]["b"] = "other";
  CHECK(told(**schema, after, &before) == "v: Too many: 100000: must have at most 1 item");
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

namespace {

std::shared_ptr<const CompiledSchema> compiled(const Json& spec) {
  auto out =
      CompiledSchema::of({{"type", "object"}, {"properties", {{"spec", spec}}}}, &rule_checker());
  REQUIRE(out.ok());
  return std::move(out).value();
}

FieldErrors errors_in(const CompiledSchema& schema, const Json& object, const Json* old = nullptr) {
  FieldErrors errors;
  schema.validate(object, old, errors);
  return errors;
}

std::size_t bytes_of(const FieldErrors& errors) {
  std::size_t bytes = 0;
  for (const auto& error : errors) bytes += error.field.size() + error.message.size();
  return bytes;
}

}  // namespace

TEST_CASE("of alternatives inside of alternatives each is looked at once") {
  Json same = {{"required", {"x"}}};
  Json below = same;
  Json value = Json::object();
  constexpr int kLevels = 60;
  for (int i = 0; i < kLevels; ++i) {
    same = {{"anyOf", {same}}};
    below = {{"anyOf", {{{"properties", {{"a", below}}}}}}};
    value = {{"a", value}};
  }
  CHECK(errors_in(*compiled(same), {{"spec", Json::object()}}).size() == 2);
  CHECK(errors_in(*compiled(below), {{"spec", value}}).size() == kLevels + 1);
}

TEST_CASE("of failed alternatives the best is told, the first of several, whatever their type is") {
  const auto told_of = [](const char* any_of, const Json& value) {
    const auto errors = errors_in(*compiled({{"anyOf", Json::parse(any_of)}}), {{"spec", value}});
    return errors.size() == 2 ? errors[1].message : std::to_string(errors.size());
  };
  // Those of another type come as far as the others.
  CHECK(told_of(R"([{"type":"integer"},{"type":"boolean"}])", "x") ==
        R"(Invalid value: "string": spec in body must be of type integer: "string")");
  CHECK(told_of(R"([{"type":"integer"},{"type":"string","maxLength":1}])", "xy") ==
        "Too long: may not be more than 1 byte");
  CHECK(told_of(R"([{"type":"boolean"},{"type":"string","maxLength":1}])", "xy") ==
        "Too long: may not be more than 1 byte");
  CHECK(told_of(R"([{"maxLength":1},{"type":"boolean"},{"type":"integer"}])", "xy") ==
        R"(Invalid value: "string": spec in body must be of type boolean: "string")");
}

TEST_CASE("below a long key no path is written out for what is right") {
  const std::string key(1U << 20U, 'k');
  Json numbers = Json::array(), objects = Json::array();
  for (int i = 0; i < kMany; ++i) {
    numbers.push_back(i);
    objects.push_back({{"apiVersion", "v1"}, {"kind", "A"}});
  }
  Json object = {{"spec", {{key, {{"numbers", numbers}, {"objects", objects}}}}}};
  const Json spec = Json::parse(R"({"type":"object","additionalProperties":{"type":"object",
    "properties":{
      "numbers":{"type":"array","x-kubernetes-list-type":"set",
        "items":{"type":"integer","x-kubernetes-validations":[{"rule":"self >= 0"}]}},
      "objects":{"type":"array","items":{"type":"object","x-kubernetes-embedded-resource":true,
        "x-kubernetes-preserve-unknown-fields":true}}}}})");
  const auto schema = compiled(spec);
  std::vector<std::string> unknown;
  CHECK(schema->apply_defaults(object));
  CHECK(schema->prune(object).empty());
  CHECK(schema->coerce_embedded(object, unknown).ok());
  CHECK(errors_in(*schema, object).empty());
  const auto merge = crd_merge_schema({{"type", "object"}, {"properties", {{"spec", spec}}}});
  CHECK(check_value(*merge, object, true).ok());
}

TEST_CASE("what is wrong with many values is told up to a bound, and judged to the end") {
  const std::string key(100U << 10U, 'k');
  Json wrong = Json::array();
  for (int i = 0; i < 20000; ++i) wrong.push_back("x");
  const char* rule = R"({"type":"string","x-kubernetes-validations":[{"rule":"self == ''"}]})";
  for (const char* items : {R"({"type":"integer"})", rule}) {
    CAPTURE(items);
    const auto schema =
        compiled({{"type", "object"},
                  {"additionalProperties", {{"type", "array"}, {"items", Json::parse(items)}}}});
    const Json object = {{"spec", {{key, wrong}}}};
    const FieldErrors errors = errors_in(*schema, object);
    CHECK(errors.full());
    CHECK(bytes_of(errors) < 2 * kMostTold);
    CHECK(errors.back().message.find(kMoreErrors) != std::string::npos);
    // What was so before may stay.
    CHECK(errors_in(*schema, object, &object).empty());
    Json after = object;
    after["spec"]["other"] = Json::array({"x"});
    const FieldErrors left = errors_in(*schema, after, &object);
    REQUIRE(left.size() == 1);
    CHECK(left[0].field.find("other") != std::string::npos);
  }
}

TEST_CASE("fields that go are told up to a bound, and all go") {
  const std::string key(100U << 10U, 'k');
  Json fields = Json::object();
  for (int i = 0; i < 20000; ++i) fields["f" + std::to_string(i)] = i;
  Json object = {{"spec", {{key, fields}}}};
  const auto removed =
      compiled({{"type", "object"}, {"additionalProperties", {{"type", "object"}}}})->prune(object);
  std::size_t bytes = 0;
  for (const auto& path : removed) bytes += path.size();
  CHECK(bytes > kMostTold);
  CHECK(bytes < 2 * kMostTold);
  CHECK(object["spec"][key] == Json::object());
}

TEST_CASE("a large default is filled into as many items as an object may grow by") {
  const Json item = {
      {"type", "object"},
      {"properties", {{"x", {{"type", "string"}, {"default", std::string(50U << 10U, 'x')}}}}}};
  const auto schema = compiled({{"type", "array"}, {"items", item}});
  const auto filled = [&](int items) {
    Json object = {{"spec", Json::array()}};
    for (int i = 0; i < items; ++i) object["spec"].push_back(Json::object());
    return schema->apply_defaults(object);
  };
  CHECK(filled(100));
  CHECK_FALSE(filled(20000));
}

TEST_CASE("parts of a schema below a long name do not each keep it") {
  const std::string key(1U << 20U, 'k');
  Json many = {{"type", "object"}};
  for (int i = 0; i < kMany; ++i) {
    many["properties"]["p" + std::to_string(i)] = {{"type", "string"}};
  }
  const auto schema = compiled({{"type", "object"}, {"properties", {{key, many}}}});
  const auto& parts = schema->root()->properties.at("spec")->properties.at(key)->properties;
  CHECK(parts.size() == kMany);
  CHECK(parts.at("p7")->path() == "properties[spec].properties[" + key + "].properties[p7]");
}

}  // namespace kubewatch::schema
