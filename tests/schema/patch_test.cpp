// JSON patch, merge patch and strategic patch where no recorded case reaches: error sentences and
// limits. What the patches do is checked against a real server in golden_test.cpp.
#include "schema/patch.hpp"

#include "schema_fixture.hpp"

using namespace schema_test;

namespace {

std::string patched(const char* document, const char* operations) {
  const Result<Json> out = json_patch(json(document), json(operations));
  return out.ok() ? base::dump_json(*out) : "error: " + out.error().message();
}

std::string strategic(const char* kind, const char* live, const char* patch) {
  const Result<Json> out =
      strategic_patch(json(live), json(patch), builtin_merge_schema({"", "v1", kind}));
  return out.ok() ? base::dump_json(*out) : "error: " + out.error().message();
}

}  // namespace

TEST_CASE("JSON patches do what the API server's do, and say why not in its words") {
  struct Case {
    const char* document;
    const char* operations;
    const char* result;
  };
  const Case cases[] = {
      {R"({"a":[1,2]})",
       R"([{"op":"add","path":"/a/-","value":3},{"op":"add","path":"/a/0","value":0}])",
       R"({"a":[0,1,2,3]})"},
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/-1","value":3}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/-1","value":3}])", R"({"a":[1,3]})"},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":[1]}])", "[1]"},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":1}])",
       "error: replace operation value must be object or array"},
      {R"({"a/b":1,"m~n":2})", R"([{"op":"remove","path":"/a~1b"},{"op":"remove","path":"/m~0n"}])",
       "{}"},
      {R"({"a":1})", R"([{"op":"add","path":"/a/b","value":1}])",
       R"(error: add operation does not apply: doc is missing path: "/a/b": missing value)"},
      {R"({"a":[]})", R"([{"op":"add","path":"/a/1","value":1}])",
       "error: error in add for path: '/a/1': Unable to access invalid index: 1: invalid index "
       "referenced"},
      {R"({"a":[]})", R"([{"op":"add","path":"/a/x","value":1}])",
       "error: error in add for path: '/a/x': value was not a proper array index: 'x': "
       "strconv.Atoi: parsing "
       "\"x\": invalid syntax"},
      {R"({"a":[]})", R"([{"op":"add","path":"/a/99999999999999999999","value":1}])",
       "error: error in add for path: '/a/99999999999999999999': value was not a proper array "
       "index: "
       "'99999999999999999999': strconv.Atoi: parsing \"99999999999999999999\": invalid syntax"},
      {R"({})", R"([{"op":"remove","path":"/a"}])",
       "error: error in remove for path: '/a': Unable to remove nonexistent key: a: missing value"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])",
       "error: testing value /a failed: test failed"},
      {R"({"a":1})", R"([{"op":"test","path":"","value":{"a":1}}])", R"({"a":1})"},
      {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])", R"({"a":{},"c":1})"},
      {R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/a/c"}])",
       R"({"a":{"b":1,"c":{"b":1}}})"},
      {R"({})", R"([{"op":"x"}])", "error: Unexpected kind: x"},
      {R"({})", R"([{}])", "error: Unexpected kind: unknown"},
      {R"({})", R"([1])", "error: a JSON patch operation is not an object"},
      {R"({})", R"([{"op":"add","value":1}])",
       "error: add operation failed to decode path: missing value"},
      {R"({})", R"({})", "error: a JSON patch must be a list of operations"},
  };
  for (const Case& c : cases) {
    INFO(c.document << " " << c.operations);
    CHECK(patched(c.document, c.operations) == c.result);
  }
}

TEST_CASE("JSON patches are limited in operations, copies and items shifted") {
  const auto kind_of = [](const Json& document, const Json& operations) {
    const Result<Json> out = json_patch(document, operations);
    return out.ok() ? ErrorKind::internal : out.error().kind();
  };
  const Json test = {{"op", "test"}, {"path", ""}, {"value", Json::object()}};
  CHECK(json_patch(Json::object(), Json::array_t(10000, test)).ok());
  CHECK(kind_of(Json::object(), Json::array_t(10001, test)) == ErrorKind::too_large);

  const Json big = {{"a", std::string(1 << 20, 'x')}};
  const Json copy = {{"op", "copy"}, {"from", "/a"}, {"path", "/b"}};
  CHECK(json_patch(big, Json::array_t(2, copy)).ok());
  CHECK(kind_of(big, Json::array_t(4, copy)) == ErrorKind::invalid);

  const Json list = {{"l", Json::array_t(100000, 1)}};
  const Json replace = {{"op", "replace"}, {"path", "/l/0"}, {"value", 2}};
  CHECK(json_patch(list, Json::array_t(10000, replace)).ok());
  const Json append = {{"op", "add"}, {"path", "/l/-"}, {"value", 2}};
  CHECK(json_patch(list, Json::array_t(10000, append)).ok());
  const Json insert = {{"op", "add"}, {"path", "/l/0"}, {"value", 2}};
  CHECK(kind_of(list, Json::array_t(1000, insert)) == ErrorKind::too_large);
  const Json remove = {{"op", "remove"}, {"path", "/l/0"}};
  CHECK(kind_of(list, Json::array_t(1000, remove)) == ErrorKind::too_large);
}

