// What goes wrong: exit codes, timeouts, invalid output, hostile hooks. Nothing half-done, nobody
// else hurt.
#include <signal.h>

#include <cstdlib>

#include "base/json.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

const Json* condition(const Json& object, const std::string& type) {
  const Json* conditions = base::find(object, {"status", "conditions"});
  if (conditions == nullptr) return nullptr;
  for (const auto& one : *conditions) {
    if (one.value("type", "") == type) return &one;
  }
  return nullptr;
}

// For Plain p: prints this status and this condition. `more`: of the spec.
std::string plain_rule(const std::string& more, const std::string& status,
                       const std::string& condition) {
  return R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Plain, namespaces: ['@NS@']}
)x" + more +
         R"x(  reconcile:
    shell: |
      cat <<END
      apiVersion: kubewatch.dev/v1
      kind: Result
      status: )x" +
         status + "\n      conditions: [" + condition + "]\n      END\n";
}

const char* const kPlain =
    "{apiVersion: e2e.kubewatch.dev/v1, kind: Plain, metadata: {name: p, namespace: '@NS@'}, spec: "
    "{title: x}}";

bool alive(const std::string& pid) {
  const int number = std::atoi(pid.c_str());
  return number > 0 && ::kill(number, 0) == 0;
}

}  // namespace

E2E_CASE("a hook that fails is retried with growing delay and recovers") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry));
  w.script("reconcile.sh", std::string(R"x(
date +%s%N >> calls
[ "$(wc -l < calls)" -le 3 ] && { echo "not today" >&2; exit 9; }
)x") + kPrintConfigMap);
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  w.settle();
  REQUIRE(w.lines("calls") >= 4);  // the child that was made may run its owner once more
  std::vector<long long> at;
  const std::string calls = w.read("calls");
  for (const char* p = calls.c_str(); *p != '\0';) {
    char* end = nullptr;
    at.push_back(std::strtoll(p, &end, 10) / 1000000);
    p = end + 1;
  }
  CHECK(at[1] - at[0] >= 190);
  CHECK(at[2] - at[1] >= 390);
  CHECK(at[3] - at[2] >= 790);
  CHECK(w.runs_of("a", "failed") == 3);
  REQUIRE(w.runs().size() >= 4);
  CHECK(w.runs()[3].outcome == "done");
  CHECK(w.runs()[3].attempt == 4);
  CHECK(w.runs().back().outcome == "done");
}

E2E_CASE("used up attempts park an object until it changes, whatever the resync") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile +
                       "\n  resync: 1s\n  retry: {initial: 100ms, max: 100ms, maxAttempts: 2}\n"));
  w.script("reconcile.sh", "echo x >> calls\nexit 3\n");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.status().parked == 1; }));
  CHECK(w.holds_for([&] { return w.lines("calls") == 2; }, Duration{2500}));
  w.apply(website("a", "two"));
  CHECK(w.eventually([&] { return w.lines("calls") == 4; }));
}

E2E_CASE("exit 75 writes everything but prune, runs again after requeueAfter, and is no failure") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", R"x(
if [ "$TITLE" = one ]; then
  echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: first, namespace: $KW_NAMESPACE}}"
  exit 0
fi
echo x >> calls
echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: second, namespace: $KW_NAMESPACE}}"
if [ ! -e ready ]; then
  printf -- '---\n{apiVersion: kubewatch.dev/v1, kind: Result, requeueAfter: 700ms, status: {ready: false}}\n'
  exit 75
fi
)x");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "first").has_value(); }));
  w.settle();
  w.apply(website("a", "two"));
  REQUIRE(w.eventually([&] { return w.runs_of("a", "not-yet") >= 3; }));
  CHECK(w.get("ConfigMap", "second"));
  CHECK(w.get("ConfigMap", "first"));
  CHECK((*w.get("Website", "a"))["status"]["ready"] == false);
  w.file("ready", "");
  REQUIRE(w.eventually([&] { return !w.get("ConfigMap", "first"); }));
  CHECK(w.status().failed_runs == 0);
}

E2E_CASE(
    "exit 65 writes only the Result's status and a condition, and is not run again until a "
    "change") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry));
  w.script("reconcile.sh", std::string(R"x(
echo x >> calls
if [ "$TITLE" = bad ]; then
  printf '{apiVersion: kubewatch.dev/v1, kind: Result, message: bad title, status: {ready: false}}\n---\n'
  printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: never, namespace: %s}}\n' "$KW_NAMESPACE"
  exit 65
