#include "core/json_path.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::core {

namespace {

std::string joined(const std::vector<const Json*>& found) {
  std::string out;
  for (const Json* one : found) out += (out.empty() ? "" : " ") + one->dump();
  return out;
}

const Json& sample() {
  static const Json kObject = Json::parse(R"({"spec":{"a":1,
    "list":[{"t":"x","v":1},{"t":"Ready","v":2,"w":{"t":"deep"}},{"t":"y","v":3.5,"on":true}],
    "an.notation":{"k]ey":"z"},"an":{"other":5},"nothing":null,"empty":[],"same":2},
    "items":[[1,2,3,4,5],["a"]]})");
  return kObject;
}

}  // namespace

TEST_CASE("paths of printer columns find what kubectl would") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {".spec.a", "1"},
      {"{.spec.a}", "1"},
      {" { .spec .a } ", "1"},
      {"$.spec.a", "1"},
      {"@.spec.a", "1"},
      {"spec.a", "1"},
      {".spec.list[0].t", "\"x\""},
      {".spec.list.[0].t", "\"x\""},
      {".spec.list[-1].v", "3.5"},
      {".spec.list[*].v", "1 2 3.5"},
      {".spec.list.*.v", "1 2 3.5"},
      {".spec['a','same']", "1 2"},
      {".spec[\"a\"]", "1"},
      {".spec['list']['0']", ""},
      {".spec.an\\.notation['k]ey']", "\"z\""},
      {".spec['an.notation']['k]ey']", "\"z\""},
      {".spec['an\\.notation']['k]ey']", "\"z\""},
      // kubectl reads a dot in quotes as a step; a key that is called so goes first.
      {".spec['an.other']", "5"},
      {".spec.none", ""},
      {".spec.nothing", "null"},
      {".spec.nothing.deeper", ""},
      {".spec.a.b", ""},
      {".spec.list.t", ""},
      {".spec.list[9]", ""},
      {".spec.list[", ""},
      {"..", ""},
  };
  for (const auto& [path, wanted] : cases) {
    CAPTURE(path);
    CHECK(joined(find_at(sample(), path)) == wanted);
  }
}

TEST_CASE("slices of a path are those of kubectl") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {".items[0][1:3]", "2 3"},
      {".items[0][:2]", "1 2"},
      {".items[0][3:]", "4 5"},
      {".items[0][-2:]", "4 5"},
      {".items[0][:-3]", "1 2"},
      {".items[0][::2]", "1 3 5"},
      {".items[0][1:4:2]", "2 4"},
      {".items[0][:]", "1 2 3 4 5"},
      {".items[0][2:2]", ""},
      {".items[0][0,-1]", "1 5"},
      {".items[*][0,-1]", "1 \"a\" 5 \"a\""},
      {".items[*][0]", "1 \"a\""},
      {".items[0][ 1 : 2 ]", "2"},
      {".spec.empty[:]", ""},
      {".items[0][0:9]", ""},
      {".items[0][3:1]", ""},
      {".items[0][::99]", "1"},
  };
  for (const auto& [path, wanted] : cases) {
    CAPTURE(path);
    CHECK(joined(find_at(sample(), path)) == wanted);
  }
}

TEST_CASE("filters of a path compare, combine and look for fields") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {".spec.list[?(@.t==\"Ready\")].v", "2"},
      {".spec.list[?(@.t=='x')].v", "1"},
      {".spec.list[?(@.v==2)].t", "\"Ready\""},
      {".spec.list[?(@.v!=2)].t", "\"x\" \"y\""},
      {".spec.list[?(@.v>1)].t", "\"Ready\" \"y\""},
      {".spec.list[?( @.v <= 2 )].t", "\"x\" \"Ready\""},
      {".spec.list[?(@.on)].t", "\"y\""},
      {".spec.list[?(@.on==true)].t", "\"y\""},
      {".spec.list[?(!@.on)].t", "\"x\" \"Ready\""},
      {".spec.list[?(@.w.t=='deep')].t", "\"Ready\""},
      {".spec.list[?(@['t']=='x')].v", "1"},
      {".spec.list[?(@.v>=1 && @.v<3)].t", "\"x\" \"Ready\""},
      {".spec.list[?(@.t=='x' || @.t=='y')].v", "1 3.5"},
      {".spec.list[?((@.t=='x' || @.t=='y') && @.on)].v", "3.5"},
      {".spec.list[?(@.v==$.spec.same)].t", "\"Ready\""},
      {".spec.list[?(@.t<'a')].v", "2"},
      // Another type, an error where errors count, and what is absent: no comparison holds.
      {".spec.list[?(@.v=='1')].t", ""},
      {".spec.list[?(@.none!='1')].t", ""},
      {".items[0][?(@>3)]", "4 5"},
      {".spec[?(@.a)]", ""},
  };
  for (const auto& [path, wanted] : cases) {
    CAPTURE(path);
    CHECK(joined(find_at(sample(), path)) == wanted);
  }
}