// Nothing is timed: 10^9 copies would not end.
TEST_CASE("a JSON patch moves what is large without copying it") {
  const Json list = {{"a", Json::array_t(100000, Json::object())}};
  Json operations = Json::array();
  for (int i = 0; i < 5000; ++i) {
    operations.push_back({{"op", "move"}, {"from", "/a"}, {"path", "/b"}});
    operations.push_back({{"op", "move"}, {"from", "/b"}, {"path", "/a"}});
  }
  const Result<Json> out = json_patch(list, operations);
  REQUIRE(out.ok());
  CHECK(*out == list);
}

TEST_CASE("merge patches follow RFC 7386") {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[1]})", R"({"a":[1,null]})", R"({"a":[1,null]})"},
      {R"(["a"])", R"({"a":1})", R"({"a":1})"},
      {R"({"e":null})", R"({"a":1})", R"({"a":1,"e":null})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {R"({})", R"({"a":[null,{"b":null,"c":[[{"d":null}]]}]})", R"({"a":[null,{"c":[[{}]]}]})"},
      {R"({"a":{}})", R"({"a":[{"b":null}]})", R"({"a":[{"b":null}]})"},
      {R"({"a":1})", R"(["c"])", R"(["c"])"},
  };
  for (const auto& [target, patch, result] : cases) {
    INFO(target << " " << patch);
    CHECK(base::dump_json(merge_patch(json(target), json(patch))) == result);
  }
}

TEST_CASE("strategic patches merge by the patch merge key, which is not always the list's key") {
  CHECK(
      strategic("Service",
                R"({"spec":{"ports":[{"port":80,"protocol":"TCP"},{"port":80,"protocol":"UDP"}]}})",
                R"({"spec":{"ports":[{"port":80,"name":"x"}]}})") ==
      R"({"spec":{"ports":[{"name":"x","port":80,"protocol":"TCP"},{"port":80,"protocol":"UDP"}]}})");
  CHECK(strategic("Pod", R"({"status":{"hostIPs":[{"ip":"1"}]}})",
                  R"({"status":{"hostIPs":[{"ip":"2"}]}})") ==
        R"({"status":{"hostIPs":[{"ip":"2"},{"ip":"1"}]}})");
  CHECK(strategic("Pod", R"({"spec":{"tolerations":[{"key":"a"}]}})",
                  R"({"spec":{"tolerations":[{"key":"b"}]}})") ==
        R"({"spec":{"tolerations":[{"key":"b"}]}})");
}

TEST_CASE("strategic patches that make no sense are refused") {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"metadata":{"$patch":"x"}})", "error: unknown patch type: x in map: map[$patch:x]"},
      {R"({"metadata":{"$retainKeys":1}})", "error: invalid patch format of retainKeys"},
      {R"({"metadata":{"$retainKeys":["a"],"b":1}})", "error: invalid patch format of retainKeys"},
      {R"({"spec":{"$setElementOrder/containers":1}})",
       "error: expected a []interface {}, but received a int64"},
      {R"({"spec":{"containers":[{"$patch":"merge"}]}})",
       "error: merging lists cannot yet be specified in the patch"},
      {R"({"spec":{"containers":[{"$patch":"delete"}]}})",
       "error: map: map[$patch:delete] does not contain declared merge key: name"},
      {R"({"spec":{"containers":[1]}})",
       "error: list element types are not identical: [[map[name:a]] [1]]"},
      {R"({"spec":{"containers":[{"name":"a"},null]}})",
       "error: list element types are not identical: [[map[name:a]] [map[name:a] <nil>]]"},
      {R"({"spec":{"$setElementOrder/nodeName":["a"]}})",
       "error: expected a list in field nodeName to set its order"},
  };
  const char* live = R"({"metadata":{},"spec":{"containers":[{"name":"a"}],"nodeName":"n"}})";
  for (const auto& [patch, error] : cases) {
    INFO(patch);
    CHECK(strategic("Pod", live, patch) == error);
  }
  CHECK_FALSE(strategic_patch(Json::object(), Json::array(), nullptr).ok());
}

