// What values set, how they differ, merge and lose fields, by kind of node.
#include "schema/typed.hpp"

#include "schema_fixture.hpp"

using namespace schema_test;

namespace {

const MergeNode& root() {
  return *thing_schema();
}
Json spec(const std::string& text) {
  return {{"spec", json(text)}};
}

Json in_spec(const FieldSet& fields) {
  const FieldSet* child = fields.find_child(PathElement::of_field("spec"));
  return child == nullptr ? Json::object() : child->to_fields_v1();
}

}  // namespace

TEST_CASE("a value's fields are leaves, atomic values, keyed items and keys of maps") {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"n":1,"deep":{"value":"x"}})", R"({"f:deep":{"f:value":{}},"f:n":{}})"},
      {R"({"words":["a","b"]})", R"({"f:words":{}})"},
      {R"({"box":{"a":1}})", R"({"f:box":{}})"},
      {R"({"free":{"k":"v"}})", R"({"f:free":{"f:k":{}}})"},
      {R"({"free":{},"deep":{}})", R"({"f:deep":{},"f:free":{}})"},
      {R"({"n":null})", R"({"f:n":{}})"},
      {R"({"tags":["a","b"]})", R"({"f:tags":{"v:\"a\"":{},"v:\"b\"":{}}})"},
      {R"({"tags":[]})", "{}"},
      {R"({"items":[{"name":"a","v":1}]})",
       R"({"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:v":{}}}})"},
      {R"({"items":[{"name":"a","v":1},{"name":"a","v":2}]})",
       R"({"f:items":{"k:{\"name\":\"a\"}":{}}})"},
  };
  for (const auto& [value, fields] : cases) {
    INFO(value);
    CHECK(in_spec(to_field_set(root(), spec(value))) == json(fields));
  }
}

TEST_CASE("deduced values have granular maps and atomic lists") {
  const Json value = json(R"({"a":{"l":[{"name":"x"}],"m":{"k":1}}})");
  CHECK(to_field_set(*deduced_merge_schema(), value).to_fields_v1() ==
        json(R"({"f:a":{".":{},"f:l":{},"f:m":{".":{},"f:k":{}}}})"));
}

TEST_CASE("values differ by removed, modified and added fields") {
  struct Case {
    const char* before;
    const char* after;
    const char* removed;
    const char* modified;
    const char* added;
  };
  const Case cases[] = {
      {R"({"n":1})", R"({"n":1.0})", "{}", "{}", "{}"},
      {R"({"n":1})", R"({"n":2,"name":"x"})", "{}", R"({"f:n":{}})", R"({"f:name":{}})"},
      {R"({"n":1,"deep":{"value":"v"}})", R"({"n":1})", R"({"f:deep":{".":{},"f:value":{}}})", "{}",
       "{}"},
      {R"({"words":["a"]})", R"({"words":["a","b"]})", "{}", R"({"f:words":{}})", "{}"},
      {R"({"box":{"a":1}})", R"({"box":{"b":1}})", "{}", R"({"f:box":{}})", "{}"},
      {R"({"tags":["a","b"]})", R"({"tags":["b","c"]})", R"({"f:tags":{"v:\"a\"":{}}})", "{}",
       R"({"f:tags":{"v:\"c\"":{}}})"},
      {R"({"tags":["a","b"]})", R"({"tags":["b","a"]})", "{}", "{}", "{}"},
      {R"({"items":[{"name":"a","v":1,"w":1}]})", R"({"items":[{"name":"a","v":2},{"name":"b"}]})",
       R"({"f:items":{"k:{\"name\":\"a\"}":{"f:w":{}}}})",
       R"({"f:items":{"k:{\"name\":\"a\"}":{"f:v":{}}}})",
       R"({"f:items":{"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}})"},
      {R"({"items":[{"name":"a"},{"name":"a","v":1}]})",
       R"({"items":[{"name":"a"},{"name":"a","v":2}]})", "{}",
       R"({"f:items":{"k:{\"name\":\"a\"}":{}}})", "{}"},
      {R"({"items":[{"name":"a"},{"name":"a"}]})", R"({"items":[{"name":"a","v":1}]})",
       R"({"f:items":{"k:{\"name\":\"a\"}":{}}})", "{}",
       R"({"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:v":{}}}})"},
      {R"({"items":[{"name":"a","v":1}]})", R"({"items":[{"name":"a"},{"name":"a"}]})",
       R"({"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:v":{}}}})", "{}",
       R"({"f:items":{"k:{\"name\":\"a\"}":{}}})"},
      {R"({"free":{}})", R"({"free":{"k":"v"}})", "{}", "{}", R"({"f:free":{"f:k":{}}})"},
      {R"({"free":null})", R"({"free":{}})", "{}", R"({"f:free":{}})", "{}"},
  };
  for (const Case& c : cases) {
    INFO(c.before << " -> " << c.after);
    const Comparison changes = compare(root(), spec(c.before), spec(c.after));
    CHECK(in_spec(changes.removed) == json(c.removed));
    CHECK(in_spec(changes.modified) == json(c.modified));
    CHECK(in_spec(changes.added) == json(c.added));
  }
}

