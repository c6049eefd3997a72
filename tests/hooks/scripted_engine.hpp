// An engine on a scripted server that has Websites and ConfigMaps, its hooks real.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "client/rig.hpp"
#include "hooks/driver.hpp"
#include "hooks/engine.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "support/watch_line.hpp"

namespace kubewatch::test {

inline std::string kinds_of(const std::string& group, const std::string& plural,
                            const std::string& kind) {
  const std::string metadata = group.empty() ? "{}" : R"({"name":")" + group + R"("})";
  return R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{)"
         R"("metadata":)" +
         metadata + R"(,"versions":[{"version":"v1","resources":[{"resource":")" + plural +
         R"(","responseKind":{"group":")" + group + R"(","version":"v1","kind":")" + kind +
         R"("},"scope":"Namespaced","singularResource":"x","verbs":["get","list","watch"]}]}]}]})";
}

inline std::string object(const std::string& api, const std::string& kind,
                          const std::string& version, const std::string& spec,
                          const std::string& more = "") {
  return R"({"apiVersion":")" + api + R"(","kind":")" + kind +
         R"(","metadata":{"name":"a","namespace":"shop","uid":"u-)" + kind +
         R"(","resourceVersion":")" + version + "\"" + more + R"(},"spec":)" + spec + "}";
}

// 300 levels: too deep for a cache.
inline std::string deep() {
  return std::string(300, '[') + std::string(300, ']');
}

inline std::string list(const std::string& items) {
  return R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[)" +
         items + "]}";
}

inline std::string event(const std::string& object) {
  return watch_line("MODIFIED", object);
}

// `spec` is more of the rule, indented by two; `for_more` more of its `for`, after a comma. The
// hook notes its argument in `seen` and its input in `input`.
struct ScriptedEngine {
  explicit ScriptedEngine(
      const std::string& spec, const std::string& for_more = "",
      const std::string& reconcile = "{exec: [./hook.sh, reconcile], output: log}")
      : transport(loop), client(loop, transport, config()) {
    transport.route("GET", "/api", 200, kinds_of("", "configmaps", "ConfigMap"));
    transport.route("GET", "/apis", 200, kinds_of("demo.dev", "websites", "Website"));
    transport.route("GET", "/version", 200, R"({"major":"1","minor":"27","gitVersion":"v1.27.0"})");
    transport.route("POST", "/apis/events.k8s.io/v1/namespaces/shop/events", 201, "{}");
    folder.script("hook.sh");
    folder.write("hook.sh",
                 "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$1\" >> seen\ncat > input\n");
    const auto loaded = hooks::load_rules({folder.write(
        "rules.yaml",
        "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: web}\nspec:\n"
        "  for: {apiVersion: demo.dev/v1, kind: Website" +
            for_more +
            "}\n"
            "  changed: [.metadata.labels]\n"
            "  reconcile: " +
            reconcile + "\n" + spec)});
    for (const auto& problem : loaded.problems) FAIL(problem.str());
    rules = loaded.rules;
  }

  static client::ClientConfig config() {
    client::ClientConfig out = scripted_config();
    out.namespace_ = "kube";
    return out;
  }

  void start(hooks::EngineOptions options = {}) {
    options.work_dir = folder.file("work");
    hooks::EngineCallbacks callbacks;
    callbacks.on_run = [this](const hooks::RunRecord& run) { runs.push_back(run); };
    callbacks.on_exchange = on_exchange;
    callbacks.on_held = [this](const hooks::RunRecord& run) { held.push_back(run); };
    engine = std::make_unique<hooks::Engine>(loop, client, std::move(rules), options, callbacks);
    engine->start();
  }

  bool until(const std::function<bool()>& holds) {
    return loop.run_until([&] { return holds(); }, Duration{20000});
  }

  // The watch of a kind, once it is open.
  ScriptedCall& watch(const std::string& plural) { return call(plural, true); }
  // The list of a kind, once it was asked for.
  ScriptedCall& asked(const std::string& plural) { return call(plural, false); }
  // Answers it.
  void give_list(const std::string& plural, const std::string& items) {
    ScriptedCall& listed = asked(plural);
    listed.head(200);
    listed.data(list(items));
    listed.end();
  }
  ScriptedCall& call(const std::string& plural, bool watch) {
    ScriptedCall* found = nullptr;
    const bool came = until([&] {
      for (std::size_t i = 0; i < transport.size(); ++i) {
        const bool watches = transport.call(i).line().find("watch=true") != std::string::npos;
        if (transport.call(i).path().ends_with("/" + plural) && watches == watch) {
          found = &transport.call(i);
        }
      }
      return found != nullptr;
    });
    if (!came)
      FAIL("no request for " + plural + "; there are " + base::join(transport.lines(), ", "));
    return *found;
  }

  std::string seen() const { return read("seen"); }
  std::string read(const std::string& name) const {
    auto text = base::read_file(folder.file(name), 1U << 20U);
    return text.ok() ? *text : "";
  }

  hooks::Explanation explain() {
    return hooks::explain(engine->drivers().at(0)->rule(),
                          engine->drivers().at(0)->facts_of({"shop", "a"}));
  }
  std::string state() { return explain().state; }
  std::string explained() { return base::join(explain().details, "\n"); }

  bool told(const std::string& words) const {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      const auto& request = const_cast<ScriptedTransport&>(transport).request(i);
      if (request.method == "POST" && request.body.find(words) != std::string::npos) return true;
    }
    return false;
  }

  loop::EventLoop loop;
  ScriptedTransport transport;
  client::Client client;
  RuleFolder folder;
  std::vector<hooks::Rule> rules;
  std::vector<hooks::RunRecord> runs;
  std::vector<hooks::RunRecord> held;
  hooks::OnExchange on_exchange;  // to be set before start()
  std::unique_ptr<hooks::Engine> engine;
};

inline const std::string kSite = "demo.dev/v1";

}  // namespace kubewatch::test
