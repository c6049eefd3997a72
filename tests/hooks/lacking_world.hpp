// A rule with a `watches` of ConfigMaps on a scripted server, whose runs wait where a list that
// they would be given may lack an object.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "hooks/explain.hpp"
#include "hooks/kept_reply.hpp"
#include "hooks/scripted_engine.hpp"
#include "support/catch.hpp"

namespace kubewatch::test {

inline const char* const kMap =
    "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, "
    "map: '{name: (.spec.site | fromjson)}'}]\n";
inline const char* const kFilter =
    "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: '{name: .spec.site}', "
    "filter: '.spec.use | fromjson'}]\n";
inline const char* const kGood = R"({"site":"\"a\""})";
inline const char* const kBad = R"({"site":"no JSON"})";

inline std::string named(std::string text, const std::string& name) {
  text.replace(text.find(R"("name":"a")"), 10, R"("name":")" + name + '"');
  return text.replace(text.find("\"uid\":\"") + 7, 0, name + "-");
}

inline std::string deleted(const std::string& object) {
  return watch_line("DELETED", object);
}

struct LackingWorld : ScriptedEngine {
  explicit LackingWorld(
      const std::string& spec, const std::string& sites, const std::string& configs,
      const std::string& for_more = "",
      const std::string& reconcile = "{exec: [./hook.sh, reconcile], output: log}")
      : ScriptedEngine(spec, for_more, reconcile) {
    transport.answer(200, list(sites));
    config_maps = list(configs);
  }
  void begin(hooks::EngineOptions options = {}) {
    start(std::move(options));
    auto& list = asked("configmaps");
    list.head(200);
    list.data(config_maps);
    list.end();
  }
  void change(const std::string& plural, const std::string& text) {
    auto& stream = watch(plural);
    if (opened.insert(&stream).second) stream.head(200);
    stream.data(text);
  }
  hooks::Explanation explain(const std::string& name) {
    return hooks::explain(driver().rule(), driver().facts_of({"shop", name}));
  }
  bool waits(const std::string& name = "a") {
    return until([&] {
      const auto entry = driver().queue().look({"shop", name});
      return explain(name).state == "incomplete" && entry && !entry->held;
    });
  }
  // So many runs were told to wait, and the last one does.
  bool holds(std::size_t count) {
    return until([&] { return held.size() == count && driver().queue().held().empty(); });
  }
  std::size_t events() {
    std::size_t out = 0;
    for (std::size_t i = 0; i < transport.size(); ++i) {
      out += transport.request(i).body.find("\"IncompleteInput\"") != std::string::npos ? 1 : 0;
    }
    return out;
  }
  hooks::Driver& driver() { return *engine->drivers().at(0); }
  // As run-controller asks it.
  Json ask(const std::string& name, const Json& args = Json::object()) {
    if (!requests) {
      requests.emplace(*engine, client);
      for (const auto& run : held) requests->on_run(run);
    }
    const auto reply = std::make_shared<KeptReply>();
    requests->handle({name, std::make_shared<const Json>(args)}, reply);
    REQUIRE(until([&] { return reply->failed || !reply->results.empty(); }));
    return reply->failed ? Json(reply->failed->message()) : reply->results.at(0);
  }

  void pass(Duration time) {
    bool passed = false;
    const auto timer = loop.after(time, [&] { passed = true; });
    REQUIRE(until([&] { return passed; }));
  }

  std::string config_maps;
  std::set<ScriptedCall*> opened;
  std::optional<hooks::ControlRequests> requests;
};

inline bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

inline const std::string kA = object(kSite, "Website", "4", "{}");
inline const char* const kDying =
    R"(,"deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["kubewatch.dev/web"])";
inline const char* const kWhy =
    "rules.yaml:8: map of watches config fails on v1 ConfigMap shop/a: ";
inline const Json kNameA = {{"kind", "website"}, {"namespace", "shop"}, {"name", "a"}};

}  // namespace kubewatch::test
