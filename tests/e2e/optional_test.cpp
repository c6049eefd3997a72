// Kinds that may be missing: `optional: true`.
#include "base/json.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

// Discovery of a server takes its time, above all to forget a kind.
constexpr Duration kDiscovery{150000};

std::string crd(const std::string& group) {
  return "apiVersion: apiextensions.k8s.io/v1\n"
         "kind: CustomResourceDefinition\n"
         "metadata: {name: extras." +
         group +
         "}\n"
         "spec:\n"
         "  group: " +
         group +
         "\n"
         "  scope: Namespaced\n"
         "  names: {plural: extras, singular: extra, kind: Extra}\n"
         "  versions:\n"
         "    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
         "x-kubernetes-preserve-unknown-fields: true}}}\n";
}

std::string extra(const std::string& group, const std::string& name) {
  return "{apiVersion: " + group + "/v1, kind: Extra, metadata: {name: " + name +
         ", namespace: '@NS@'}}";
}

std::string title(World& w) {
  const auto map = w.get("ConfigMap", "a-page");
  return map ? base::string_at(*map, {"data", "title"}) : "";
}

}  // namespace

E2E_CASE("optional: a rule runs without a kind, and again when its CRD comes and goes") {
  const std::string group = "optional.e2e.kubewatch.dev";
  World w;
  w.apply(kWebsiteCrd);
  w.apply(website("a", "x"));
  w.rules(website_rule(R"x(
  owns:
    - {apiVersion: v1, kind: ConfigMap}
    - {apiVersion: optional.e2e.kubewatch.dev/v1, kind: Extra, optional: true}
  watches:
    - {name: extras, apiVersion: optional.e2e.kubewatch.dev/v1, kind: Extra, optional: true, map: all}
  reconcile: {exec: [./reconcile.sh]}
)x"));
  w.script("reconcile.sh", R"x(
title=$(grep -o '"name":"extra-[a-z]*"' "$KW_INPUT" | sort -u | tr -d '\n"' || true)
grep -q '"extras":{"absent":true' "$KW_INPUT" && title=absent
grep -o '"lists":.*' "$KW_INPUT" >> lists
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-page, namespace: %s}, data: {title: "%s"}}\n' \
  "$KW_NAME" "$KW_NAMESPACE" "$title"
)x");
  w.start();
  REQUIRE(w.eventually([&] { return title(w) == "absent"; }));
  w.settle();
  CHECK(w.status().waiting_rules == 0);
  CHECK(w.status().synced);

  w.apply(crd(group));
  w.apply(extra(group, "extra-one"));
  REQUIRE(w.eventually([&] { return title(w) == "name:extra-one"; }, kDiscovery));
  // Watched from then on.
  w.apply(extra(group, "extra-two"));
  REQUIRE(w.eventually([&] { return title(w) == "name:extra-onename:extra-two"; }));

  w.remove("CustomResourceDefinition", "extras." + group, "");
  REQUIRE(w.eventually([&] { return title(w) == "absent"; }, kDiscovery));
  w.settle();
  CHECK(w.status().waiting_rules == 0);
}

E2E_CASE("optional: a rule whose own kind is missing waits for nothing, and starts when it comes") {
  const std::string group = "own.optional.e2e.kubewatch.dev";
  World w;
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: own.optional.e2e.kubewatch.dev/v1, kind: Extra, optional: true}
  reconcile: {shell: 'echo "$KW_NAME" >> seen', output: log}
)x");
  w.start();
  REQUIRE(w.eventually([&] { return w.status().idle; }));
  CHECK(w.status().waiting_rules == 0);
  for (const char* name : {"first", "second"}) {
    w.apply(crd(group));
    w.apply(extra(group, name));
    REQUIRE(
        w.eventually([&] { return w.read("seen").find(name) != std::string::npos; }, kDiscovery));
    const std::size_t runs = w.runs().size();
    w.remove("CustomResourceDefinition", "extras." + group, "");
    // Nothing is waited for once it is gone for sure.
    REQUIRE(w.eventually(
        [&] {
          const auto status = w.status();
          return status.idle && status.runs == 0 && w.runs().size() >= runs;
        },
        kDiscovery));
  }
}

E2E_CASE("each list of the input says up to which resourceVersion it is exact") {
  World w;
  w.apply(kWebsiteCrd);
  w.apply(website("a", "one"));
  w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: '@NS@'}}");
  w.rules(website_rule(R"x(
  owns: [{apiVersion: v1, kind: ConfigMap}]
  watches: [{name: config, apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@'], map: all}]
  reconcile: {shell: 'cp "$KW_INPUT" input-$KW_NAME', output: log}
)x"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "done") == 1; }));
  const auto input = base::parse_json(w.read("input-a"));
  REQUIRE(input.ok());
  const auto& lists = (*input)["lists"];
  REQUIRE(lists["owned"].size() == 1);
  for (const auto& list : {lists["owned"][0], lists["related"]["config"]}) {
    CHECK(list["apiVersion"] == "v1");
    CHECK(list["kind"] == "ConfigMap");
    CHECK(list["complete"] == true);
    CHECK_FALSE(list.contains("absent"));
    CHECK(base::string_at(list, {"resourceVersion"}) != "");
  }
  CHECK((*input)["related"]["config"].size() >= 1);
}

}  // namespace kubewatch::e2e
