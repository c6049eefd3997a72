// The HTTP listener of triggers: who is let in, what is answered; and where it may listen.
#include "hooks/trigger_server.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hooks/rule_folder.hpp"
#include "hooks/trigger_hub.hpp"
#include "support/post.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

struct World {
  loop::EventLoop loop;
  test::RuleFolder folder;
  std::unique_ptr<TriggerServer> server;
  std::vector<std::string> documents;
  bool running = true;

  World() {
    auto listening = TriggerServer::listen(
        loop, {},
        {{"/open", "", "a"},
         {"/kick", folder.write("token", "s3cret\n"), "b"},
         {"/kick", folder.write("token2", "other\n"), "c"},
         {"/broken", folder.file("absent"), "d"}},
        [this](const std::string& document, const TriggerRequest&) -> std::optional<std::size_t> {
          documents.push_back(document);
          return running ? std::optional<std::size_t>(3) : std::nullopt;
        });
    REQUIRE(listening.ok());
    server = std::move(*listening);
  }

  http::Response send(const std::string& path, const std::string& body,
                      const std::string& token = "", const std::string& method = "POST") {
    return test::post(loop, server->port(), path, body, token, method);
  }
};

Rule rule_with_http(const std::string& token_file) {
  Rule rule;
  rule.name = rule.document = "a";
  rule.triggers.push_back({{}, "", "/kick", token_file});
  return rule;
}

}  // namespace

TEST_CASE("a request over HTTP triggers and says how many objects run") {
  World world;
  const auto answer = world.send("/open", R"({"all":true})");
  CHECK(answer.status == 202);
  CHECK(answer.body == "{\"objects\":3}\n");
  CHECK(world.documents == std::vector<std::string>{"a"});
}

TEST_CASE("a token lets in where it is asked for, to the rule that it belongs to") {
  World world;
  CHECK(world.send("/kick", R"({"all":true})").status == 401);
  CHECK(world.send("/kick", R"({"all":true})", "wrong").status == 401);
  CHECK(world.send("/kick", R"({"all":true})", "s3cre").status == 401);
  CHECK(world.send("/broken", R"({"all":true})", "x").status == 401);
  CHECK(world.documents.empty());
  CHECK(world.send("/kick", R"({"all":true})", "s3cret").status == 202);
  CHECK(world.send("/kick", R"({"all":true})", "other").status == 202);
  CHECK(world.documents == std::vector<std::string>{"b", "c"});
}

TEST_CASE("a token comes from a regular file, for another may never end") {
  World world;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  REQUIRE(::write(ends[1], "s3cret", 6) == 6);
  ::close(ends[1]);
  world.server->set_routes({{"/kick", "/proc/self/fd/" + std::to_string(ends[0]), "b"}});
  CHECK(world.send("/kick", R"({"all":true})", "s3cret").status == 401);
  ::close(ends[0]);
}

TEST_CASE("what is no trigger is refused with a status that says why") {
  World world;
  CHECK(world.send("/nowhere", R"({"all":true})").status == 404);
  CHECK(world.send("/open", "", "", "GET").status == 405);
  CHECK(world.send("/open", "all").status == 400);
  CHECK(
      world.send("/open", R"({"all":true,"reason":")" + std::string(kMaxTriggerBytes, 'x') + "\"}")
          .status == 413);
  CHECK(world.documents.empty());
  world.running = false;
  CHECK(world.send("/open", R"({"all":true})").status == 503);
}

TEST_CASE("HTTP triggers need an address, and a token where others reach it") {
  World world;
  base::Random random(1);
  const auto open = [&](const Rule& rule, std::optional<ListenAddress> address) {
    TriggerHub hub(world.loop, random, [](const auto&, const auto&) { return std::nullopt; });
    const auto opened = hub.open({rule}, world.folder.path(), address);
    return opened.ok() ? "port " + std::to_string(hub.port() > 0 ? 1 : 0) : opened.error().render();
  };
  CHECK(open(rule_with_http(""), {}).find("--triggers ADDRESS:PORT") != std::string::npos);
  CHECK(open(rule_with_http(""), ListenAddress{"0.0.0.0", 0, {}}).find("tokenFile") !=
        std::string::npos);
  CHECK(open(rule_with_http(""), ListenAddress{}) == "port 1");
  CHECK(open(rule_with_http(world.folder.file("token")), ListenAddress{"0.0.0.0", 0, {}}) ==
        "port 1");
  CHECK(open(rule_with_http(""), ListenAddress{"127.0.0.1", world.server->port(), {}})
            .find("triggers: ") == 0);
  CHECK(open(Rule{}, {}) == "port 0");
}

TEST_CASE("routes may change while it listens") {
  World world;
  world.server->set_routes({{"/new", "", "n"}});
  CHECK(world.send("/open", R"({"all":true})").status == 404);
  CHECK(world.send("/new", R"({"all":true})").status == 202);
  CHECK(world.documents == std::vector<std::string>{"n"});
}
