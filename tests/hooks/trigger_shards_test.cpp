// HTTP triggers where several instances share the objects: a request must not be taken by one that
// does not run what it names.
#include "hooks/scripted_engine.hpp"
#include "runtime/shard_map.hpp"
#include "support/post.hpp"

using namespace kubewatch;
using test::kSite;
using test::list;
using test::object;
using test::ScriptedEngine;

namespace {

// An engine of two shards, of which it leads those that it is told to.
struct World : ScriptedEngine {
  World() : ScriptedEngine("  triggers: [{http: {path: /kick}}]\n") {
    transport.answer(200, list(object(kSite, "Website", "4", "{}")));
    hooks::EngineOptions options;
    options.shards.emplace().count = 2;
    options.triggers.emplace();
    start(options);
    watch("websites");
  }

  int kick(const std::string& body) {
    return test::post(loop, engine->trigger_port(), "/kick", body).status;
  }
};

const char* const kNamed = R"({"namespace":"shop","name":"a"})";

}  // namespace

TEST_CASE("a trigger over HTTP is taken where the shard of its object is led, and nowhere else") {
  World world;
  const std::size_t shard = runtime::shard_of("demo.dev", "Website", {"shop", "a"}, 2);
  CHECK(world.kick(kNamed) == 503);  // a standby
  world.engine->lead(1 - shard);
  CHECK(world.kick(kNamed) == 503);
  CHECK(world.kick(R"({"all":true})") == 202);
  CHECK(world.kick(R"({"name":"a"})") == 202);  // without a namespace no instance has it
  CHECK(world.runs.empty());
  world.engine->lead(shard);
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.kick(kNamed) == 202);
  CHECK(world.kick(R"({"namespace":"shop","name":"nosuch"})") == 202);
  CHECK(world.until([&] { return world.runs.size() == 2; }));
}
