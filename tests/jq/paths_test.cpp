#include "jq/paths.hpp"

#include <set>

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::jq;

TEST_CASE("plain paths are parsed and others refused") {
  CHECK(*parse_path(".metadata.labels[\"a/b\"]") == Path{"metadata", "labels", "a/b"});
  CHECK(parse_path(".")->empty());
  for (const char* text : {".a[0]", ".a[]", ".a|.b", "1", ".a["}) {
    INFO(text);
    auto path = parse_path(text);
    REQUIRE_FALSE(path.ok());
    CHECK(path.error().kind() == ErrorKind::invalid);
  }
}

TEST_CASE("the change hash sees changes at its paths and nothing else") {
  auto hash = ChangeHash::parse({".spec", ".metadata.labels"});
  REQUIRE(hash.ok());
  const Json object = {{"spec", {{"replicas", 1}, {"image", "a"}}},
                       {"metadata", {{"labels", {{"x", "1"}}}, {"resourceVersion", "5"}}},
                       {"status", {{"ready", true}}}};
  Json same = object;
  same["status"]["ready"] = false;
  same["metadata"]["resourceVersion"] = "6";
  CHECK(hash->of(same) == hash->of(object));
  Json spec = object;
  spec["spec"]["replicas"] = 2;
  CHECK(hash->of(spec) != hash->of(object));
  Json label = object;
  label["metadata"]["labels"]["y"] = "";
  CHECK(hash->of(label) != hash->of(object));
  Json none = object;
  none["metadata"].erase("labels");
  CHECK(hash->of(none) != hash->of(object));
  CHECK_FALSE(ChangeHash::parse({".spec", ".a[]"}).ok());
}

TEST_CASE("values that differ hash differently and equal ones alike") {
  const ChangeHash hash({Path{"v"}});
  const Json values[] = {nullptr,
                         true,
                         false,
                         0,
                         1,
                         -1,
                         1.5,
                         "",
                         "0",
                         "1",
                         "a",
                         "ab",
                         "ba",
                         std::string("a\0", 2),
                         Json::array(),
                         Json::object(),
                         Json::array({nullptr}),
                         Json::array({1, 2}),
                         Json::array({2, 1}),
                         Json::array({Json::array({1}), 2}),
                         Json::array({Json::array({1, 2})}),
                         Json{{"a", 1}},
                         Json{{"a", nullptr}},
                         Json{{"a", {{"b", 1}}}},
                         Json{{"a", 1}, {"b", 1}},
                         Json::array({"a", "b"}),
                         Json::array({"ab"}),
                         18446744073709551615U,
                         "12345678",
                         "123456780",
                         9007199254740993,
                         9007199254740992};
  std::set<std::uint64_t> seen = {hash.of(Json::object())};
  for (const Json& value : values) {
    INFO(value.dump());
    CHECK(seen.insert(hash.of(Json{{"v", value}})).second);
  }
  CHECK(hash.of(Json{{"v", 1}}) == hash.of(Json{{"v", 1.0}}));
  CHECK(hash.of(Json{{"v", 5U}}) == hash.of(Json{{"v", 5}}));
  CHECK(hash.of(Json{{"v", 5}, {"w", 6}}) == hash.of(Json{{"v", 5}}));
  CHECK(hash.of(Json("no object")) == hash.of(Json::object()));
}

TEST_CASE("the hash is the same in every process") {
  CHECK(ChangeHash({Path{"a"}}).of(Json{{"a", "text"}}) == 0xee91260b5cfe6f6cU);
}

TEST_CASE("no paths hash everything alike and the empty path hashes all") {
  const ChangeHash none(std::vector<Path>{});
  const ChangeHash whole(std::vector<Path>{Path{}});
  const Json one = {{"a", 1}};
  const Json two = {{"a", 2}};
  CHECK(none.of(one) == none.of(two));
  CHECK(whole.of(one) != whole.of(two));
}

TEST_CASE("stripping removes what stands at the paths") {
  const Json object = {
      {"metadata", {{"annotations", {{"k/x", "1"}, {"y", "2"}}}, {"managedFields", {1}}}},
      {"list", {{{"a", 1}}}}};
  CHECK(without_paths(
            object, {Path{"metadata", "managedFields"}, Path{"metadata", "annotations", "k/x"}}) ==
        Json{{"metadata", {{"annotations", {{"y", "2"}}}}}, {"list", {{{"a", 1}}}}});
  CHECK(without_paths(object, {Path{"absent"}, Path{"metadata", "absent", "x"},
                               Path{"list", "a"}}) == object);
  CHECK(without_paths(object, {}) == object);
  CHECK(without_paths(object, {Path{}}).is_null());
  CHECK(without_paths(Json(5), {Path{"a"}}) == 5);
}
