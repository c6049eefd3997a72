// Ends that cannot be graceful, and a second instance that nobody elected.
#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"
#include "hooks/rule_file.hpp"

namespace kubewatch::e2e {
namespace {

// Applies of ConfigMaps get no answer.
class DeafTransport : public http::Transport {
 public:
  explicit DeafTransport(http::Transport& inner) : inner_(inner) {}
  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    if (request.method != "PATCH" || request.url.find("/configmaps/") == std::string::npos) {
      return inner_.start(std::move(request), std::move(handlers));
    }
    ++swallowed;
    return std::make_unique<http::Call>();
  }
  int swallowed = 0;

 private:
  http::Transport& inner_;
};

}  // namespace

E2E_CASE("a shutdown that cuts off writes names the objects") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", kPrintConfigMap);
  w.apply(website("a", "one"));
  auto real = client::make_transport(w.loop(), w.server().config());
  REQUIRE(real.ok());
  DeafTransport deaf(**real);
  client::Client client(w.loop(), deaf, w.server().config());
  auto loaded = hooks::load_rules({w.folder() + "/rules.yaml"});
  REQUIRE(loaded.problems.empty());
  hooks::EngineOptions options;
  options.shutdown_timeout = Duration{200};
  options.last_writes = Duration{200};
  hooks::Engine engine(w.loop(), client, std::move(loaded.rules), options, {});
  engine.start();
  REQUIRE(w.eventually([&] { return deaf.swallowed > 0; }));
  bool done = false;
  engine.shut_down([&] { done = true; });
  REQUIRE(w.eventually([&] { return done; }));
  CHECK(engine.cut_off() == std::vector<std::string>{"Website " + w.ns() + "/a"});
}

E2E_CASE("a second instance under the same field manager is warned of once") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", kPrintConfigMap);
  w.apply(website("a", "one"));
  std::vector<std::string> lines;
  base::capture_log(&lines);
  const auto warnings = [&] {
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("another process writes as field manager") != std::string::npos;
    });
  };
  w.start();
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  w.settle();
  // Somebody else's changes, and our repairs of them, are none.
  w.merge("ConfigMap", "a-page", "{data: {title: by hand, more: text}}");
  w.settle();
  CHECK(warnings() == 0);
  // managedFields count in seconds.
  w.holds_for([] { return true; }, Duration{2100});
  const auto child = w.get("ConfigMap", "a-page");
  REQUIRE(child);
  Json second = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  for (const char* key : {"name", "namespace", "labels", "annotations", "ownerReferences"}) {
    if ((*child)["metadata"].contains(key)) second["metadata"][key] = (*child)["metadata"][key];
  }
  for (int i = 0; i < 3; ++i) {
    second["data"]["title"] = "round " + std::to_string(i);
    w.apply(base::dump_json(second), "kubewatch/" + w.ns());
    w.holds_for([] { return true; }, Duration{2200});
  }
  base::capture_log(nullptr);
  CHECK(warnings() == 1);
}

}  // namespace kubewatch::e2e
