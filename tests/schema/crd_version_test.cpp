#include "schema/crd_check.hpp"
#include "support/catch.hpp"

namespace kubewatch::schema {

TEST_CASE("a version of a definition is found by its name") {
  const Json crd = {
      {"spec", {{"versions", {{{"name", "v1"}}, {{"name", "v2"}, {"served", true}}}}}}};
  const Json* found = crd_version(crd, "v2");
  REQUIRE(found != nullptr);
  CHECK(*found == crd["spec"]["versions"][1]);
  CHECK(crd_version(crd, "v3") == nullptr);
  CHECK(crd_version(Json::object(), "v1") == nullptr);
}

}  // namespace kubewatch::schema
