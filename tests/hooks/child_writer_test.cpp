// One child: a CRD is waited for whenever it is not established, and what is logged keeps secrets.
#include "hooks/child_writer.hpp"

#include "base/json.hpp"
#include "base/strings.hpp"
#include "hooks/write_surroundings.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const char* const kCrdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/g.demo.dev";
const char* const kJobPath = "/apis/batch/v1/namespaces/shop/jobs/j";

Manifest crd() {
  return test::manifest({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                        "customresourcedefinitions", {"", "g.demo.dev"});
}

// As the server has it: this owner's child.
std::string live(const std::string& version, const std::string& established = "",
                 const std::string& name = "g.demo.dev") {
  Json object = {{"metadata",
                  {{"name", name},
                   {"uid", "u-x"},
                   {"resourceVersion", version},
                   {"labels", {{kControllerLabel, "web"}, {kOwnerUidLabel, "u1"}}}}}};
  if (!established.empty()) {
    object["status"]["conditions"] =
        Json::array({{{"type", "Established"}, {"status", established}}});
  }
  return base::dump_json(object);
}

struct World : test::WriteSurroundings {
  std::size_t requests(const std::string& method) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < transport.size(); ++i) {
      if (transport.request(i).method == method) ++count;
    }
    return count;
  }
  void apply(ChildWriter& writer, const Manifest& what) {
    effect.reset();
    writer.apply(what, [&](Result<WriteEffect> given) { effect.emplace(std::move(given)); });
  }
  bool done() const { return effect.has_value(); }

  std::optional<Result<WriteEffect>> effect;
};

}  // namespace

TEST_CASE("a CRD is done with once it is established, not when it was applied") {
  World world;
  ChildWriter writer(world, world.owner());
  world.transport.answer(404, R"({"kind":"Status","reason":"NotFound","code":404})");
  world.transport.answer(201, live("7"));
  world.transport.answer(200, live("8", "False"));
  world.transport.answer(200, live("8", "False"));
  world.transport.answer(200, live("9", "True"));
  world.apply(writer, crd());
  CHECK_FALSE(world.until([&] { return world.done(); }, Duration{700}));
  REQUIRE(world.until([&] { return world.done(); }, Duration{100}));
  REQUIRE(world.effect->ok());
  CHECK(**world.effect == WriteEffect::created);
  CHECK(world.requests("PATCH") == 1);
  CHECK(world.requests("GET") == 4);
}

TEST_CASE("a CRD that was not established in time is waited for again by the next attempts") {
  World world;
  ChildWriter writer(world, world.owner());
  world.transport.answer(404, R"({"kind":"Status","reason":"NotFound","code":404})");
  world.transport.route("PATCH", kCrdPath, 200, live("7", "False"));
  world.apply(writer, crd());
  REQUIRE(world.until([&] { return world.transport.size() == 2; }));
  world.transport.route("GET", kCrdPath, 200, live("7", "False"));
  // Its version is the one that the first attempt left: for the second and for the third.
  for (std::size_t attempt = 1; attempt <= 2; ++attempt) {
    REQUIRE(world.until([&] { return world.done(); }));
    REQUIRE_FALSE(world.effect->ok());
    CHECK(world.effect->error().kind() == ErrorKind::timeout);
    CHECK(world.effect->error().is_retryable());
    CHECK(world.effect->error().message().find("not established after 30s") != std::string::npos);
    CHECK(world.requests("PATCH") == attempt);
    world.apply(writer, crd());
  }
  CHECK_FALSE(world.until([&] { return world.done(); }, Duration{5000}));
  world.transport.route("GET", kCrdPath, 200, live("8", "True"));
  REQUIRE(world.until([&] { return world.done(); }, Duration{1000}));
  CHECK(world.effect->ok());
}

