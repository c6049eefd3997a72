// Runs that no change of an own object asks for: without `for`, by the clock, after a deletion.
#include <algorithm>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

E2E_CASE("a rule without for runs at start and on what it watches, and prunes its own children") {
  World w;
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  owns: [{apiVersion: v1, kind: ConfigMap, namespaces: ['@NS2@']}]
  watches:
    - {name: parts, apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@'], labelSelector: part}
  reconcile: {exec: [./all.sh]}
)x");
  // One copy of each part, and one map with their number.
  w.script("all.sh", R"x(
grep -q '"object":null' "$KW_INPUT"
echo "$KW_REASON $(grep -o '"owned":\[\]' "$KW_INPUT" || true)" >> seen
echo "name=$KW_NAME kind=$KW_KIND generation=$KW_GENERATION" >> environment
names=$(grep -o '"part":"[a-z]*"' "$KW_INPUT" | cut -d'"' -f4 || true)
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: index, namespace: @NS2@}}\n'
for n in $names; do
  printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: copy-%s, namespace: @NS2@}}\n' "$n"
done
)x");
  const std::string other =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: "
      "'@NS2@'}}";
  w.apply(other);
  w.start();
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "index", "@NS2@").has_value(); }));
  w.settle();
  CHECK(w.runs().front().reason == "Startup");
  CHECK(w.runs().front().object == "<none>");
  CHECK(w.read("environment").substr(0, 23) == "name= kind= generation=");
  CHECK(w.read("seen").substr(0, 19) == "Startup \"owned\":[]\n");
  const auto index = w.get("ConfigMap", "index", "@NS2@");
  CHECK((*index)["metadata"]["labels"] == Json{{"kubewatch.dev/controller", w.ns()}});
  CHECK_FALSE((*index)["metadata"].contains("ownerReferences"));

  for (const char* name : {"a", "b"}) {
    w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + std::string(name) +
            ", namespace: '@NS@', labels: {part: " + name + "}}}");
  }
  REQUIRE(w.eventually([&] {
    return w.get("ConfigMap", "copy-a", "@NS2@") && w.get("ConfigMap", "copy-b", "@NS2@");
  }));
  w.settle();
  w.remove("ConfigMap", "a");
  REQUIRE(w.eventually([&] { return !w.get("ConfigMap", "copy-a", "@NS2@"); }));
  w.settle();
  CHECK(w.get("ConfigMap", "copy-b", "@NS2@"));
  CHECK(w.get("ConfigMap", "theirs", "@NS2@"));

  // A child that is deleted by hand comes back.
  w.remove("ConfigMap", "copy-b", "@NS2@");
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "copy-b", "@NS2@").has_value(); }));
  w.settle();
  CHECK(w.read("seen").find("OwnedChanged") != std::string::npos);
}

E2E_CASE("a schedule runs every object that matches, and a rule without objects once") {
  World w;
  w.apply(kWebsiteCrd);
  const std::string one = website_rule(R"(
  schedule: "* * * * *"
  reconcile: {shell: 'echo "$KW_NAME $KW_REASON" >> seen'}
)",
                                       "    filter: .spec.title != \"no\"\n");
  w.rules(one + R"(---
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@-clock'}
spec:
  schedule: "TZ=UTC * * * * *"
  reconcile: {shell: 'echo "$KW_REASON" >> clock'}
)");
  w.apply(website("a", "x"));
  w.apply(website("b", "x"));
  w.apply(website("c", "'no'"));
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("seen") >= 2; }));
  w.settle();
  // A full minute may have begun since; the next one is at most one away.
  auto first = base::split(w.read("seen"), '\n');
  std::erase_if(first, [](const std::string& line) { return !line.ends_with(" Startup"); });
  std::sort(first.begin(), first.end());
  CHECK(first == std::vector<std::string>{"a Startup", "b Startup"});
  REQUIRE(w.eventually([&] { return w.lines("seen") >= 4 && w.lines("clock") >= 2; },
                       Duration{150000}));
  const std::string seen = w.read("seen");
  CHECK(seen.find("a Schedule") != std::string::npos);
  CHECK(seen.find("b Schedule") != std::string::npos);
  CHECK(seen.find("c ") == std::string::npos);
  CHECK(w.read("clock").find("Schedule") != std::string::npos);
}

