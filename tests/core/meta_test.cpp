// Metadata from bytes and from values say the same; broken JSON is never taken for an object.
#include "core/meta.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::core;

namespace {

constexpr const char* kObject = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{
  "name":"web","namespace":"shop","uid":"u-1","resourceVersion":"42","generation":7,
  "creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":"2026-01-02T03:04:06Z",
  "labels":{"app":"web","tier":""},"annotations":{"note":"tab\tand \"quote\" \u00e9"},
  "finalizers":["a/b","c/d"],"ownerReferences":[
    {"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u-2","controller":true,
     "blockOwnerDeletion":true},
    {"apiVersion":"v1","kind":"ConfigMap","name":"p","uid":"u-3"}],
  "managedFields":[{"manager":"x"}]},"spec":{"metadata":{"name":"inner"}}})";

void check_fields(const ObjectMeta& meta) {
  CHECK(meta.api_version == "apps/v1");
  CHECK(meta.kind == "Deployment");
  CHECK(meta.key().str() == "shop/web");
  CHECK(meta.uid == "u-1");
  CHECK(meta.resource_version == "42");
  CHECK(meta.generation == 7);
  CHECK(meta.creation_timestamp == "2026-01-02T03:04:05Z");
  CHECK(meta.deleting());
  REQUIRE(meta.label("app") != nullptr);
  CHECK(*meta.label("app") == "web");
  CHECK(*meta.label("tier") == "");
  CHECK(meta.label("none") == nullptr);
  REQUIRE(meta.annotation("note") != nullptr);
  CHECK(*meta.annotation("note") == "tab\tand \"quote\" \xc3\xa9");
  CHECK(meta.annotation("none") == nullptr);
  CHECK(meta.has_finalizer("c/d"));
  CHECK_FALSE(meta.has_finalizer("c"));
  REQUIRE(meta.owners.size() == 2);
  CHECK(meta.owners[0].uid == "u-2");
  CHECK(meta.owners[0].kind == "ConfigMap");
  CHECK(meta.owners[0].api_version == "v1");
  CHECK(meta.owners[0].name == "o");
  CHECK(meta.owners[0].controller);
  CHECK_FALSE(meta.owners[1].controller);
  CHECK(meta.owners[0].blocks_deletion);
  CHECK_FALSE(meta.owners[1].blocks_deletion);
}

}  // namespace

TEST_CASE("metadata is read from bytes and from values alike") {
  const auto parsed = parse_meta(kObject);
  REQUIRE(parsed.ok());
  check_fields(*parsed);
  check_fields(meta_of(Json::parse(kObject)));
}

TEST_CASE("of text that was read before only the metadata are read") {
  const auto kept = parse_kept_meta(kObject);
  REQUIRE(kept.ok());
  check_fields(*kept);
  CHECK(parse_kept_meta(R"({"metadata":{"name":"a","name":"b"},"kind":"X","kind":"Y"})")->name ==
        "b");
  CHECK(parse_kept_meta("{\"metadata\":{\"labels\":{\"a\":\"1\"}},\"spec\":{},"
                        "\"m\\u0065tadata\":{\"name\":\"n\"}}")
            ->name == "n");
  CHECK(parse_kept_meta(R"({"metadata":{"name":"a"},"spec":{"x":tru}})")->name == "a");
  for (const char* bad : {"", "null", "[]", "{", R"({"metadata":{"name":1}})",
                          R"({"metadata":{"name":tru}})", R"({"metadata":)", R"({"kind":7})"}) {
    INFO(bad);
    CHECK_FALSE(parse_kept_meta(bad).ok());
  }
}

TEST_CASE("metadata is found wherever it stands and the last of two keys counts") {
  CHECK(
      parse_meta(R"({"spec":{"x":[{"metadata":{"name":"no"}}]},"metadata":{"name":"a"}})")->name ==
      "a");
  CHECK(parse_meta(R"({"metadata":{"name":"a","name":"b"},"kind":"X","kind":"Y"})")->name == "b");
  CHECK(parse_meta(R"({"kind":"X","kind":"Y"})")->kind == "Y");
  CHECK(parse_meta(R"({"metadata":{"labels":{"a":"1"},"labels":null}})")->labels.empty());
}

