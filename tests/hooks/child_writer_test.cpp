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

namespace {

const char* const kMapPath = "/api/v1/namespaces/shop/configmaps/c";
const char* const kMapsPath = "/api/v1/namespaces/shop/configmaps";
const char* const kNobody = R"({"kind":"Status","reason":"NotFound","code":404})";
const char* const kThere = R"({"kind":"Status","reason":"AlreadyExists","code":409})";

// A ConfigMap that is there: `labels` and `references` are JSON.
std::string map_with(const std::string& labels, const std::string& references) {
  return R"({"metadata":{"name":"c","namespace":"shop","uid":"u-c","resourceVersion":"7","labels":)" +
         labels + R"(,"ownerReferences":)" + references +
         R"(,"managedFields":[{"manager":"a-human","operation":"Update"}]}})";
}
const std::string kUnlabelled = map_with("{}", "[]");
const std::string kAnothers =
    map_with(R"({"kubewatch.dev/controller":"web","kubewatch.dev/owner-uid":"u9"})", "[]");
const std::string kControlled = map_with(
    "{}",
    R"([{"apiVersion":"apps/v1","kind":"Deployment","name":"shopfront","uid":"u5","controller":true}])");

struct Maps : World {
  Maps() : writer(*this, owner()), child(config_map()) {
    child.object["metadata"]["labels"] = {{"app", "x"}};
    child.object = with_ownership(std::move(child.object), "web", owner(), OwnerRef::controller);
  }
  static Manifest config_map() {
    Manifest out = test::manifest({"", "v1", "ConfigMap"}, "configmaps", {"shop", "c"});
    out.object["metadata"]["namespace"] = "shop";
    return out;
  }
  // What was done, or the words of the failure.
  std::string run(bool creating) {
    effect.reset();
    const auto done = [&](Result<WriteEffect> given) { effect.emplace(std::move(given)); };
    creating ? writer.create(child, done) : writer.apply(child, done);
    if (!until([&] { return World::done(); })) return "no answer";
    if (!effect->ok()) return effect->error().render();
    return **effect == WriteEffect::created      ? "created"
           : **effect == WriteEffect::configured ? "configured"
                                                 : "unchanged";
  }
  const KnownChild* known() { return memory().find("u1", child.id()); }
  Json sent() { return *base::parse_json(transport.last().request().body); }

  ChildWriter writer;
  Manifest child;
};

}  // namespace

TEST_CASE("a child is known before it is written: the answer may be lost") {
  const bool creating = GENERATE(true, false);
  INFO("creating " << creating);
  Maps world;
  world.transport.route("GET", kMapPath, 404, kNobody);
  world.transport.fail(Error(ErrorKind::unreachable, "cut off"));
  CHECK(world.run(creating).find("cut off") != std::string::npos);
  REQUIRE(world.known() != nullptr);
  CHECK(world.known()->guess);
  CHECK(world.known()->type.plural == "configmaps");
}

TEST_CASE("a child that is found is known, though nothing of it is written") {
  Maps world;
  world.transport.route(
      "GET", kMapPath, 200,
      map_with(R"({"kubewatch.dev/controller":"web","kubewatch.dev/owner-uid":"u1"})", "[]"));
  CHECK(world.run(true) == "unchanged");
  CHECK(world.known() != nullptr);
  CHECK(world.requests("POST") == 0);
}

TEST_CASE("a rehearsal and what is another's leave no child to be remembered") {
  Maps world;
  world.transport.route("GET", kMapPath, 404, kNobody);
  world.transport.answer(201, kUnlabelled);
  world.writer.rehearse(world.child, true,
                        [&](Result<WriteEffect> given) { world.effect.emplace(std::move(given)); });
  REQUIRE(world.until([&] { return world.done(); }));
  CHECK(world.known() == nullptr);
  world.transport.route("GET", kMapPath, 200, kAnothers);
  CHECK(world.run(true).find("belongs to another owner") != std::string::npos);
  CHECK(world.known() == nullptr);
}

TEST_CASE("a creation that comes second is judged by what is there then") {
  Maps world;
  world.transport.answer(404, kNobody);
  world.transport.route("POST", kMapsPath, 409, kThere);
  SECTION("another owner's") {
    world.transport.answer(200, kAnothers);
    CHECK(world.run(true).find("belongs to another owner") != std::string::npos);
  }
  SECTION("ours: the answer to us was lost") {
    world.transport.answer(
        200,
        map_with(R"({"kubewatch.dev/controller":"web","kubewatch.dev/owner-uid":"u1"})", "[]"));
    CHECK(world.run(true) == "unchanged");
  }
  SECTION("gone again: it is tried once more, and no more than that") {
    world.transport.answer(404, kNobody);
    CHECK(world.run(true).find("creating ConfigMap shop/c") != std::string::npos);
    CHECK(world.effect->error().kind() == ErrorKind::already_exists);
    CHECK(world.requests("POST") == 2);
  }
}