fi
)x") + kPrintConfigMap);
  w.start();
  w.apply(website("a", "bad"));
  REQUIRE(w.eventually([&] { return w.runs_of("a", "permanent") == 1; }));
  CHECK(w.holds_for([&] { return w.lines("calls") == 1; }, Duration{1500}));
  CHECK_FALSE(w.get("ConfigMap", "never"));
  const auto live = w.get("Website", "a");
  CHECK((*live)["status"]["ready"] == false);
  REQUIRE((*live)["status"].contains("conditions"));
  CHECK((*live)["status"]["conditions"].dump().find("bad title") != std::string::npos);
  w.apply(website("a", "good"));
  CHECK(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
}

E2E_CASE("a bare exit 65 without a Result is an ordinary failure") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry));
  w.script("reconcile.sh", "echo x >> calls\n[ \"$(wc -l < calls)\" -ge 2 ] || exit 65\n");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.lines("calls") == 2; }));
  CHECK(w.runs_of("a", "failed") == 1);
}

E2E_CASE("a timeout ends the whole process group, a background grandchild too") {
  World w;
  w.apply(kWebsiteCrd);
  const auto rule = [](const std::string& timeout) {
    return website_rule(std::string(kOwnsConfigMaps) +
                        "\n  reconcile: {exec: [./reconcile.sh], timeout: " + timeout +
                        ", grace: 500ms}\n  retry: {initial: 5m}\n");
  };
  w.rules(rule("5s"));
  w.script("reconcile.sh", R"x(
trap '' TERM
sh -c 'trap "" TERM; echo $$ > grandchild; while :; do sleep 1; done' &
echo $$ > child
while :; do sleep 1; done
)x");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.runs_of("a", "timeout") == 1; }));
  if (w.read("child").empty() || w.read("grandchild").empty()) {  // not begun in so short a time
    w.stop();
    w.rules(rule("25s"));
    w.start();
    REQUIRE(w.eventually([&] { return w.runs_of("a", "timeout") == 2; }));
  }
  REQUIRE_FALSE(w.read("child").empty());
  REQUIRE_FALSE(w.read("grandchild").empty());
  CHECK(w.eventually([&] { return !alive(w.read("child")) && !alive(w.read("grandchild")); }));
}

E2E_CASE("output that is valid only in its first half writes nothing") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  retry: {initial: 5m}\n"));
  w.script("reconcile.sh", std::string(kPrintConfigMap) +
                               "printf -- '---\\napiVersion: v1\\nkind: \"ConfigMap\\n'\n");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.runs_of("a", "invalid-output") == 1; }));
  CHECK_FALSE(w.get("ConfigMap", "a-page"));
}

E2E_CASE("a kind or a namespace that the rule does not declare is invalid output") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  retry: {initial: 5m}\n"));
  w.script("reconcile.sh", std::string(kPrintConfigMap) + R"x(
if [ "$TITLE" = kind ]; then
  printf -- '---\n{apiVersion: v1, kind: Secret, metadata: {name: x, namespace: %s}}\n' "$KW_NAMESPACE"
else
  printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: @NS2@}}\n'
fi
)x");
  w.start();
  w.apply(website("a", "kind"));
  w.apply(website("b", "namespace"));
  REQUIRE(w.eventually([&] {
    return w.runs_of("a", "invalid-output") == 1 && w.runs_of("b", "invalid-output") == 1;
  }));
  CHECK_FALSE(w.get("ConfigMap", "a-page"));
  CHECK_FALSE(w.get("ConfigMap", "b-page"));
  CHECK_FALSE(w.get("ConfigMap", "x", "@NS2@"));
  for (const auto& run : w.runs()) {
    INFO(run.message);
    CHECK((run.message.find("Secret") != std::string::npos ||
           run.message.find(w.ns2()) != std::string::npos));
  }
}

E2E_CASE("a human's object is not written unless adopt says so") {
  World w;
  w.apply(kWebsiteCrd);
  const std::string human =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a-page, namespace: '@NS@'}, data: "
      "{title: "
      "mine}}";
  w.apply(human, "human");
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  retry: {initial: 5m}\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.runs_of("a") == 1; }));
  CHECK(w.runs()[0].outcome != "done");
  INFO(w.runs()[0].message);
  CHECK(w.runs()[0].message.find("a-page") != std::string::npos);
  CHECK(w.runs()[0].message.find("human") != std::string::npos);
  CHECK((*w.get("ConfigMap", "a-page"))["data"]["title"] == "mine");
  w.stop();

  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile +
                       "\n  apply: {adopt: unowned, force: true}\n"));
  w.start();
  REQUIRE(w.eventually([&] { return (*w.get("ConfigMap", "a-page"))["data"]["title"] == "one"; }));
}