TEST_CASE("two dots find a field at every depth, outer ones first") {
  CHECK(joined(find_at(sample(), "..t")) == R"("x" "Ready" "deep" "y")");
  CHECK(joined(find_at(sample(), ".spec..v")) == "1 2 3.5");
  CHECK(joined(find_at(sample(), "..[?(@.on)].v")) == "3.5");
  CHECK(JsonPath::parse("..[0]")->evaluate(sample()).ok());
}

TEST_CASE("what is wrong in a path is said with its place") {
  const std::vector<std::tuple<std::string, std::size_t, std::string>> cases = {
      {"", 0, "names no field"},
      {"{ }", 0, "names no field"},
      {".a..", 4, "missing after '..'"},
      {".a.", 3, "a field name is missing"},
      {"{.a", 3, "'{' is not closed"},
      {".a}", 2, "'}' is not expected"},
      {"{.a} b", 4, "text after '}'"},
      {".a[", 3, "an index, '*', a quoted name or '?(' is expected"},
      {".a[1", 2, "'[' is not closed"},
      {".a['b]", 3, "a quote is not closed"},
      {".a[x]", 3, "an index"},
      {".a[1:2:0]", 7, "the step must be above 0"},
      {".a[99999999999999999999]", 3, "no number"},
      {".a[?(@.b=c)]", 8, "is expected"},
      {".a[?(@.b==c)]", 10, "a quoted text"},
      {".a[?(@.b=~'x')]", 8, "regular expressions"},
      {".a[?(@.b==1]", 11, "')' is expected"},
      {".a b", 3, "'.' or '[' is expected"},
      {".a\"b", 2, "not expected in a field name"},
  };
  for (const auto& [path, place, what] : cases) {
    CAPTURE(path);
    std::size_t at = 999;
    const auto parsed = JsonPath::parse(path, &at);
    REQUIRE_FALSE(parsed.ok());
    CHECK(at == place);
    CHECK(parsed.error().message().find(what) != std::string::npos);
    CHECK(parsed.error().kind() == ErrorKind::invalid);
  }
}

TEST_CASE("an evaluation that is strict has kubectl's errors") {
  const auto error_of = [](const std::string& path, bool allow_missing) {
    JsonPath::Limits limits;
    limits.allow_missing = allow_missing;
    const auto found = JsonPath::parse(path)->evaluate(sample(), limits);
    return found.ok() ? "" : found.error().message();
  };
  CHECK(error_of(".spec.none", true).empty());
  CHECK(error_of(".spec.none", false) == "none is not found");
  CHECK(error_of(".spec.list[9]", true) == "array index out of bounds: index 9, length 3");
  CHECK(error_of(".spec.list[-4]", true) == "array index out of bounds: index -4, length 3");
  CHECK(error_of(".spec.list[2:1]", true) == "starting index 2 is greater than ending index 1");
  CHECK(error_of(".spec[0]", true).find("not an array") != std::string::npos);
  CHECK(error_of(".spec[?(@.a==1)]", true).find("not an array") != std::string::npos);
  CHECK(error_of(".items[?(@[*]==1)]", true) == "can only compare one element at a time");
}

TEST_CASE("a strict filter compares only what kubectl would, and numbers as numbers") {
  const auto said = [](const std::string& filter) {
    const auto found = JsonPath::parse(".spec.list[?(" + filter + ")].t")->evaluate(sample());
    return found.ok() ? joined(*found) : found.error().message();
  };
  const std::string mixed = "incompatible types for comparison: ";
  const std::string none = "invalid type for comparison: ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"@.v==\"1\"", mixed + "a number and a text"},
      {"@.v!=\"1\"", mixed + "a number and a text"},
      {"@.t<1", mixed + "a text and a number"},
      {"@.v>=true", mixed + "a number and a truth value"},
      {"true<false", none + "a truth value"},
      {"@.v==$.spec.list", none + "a list"},
      {"@=='x'", none + "an object"},
      {"$.spec.nothing==1", none + "null"},
      {"@.v==2.0", "\"Ready\""},
      {"@.v>1", "\"Ready\" \"y\""},
      {"@.on!=false", "\"y\""},
      // Who asks first asks no more: the rest is not compared.
      {"@.none=='1' || @.v==1", "\"x\""},
      {"@.v==1 || @.t=='y'", "\"x\" \"y\""},
      {"@.none && @.v=='1'", ""},
      {"$.spec.nothing!=null && $.spec.nothing==1", ""},
      {"$.spec.nothing==null", R"("x" "Ready" "y")"},
      {"@!=null", R"("x" "Ready" "y")"},
  };
  for (const auto& [filter, wanted] : cases) {
    CAPTURE(filter);
    CHECK(said(filter) == wanted);
  }
  // ".." meets lists of all kinds: what cannot be compared there is passed over.
  CHECK(JsonPath::parse("..[?(@.v=='1')].t")->evaluate(sample()).ok());
}

