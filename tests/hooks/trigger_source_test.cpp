// Where a request came from is known, and told where it can be for no object at all.
#include <algorithm>
#include <filesystem>

#include "base/log.hpp"
#include "base/random.hpp"
#include "hooks/scripted_engine.hpp"
#include "hooks/trigger_hub.hpp"
#include "loop/skipping_time.hpp"
#include "support/limit.hpp"
#include "support/post.hpp"

using namespace kubewatch;
using test::kSite;
using test::list;
using test::object;
using test::ScriptedEngine;

namespace {

std::vector<hooks::Rule> rules_of_kicks(const test::RuleFolder& folder) {
  auto loaded = hooks::load_rules(
      {folder.write("rules.yaml",
                    "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: web}\nspec:\n"
                    "  triggers: [{file: kicks}]\n  reconcile: {shell: 'true', output: log}\n")});
  REQUIRE(loaded.problems.empty());
  return std::move(loaded.rules);
}

}  // namespace

TEST_CASE("a request says which file it came by") {
  const test::RuleFolder folder;
  const auto rules = rules_of_kicks(folder);
  loop::EventLoop loop;
  loop::SkippingTime time{loop};
  base::Random random(1);
  std::string source;
  hooks::TriggerHub hub(loop, random,
                        [&](const std::string&, const hooks::TriggerRequest& request) {
                          source = request.source;
                          return std::optional<std::size_t>(1);
                        });
  REQUIRE(hub.open(rules, folder.path(), std::nullopt).ok());
  folder.write("kicks", "{\"all\": true}\n");
  time.skip(Duration{1000});
  REQUIRE(loop.run_until([&] { return !source.empty(); }, kLimit));
  CHECK(source == folder.file("kicks"));
  hub.close();
}

TEST_CASE(
    "a trigger file that cannot be read as it is now is told once, and followed all the same") {
  const test::RuleFolder folder;
  const auto rules = rules_of_kicks(folder);
  const std::string kicks = folder.file("kicks");
  std::filesystem::create_directory(kicks);
  loop::EventLoop loop;
  loop::SkippingTime time{loop};
  base::Random random(1);
  std::size_t count = 0;
  std::vector<std::string> lines;
  base::capture_log(&lines);
  hooks::TriggerHub hub(loop, random, [&](const std::string&, const hooks::TriggerRequest&) {
    ++count;
    return std::optional<std::size_t>(1);
  });
  REQUIRE(hub.open(rules, folder.path(), std::nullopt).ok());
  const auto look = [&] {
    time.skip(Duration{1000});
    loop.run_until([] { return false; }, Duration{0});
  };
  const auto told = [&](const std::string& why) {
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find("a trigger file cannot be read: " + why) != std::string::npos &&
             line.find("controller=web file=" + kicks) != std::string::npos;
    });
  };
  for (int i = 0; i < 5; ++i) look();
  CHECK(told("it is no regular file") == 1);
  std::filesystem::remove(kicks);
  std::filesystem::create_symlink(kicks, kicks);
  for (int i = 0; i < 5; ++i) look();
  CHECK(told("Too many levels of symbolic links") == 1);
  std::filesystem::remove(kicks);
  for (int i = 0; i < 5; ++i) look();
  CHECK(lines.size() == 2);
  folder.write("kicks", "{\"all\": true}\n");
  for (int i = 0; i < 5; ++i) look();
  base::capture_log(nullptr);
  CHECK(count == 1);
  hub.close();
}

TEST_CASE("a file with hundreds of requests for many objects does not have them all in one turn") {
  const test::RuleFolder folder;
  const auto rules = rules_of_kicks(folder);
  loop::EventLoop loop;
  loop::SkippingTime time{loop};
  base::Random random(1);
  std::size_t count = 0;
  hooks::TriggerHub hub(loop, random, [&](const std::string&, const hooks::TriggerRequest&) {
    ++count;
    return std::optional<std::size_t>(1);
  });
  REQUIRE(hub.open(rules, folder.path(), std::nullopt).ok());
  std::string text;
  for (int i = 0; i < 200; ++i) text += "{\"selector\": \"part=" + std::to_string(i) + "\"}\n";
  folder.write("kicks", text);
  time.skip(Duration{1000});
  REQUIRE(loop.run_until([&] { return count > 0; }, kLimit));
  CHECK(count == 10);
  for (int i = 0; i < 400 && count < 200; ++i) {
    const std::size_t before = count;
    time.skip(Duration{500});
    loop.run_until([] { return false; }, Duration{0});
    CHECK(count <= before + 2);
  }
  CHECK(count == 200);
  hub.close();
}

TEST_CASE("a request for an object that cannot be is told, one for an object to come is not") {
  std::vector<std::string> lines;
  base::capture_log(&lines);
  ScriptedEngine world("  triggers: [{http: {path: /kick}}]\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  hooks::EngineOptions options;
  options.triggers.emplace();
  world.start(options);
  world.watch("websites");
  const auto kick = [&](const std::string& body) {
    return test::post(world.loop, world.engine->trigger_port(), "/kick", body).status;
  };
  const auto told = [&] {
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("names an object that cannot be: every Website is in a namespace") !=
                 std::string::npos &&
             line.find("/kick") != std::string::npos && line.find("web") != std::string::npos;
    });
  };
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(kick(R"({"namespace":"shop","name":"nosuch"})") == 202);
  CHECK(told() == 0);
  CHECK(kick(R"({"name":"a"})") == 202);
  CHECK(kick(R"({"name":"b"})") == 202);
  CHECK(told() == 1);
  base::capture_log(nullptr);
  CHECK(world.runs.size() == 1);
}
