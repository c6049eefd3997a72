// Which of the remembered children are deleted, and which are only let go of.
#include "hooks/pruner.hpp"

#include "hooks/write_surroundings.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const char* const kPath = "/api/v1/namespaces/shop/configmaps/c";

std::string child_of(const std::string& owner_uid, const std::string& references = "[]") {
  return R"({"metadata":{"name":"c","namespace":"shop","uid":"u-c","resourceVersion":"7",)"
         R"("labels":{"kubewatch.dev/controller":"web","kubewatch.dev/owner-uid":")" +
         owner_uid + R"("},"managedFields":[{"manager":"kubewatch/web","operation":"Apply"}],)" +
         R"("ownerReferences":)" + references + "}}";
}

struct World : test::WriteSurroundings {
  World() : pruner(*this, owner()) {
    const Manifest child = test::manifest({"", "v1", "ConfigMap"}, "configmaps", {"shop", "c"});
    id = child.id();
    type = child.type;
    memory().note_guess("u1", id, type);
  }
  void run() {
    pruner.start(PruneMode::unprinted, {}, {}, taken());
    REQUIRE(until([&] { return report.has_value(); }));
  }
  Pruner::Done taken() {
    return [this](PruneReport given) { report.emplace(std::move(given)); };
  }
  bool deletes() {
    for (const std::string& line : transport.lines()) {
      if (line.starts_with("DELETE ")) return true;
    }
    return false;
  }

  Pruner pruner;
  ChildId id;
  core::ResourceType type;
  std::optional<PruneReport> report;
};

}  // namespace

TEST_CASE("a child that was written and whose answer was lost is removed as any other") {
  World world;
  world.transport.route("GET", kPath, 200, child_of("u1"));
  world.transport.route("DELETE", kPath, 200, child_of("u1"));
  world.run();
  CHECK(world.report->deleted == 1);
  CHECK(world.memory().find("u1", world.id) == nullptr);
}

TEST_CASE("a child that never came to be is forgotten without a word") {
  const bool another = GENERATE(true, false);
  INFO("another owner's is there " << another);
  World world;
  world.transport.route(
      "GET", kPath, another ? 200 : 404,
      another ? child_of("u9") : R"({"kind":"Status","reason":"NotFound","code":404})");
  world.run();
  CHECK(world.report->deleted == 0);
  CHECK(world.report->failures.empty());
  CHECK_FALSE(world.report->needs_guard);
  CHECK_FALSE(world.deletes());
  CHECK(world.memory().find("u1", world.id) == nullptr);
}

TEST_CASE("a child that has lost its labels is remembered where it is known to have been ours") {
  World world;
  world.memory().remember("u1", world.id, {world.type, 3, "6"});
  world.transport.route("GET", kPath, 200,
                        R"({"metadata":{"name":"c","namespace":"shop","uid":"u-c"}})");
  world.run();
  CHECK_FALSE(world.deletes());
  CHECK(world.memory().find("u1", world.id) != nullptr);
}

TEST_CASE("what is kept is looked at for the guard, and never deleted") {
  const bool refers = GENERATE(true, false);
  World world;
  world.transport.route("GET", kPath, 200,
                        child_of("u1", refers ? R"([{"uid":"u1","name":"a"}])" : "[]"));
  world.pruner.start(PruneMode::unprinted, {world.id}, {{world.id, world.type}}, world.taken());
  REQUIRE(world.until([&] { return world.report.has_value(); }));
  CHECK(world.report->needs_guard != refers);
  CHECK_FALSE(world.deletes());
}

TEST_CASE(
    "where all children are to go, those that refer are looked for where no cache shows them") {
  const PruneMode mode = GENERATE(PruneMode::unreferenced, PruneMode::all);
  World world;
  world.memory().forget_child("u1", world.id);
  world.where_all_refer = {{world.type, "shop"}};
  const std::string child = child_of("u1", R"([{"uid":"u1","name":"a"}])");
  world.transport.answer(
      200, R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[)" + child + "]}");
  world.transport.route("GET", kPath, 200, child);
  world.transport.route("DELETE", kPath, 200, child);
  world.pruner.clean_up(mode, std::nullopt, world.taken());
  REQUIRE(world.until([&] { return world.report.has_value(); }));
  CHECK(world.deletes() == (mode == PruneMode::all));
}

TEST_CASE("finalizing removes what the garbage collector leaves, or all where the hook says so") {
  const PruneMode mode = GENERATE(PruneMode::unreferenced, PruneMode::all);
  World world;
  const std::string child = child_of("u1", R"([{"uid":"u1","name":"a"}])");
  world.transport.route("GET", kPath, 200, child);
  world.transport.route("DELETE", kPath, 200, child);
  world.pruner.clean_up(mode, std::nullopt, world.taken());
  REQUIRE(world.until([&] { return world.report.has_value(); }));
  CHECK(world.deletes() == (mode == PruneMode::all));
}