E2E_CASE("what another object controls is not adopted, and what was its owner's own is, as it is") {
  World w;
  w.apply(kWebsiteCrd);
  const std::string rest = "\n  retry: {initial: 5m}\n  apply: {adopt: unowned}\n";
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + rest));
  w.script("reconcile.sh", kPrintConfigMap);
  const auto page = [&](const std::string& name, const Json& owner) {
    w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name +
                ", namespace: '@NS@', ownerReferences: [{apiVersion: " +
                owner["apiVersion"].get<std::string>() +
                ", kind: " + owner["kind"].get<std::string>() +
                ", name: " + owner["metadata"]["name"].get<std::string>() +
                ", uid: " + owner["metadata"]["uid"].get<std::string>() +
                ", controller: true, blockOwnerDeletion: true}]}}",
            "manager");
  };
  const Json site = w.apply(website("a", "one"));
  w.apply(website("b", "one"));
  page("a-page", site);
  page("b-page", w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: holder, namespace: "
                         "'@NS@'}}"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a") >= 1 && w.runs_of("b") >= 1; }));
  CHECK(w.runs_of("a", "done") >= 1);
  CHECK(w.runs_of("b", "done") == 0);
  const auto told = [&](const std::string& words) {
    for (const auto& run : w.runs()) {
      if (run.message.find(words) != std::string::npos) return true;
    }
    return false;
  };
  CHECK(told("controlled by ConfigMap holder"));
  CHECK_FALSE((*w.get("ConfigMap", "b-page")).contains("data"));
  // Its former controller's fields stay, at this apply and at the next.
  w.apply(website("a", "two"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "two"; }));
  const Json references = (*w.get("ConfigMap", "a-page"))["metadata"]["ownerReferences"];
  REQUIRE(references.size() == 1);
  CHECK(references[0]["uid"] == site["metadata"]["uid"]);
  CHECK(references[0]["blockOwnerDeletion"] == true);
}

E2E_CASE("two objects that print the same child: the second fails and names object and labels") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  retry: {initial: 5m}\n"));
  w.script("reconcile.sh",
           "echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: shared, namespace: "
           "$KW_NAMESPACE}, data: {by: $KW_NAME}}\"\n");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.runs_of("a", "done") >= 1; }));
  w.settle();
  w.apply(website("b", "one"));
  REQUIRE(w.eventually([&] { return w.runs_of("b") == 1; }));
  const auto& run = w.runs().back();
  INFO(run.message);
  CHECK(run.outcome != "done");
  CHECK(run.message.find("shared") != std::string::npos);
  CHECK(run.message.find("owner-uid") != std::string::npos);
  CHECK((*w.get("ConfigMap", "shared"))["data"]["by"] == "a");
}

E2E_CASE("a renamed rule is told of its former children, and gets them as troubleshooting says") {
  World w;
  w.apply(kWebsiteCrd);
  const auto rule = [](const std::string& name, const std::string& apply) {
    std::string text = website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry + apply);
    const std::string old = "{name: '@NS@'}";
    return text.replace(text.find(old), old.size(), "{name: '" + name + "'}");
  };
  w.rules(rule("@NS@", ""));
  w.script("reconcile.sh", kPrintConfigMap);
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.runs_of("a", "done") >= 1; }));
  w.settle();
  w.stop();

  w.rules(rule("@NS@-new", "\n  apply: {fieldManager: 'kubewatch/@NS@'}\n"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs().back().outcome == "write-failed"; }));
  INFO(w.runs().back().message);
  CHECK(w.runs().back().message.find("ConfigMap " + w.ns() +
                                     "/a-page is this object's child by the "
                                     "controller " +
                                     w.ns() + " (") != std::string::npos);
  w.merge("ConfigMap", "a-page", "{metadata: {labels: {kubewatch.dev/controller: '@NS@-new'}}}");
  REQUIRE(w.eventually([&] { return w.runs().back().outcome == "done"; }));
  // Its field manager is the old one: what is no more printed goes.
  w.script("reconcile.sh",
           "echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: "
           "$KW_NAMESPACE}}\"\n");
  w.apply(website("a", "two"));
  REQUIRE(w.eventually([&] { return !w.get("ConfigMap", "a-page").has_value(); }));
}