TEST_CASE("it is known which error the path alone is to blame for") {
  const auto blames = [](const std::string& path) {
    const auto found = JsonPath::parse(path)->evaluate(sample());
    REQUIRE_FALSE(found.ok());
    return is_type_mistake(found.error());
  };
  CHECK(blames(".spec.list[?(@.v=='1')]"));
  CHECK(blames(".spec.list[?(@.v==$.spec.list)]"));
  CHECK_FALSE(blames(".spec.list[?($.spec.nothing==1)]"));
  CHECK_FALSE(blames(".spec.list[9]"));
  CHECK_FALSE(blames(".items[?(@[*]==1)]"));
}

TEST_CASE("paths that would never end are refused or cut") {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "[?(@.a";
  CHECK_FALSE(JsonPath::parse(".a" + deep).ok());
  std::string brackets = ".a[?(" + std::string(5000, '(') + "@.a";
  CHECK_FALSE(JsonPath::parse(brackets).ok());
  CHECK_FALSE(JsonPath::parse(".a[?(" + std::string(5000, '!') + "@.a)]").ok());
  std::string steps;
  for (int i = 0; i < 2000; ++i) steps += ".a";
  CHECK_FALSE(JsonPath::parse(steps).ok());
  JsonPath::Limits few;
  few.max_found = 3;
  const auto found = JsonPath::parse("..*..*")->evaluate(sample(), few);
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().kind() == ErrorKind::too_large);
}

// Nothing is timed: each item would look at all of them, 10^9 values.
TEST_CASE("a filter that looks at the whole value for each item is cut") {
  Json items = Json::array();
  for (int i = 0; i < 30000; ++i) items.push_back({{"a", i}, {"b", 1}});
  const Json value = {{"a", 29999}, {"l", std::move(items)}};
  JsonPath::Limits limits;
  limits.max_found = 100000;
  for (const char* path : {".l[?($..a)]", ".l[?($.l[?(@.a==1)])]", ".l[?($.l[?(1==2)])]",
                           ".l[?($.l[*])]", ".l[?($.l[0:30000])]"}) {
    CAPTURE(path);
    const auto found = JsonPath::parse(path)->evaluate(value, limits);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().kind() == ErrorKind::too_large);
  }
  CHECK(JsonPath::parse(".l[?($..a)]")->find(value).empty());
  CHECK(JsonPath::parse(".l[?(@.a==$.a)].a")->find(value).size() == 1);
  CHECK(JsonPath::parse(".l[?(@.b==$.l[7].b)].a")->find(value).size() == 30000);
}

TEST_CASE("a path of plain fields can be set, making objects on the way") {
  Json object = Json::object();
  CHECK(set_at(object, ".spec.replicas", 3));
  CHECK(object == Json::parse(R"({"spec":{"replicas":3}})"));
  CHECK_FALSE(set_at(object, ".spec.list[0]", 3));
  CHECK_FALSE(set_at(object, ".spec.replicas.x", 3));
  CHECK_FALSE(set_at(object, ".", 3));
}

TEST_CASE("scalars are shown as kubectl shows them") {
  CHECK(scalar_text("a b") == "a b");
  CHECK(scalar_text(3) == "3");
  CHECK(scalar_text(3.0) == "3");
  CHECK(scalar_text(3.25) == "3.25");
  // As kubectl v1.36 printed them.
  CHECK(scalar_text(100000.5) == "100000.5");
  CHECK(scalar_text(1234567.5) == "1.2345675e+06");
  CHECK(scalar_text(123456789.123) == "1.23456789123e+08");
  CHECK(scalar_text(1e20) == "1e+20");
  CHECK(scalar_text(0.0001) == "0.0001");
  CHECK(scalar_text(0.00001) == "1e-05");
  CHECK(scalar_text(-2.5) == "-2.5");
  CHECK(scalar_text(Json::parse("9223372036854775808")) == "9.223372036854776e+18");
  CHECK(scalar_text(INT64_MAX) == "9223372036854775807");
  CHECK(scalar_text(true) == "true");
  CHECK(scalar_text(nullptr) == "null");
  CHECK(scalar_text(Json::parse(R"({"b":[1,"x"],"a":1})")) == R"({"a":1,"b":[1,"x"]})");
  // Go's encoder escapes in objects and lists what HTML would interpret.
  CHECK(scalar_text(Json::parse(R"({"a":"<b>&\u2028\u2029é"})")) ==
        R"({"a":"\u003cb\u003e\u0026\u2028\u2029é"})");
  CHECK(scalar_text("<b>&") == "<b>&");
}

}  // namespace kubewatch::core
