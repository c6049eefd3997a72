// Which namespaces and objects a recording takes for granted.
#include "rehearsal/recorded_ground.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::rehearsal;

namespace {

struct Ground {
  RecordedGround ground;

  void wrote(const char* verb, const std::string& path, int code = 200) {
    ground.note({{"t", "write"}, {"verb", verb}, {"path", path}, {"code", code}});
  }
  void told(int stream, const char* path, const Json& metadata, bool reading = false) {
    Json open = {{"t", "open"}, {"s", stream}, {"path", path}};
    if (reading) open["object"] = true;
    ground.note(open);
    ground.note({{"t", "item"}, {"s", stream}, {"o", {{"metadata", metadata}}}});
  }
};

std::string in(const std::string& space, const std::string& name = "a") {
  return "/api/v1/namespaces/" + space + "/configmaps/" + name;
}

}  // namespace

TEST_CASE("namespaces that were written into were there, unless the recording says how they came") {
  Ground g;
  g.wrote("apply", in("there"));
  g.wrote("apply", "/api/v1/namespaces/labelled", 200);
  g.wrote("apply", in("labelled"));
  g.wrote("apply", "/api/v1/namespaces/made", 201);
  g.wrote("apply", in("made"));
  g.wrote("apply", in("refused"), 404);
  g.wrote("apply", in("denied"), 403);
  g.told(1, "/api/v1/namespaces", {{"name", "watched"}});
  g.wrote("apply", in("watched"));
  g.told(2, "/api/v1/namespaces", {{"name", "read"}}, true);
  g.wrote("apply", in("read"));
  CHECK(g.ground.namespaces({}) == std::set<std::string>{"there", "labelled", "read"});

  hooks::Rule rule;
  rule.writes.push_back({{"", "v1", "ConfigMap"}, {"named", "made", "refused", "watched"}});
  rule.owns.emplace_back();
  rule.owns.back().stream.namespaces = {"owned"};
  std::vector<hooks::Rule> rules;
  rules.push_back(std::move(rule));
  CHECK(g.ground.namespaces(rules) ==
        std::set<std::string>{"there", "labelled", "read", "named", "owned"});
}

TEST_CASE("what was patched or deleted is unknown where nothing tells of it") {
  Ground g;
  g.wrote("patch", in("shop", "lost") + "/status");
  g.wrote("delete", in("shop", "lost"));
  g.wrote("delete", in("shop", "gone"));
  g.wrote("patch", in("shop", "refused"), 422);
  g.wrote("create", in("shop", "made"), 201);
  g.wrote("patch", in("shop", "made"));
  g.wrote("patch", in("shop", "watched"));
  g.told(1, "/api/v1/configmaps", {{"name", "watched"}, {"namespace", "shop"}});
  g.told(2, "/api/v1/namespaces/shop/configmaps", {{"name", "read"}, {"namespace", "shop"}}, true);
  g.wrote("patch", in("shop", "read"));
  CHECK(g.ground.is_reading(2));
  CHECK_FALSE(g.ground.is_reading(1));
  std::vector<std::string> names;
  for (const auto& target : g.ground.unknown()) names.push_back(target.name);
  CHECK(names == std::vector<std::string>{"gone", "lost"});
}

TEST_CASE("a reading of what a watch tells of as well is left to the watch") {
  Ground g;
  const Json metadata = {{"name", "a"}, {"namespace", "shop"}};
  g.told(1, "/api/v1/namespaces/shop/configmaps/a", metadata, true);
  const Json reading = {{"t", "item"}, {"s", 1}, {"o", {{"metadata", metadata}}}};
  CHECK_FALSE(g.ground.is_told_by_watch(reading));
  g.told(2, "/api/v1/configmaps", metadata);
  CHECK(g.ground.is_told_by_watch(reading));
}