E2E_CASE("a second field manager's conflict is shown with its name and the field") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  retry: {initial: 5m}\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  w.settle();
  w.stop();
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a-page, namespace: '@NS@'}, data: "
      "{title: "
      "taken}}",
      "intruder");
  w.apply(website("a", "two"));
  w.start();
  REQUIRE(w.eventually([&] {
    return !w.runs().empty() && w.runs().back().message.find("intruder") != std::string::npos;
  }));
  const auto& run = w.runs().back();
  INFO(run.message);
  CHECK(run.outcome == "write-failed");
  CHECK(run.message.find(".data.title") != std::string::npos);
  CHECK((*w.get("ConfigMap", "a-page"))["data"]["title"] == "taken");
}

E2E_CASE(
    "hooks that print endlessly, never read, daemonize or close their pipes harm nobody else") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + R"x(
  reconcile: {exec: [./reconcile.sh], timeout: 25s, env: {TITLE: {jq: .spec.title}}}
  retry: {initial: 5m}
  concurrency: 8
)x"));
  w.script("reconcile.sh", std::string(R"x(
case $TITLE in
  gigabyte) head -c 1000000000 /dev/zero ;;
  daemon) setsid sh -c 'echo $$ > daemon; sleep 60' >/dev/null 2>&1 < /dev/null & sleep 0.3; exit 0 ;;
  holder) (sleep 60) & exit 0 ;;
  closed) exec <&- >&- 2>&-; sleep 0.2; exit 0 ;;
esac
)x") + kPrintConfigMap);
  w.start();
  for (const auto* title : {"gigabyte", "daemon", "holder", "closed", "good"}) {
    w.apply(website(title, title));
  }
  REQUIRE(w.eventually([&] {
    for (const auto* title : {"gigabyte", "daemon", "holder", "closed", "good"}) {
      if (w.runs_of(title) == 0) return false;
    }
    return true;
  }));
  CHECK(w.get("ConfigMap", "good-page"));
  CHECK(w.runs_of("gigabyte", "invalid-output") == 1);
  CHECK(w.runs_of("closed", "done") == 1);
}

E2E_CASE("a missing kind holds its own rule and no other") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile) + R"x(
---
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@-ghost'}
spec:
  for: {apiVersion: ghost.kubewatch.dev/v1, kind: Ghost}
  reconcile: {shell: 'true'}
)x");
  w.script("reconcile.sh", kPrintConfigMap);
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  CHECK(w.status().waiting_rules == 1);
}

E2E_CASE("conditions that are no list-map do not change back and forth when a status is refused") {
  World w;
  w.apply(kPlainCrd);
  w.rules(plain_rule("  changed: [.spec, .status.conditions]\n  apply: {validate: none}\n",
                     "{ready: [no, boolean]}",
                     "{type: Ready, status: 'False', reason: Down, message: ''}"));
  w.apply(kPlain);
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("p", "write-failed") > 0; }));
  CHECK(w.holds_for([&] { return w.runs_of("p") <= 3; }, Duration{3000}));
  CHECK(condition(*w.get("Plain", "p"), "Ready") != nullptr);
  CHECK(condition(*w.get("Plain", "p"), "Reconciled") == nullptr);
}

E2E_CASE("status of a kind whose conditions are no list-map keeps the others' conditions") {
  World w;
  w.apply(kPlainCrd);
  w.rules(
      plain_rule("", "{ready: true}", "{type: Ready, status: 'True', reason: Up, message: fine}"));
  w.apply(kPlain);
  w.merge("Plain", "p", "{status: {conditions: [{type: Other, status: 'True', reason: R}]}}",
          "@NS@", "status");
  w.start();
  REQUIRE(w.eventually([&] {
    const auto live = w.get("Plain", "p");
    return live && condition(*live, "Ready") != nullptr;
  }));
  w.settle();
  const auto live = w.get("Plain", "p");
  CHECK(condition(*live, "Other") != nullptr);
  CHECK((*live)["status"]["ready"] == true);
  CHECK_FALSE(condition(*live, "Ready")->contains("observedGeneration"));  // not in this schema
  CHECK(w.runs_of("p") == 1);
}

}  // namespace kubewatch::e2e
