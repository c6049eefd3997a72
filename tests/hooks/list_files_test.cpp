// Lists that hooks read from files: what is in them, who shares them, and how long they are there.
#include "hooks/list_files.hpp"

#include <fstream>

#include "scripted_engine.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using test::kSite;
using test::list;
using test::object;
using test::ScriptedEngine;

namespace {

std::string content(const std::string& path) {
  const auto text = base::read_file(path, 1U << 20U);
  return text.ok() ? *text : text.error().render();
}

}  // namespace

TEST_CASE("a list in a file is a JSON array, an object on each line, and nobody can change it") {
  ListFiles files;
  const auto none = files.of({});
  REQUIRE(none.ok());
  CHECK(*base::parse_json(content((*none)->path)) == Json::array());
  const auto two = files.of({R"({"a":1})", R"({"b":2})"});
  REQUIRE(two.ok());
  CHECK(content((*two)->path) == "[\n{\"a\":1},\n{\"b\":2}\n]\n");
  std::ofstream out((*two)->path, std::ios::app);
  out << "more" << std::flush;
  CHECK_FALSE(out.good());
  CHECK(content((*two)->path).find("more") == std::string::npos);
}

TEST_CASE("equal lists are one file as long as somebody holds it, and none afterwards") {
  ListFiles files;
  auto first = files.of({R"({"a":1})"}).value();
  auto same = files.of({R"({"a":1})"}).value();
  const auto other = files.of({R"({"a":2})"}).value();
  CHECK(first == same);
  CHECK(other != first);
  const std::string path = first->path;
  first.reset();
  CHECK(content(path) == "[\n{\"a\":1}\n]\n");
  same.reset();
  CHECK(content(path).find("\"a\"") == std::string::npos);
  CHECK(content(files.of({R"({"a":1})"}).value()->path) == "[\n{\"a\":1}\n]\n");
}

TEST_CASE("a hook that reads lists from files is told where, and recordings have all of it") {
  ScriptedEngine world(
      "  owns: [{apiVersion: v1, kind: ConfigMap}]\n"
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: all}]\n",
      "",
      "{shell: 'cat > input; for file in $(grep -o \"/proc/[0-9]*/fd/[0-9]*\" input); do cat "
      "$file; done > lists', output: log, lists: files}");
  Json given;
  world.on_exchange = [&](const HookExchange& exchange) {
    given = *base::parse_json(exchange.invocation);
  };
  world.start();
  const std::string map = object("v1", "ConfigMap", "4", "{}");
  world.give_list("websites", object(kSite, "Website", "4", "{}"));
  REQUIRE(world.until([&] {
    for (std::size_t i = 0; i < world.transport.size(); ++i) {
      auto& call = world.transport.call(i);
      const bool watch = call.line().find("watch=true") != std::string::npos;
      if (!call.open() || watch || !call.path().ends_with("/configmaps")) continue;
      call.head(200);
      call.data(list(map));
      call.end();
    }
    return !world.runs.empty();
  }));
  CHECK(world.runs[0].outcome == "done");
  const auto input = base::parse_json(world.read("input"));
  REQUIRE(input.ok());
  CHECK_FALSE(input->contains("owned"));
  CHECK_FALSE(input->contains("related"));
  REQUIRE((*input)["lists"].size() == 2);
  CHECK(world.read("lists") == "[\n]\n[\n" + map + "\n]\n");
  CHECK(given["related"]["config"] == Json::array({*base::parse_json(map)}));
  CHECK(given["owned"] == Json::array());
  CHECK_FALSE(given["lists"][0].contains("file"));
  // The run is over.
  const std::string file = (*input)["lists"][1]["file"];
  CHECK(content(file).find("ConfigMap") == std::string::npos);
}
