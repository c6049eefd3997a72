// How old the view of a definition may be, by which manifests and statuses are judged.
#include "hooks/kind_schemas.hpp"

#include "base/json.hpp"
#include "hooks/plan.hpp"
#include "hooks/status_writer.hpp"
#include "hooks/write_surroundings.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const core::Gvk kSite{"demo.example.com", "v1", "Website"};
const char* const kDefinition =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.demo.example.com";

core::ResourceType type(const core::Gvk& gvk, const std::string& plural, bool namespaced) {
  core::ResourceType out;
  out.gvk = gvk;
  out.plural = plural;
  out.namespaced = namespaced;
  return out;
}

const std::string kPath = "/apis/demo.example.com/v1/namespaces/shop/websites/a";

// Its status has that field.
std::string definition(const std::string& field) {
  const Json status = {{"type", "object"}, {"properties", {{field, {{"type", "boolean"}}}}}};
  const Json schema = {{"type", "object"}, {"properties", {{"status", status}}}};
  const Json version = {{"name", "v1"}, {"schema", {{"openAPIV3Schema", schema}}}};
  return base::dump_json({{"metadata", {{"name", "websites.demo.example.com"}}},
                          {"spec", {{"versions", Json::array({version})}}}});
}

struct World : test::WriteSurroundings {
  World() {
    resources.add(type(kSite, "websites", true));
    resources.add(type({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                       "customresourcedefinitions", false));
    define("other");
  }
  void define(const std::string& field) {
    transport.route("GET", kDefinition, 200, definition(field));
  }
  void ask(TimePoint oldest) {
    schemas.with({kSite}, &resources, oldest, [this] { ++served; });
  }
  bool until_served(int count) {
    return until([&] { return served == count; });
  }
  bool fits() const { return schemas.check_status(kSite, Json{{"ready", true}}, {}).ok(); }

  client::ResourceMap resources;
  KindSchemas schemas{client()};
  int served = 0;
};

}  // namespace

TEST_CASE("a definition is kept while it is young enough, and read again for who needs a newer") {
  World world;
  const TimePoint begin = world.loop.now();
  world.ask(begin - kSchemaAge);
  REQUIRE(world.until_served(1));
  CHECK_FALSE(world.fits());
  world.define("ready");
  world.ask(begin);
  CHECK(world.served == 2);
  CHECK(world.transport.size() == 1);

  // Changed since it was read, however short a time ago.
  world.ask(begin + Duration{1});
  CHECK(world.served == 2);
  REQUIRE(world.until_served(3));
  CHECK(world.fits());
  CHECK(world.transport.size() == 2);
}

TEST_CASE("however many need a newer definition, they share its reading, and wait for no more") {
  World world;
  const TimePoint begin = world.loop.now();
  for (int i = 0; i < 5; ++i) world.ask(begin);
  REQUIRE(world.until_served(5));
  CHECK(world.transport.size() == 1);
  bool passed = false;
  const auto timer = world.loop.after(Duration{10}, [&] { passed = true; });
  REQUIRE(world.until([&] { return passed; }));
  const TimePoint later = world.loop.now();
  REQUIRE(later > begin);
  for (int i = 0; i < 5; ++i) world.ask(later);
  REQUIRE(world.until_served(10));
  CHECK(world.transport.size() == 2);
}

TEST_CASE("conditions that an old view of the definition lacks are written by a newer") {
  World world;
  world.transport.route("GET", kPath, 200,
                        R"({"metadata":{"name":"a","uid":"u1","resourceVersion":"7"}})");
  world.transport.route("PATCH", kPath + "/status", 200,
                        R"({"metadata":{"name":"a","uid":"u1","resourceVersion":"8"}})");
  world.old_shape.known = true;
  world.old_shape.conditions = false;
  const bool has_now = GENERATE(true, false);
  world.shape.known = true;
  world.shape.conditions = has_now;
  world.renewed = world.loop.now();
  StatusWriter writer(world, world.owner(), 1, "7");
  std::optional<Result<bool>> written;
  writer.start(std::nullopt, {error_condition(kNotYetReason, "no")},
               [&](Result<bool> result) { written = std::move(result); });
  REQUIRE(world.until([&] { return written.has_value(); }));
  CHECK(written->ok() == has_now);
}