TEST_CASE("a deduced value that changes its form loses the old fields and is modified") {
  const Comparison changes =
      compare(deduced_node(), json(R"({"x":{"a":1}})"), json(R"({"x":"text"})"));
  CHECK(changes.removed.to_fields_v1() == json(R"({"f:x":{"f:a":{}}})"));
  CHECK(changes.modified.to_fields_v1() == json(R"({"f:x":{}})"));
}

TEST_CASE("the applied value wins and live keeps what it does not name") {
  struct Case {
    const char* live;
    const char* config;
    const char* merged;
  };
  const Case cases[] = {
      {R"({"n":1,"name":"x"})", R"({"n":2})", R"({"n":2,"name":"x"})"},
      {R"({"words":["a","b"]})", R"({"words":["c"]})", R"({"words":["c"]})"},
      {R"({"box":{"a":1}})", R"({"box":{"b":2}})", R"({"box":{"b":2}})"},
      {R"({"free":{"a":"1"}})", R"({"free":{"b":"2"}})", R"({"free":{"a":"1","b":"2"}})"},
      {R"({"items":[{"name":"a","v":1}]})", R"({"items":[{"name":"a","w":2}]})",
       R"({"items":[{"name":"a","v":1,"w":2}]})"},
      {R"({"tags":["a","b","c"]})", R"({"tags":["c","a"]})", R"({"tags":["b","c","a"]})"},
      {R"({"tags":["a","b","c","d"]})", R"({"tags":["a","x","c"]})",
       R"({"tags":["a","b","x","c","d"]})"},
      {R"({"tags":["x","a"]})", R"({"tags":["a","y"]})", R"({"tags":["x","a","y"]})"},
      {R"({"tags":["a"]})", R"({"tags":["y","a"]})", R"({"tags":["y","a"]})"},
      {R"({"tags":["a","a","b"]})", R"({"tags":["b"]})", R"({"tags":["a","a","b"]})"},
      {R"({"tags":["a","a","b"]})", R"({"tags":["a"]})", R"({"tags":["a","b"]})"},
      {R"({"free":{}})", R"({"n":1})", R"({"free":{},"n":1})"},
      {R"({})", R"({"tags":[]})", R"({"tags":[]})"},
  };
  for (const Case& c : cases) {
    INFO(c.live << " + " << c.config);
    CHECK(base::dump_json(merge_value(root(), spec(c.live), spec(c.config))) ==
          base::dump_json(spec(c.merged)));
  }
}

