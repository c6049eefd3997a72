// Selectors: text and object forms, canonical text, matching.
#include "core/selector.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::core;

TEST_CASE("label selectors have one canonical text") {
  struct Case {
    const char* text;
    const char* canonical;
  };
  const Case cases[] = {
      {"", ""},
      {"  ", ""},
      {"a=b", "a=b"},
      {"a==b", "a=b"},
      {"a = b", "a=b"},
      {"a!=b", "a!=b"},
      {"b,a", "a,b"},
      {"!b , a", "a,!b"},
      {"! b", "!b"},
      {"a in (y,x,y)", "a in (x,y)"},
      {"a in(x)", "a=x"},
      {"a notin (g)", "a!=g"},
      {"a notin ( g , h )", "a notin (g,h)"},
      {"a in ()", "a="},
      {"a in (,x)", "a in (,x)"},
      {"a=", "a="},
      {"a=,b", "a=,b"},
      {"in in (in)", "in=in"},
      {"notin", "notin"},
      {"x>1,y<2", "x>1,y<2"},
      {"example.com/app = web", "example.com/app=web"},
      {"a=b,c!=d,e in (x,y),f notin (z),g,!h", "a=b,c!=d,e in (x,y),f!=z,g,!h"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto selector = LabelSelector::parse(c.text);
    REQUIRE(selector.ok());
    CHECK(selector->str() == c.canonical);
    const auto again = LabelSelector::parse(selector->str());
    REQUIRE(again.ok());
    CHECK(again->str() == selector->str());
  }
}

TEST_CASE("broken label selectors are refused with what and where") {
  for (const char* bad :
       {",",    "a,",  ",a",    "a b", "a in",      "a in x", "a in (x",   "a in (x y)",
        "!a=b", "!",   "!!a",   "=b",  "a=b=c",     "a=b c",  "a in (x))", "a>b",
        "a<",   "a!b", "a=b/c", "-a",  "a in (b!)", "a=>1"}) {
    INFO(bad);
    const auto selector = LabelSelector::parse(bad);
    REQUIRE_FALSE(selector.ok());
    CHECK(selector.error().kind() == ErrorKind::invalid);
    CHECK(selector.error().message().find(bad) != std::string::npos);
  }
  CHECK(LabelSelector::parse("a b").error().message() ==
        "label selector \"a b\": one of =, ==, !=, in, notin, <, > is expected at character 3 "
        "(\"b\")");
}

TEST_CASE("label selectors match as the server matches") {
  const Labels labels = {{"app", "web"}, {"tier", ""}, {"size", "12"}, {"odd", "x1"}};
  struct Case {
    const char* text;
    bool matches;
  };
  const Case cases[] = {
      {"", true},          {"app=web", true},         {"app=db", false},
      {"app!=web", false}, {"app!=db", true},         {"none!=db", true},
      {"app", true},       {"none", false},           {"!none", true},
      {"!app", false},     {"app in (db,web)", true}, {"none in (db)", false},
      {"tier=", true},     {"app notin (db)", true},  {"none notin (db)", true},
      {"size>11", true},   {"size>12", false},        {"size<13", true},
      {"odd>1", false},    {"none<5", false},         {"app=web,none", false},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    CHECK(LabelSelector::parse(c.text)->matches(labels) == c.matches);
  }
}

TEST_CASE("the object form says the same as the text form") {
  const auto selector = LabelSelector::from_json(Json::parse(R"({
    "matchLabels":{"z":"1","app":"web"},
    "matchExpressions":[{"key":"tier","operator":"In","values":["b","a"]},
      {"key":"x","operator":"Exists"},{"key":"y","operator":"DoesNotExist","values":[]},
      {"key":"w","operator":"NotIn","values":["q"]}]})"));
  REQUIRE(selector.ok());
  CHECK(selector->str() == "app=web,tier in (a,b),w!=q,x,!y,z=1");
  CHECK(LabelSelector::from_json(Json()).value().empty());
  CHECK(LabelSelector::from_json(Json::object()).value().empty());
}

TEST_CASE("broken object forms are refused") {
  for (const char* bad :
       {R"([])", R"("a=b")", R"({"matchLabel":{}})", R"({"matchLabels":[]})",
        R"({"matchLabels":{"a":1}})", R"({"matchLabels":{"-":"x"}})",
        R"({"matchLabels":{"a":"b c"}})", R"({"matchExpressions":{}})",
        R"({"matchExpressions":[1]})", R"({"matchExpressions":[{"key":"a"}]})",
        R"({"matchExpressions":[{"key":"a","operator":"In"}]})",
        R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]})",
        R"({"matchExpressions":[{"key":"a","operator":"In","values":[1]}]})",
        R"({"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]})",
        R"({"matchExpressions":[{"key":"a","operator":"Exists","vals":[]}]})"}) {
    INFO(bad);
    const auto selector = LabelSelector::from_json(Json::parse(bad));
    REQUIRE_FALSE(selector.ok());
    CHECK(selector.error().kind() == ErrorKind::invalid);
  }
}

TEST_CASE("field selectors parse, print and match") {
  const auto selector = FieldSelector::parse("status.phase!=Failed,metadata.name==we\\,b");
  REQUIRE(selector.ok());
  CHECK(selector->str() == "metadata.name=we\\,b,status.phase!=Failed");
  REQUIRE(selector->requirements().size() == 2);
  CHECK(selector->requirements()[0].value == "we,b");
  CHECK(FieldSelector::parse("").value().empty());
  const Json pod = Json::parse(
      R"({"metadata":{"name":"we,b"},"status":{"phase":"Running"},"spec":{"n":3,"on":true}})");
  struct Case {
    const char* text;
    bool matches;
  };
  const Case cases[] = {
      {"", true},
      {"metadata.name=we\\,b", true},
      {"metadata.name=x", false},
      {"metadata.name!=x", true},
      {"spec.nodeName=", true},
      {"spec.nodeName!=a", true},
      {"spec.n=3,spec.on=true", true},
      {"status=", true},
      {"metadata.name.more=", true},
      {"status.phase=Running,spec.n=4", false},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto parsed = FieldSelector::parse(c.text);
    REQUIRE(parsed.ok());
    CHECK(parsed->matches(pod) == c.matches);
  }
}

TEST_CASE("a name is one value of a field selector whatever is in it") {
  CHECK(with_name("", "web") == "metadata.name=web");
  CHECK(with_name("status.phase=Running", "web") == "status.phase=Running,metadata.name=web");
  CHECK(with_name("a=b", "") == "a=b");
  const std::string odd = with_name("", R"(a=b,c\d)");
  const auto parsed = FieldSelector::parse(odd);
  REQUIRE(parsed.ok());
  REQUIRE(parsed->requirements().size() == 1);
  CHECK(parsed->requirements()[0].value == R"(a=b,c\d)");
}

TEST_CASE("broken field selectors are refused") {
  for (const char* bad : {"a", "=b", "a!b", "a=b=c", "a=b\\x", "a=b\\", "a==b=", "!=x"}) {
    INFO(bad);
    const auto selector = FieldSelector::parse(bad);
    REQUIRE_FALSE(selector.ok());
    CHECK(selector.error().kind() == ErrorKind::invalid);
  }
}