E2E_CASE("onDelete runs once more after a deletion, and not when the object leaves the selection") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"(
  onDelete: true
  reconcile: {exec: [./reconcile.sh]}
  retry: {initial: 200ms, max: 2s, factor: 2, jitter: 0}
)",
                       "    labelSelector: keep!=out\n"));
  w.script("reconcile.sh", R"x(
grep -q '"object":null' "$KW_INPUT" || exit 0
# It fails once: the deletion is tried again.
if [ ! -e "tried-$KW_NAME" ]; then touch "tried-$KW_NAME"; exit 1; fi
echo "$KW_NAME $(grep -o '"title":"[a-z]*"' "$KW_INPUT" | cut -d'"' -f4)" >> gone
)x");
  w.start();
  for (const char* name : {"a", "b", "c"}) w.apply(website(name, "one"));
  REQUIRE(w.eventually([&] { return w.runs_of("a") && w.runs_of("b") && w.runs_of("c"); }));
  w.settle();
  w.merge("Website", "b", "{metadata: {labels: {keep: out}}}");
  w.remove("Website", "a");
  REQUIRE(w.eventually([&] { return w.lines("gone") == 1; }));
  w.settle();
  CHECK(w.read("gone") == "a one\n");
  CHECK(w.get("Website", "b"));
  CHECK(w.runs_of("a", "failed") == 1);

  // Gone and made anew at once: both are seen.
  w.remove("Website", "c");
  w.apply(website("c", "two"));
  REQUIRE(w.eventually([&] { return w.lines("gone") == 2; }));
  w.settle();
  CHECK(w.read("gone") == "a one\nc one\n");
  const auto runs = w.runs_of("c", "done");
  CHECK(runs >= 3);  // created, deleted, created again
}

E2E_CASE("onDelete runs for each deletion, though a second watch guards the rule's finalizer") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"(
  onDelete: true
  apply: {ownerReference: none}
  reconcile: {exec: [./reconcile.sh]}
)",
                       "    labelSelector: keep!=out\n"));
  w.script("reconcile.sh", R"x(
if grep -q '"object":null' "$KW_INPUT"; then echo "$KW_NAME" >> gone; fi
)x");
  w.start();
  for (const char* name : {"a", "b", "c", "d"}) w.apply(website(name, "one"));
  REQUIRE(w.eventually(
      [&] { return w.runs_of("a") && w.runs_of("b") && w.runs_of("c") && w.runs_of("d"); }));
  w.settle();
  for (const char* name : {"a", "b", "c", "d"}) w.remove("Website", name);
  REQUIRE(w.eventually([&] { return w.lines("gone") == 4; }));
  w.settle();
  CHECK(w.lines("gone") == 4);
}

E2E_CASE("onDelete runs for what a selecting rule lets go before its cleanup has begun") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"(
  onDelete: true
  watches:
    - {name: parts, apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@'], labelSelector: part,
       map: 'error("odd")'}
  finalize: {exec: [./reconcile.sh], output: log}
  reconcile: {exec: [./reconcile.sh]}
)",
                       "    labelSelector: keep!=out\n"));
  w.script("reconcile.sh", R"x(
if grep -q '"object":null' "$KW_INPUT"; then echo "$KW_NAME" >> gone; else echo "$KW_NAME" >> ran; fi
)x");
  // As long as it is there no hook runs.
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: odd, namespace: '@NS@', labels: "
      "{part: odd}}}");
  w.start();
  const auto has = [&](const std::string& name, const char* field) {
    const auto site = w.get("Website", name);
    return site && (*site)["metadata"].contains(field);
  };
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  for (const std::string& name : names) w.apply(website(name, "one"));
  for (const std::string& name : names) {
    REQUIRE(w.eventually([&] { return has(name, "finalizers"); }));
    w.remove("Website", name);
    REQUIRE(has(name, "deletionTimestamp"));
  }
  w.holds_for([&] { return w.read("ran").empty(); }, Duration{1000});
  for (const std::string& name : names) {
    w.merge("Website", name, "{metadata: {finalizers: null}}");
  }
  REQUIRE(w.eventually([&] {
    return std::none_of(names.begin(), names.end(),
                        [&](const std::string& name) { return w.get("Website", name); });
  }));
  w.holds_for([&] { return w.read("gone").empty(); }, Duration{500});
  w.remove("ConfigMap", "odd");
  REQUIRE(w.eventually([&] { return w.lines("gone") >= names.size(); }));
  w.settle();
  CHECK(w.lines("gone") == names.size());
  CHECK(w.read("ran").empty());
}

E2E_CASE("onDelete runs for objects that went while the watch had a gap, once each") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"(
  onDelete: true
  reconcile: {exec: [./reconcile.sh]}
)"));
  w.script("reconcile.sh", R"x(
if grep -q '"object":null' "$KW_INPUT"; then echo "$KW_NAME" >> gone; fi
)x");
  w.start();
  for (const char* name : {"a", "b", "c"}) w.apply(website(name, "one"));
  REQUIRE(w.eventually([&] { return w.runs_of("a") && w.runs_of("b") && w.runs_of("c"); }));
  w.settle();
  // The watches end and their history is gone: whatever was not told yet is found by a list.
  w.server().compact();
  w.remove("Website", "a");
  w.server().compact();
  w.remove("Website", "b");
  REQUIRE(w.eventually([&] { return w.lines("gone") >= 2; }, Duration{60000}));
  w.settle();
  const std::string gone = w.read("gone");
  CHECK(w.lines("gone") == 2);
  CHECK(gone.find("a\n") != std::string::npos);
  CHECK(gone.find("b\n") != std::string::npos);
}

}  // namespace kubewatch::e2e