TEST_CASE("strategic patches of long lists stay fast") {
  Json live = Json::array();
  Json patch = Json::array();
  for (int i = 0; i < 50000; ++i) {
    live.push_back("example.com/" + std::to_string(i));
    patch.push_back("example.com/" + std::to_string(i + 25000));
  }
  const Result<Json> out = strategic_patch({{"metadata", {{"finalizers", live}}}},
                                           {{"metadata", {{"finalizers", patch}}}},
                                           builtin_merge_schema({"", "v1", "ConfigMap"}));
  REQUIRE(out.ok());
  CHECK((*out)["metadata"]["finalizers"].size() == 75000);
}

namespace {

Json nested(int levels, Json inside) {
  for (int i = 0; i < levels; ++i) inside = Json{{"a", std::move(inside)}};
  return inside;
}

// Each round puts what there is below 190 levels more.
Json sinking(int rounds) {
  const Json deep = nested(190, Json::object());
  std::string path = "/spec/n";
  for (int i = 0; i < 190; ++i) path += "/a";
  Json out = Json::array();
  for (int i = 0; i < rounds; ++i) {
    out.push_back({{"op", "add"}, {"path", "/spec/n"}, {"value", deep}});
    out.push_back({{"op", "move"}, {"from", "/spec/o"}, {"path", path + "/o"}});
    out.push_back({{"op", "move"}, {"from", "/spec/n"}, {"path", "/spec/o"}});
  }
  return out;
}

}  // namespace

TEST_CASE("a JSON patch makes nothing that is too deep to be read again") {
  const Json document = {{"spec", {{"o", nested(10, 1)}}}};
  for (const int rounds : {2, 700}) {
    const Result<Json> out = json_patch(document, sinking(rounds));
    REQUIRE_FALSE(out.ok());
    CHECK(out.error().kind() == ErrorKind::invalid);
    CHECK(out.error().message().find("nested deeper than 200 levels") != std::string::npos);
  }
  const auto takes = [](const Json& target, const char* op, const Json& value) {
    Json operation = {{"op", op}, {"path", "/a/b"}, {"value", value}};
    if (std::string(op) == "copy") operation["from"] = "/deep";
    if (std::string(op) == "move") operation["from"] = "/deep";
    return json_patch(target, Json::array({operation})).ok();
  };
  for (const int levels : {198, 199}) {  // two levels are there, {"a": {"b": here}}
    CAPTURE(levels);
    const bool wanted = levels == 198;
    const Json value = nested(levels, 1);
    const Json target = {{"a", {{"b", 1}}}, {"deep", value}};
    for (const char* op : {"add", "replace", "copy", "move"}) {
      CAPTURE(op);
      CHECK(takes(target, op, value) == wanted);
    }
    const auto read = base::parse_json(base::dump_json({{"a", {{"b", value}}}}));
    CHECK(read.ok() == wanted);
  }
  const Json root = {{"op", "replace"}, {"path", ""}, {"value", nested(201, 1)}};
  CHECK_FALSE(json_patch(document, Json::array({root})).ok());
}

// Nothing is timed: 10^9 values would be looked through.
TEST_CASE("a JSON patch that moves much further down again and again is refused") {
  const Json list = {{"a", Json::array_t(100000, 1)}, {"b", Json::object()}};
  Json operations = Json::array();
  for (int i = 0; i < 5000; ++i) {
    operations.push_back({{"op", "move"}, {"from", "/a"}, {"path", "/b/a"}});
    operations.push_back({{"op", "move"}, {"from", "/b/a"}, {"path", "/a"}});
  }
  const Result<Json> out = json_patch(list, operations);
  REQUIRE_FALSE(out.ok());
  CHECK(out.error().kind() == ErrorKind::too_large);
  CHECK(json_patch(list, Json::array({operations[0], operations[1]})).value() == list);
}

// What is copied at each level is copied as often as there are levels.
TEST_CASE("merge and strategic patches leave what they do not name where it is") {
  const auto text_in = [](const Json& object) {
    const Json* at = &object;
    while (at->contains("a")) at = &(*at)["a"];
    return (*at)["text"].get_ref<const std::string&>().data();
  };
  const Json patch = nested(180, {{"more", {{"b", 1}}}});
  const Json bottom = {{"text", std::string(100, 'x')}, {"more", Json::object()}};
  Json wanted_bottom = bottom;
  wanted_bottom["more"]["b"] = 1;
  const Json wanted = nested(180, wanted_bottom);

  Json target = nested(180, bottom);
  const char* before = text_in(target);
  const Json merged = merge_patch(std::move(target), patch);
  CHECK(text_in(merged) == before);
  CHECK(merged == wanted);

  target = nested(180, bottom);
  before = text_in(target);
  const Result<Json> out = strategic_patch(std::move(target), patch, nullptr);
  REQUIRE(out.ok());
  CHECK(text_in(*out) == before);
  CHECK(*out == wanted);
}
