// Versions of one kind into one CRD.
#include "crdgen/merge.hpp"

#include "fixture.hpp"
#include "support/catch.hpp"

namespace kubewatch::crdgen {

namespace {

Json crd_in(const std::string& version, const std::string& fields, const std::string& more = "") {
  const Generated made =
      made_of(document("  version: " + version + "\n  spec: {fields: {" + fields + "}}\n" + more));
  REQUIRE(made.problems.empty());
  return made.crds.front();
}

}  // namespace

TEST_CASE("versions are merged, and the named one is stored") {
  const auto merged =
      merge_crds({crd_in("v1", "a: string"), crd_in("v2", "a: string, b: integer")}, "v2");
  REQUIRE(merged.ok());
  const Json& versions = merged->crd["spec"]["versions"];
  REQUIRE(versions.size() == 2);
  CHECK(versions[0]["storage"] == false);
  CHECK(versions[1]["storage"] == true);
  CHECK(merged->warnings.empty());
  // The same CRD twice is one.
  CHECK(merge_crds({crd_in("v1", "a: string"), crd_in("v1", "a: string")}, "v1").ok());
}

TEST_CASE(
    "versions that differ by more than optional fields are warned of, unless a webhook converts") {
  const auto merged = merge_crds({crd_in("v1", "a: string"), crd_in("v2", "a: integer")}, "v1");
  REQUIRE(merged.ok());
  REQUIRE(merged->warnings.size() == 1);
  CHECK(merged->warnings[0] ==
        "v1 and v2 differ by more than optional fields and no conversion webhook is named: .spec.a "
        "has another type");
  const auto required =
      merge_crds({crd_in("v1", "a: string"), crd_in("v2", "a: string | required")}, "v1");
  REQUIRE(required.ok());
  CHECK(required->warnings.size() == 1);
  const auto converted =
      merge_crds({crd_in("v1", "a: string", "  conversion: {url: 'https://a.example/'}\n"),
                  crd_in("v2", "a: integer")},
                 "v1");
  REQUIRE(converted.ok());
  CHECK(converted->warnings.empty());
}

TEST_CASE("every word that decides counts, and every pair of versions") {
  const std::pair<const char*, const char*> table[] = {
      {"a: string", "a: string | maxLength=3"},
      {"a: string | pattern=a", "a: string | pattern=b"},
      {"a: 'string | enum=[x]'", "a: 'string | enum=[x,y]'"},
      {"a: integer", "a: integer | minimum=1"},
      {"a: integer | default=1", "a: integer | default=2"},
      {"a: string", "a: string | nullable"},
      {"a: 'string | validation=\"self != oldSelf\"'", "a: string"},
      {"a: object | preserveUnknown", "a: {fields: {b: string}}"},
      {"a: '[]string | listType=set'", "a: '[]string'"},
      {"a: 'map[string]string'", "a: 'map[string]string | mapType=atomic'"},
  };
  for (const auto& [one, other] : table) {
    CAPTURE(one, other);
    const auto merged = merge_crds({crd_in("v1", one), crd_in("v2", other)}, "v1");
    REQUIRE(merged.ok());
    CHECK(merged->warnings.size() == 1);
  }
  // The same said otherwise.
  const auto same = merge_crds(
      {crd_in("v1", "a: '[]string | listType=atomic'"), crd_in("v2", "a: '[]string'")}, "v1");
  REQUIRE(same.ok());
  CHECK(same->warnings.empty());
  // v2 has no field a: only v1 and v3 disagree.
  const auto apart = merge_crds(
      {crd_in("v1", "a: string"), crd_in("v2", "b: string"), crd_in("v3", "a: integer")}, "v1");
  REQUIRE(apart.ok());
  REQUIRE(apart->warnings.size() == 1);
  CHECK_THAT(apart->warnings[0], Catch::StartsWith("v1 and v3 differ"));
}

TEST_CASE("what cannot be merged is refused") {
  const Json one = crd_in("v1", "a: string");
  Json other = crd_in("v2", "a: string");
  CHECK(merge_crds({}, "v1").error().message() == "there is nothing to merge");
  CHECK(merge_crds({one, other}, "v3").error().message() ==
        "storage version \"v3\" is none of v1, v2");
  CHECK(merge_crds({one, crd_in("v1", "a: integer")}, "v1").error().message() ==
        "version v1 is there twice, and not the same: leave one out");
  const std::pair<const char*, const char*> table[] = {{"/spec/group", "spec.group"},
                                                       {"/spec/names/kind", "spec.names.kind"},
                                                       {"/spec/names/plural", "spec.names.plural"},
                                                       {"/spec/scope", "spec.scope"}};
  for (const auto& [pointer, path] : table) {
    Json changed = other;
    changed[Json::json_pointer(pointer)] = "Other";
    const auto merged = merge_crds({one, changed}, "v1");
    REQUIRE_FALSE(merged.ok());
    CHECK_THAT(merged.error().message(), Catch::Contains(path));
  }
}

}  // namespace kubewatch::crdgen