TEST_CASE("what another object controls is not adopted, whatever reference the rule wants") {
  const OwnerRef mode = GENERATE(OwnerRef::controller, OwnerRef::plain, OwnerRef::none);
  Maps world;
  world.rule_.apply.adopt = Adopt::unowned;
  world.rule_.apply.owner_reference = mode;
  world.child = Maps::config_map();
  world.child.object = with_ownership(world.child.object, "web", world.owner(), mode);
  world.transport.route("GET", kMapPath, 200, kControlled);
  const std::string said = world.run(false);
  INFO(said);
  CHECK(said.find("controlled by Deployment shopfront") != std::string::npos);
  CHECK(said.find("a-human") != std::string::npos);
  // Nor made a child where it is to be created once: there it is told, and stays.
  CHECK(world.run(true) == "unchanged");
  CHECK(world.requests("PATCH") == 0);
}

TEST_CASE("what nobody owns is adopted as before where no other object controls it") {
  Maps world;
  world.rule_.apply.adopt = Adopt::unowned;
  world.transport.route("GET", kMapPath, 200,
                        map_with("{}", R"([{"kind":"ConfigMap","name":"o","uid":"u5"}])"));
  world.transport.route("PATCH", kMapPath, 200, kUnlabelled);
  CHECK(world.run(false) == "unchanged");  // by the version of the scripted answer
  CHECK(world.requests("PATCH") == 1);
}

TEST_CASE(
    "a reference by which another controller blocks the owner stays as it is, at each apply") {
  Maps world;
  const std::string reference = R"([{"apiVersion":"demo.example.com/v1","kind":"Website",)"
                                R"("name":"a","uid":"u1","controller":true,"blockOwnerDeletion":)";
  const std::string labels = R"({"kubewatch.dev/owner-uid":"u1"})";
  world.transport.route("GET", kMapPath, 200, map_with(labels, reference + "true}]"));
  world.transport.route("PATCH", kMapPath, 200, map_with(labels, reference + "true}]"));
  const auto blocks = [&] {
    return world.sent()["metadata"]["ownerReferences"][0]["blockOwnerDeletion"].get<bool>();
  };
  world.run(false);
  REQUIRE(world.requests("PATCH") == 1);
  CHECK(blocks());
  CHECK(world.sent()["metadata"]["ownerReferences"].size() == 1);
  // The manifest is the same: nothing is sent. Another one keeps it, too.
  CHECK(world.run(false) == "unchanged");
  CHECK(world.requests("PATCH") == 1);
  world.child.object["data"]["k"] = "v";
  world.run(false);
  REQUIRE(world.requests("PATCH") == 2);
  CHECK(blocks());
  // Where it does not block, it is not made to.
  world.transport.route("GET", kMapPath, 200, map_with(labels, reference + "false}]"));
  world.child.object["data"]["k"] = "w";
  world.run(false);
  REQUIRE(world.requests("PATCH") == 3);
  CHECK_FALSE(blocks());
}

TEST_CASE("what is to be created once and is somebody else's is told once, and stays as it is") {
  Maps world;
  world.transport.route("GET", kMapPath, 200, kUnlabelled);
  std::vector<std::string> lines;
  base::capture_log(&lines);
  const std::string first = world.run(true);
  const std::string second = world.run(true);
  base::capture_log(nullptr);
  CHECK(first == "unchanged");
  CHECK(second == "unchanged");
  CHECK(world.requests("GET") == world.transport.size());
  CHECK(world.known() == nullptr);
  REQUIRE(lines.size() == 1);
  INFO(lines[0]);
  CHECK(lines[0].find("ConfigMap shop/c") != std::string::npos);
  CHECK(lines[0].find("a-human") != std::string::npos);
  CHECK(lines[0].find("apply.adopt: unowned") != std::string::npos);
}

TEST_CASE("what is to be created once and is nobody's becomes a child where the rule adopts") {
  Maps world;
  world.rule_.apply.adopt = Adopt::unowned;
  world.transport.route("GET", kMapPath, 200, kUnlabelled);
  world.transport.route("PATCH", kMapPath, 200, kUnlabelled);
  world.child.object["data"]["k"] = "v";
  CHECK(world.run(true) == "configured");
  CHECK(world.known() != nullptr);
  Json sent = world.sent();
  CHECK_FALSE(sent.contains("data"));
  CHECK(sent["metadata"]["labels"] ==
        Json{{"kubewatch.dev/controller", "web"}, {"kubewatch.dev/owner-uid", "u1"}});
  CHECK(sent["metadata"]["annotations"] ==
        Json{{"kubewatch.dev/owner", "demo.example.com/v1 Website shop/a"}});
  CHECK(sent["metadata"]["ownerReferences"][0]["uid"] == "u1");
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
