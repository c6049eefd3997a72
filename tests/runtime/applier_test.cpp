#include "runtime/applier.hpp"

#include "base/json.hpp"
#include "runtime/api_rig.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

const Json kPage = {{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", {{"name", "a"}, {"namespace", "shop"}}},
                    {"data", {{"index.html", "hello"}}}};

}  // namespace

TEST_CASE("an applier sends what it is given under its field manager") {
  test::ApiRig rig;
  Applier applier(rig.client, "sites.example.com");
  Applier forcing(rig.client, "sites.example.com", true);
  const auto type = test::resource("", "v1", "ConfigMap", "configmaps");
  std::optional<Result<RunOutcome>> result;
  applier.apply(type, kPage, [&](Result<RunOutcome> told) { result = std::move(told); });
  CHECK(rig.call(0).path() == "/api/v1/namespaces/shop/configmaps/a");
  CHECK(rig.call(0).target().find("fieldManager=sites.example.com") != std::string::npos);
  CHECK(rig.call(0).target().find("force") == std::string::npos);
  CHECK(*base::parse_json(rig.call(0).request().body) == kPage);
  rig.answer(0, 201, base::dump_json(kPage));
  REQUIRE(result);
  CHECK(result->ok());
  forcing.apply(
      type, kPage, [&](Result<RunOutcome> told) { result = std::move(told); }, "status");
  CHECK(rig.call(1).path() == "/api/v1/namespaces/shop/configmaps/a/status");
  CHECK(rig.call(1).target().find("force=true") != std::string::npos);
  rig.answer(1, 409, test::status_text(409, "Conflict", "somebody else has it"));
  REQUIRE_FALSE(result->ok());
  CHECK(result->error().is_conflict());
  CHECK(result->error().render().find("configmaps") != std::string::npos);
}

TEST_CASE("destroying an applier cancels what is open, and nothing is told") {
  test::ApiRig rig;
  bool told = false;
  {
    Applier applier(rig.client, "sites.example.com");
    applier.apply(test::resource("", "v1", "ConfigMap", "configmaps"), kPage,
                  [&](const Result<RunOutcome>&) { told = true; });
  }
  CHECK(rig.call(0).canceled());
  rig.turn();
  CHECK_FALSE(told);
}
