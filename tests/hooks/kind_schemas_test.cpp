// How old the view of a definition may be, by which manifests and statuses are judged.
#include "hooks/kind_schemas.hpp"

#include "base/json.hpp"
#include "base/log.hpp"
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
  explicit World(bool defined = true) {
    resources.add(type(kSite, "websites", true));
    resources.add(type({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                       "customresourcedefinitions", false));
    if (defined) define("other");
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
  // What is judged by it is written only after the server was asked.
  bool asks() const {
    const auto manifest = schemas.check(kSite, {{"status", {{"ready", 1}}}});
    const auto status = schemas.check_status(kSite, Json{{"ready", 1}}, {});
    return manifest.ok() && *manifest == SchemaVerdict::to_ask && status.ok() &&
           *status == SchemaVerdict::to_ask;
  }
  void pass(Duration time) {
    bool passed = false;
    const auto timer = loop.after(time, [&] { passed = true; });
    REQUIRE(until([&] { return passed; }));
  }
  void answer(test::ScriptedCall& call, const std::string& field) {
    call.head(200);
    call.data(definition(field));
    call.end();
  }

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
  world.pass(Duration{10});
  const TimePoint later = world.loop.now();
  REQUIRE(later > begin);
  for (int i = 0; i < 5; ++i) world.ask(later);
  REQUIRE(world.until_served(10));
  CHECK(world.transport.size() == 2);
}

TEST_CASE("who asks for a definition while it is being read joins that, or has the next reading") {
  World world(false);
  const TimePoint begin = world.loop.now();
  world.ask(begin);
  REQUIRE(world.until([&] { return world.transport.size() == 1; }));
  world.pass(Duration{10});
  world.ask(begin);             // what is being read is new enough
  world.ask(world.loop.now());  // it may have changed since that was asked for
  world.ask(world.loop.now());
  CHECK(world.transport.size() == 1);
  world.answer(world.transport.call(0), "other");
  REQUIRE(world.until([&] { return world.served >= 2 && world.transport.size() == 2; }));
  CHECK(world.served == 2);
  CHECK_FALSE(world.fits());
  world.answer(world.transport.call(1), "ready");
  REQUIRE(world.until_served(4));
  CHECK(world.fits());
  CHECK(world.transport.size() == 2);
}

TEST_CASE("while a definition cannot be read the server judges first, and it is soon asked again") {
  World world(false);
  std::vector<std::string> log;
  base::capture_log(&log);
  const std::shared_ptr<void> quiet(nullptr, [](void*) { base::capture_log(nullptr); });
  const TimePoint begin = world.loop.now();
  const bool answers = GENERATE(true, false);
  const auto fail = [&](std::size_t call) {
    REQUIRE(world.until([&] { return world.transport.size() == call + 1; }));
    if (answers) {
      world.transport.call(call).head(500);
      world.transport.call(call).data(R"({"kind":"Status","code":500,"message":"no leader"})");
      world.transport.call(call).end();
    } else {
      world.transport.call(call).fail(Error(ErrorKind::unreachable, "refused"));
    }
  };
  world.ask(begin);
  world.pass(Duration{10});
  world.ask(world.loop.now());  // nor does a second try at once tell more
  fail(0);
  REQUIRE(world.until_served(2));
  CHECK(world.asks());
  world.ask(world.loop.now());
  CHECK(world.served == 3);
  CHECK(world.transport.size() == 1);

  // The pause grows, up to a minute.
  world.pass(Duration{1000});
  world.ask(begin);
  fail(1);
  REQUIRE(world.until_served(4));
  world.pass(Duration{1000});
  world.ask(begin);
  CHECK(world.served == 5);
  world.pass(Duration{1000});
  world.ask(begin);
  for (std::size_t call = 2; call < 12; ++call) {
    fail(call);
    REQUIRE(world.until_served(static_cast<int>(call) + 4));
    world.pass(Duration{60000});
    world.ask(begin);
  }
  REQUIRE(log.size() == 1);
  CHECK(log[0].find("CustomResourceDefinition websites.demo.example.com cannot be read") !=
        std::string::npos);
  REQUIRE(world.until([&] { return world.transport.size() == 13; }));
  world.answer(world.transport.call(12), "ready");
  REQUIRE(world.until_served(16));
  CHECK(world.fits());
  CHECK_FALSE(world.asks());
}

TEST_CASE("by a definition that cannot be read again what fits fits, the rest is for the server") {
  World world;
  world.define("ready");
  world.ask(world.loop.now());
  REQUIRE(world.until_served(1));
  CHECK_FALSE(world.asks());
  world.transport.route("GET", kDefinition, 503, "{}");
  world.pass(Duration{10});
  world.ask(world.loop.now());
  REQUIRE(world.until_served(2));
  CHECK(world.asks());
  const auto fits = world.schemas.check(kSite, {{"status", {{"ready", true}}}});
  REQUIRE(fits.ok());
  CHECK(*fits == SchemaVerdict::fits);
  const auto status = world.schemas.check_status(kSite, Json{{"ready", true}}, {});
  REQUIRE(status.ok());
  CHECK(*status == SchemaVerdict::fits);
}

TEST_CASE("of kinds without a definition that may be read the server is asked, each time") {
  World world;
  const bool missing = GENERATE(true, false);
  world.transport.route("GET", kDefinition, missing ? 404 : 403, "{}");
  const TimePoint begin = world.loop.now();
  world.ask(begin);
  REQUIRE(world.until_served(1));
  CHECK(world.asks());
  world.pass(Duration{60000});
  world.ask(begin);
  CHECK(world.served == 2);
  CHECK(world.transport.size() == 1);
  CHECK(world.asks());
}

TEST_CASE("kinds that a newer server has in a group of ours are tried there, others are not") {
  World world;
  const core::Gvk newer{"apps", "v1", "Fleet"};
  const core::Gvk known{"apps", "v1", "Deployment"};
  bool served = false;
  world.schemas.with({newer, known}, &world.resources, world.loop.now(), [&] { served = true; });
  CHECK(served);
  CHECK(*world.schemas.check(newer, {{"spec", {{"size", 1}}}}) == SchemaVerdict::to_ask);
  CHECK(*world.schemas.check_status(newer, Json{{"ready", 1}}, {}) == SchemaVerdict::to_ask);
  CHECK(*world.schemas.check_status(newer, std::nullopt, {}) == SchemaVerdict::fits);
  CHECK(*world.schemas.check(known, {{"spec", {{"replicas", 1}}}}) == SchemaVerdict::fits);
}

TEST_CASE("conditions go on as they were merged while the definition cannot be read") {
  World world;
  const Json item = {{"type", "object"}, {"properties", {{"type", {{"type", "string"}}}}}};
  const Json conditions = {{"type", "array"},
                           {"items", item},
                           {"x-kubernetes-list-type", "map"},
                           {"x-kubernetes-list-map-keys", {"type"}}};
  const bool had = GENERATE(true, false);
  Json crd = base::parse_json(definition("ready")).value();
  Json& schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  if (had) schema["properties"]["status"]["properties"]["conditions"] = conditions;
  world.transport.route("GET", kDefinition, 200, base::dump_json(crd));
  world.ask(world.loop.now());
  REQUIRE(world.until_served(1));
  CHECK(world.schemas.status_shape(kSite).conditions == had);
  world.transport.route("GET", kDefinition, 500, "{}");
  world.pass(Duration{10});
  world.ask(world.loop.now());
  REQUIRE(world.until_served(2));
  CHECK(world.schemas.status_shape(kSite).conditions);
  CHECK(world.schemas.status_shape(kSite).list_map == had);
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
