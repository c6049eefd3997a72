// What a metric of a hook may tell of Secrets.
#include "hooks/metric_mask.hpp"

#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

TEST_CASE("a metric hides values of Secrets in its labels, and is refused where a name holds one") {
  SecretMask mask;
  mask.add_value("swordfish_1");
  MetricLabels labels = {{"at", "home"}, {"of", "by swordfish_1"}};
  CHECK(mask_metric(mask, "items", labels));
  CHECK(labels == MetricLabels{{"at", "home"}, {"of", "by ***"}});
  CHECK_FALSE(mask_metric(mask, "of_swordfish_1_items", labels));
  MetricLabels named = {{"swordfish_1", "x"}};
  CHECK_FALSE(mask_metric(mask, "items", named));
  CHECK(mask_metric({}, "swordfish_1", named));
}

TEST_CASE("a rule's hook cannot tell a secret by the name of a metric") {
  const test::RuleFolder keys;
  const std::string key = keys.write("key.txt", "swordfish_1\n");
  test::ScriptedEngine world("  apply: {validate: none}\n", "",
                             "{exec: [./hook.sh], env: {P: {from: {file: " + key + "}}}}");
  world.folder.write("hook.sh",
                     "#!/bin/sh\n"
                     "printf 'apiVersion: kubewatch.dev/v1\\nkind: Result\\nmetrics:\\n'\n"
                     "printf '%s\\n' \"- {name: of_$P, type: counter, value: 1}\" "
                     "\"- {name: seen, type: counter, value: 1, help: by $P}\"\n");
  world.transport.answer(200, test::list(test::object("demo.dev/v1", "Website", "4", "{}")));
  world.start();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "done");
  const std::string text = world.engine->metrics_text(world.engine->facts(), true);
  CHECK(text.find("\nseen{controller=") != std::string::npos);
  CHECK(text.find("by ***") != std::string::npos);
  CHECK(text.find("kubewatch_hook_metrics_dropped_total{") != std::string::npos);
  CHECK(text.find("swordfish") == std::string::npos);
}