TEST_CASE("removed items take everything below them along") {
  const Json value = spec(R"({"n":1,"items":[{"name":"a","v":1},{"name":"b"}],"free":{"k":"v"}})");
  const auto without = [&](const char* fields) {
    return base::dump_json(remove_items(root(), value, set(fields))["spec"]);
  };
  CHECK(without(R"({"f:spec":{"f:items":{}}})") == R"({"free":{"k":"v"},"n":1})");
  CHECK(without(R"({"f:spec":{"f:items":{"k:{\"name\":\"a\"}":{}}}})") ==
        R"({"free":{"k":"v"},"items":[{"name":"b"}],"n":1})");
  CHECK(
      without(R"({"f:spec":{"f:items":{"k:{\"name\":\"a\"}":{"f:v":{}}},"f:free":{"f:k":{}}}})") ==
      R"({"free":null,"items":[{"name":"a"},{"name":"b"}],"n":1})");
}

TEST_CASE("fields that became atomic are owned as a whole") {
  FieldSet fields =
      set(R"({"f:spec":{"f:box":{".":{},"f:a":{}},"f:words":{"i:0":{}},"f:free":{"f:k":{}}}})");
  reconcile_with_schema(root(), fields);
  CHECK(fields.to_fields_v1() ==
        json(R"({"f:spec":{"f:box":{},"f:free":{"f:k":{}},"f:words":{}}})"));
}

TEST_CASE("known fields above members become members, items and map keys do not") {
  CHECK(
      with_named_parents(root(), set(R"({"f:spec":{"f:items":{"k:{\"name\":\"a\"}":{"f:v":{}}}}})"))
          .to_fields_v1() ==
      json(R"({"f:spec":{".":{},"f:items":{".":{},"k:{\"name\":\"a\"}":{"f:v":{}}}}})"));
}

TEST_CASE("values that do not fit are refused by path") {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"n":"x"})", ".spec.n: expected numeric (int or float), got string"},
      {R"({"name":1})", ".spec.name: expected string, got &value.valueUnstructured{Value:1}"},
      {R"({"deep":[]})", ".spec.deep: expected map, got &{[]}"},
      {R"({"words":{}})", ".spec.words: expected list, got &{map[]}"},
      {R"({"other":1})", ".spec.other: field not declared in schema"},
      {R"({"tags":[{}]})",
       ".spec.tags: element 0: associative list without keys has an element that's a map type"},
      {R"({"tags":["a","a"]})", ".spec.tags: duplicate entries for key [=\"a\"]"},
      {R"({"items":[1]})",
       ".spec.items: element 0: associative list with keys may not have non-map elements"},
      {R"({"items":[{"name":"a","v":"x"}]})",
       ".spec.items[name=\"a\"].v: expected numeric (int or float), got string"},
      {R"({"n":"x","name":1})",
       "errors:\n  .spec.n: expected numeric (int or float), got string\n  .spec.name: expected "
       "string, got &value.valueUnstructured{Value:1}"},
  };
  for (const auto& [value, message] : cases) {
    INFO(value);
    const Result<void> checked = check_value(root(), spec(value), false);
    REQUIRE_FALSE(checked.ok());
    CHECK(checked.error().message() == message);
  }
  CHECK(
      check_value(root(), spec(R"({"n":null,"words":null,"deep":null,"tags":["a"]})"), false).ok());
  CHECK(check_value(root(), spec(R"({"tags":["a","a"]})"), true).ok());
  // Who only reads needs no keys, and still items of their type.
  CHECK_FALSE(check_value(root(), spec(R"({"items":[{"v":1}]})"), true).ok());
  CHECK(check_read(root(), spec(R"({"items":[{"v":1},{"v":2}]})")).ok());
  const Result<void> unlike = check_read(root(), spec(R"({"items":[{"v":"x"}]})"));
  REQUIRE_FALSE(unlike.ok());
  CHECK(unlike.error().message() ==
        ".spec.items[0].v: expected numeric (int or float), got string");
  CHECK_FALSE(check_read(root(), spec(R"({"items":[1]})")).ok());
}
