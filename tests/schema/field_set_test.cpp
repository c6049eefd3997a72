// FieldsV1, the algebra of sets, the text of paths.
#include "schema/field_set.hpp"

#include "schema_fixture.hpp"

using namespace schema_test;

TEST_CASE("FieldsV1 survives a round trip") {
  const std::string text = GENERATE(
      R"({})", R"({"f:a":{}})", R"({"f:metadata":{"f:labels":{".":{},"f:app":{}}}})",
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{}}},"f:replicas":{}}})",
      R"({"f:p":{"k:{\"containerPort\":9,\"protocol\":\"TCP\"}":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{}}})",
      R"({"f:k":{"k:{\"a\":\"x\\\"y\"}":{},"k:{\"a\":\"x:y}\"}":{},"k:{\"a\":\"é\",\"b\":\"z\"}":{}}})",
      R"({"f:s":{"v:2":{},"v:10":{},"v:\"a\\u003cb\"":{},"v:true":{}}})",
      R"({"f:l":{"i:2":{},"i:10":{}}})", R"({"f:x":{"k:{\"a\":1}":{},"v:1":{},"i:0":{}}})");
  CHECK(set(text).to_fields_v1() == json(text));
}

TEST_CASE("steps are in the server's order: fields, keys, values, indexes") {
  const FieldSet steps = set(
      R"({"i:10":{},"i:2":{},"v:10":{},"v:2":{},"k:{\"p\":80}":{},"k:{\"p\":9}":{},"f:x":{},"f:b":{}})");
  std::vector<std::string> order;
  for (const PathElement& step : steps.members()) order.push_back(step.encode());
  CHECK(order == std::vector<std::string>{"f:b", "f:x", R"(k:{"p":9})", R"(k:{"p":80})", "v:2",
                                          "v:10", "i:2", "i:10"});
}

TEST_CASE("FieldsV1 that is broken is refused, kinds of a later version are ignored") {
  for (const char* bad : {R"({"x":{}})", R"({"f":{}})", R"({"i:x":{}})", R"({"k:{":{}})",
                          R"({"k:1":{}})", R"({"v:{":{}})", R"({"f:a":1})", R"([])"}) {
    INFO(bad);
    CHECK_FALSE(FieldSet::from_fields_v1(json(bad)).ok());
  }
  CHECK(set(R"({"z:new":{},"f:a":{}})").to_fields_v1() == json(R"({"f:a":{}})"));
}

TEST_CASE("FieldsV1 nested without end is refused") {
  Json deep = Json::object();
  for (int i = 0; i < 500; ++i) deep = Json{{"f:a", std::move(deep)}};
  const Result<FieldSet> decoded = FieldSet::from_fields_v1(deep);
  REQUIRE_FALSE(decoded.ok());
  CHECK(decoded.error().kind() == ErrorKind::too_large);
}

TEST_CASE("a set holds what was inserted, not the parents of it") {
  FieldSet one;
  const Path path{PathElement::of_field("spec"), PathElement::of_key({{"name", "a"}}),
                  PathElement::of_value("v")};
  one.insert(path);
  one.insert({});
  CHECK(one.has(path));
  CHECK_FALSE(one.has({path[0]}));
  CHECK_FALSE(one.has({path[0], path[1], PathElement::of_value("w")}));
  CHECK_FALSE(one.has({}));
  CHECK(one.size() == 1);
  CHECK(one.paths() == std::vector<Path>{path});
}

TEST_CASE("sets are united, intersected and subtracted member by member") {
  struct Case {
    const char* a;
    const char* b;
    const char* both;
    const char* common;
    const char* minus;
    const char* minus_below;
  };
  const Case cases[] = {
      {R"({"f:a":{},"f:b":{}})", R"({"f:b":{},"f:c":{}})", R"({"f:a":{},"f:b":{},"f:c":{}})",
       R"({"f:b":{}})", R"({"f:a":{}})", R"({"f:a":{}})"},
      {R"({"f:a":{".":{},"f:x":{}}})", R"({"f:a":{}})", R"({"f:a":{".":{},"f:x":{}}})",
       R"({"f:a":{}})", R"({"f:a":{"f:x":{}}})", R"({})"},
      {R"({"f:a":{}})", R"({"f:a":{"f:x":{}}})", R"({"f:a":{".":{},"f:x":{}}})", R"({})",
       R"({"f:a":{}})", R"({"f:a":{}})"},
      {R"({"f:a":{"f:x":{},"f:y":{}}})", R"({"f:a":{"f:x":{}}})", R"({"f:a":{"f:x":{},"f:y":{}}})",
       R"({"f:a":{"f:x":{}}})", R"({"f:a":{"f:y":{}}})", R"({"f:a":{"f:y":{}}})"},
      {R"({"f:a":{"f:x":{}}})", R"({"f:a":{"f:x":{}}})", R"({"f:a":{"f:x":{}}})",
       R"({"f:a":{"f:x":{}}})", R"({})", R"({})"},
  };
  for (const Case& c : cases) {
    INFO(c.a << " " << c.b);
    CHECK(set(c.a).is_subset_of(set(c.b)) == (std::string(c.minus) == "{}"));
    FieldSet both = set(c.a);
    both.merge_in(set(c.b));
    CHECK(both.to_fields_v1() == json(c.both));
    CHECK(set(c.a).intersect(set(c.b)).to_fields_v1() == json(c.common));
    CHECK(set(c.a).difference(set(c.b)).to_fields_v1() == json(c.minus));
    CHECK(set(c.a).recursive_difference(set(c.b)).to_fields_v1() == json(c.minus_below));
  }
}

TEST_CASE("leaves are the members without children") {
  CHECK(set(R"({"f:a":{".":{},"f:x":{}},"f:b":{}})").leaves().to_fields_v1() ==
        json(R"({"f:a":{"f:x":{}},"f:b":{}})"));
}

TEST_CASE("collapsing keeps the field and forgets what is below it") {
  FieldSet one = set(R"({"f:a":{"f:x":{},"f:y":{}},"f:b":{}})");
  one.collapse(PathElement::of_field("a"));
  CHECK(one.to_fields_v1() == json(R"({"f:a":{},"f:b":{}})"));
}

TEST_CASE("paths read as in conflict messages") {
  const std::pair<Path, const char*> cases[] = {
      {{PathElement::of_field("spec"), PathElement::of_field("a.b/c")}, ".spec.a.b/c"},
      {{PathElement::of_key({{"port", 80}, {"name", "x\"y"}})}, R"([name="x\"y",port=80])"},
      {{PathElement::of_value("v")}, R"([="v"])"},
      {{PathElement::of_value(1.5)}, "[=1.5]"},
      {{PathElement::of_value(true)}, "[=true]"},
      {{PathElement::of_value("a\nb\x01")}, R"([="a\nb\x01"])"},
      {{PathElement::of_index(3)}, "[3]"},
  };
  for (const auto& [path, text] : cases) CHECK(path_str(path) == text);
}
