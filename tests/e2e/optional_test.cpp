// Kinds that may be missing: `optional: true`.
#include "base/json.hpp"
#include "e2e/any_kind.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

const char* const kGroup = "e2e.kubewatch.dev";

std::string crd(const std::string& kind, const std::string& plural) {
  return any_kind(kGroup, kind, plural);
}

std::string object(const std::string& kind, const std::string& name) {
  return any_object(kGroup, kind, name);
}

void remove_crd(World& w, const std::string& plural) {
  w.remove_definition(plural + ".e2e.kubewatch.dev");
}

}  // namespace

E2E_CASE("optional: a rule runs without a kind, and again when its CRD comes and goes") {
  World w;
  w.apply(kWebsiteCrd);
  w.apply(website("a", "x"));
  w.rules(website_rule(R"x(
  owns:
    - {apiVersion: v1, kind: ConfigMap}
    - {apiVersion: e2e.kubewatch.dev/v1, kind: Extra, optional: true}
  watches:
    - {name: extras, apiVersion: e2e.kubewatch.dev/v1, kind: Extra, optional: true, map: all}
  reconcile: {exec: [./reconcile.sh]}
)x"));
  w.script("reconcile.sh", R"x(
title=$(grep -o '"name":"extra-[a-z]*"' "$KW_INPUT" | sort -u | tr -d '\n"' || true)
grep -q '"absent":true.*"name":"extras","of":"related"' "$KW_INPUT" && title=absent
grep -o '"lists":.*' "$KW_INPUT" >> lists
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-page, namespace: %s}, data: {title: "%s"}}\n' \
  "$KW_NAME" "$KW_NAMESPACE" "$title"
)x");
  w.start();
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "absent"; }));
  w.settle();
  CHECK(w.status().waiting_rules == 0);
  CHECK(w.status().synced);

  w.apply(crd("Extra", "extras"));
  w.apply(object("Extra", "extra-one"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "name:extra-one"; }, kDiscovery));
  // Watched from then on.
  w.apply(object("Extra", "extra-two"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "name:extra-onename:extra-two"; }));

  remove_crd(w, "extras");
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "absent"; }, kDiscovery));
  w.settle();
  CHECK(w.status().waiting_rules == 0);
}

E2E_CASE("optional: a rule whose own kind is missing waits for nothing, and starts when it comes") {
  World w;
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Spare, optional: true}
  reconcile: {shell: 'echo "$KW_NAME" >> seen', output: log}
)x");
  w.start();
  REQUIRE(w.eventually([&] { return w.status().idle; }));
  CHECK(w.status().waiting_rules == 0);
  for (const char* name : {"first", "second"}) {
    w.apply(crd("Spare", "spares"));
    w.apply(object("Spare", name));
    REQUIRE(
        w.eventually([&] { return w.read("seen").find(name) != std::string::npos; }, kDiscovery));
    const std::size_t runs = w.runs().size();
    remove_crd(w, "spares");
    // Nothing is waited for once it is gone for sure.
    REQUIRE(w.eventually(
        [&] { return w.status().idle && w.their_runs() == 0 && w.runs().size() >= runs; },
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
  // A cluster puts a ConfigMap of its own into each namespace, when it comes to it.
  REQUIRE(w.eventually([&] { return w.runs_of("a", "done") >= 1; }));
  w.settle();
  const auto input = base::parse_json(w.read("input-a"));
  REQUIRE(input.ok());
  const auto& lists = (*input)["lists"];
  REQUIRE(lists.size() == 2);
  CHECK(lists[0]["of"] == "owned");
  CHECK(lists[1]["of"] == "related");
  CHECK(lists[1]["name"] == "config");
  for (const auto& list : lists) {
    CHECK(list["apiVersion"] == "v1");
    CHECK(list["kind"] == "ConfigMap");
    CHECK(list["complete"] == true);
    CHECK_FALSE(list.contains("absent"));
    CHECK(base::string_at(list, {"resourceVersion"}) != "");
  }
  CHECK((*input)["related"]["config"].size() >= 1);
}

E2E_CASE("lists: files gives hooks and workers each list in a file of its own") {
  const std::string lists = R"x(
  owns: [{apiVersion: v1, kind: ConfigMap}]
  watches: [{name: config, apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@'], labelSelector: shared, map: all}]
)x";
  const std::string copy = R"x(
jq -e 'has("owned") or has("related") | not' input > /dev/null
jq -s . $(jq -r '.lists[].file' input) > lists-$(jq -r .object.metadata.name input)
)x";
  for (const bool worker : {false, true}) {
    INFO((worker ? "worker" : "process"));
    World w;
    w.apply(kWebsiteCrd);
    w.apply(website("a", "one"));
    w.apply(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: '@NS@', labels: "
        "{shared: x}}, data: {a: b}}");
    w.rules(website_rule(lists + "  reconcile: {exec: [./reconcile.sh], output: log, lists: files" +
                         (worker ? ", mode: worker}\n" : "}\n")));
    w.script("reconcile.sh", worker ? "while read -r line; do\nprintf '%s\\n' \"$line\" > input" +
                                          copy + "printf '%s' \"$line\" | jq -c '{id}'\ndone\n"
                                    : "cp \"$KW_INPUT\" input" + copy);
    w.start();
    CHECK(w.eventually([&] { return w.runs_of("a", "done") >= 1; }));
    const auto files = base::parse_json(w.read("lists-a"));
    REQUIRE(files.ok());
    REQUIRE(files->size() == 2);
    CHECK((*files)[0] == Json::array());
    REQUIRE((*files)[1].size() == 1);
    CHECK((*files)[1][0]["metadata"]["name"] == "c");
    CHECK((*files)[1][0]["data"]["a"] == "b");
  }
}

}  // namespace kubewatch::e2e