TEST_CASE("why a child is made anew is logged as a line of its run, without the secrets in it") {
  World world;
  world.rule_.apply.on_immutable = OnImmutable::recreate;
  SecretMask mask;
  mask.add_value("hunter2-and-more");
  ChildWriter writer(world, world.owner(), mask, {{"controller", "web"}, {"run", "r123"}});
  world.transport.route("GET", kJobPath, 200, live("7", "", "j"));
  world.transport.answer(
      422,
      R"({"kind":"Status","reason":"Invalid","code":422,"message":"Job.batch \"j\" is invalid: )"
      R"(spec.template: Invalid value: {Value: \"hunter2-and-more\"}: field is immutable"})");
  std::vector<std::string> lines;
  base::capture_log(&lines);
  world.apply(writer, test::manifest({"batch", "v1", "Job"}, "jobs", {"shop", "j"}));
  const bool deletes = world.until([&] { return world.requests("DELETE") == 1; });
  base::capture_log(nullptr);
  REQUIRE(deletes);
  const std::string log = base::join(lines, "\n");
  INFO(log);
  REQUIRE(lines.size() == 1);
  CHECK(log.find("deleted and made anew") != std::string::npos);
  CHECK(log.find("hunter2") == std::string::npos);
  CHECK(log.find("***") != std::string::npos);
  CHECK(log.find("field is immutable") != std::string::npos);
  CHECK(log.find("run=r123") != std::string::npos);
  CHECK(log.find("Job shop/j") != std::string::npos);
}

TEST_CASE("what an earlier object of the same name has left is taken over") {
  World world;
  ChildWriter writer(world, world.owner());
  const char* const path = "/api/v1/namespaces/shop/configmaps/c";
  const auto left = [](Json references) {
    return base::dump_json(
        {{"metadata",
          {{"name", "c"},
           {"uid", "u-c"},
           {"resourceVersion", "7"},
           {"labels", {{kControllerLabel, "web"}, {kOwnerUidLabel, "u0"}}},
           {"annotations", {{kOwnerAnnotation, "demo.example.com/v1 Website shop/a"}}},
           {"ownerReferences", std::move(references)}}}});
  };
  const Manifest child = test::manifest({"", "v1", "ConfigMap"}, "configmaps", {"shop", "c"});
  world.transport.route("GET", path, 200, left(Json::array()));
  world.transport.route("PATCH", path, 200,
                        R"({"metadata":{"name":"c","uid":"u-c","resourceVersion":"8"}})");
  SECTION("by an apply") {
    world.apply(writer, child);
    REQUIRE(world.until([&] { return world.done(); }));
    REQUIRE(world.effect->ok());
    CHECK(**world.effect == WriteEffect::configured);
  }
  SECTION("where it was created once, by its labels and owner reference alone") {
    Manifest made = child;
    made.object = with_ownership(made.object, "web", world.owner(), OwnerRef::controller);
    made.object["data"]["k"] = "v";
    made.object["metadata"]["ownerReferences"] = Json::array({{{"uid", "u1"}}});
    writer.create(made, [&](Result<WriteEffect> given) { world.effect.emplace(std::move(given)); });
    REQUIRE(world.until([&] { return world.done(); }));
    REQUIRE(world.effect->ok());
    const auto sent = base::parse_json(world.transport.last().request().body);
    REQUIRE(sent.ok());
    CHECK(*sent == Json{{"metadata",
                         {{"uid", "u-c"},
                          {"resourceVersion", "7"},
                          {"labels", {{kOwnerUidLabel, "u1"}}},
                          {"ownerReferences", Json::array({{{"uid", "u1"}}})}}}});
  }
  SECTION("but not where the garbage collector is to delete it") {
    world.transport.route("GET", path, 200, left(Json::array({{{"uid", "u0"}, {"name", "a"}}})));
    world.apply(writer, child);
    REQUIRE(world.until([&] { return world.done(); }));
    REQUIRE_FALSE(world.effect->ok());
    CHECK(world.effect->error().is_retryable());
    CHECK(world.effect->error().render().find("made for an earlier Website shop/a (uid u0)") !=
          std::string::npos);
    CHECK(world.requests("PATCH") == 0);
  }
}

TEST_CASE("a writer that goes while it waits for a CRD leaves nothing behind") {
  World world;
  auto writer = std::make_unique<ChildWriter>(world, world.owner());
  world.transport.answer(404, R"({"kind":"Status","reason":"NotFound","code":404})");
  world.transport.answer(201, live("7"));
  const auto held = std::make_shared<bool>();
  writer->apply(crd(), [held](const Result<WriteEffect>&) {});
  REQUIRE(world.until([&] { return world.requests("PATCH") == 1; }));
  CHECK_FALSE(world.until([] { return false; }, Duration{100}));
  CHECK(held.use_count() == 2);
  writer.reset();
  CHECK(held.use_count() == 1);
  CHECK_FALSE(world.until([] { return false; }, Duration{1000}));
  CHECK(world.transport.size() == 2);
}