TEST_CASE("absent and null fields are empty") {
  for (const char* text :
       {"{}", R"({"metadata":null})", R"({"metadata":{}})",
        R"({"metadata":{"name":null,"labels":null,"annotations":null,"finalizers":null,
            "ownerReferences":null,"generation":null,"deletionTimestamp":null,
            "creationTimestamp":null}})"}) {
    INFO(text);
    const auto meta = parse_meta(text);
    REQUIRE(meta.ok());
    CHECK(meta->name.empty());
    CHECK_FALSE(meta->deleting());
    CHECK(meta->labels.empty());
    CHECK(meta->owners.empty());
    CHECK(meta_of(Json::parse(text)).name.empty());
  }
}

TEST_CASE("what is not a valid object is refused") {
  for (const char* bad : {"",
                          " ",
                          "null",
                          "[]",
                          "\"x\"",
                          "7",
                          "{",
                          R"({"a":})",
                          R"({"metadata":{"name":"a"},})",
                          R"({"metadata":{"name":"a"}} x)",
                          R"({"metadata":{"name":"a"},"spec":{"x":tru}})",
                          R"({"metadata":{"name":"a"},"spec":[1,2})",
                          "{\"metadata\":{\"name\":\"\xff\"}}",
                          R"({"metadata":[]})",
                          R"({"metadata":{"name":1}})",
                          R"({"metadata":{"labels":[]}})",
                          R"({"metadata":{"labels":{"a":1}}})",
                          R"({"metadata":{"generation":"1"}})",
                          R"({"metadata":{"finalizers":"x"}})",
                          R"({"metadata":{"finalizers":[1]}})",
                          R"({"metadata":{"ownerReferences":[1]}})",
                          R"({"metadata":{"ownerReferences":{}}})",
                          R"({"kind":7})",
                          R"({"metadata":{"deletionTimestamp":1}})"}) {
    INFO(bad);
    const auto meta = parse_meta(bad);
    REQUIRE_FALSE(meta.ok());
    CHECK(meta.error().kind() == ErrorKind::invalid);
  }
  CHECK(parse_meta(R"({"metadata":{"labels":{"app":1}}})").error().message() ==
        "metadata.labels.app is not a string");
}

TEST_CASE("deep and large objects do no harm") {
  const std::string deep = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  CHECK_FALSE(parse_meta(deep).ok());
  std::string large = R"({"metadata":{"name":"big"},"data":")";
  large += std::string(8U << 20U, 'x') + "\"}";
  CHECK(parse_meta(large)->name == "big");
  CHECK(parse_meta(R"({"metadata":{"name":"small"}})")->name == "small");
}

TEST_CASE("numbers of more than 64 bits make no object unreadable") {
  for (const char* number :
       {"100000000000000000000", "-9223372036854776000", "18446744073709551616",
        "18446744073709551615", "[1,99999999999999999999]"}) {
    INFO(number);
    const auto meta = parse_meta(std::string(R"({"spec":{"a":)") + number +
                                 R"(},"metadata":{"name":"big","generation":3}})");
    REQUIRE(meta.ok());
    CHECK(meta->name == "big");
    CHECK(meta->generation == 3);
  }
  CHECK_FALSE(parse_meta(R"({"metadata":{"name":"a"},"a":099999999999999999999})").ok());
  CHECK_FALSE(parse_meta(R"({"metadata":{"name":"a"},"a":100000000000000000000x})").ok());
  CHECK_FALSE(parse_meta(R"({"metadata":{"generation":100000000000000000000}})").ok());
}

TEST_CASE("a built value with wrong types gives what can be had") {
  const auto meta = meta_of(Json::parse(
      R"({"kind":1,"metadata":{"name":"a","labels":{"x":1,"y":"z"},"finalizers":[1,"f"],
          "ownerReferences":[1],"deletionTimestamp":1}})"));
  CHECK(meta.name == "a");
  CHECK(meta.labels.size() == 1);
  CHECK(meta.finalizers.size() == 1);
  CHECK_FALSE(meta.deleting());
}
