// Rules for many kinds, and for namespaces that are selected by their labels.
#include <algorithm>

#include "base/strings.hpp"
#include "e2e/any_kind.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/turner.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

const char* const kGroup = "kinds.e2e.kubewatch.dev";

std::string crd(const std::string& kind, const std::string& plural) {
  return any_kind(kGroup, kind, plural);
}

std::string object(const std::string& kind, const std::string& name) {
  return any_object(kGroup, kind, name);
}

}  // namespace

E2E_CASE("every kind of a group has a controller of its own, as CRDs come and go") {
  World w;
  w.apply(crd("Gadget", "gadgets"));
  w.apply(object("Gadget", "g1"));
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {group: kinds.e2e.kubewatch.dev, kinds: '*', namespaces: ['@NS@']}
  owns: [{apiVersion: v1, kind: ConfigMap}]
  reconcile: {exec: [./reconcile.sh]}
)x");
  w.script("reconcile.sh", R"x(
echo "$KW_CONTROLLER $KW_KIND $KW_NAME" >> seen
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-made, namespace: %s}}\n' \
  "$KW_NAME" "$KW_NAMESPACE"
)x");
  w.start();
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "g1-made").has_value(); }));
  const auto made = w.get("ConfigMap", "g1-made");
  CHECK((*made)["metadata"]["labels"]["kubewatch.dev/controller"] == w.ns() + "-gadget");

  w.apply(crd("Widget", "widgets"));
  w.apply(object("Widget", "w1"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "w1-made").has_value(); }, kDiscovery));
  CHECK(w.read("seen").find(w.ns() + "-widget Widget w1") != std::string::npos);

  // The kind goes with its objects; when it comes back, so does its controller.
  w.remove_definition("widgets.kinds.e2e.kubewatch.dev");
  w.apply(object("Gadget", "g2"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "g2-made").has_value(); }));
  w.apply(crd("Widget", "widgets"));
  w.apply(object("Widget", "w2"));
  CHECK(w.eventually([&] { return w.get("ConfigMap", "w2-made").has_value(); }, Duration{180000}));
  for (const char* name : {"gadgets", "widgets"}) {
    w.remove("CustomResourceDefinition", std::string(name) + ".kinds.e2e.kubewatch.dev", "");
  }
}

E2E_CASE("what kinds need that come after the start is asked for when they come") {
  World w;
  // Kinds of no other case: theirs may still be on their way out.
  w.apply(crd("Gizmo", "gizmos"));
  w.apply(object("Gizmo", "g1"));
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {group: kinds.e2e.kubewatch.dev, kinds: '*', namespaces: ['@NS@']}
  reconcile: {shell: 'echo $KW_NAME >> $FOLDER/seen', output: log, inheritEnv: [FOLDER]}
---
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@-late'}
spec:
  for: {apiVersion: kinds.e2e.kubewatch.dev/v1, kind: Sprocket, namespaces: ['@NS@']}
  reconcile: {shell: 'echo late $KW_NAME >> $FOLDER/seen', output: log, inheritEnv: [FOLDER]}
)x");
  const auto running = controller(w, {"-v", "8", "--log-format", "json"});
  const auto asked = [&](const std::string& plural) {
    const auto log = base::split(running->err, '\n');
    return std::count_if(log.begin(), log.end(), [&](const std::string& line) {
      return line.find("SelfSubjectAccessReview") != std::string::npos &&
             line.find(plural) != std::string::npos && line.find("watch") != std::string::npos;
    });
  };
  REQUIRE(w.eventually([&] { return w.read("seen") == "g1\n" && asked("gizmos") > 0; }));
  CHECK(asked("sprockets") == 0);
  w.apply(crd("Sprocket", "sprockets"));
  w.apply(object("Sprocket", "w1"));
  REQUIRE(w.eventually([&] { return w.lines("seen") == 3; }, kDiscovery));
  // For both rules.
  const auto each = asked("gizmos");
  CHECK(w.eventually([&] { return asked("sprockets") == 2 * each; }));
  running->end();
  for (const char* name : {"gizmos", "sprockets"}) {
    w.remove("CustomResourceDefinition", std::string(name) + ".kinds.e2e.kubewatch.dev", "");
  }
}

E2E_CASE("a kind whose version is served no more: its controllers go on in another, or wait") {
  World w;
  make_turner(w, "true", "false");
  w.apply(
      "{apiVersion: turn.kubewatch.dev/v1alpha1, kind: Turner, metadata: {name: t1, namespace: "
      "'@NS@'}}");
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {group: turn.kubewatch.dev, kinds: '*', namespaces: ['@NS@']}
  reconcile: {shell: 'echo "$KW_API_VERSION $KW_NAME" >> every', output: log}
---
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@-plain'}
spec:
  for: {apiVersion: turn.kubewatch.dev/v1alpha1, kind: Turner, namespaces: ['@NS@']}
  reconcile: {shell: 'echo "$KW_API_VERSION $KW_NAME" >> plain', output: log}
)x");
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("every") == 1 && w.lines("plain") == 1; }));
  w.settle();
  CHECK(w.read("every") == "turn.kubewatch.dev/v1alpha1 t1\n");

  w.apply(turner("false", "true"));
  REQUIRE(turned(w, "v1", true));
  REQUIRE(w.eventually([&] { return w.lines("every") == 2; }, kDiscovery));
  CHECK(w.read("every").ends_with("turn.kubewatch.dev/v1 t1\n"));
  REQUIRE(w.eventually([&] { return w.status().waiting_rules == 1; }, kDiscovery));
  CHECK(w.lines("plain") == 1);
  w.apply(
      "{apiVersion: turn.kubewatch.dev/v1, kind: Turner, metadata: {name: t2, namespace: '@NS@'}}");
  REQUIRE(w.eventually([&] { return w.lines("every") == 3; }));
  CHECK(w.read("every").ends_with("turn.kubewatch.dev/v1 t2\n"));

  // Both versions: what waits starts, what runs stays where it is.
  w.apply(turner("true", "true"));
  REQUIRE(w.eventually([&] { return w.lines("plain") == 3; }, kDiscovery));
  w.settle();
  CHECK(w.status().waiting_rules == 0);
  CHECK(w.lines("every") == 3);
  remove_turner(w);
}

// No other rule of its makes the server be asked for kinds: only that its watch ends.
E2E_CASE("a rule alone learns that its version is served no more, and that it is again") {
  World w;
  make_turner(w, "true", "true");
  const std::string of = "{apiVersion: turn.kubewatch.dev/v1, kind: Turner, metadata: {name: ";
  w.apply(of + "t1, namespace: '@NS@'}}");
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: turn.kubewatch.dev/v1alpha1, kind: Turner, namespaces: ['@NS@']}
  reconcile: {shell: 'echo "$KW_API_VERSION $KW_NAME" >> seen', output: log}
)x");
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("seen") == 1; }));
  w.settle();
  bool ended = false;
  client::WatchHandlers handlers;
  handlers.on_event = [](const core::WatchEvent&) {};
  handlers.on_end = [&](Result<void> end) { ended = end.ok(); };
  core::WatchParams params;
  params.timeout = Duration{300000};
  const auto watch = w.client().watch(w.type(kTurner), w.ns(), params, handlers);
  w.settle();
  CHECK_FALSE(ended);

  w.apply(turner("false", "true"));
  // As all watches of the kind, whatever their version.
  CHECK(w.eventually([&] { return ended; }));
  REQUIRE(w.eventually([&] { return w.status().waiting_rules == 1; }, kDiscovery));
  w.apply(of + "t2, namespace: '@NS@'}}");
  w.settle();
  CHECK(w.lines("seen") == 1);
  w.apply(turner("true", "true"));
  CHECK(w.eventually([&] { return w.lines("seen") == 3; }, kDiscovery));
  remove_turner(w);
}

E2E_CASE("a kind that comes back with another scope: its controller starts anew") {
  World w;
  make_turner(w, "true", "true");
  w.apply(
      "{apiVersion: turn.kubewatch.dev/v1, kind: Turner, metadata: {name: t1, namespace: '@NS@'}}");
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: turn.kubewatch.dev/v1, kind: Turner}
  retry: {initial: 1s, max: 5s}
  reconcile: {shell: 'echo "$KW_NAMESPACE/$KW_NAME" >> seen', output: log}
  finalize: {shell: 'echo "$KW_NAMESPACE/$KW_NAME" >> finalized'}
)x");
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("t1", "done") == 1; }));
  w.settle();
  w.remove(kTurner, "t1");
  REQUIRE(w.eventually([&] { return !w.get(kTurner, "t1"); }));

  remove_turner(w);
  w.apply(turner("true", "true", "Cluster"));
  REQUIRE(turned(w, "v1", false));
  w.apply("{apiVersion: turn.kubewatch.dev/v1, kind: Turner, metadata: {name: cl}}");
  REQUIRE(w.eventually([&] { return w.read("seen").ends_with("\n/cl\n"); }, kDiscovery));
  w.settle();
  w.remove(kTurner, "cl", "");
  REQUIRE(w.eventually([&] { return !w.get(kTurner, "cl", ""); }));
  CHECK(w.read("finalized") == w.ns() + "/t1\n/cl\n");
  remove_turner(w);
}

E2E_CASE("a list of kinds runs one hook under one name per kind") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for:
    - {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaces: ['@NS@']}
    - {apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@'], labelSelector: mine}
  reconcile: {shell: 'echo "$KW_CONTROLLER $KW_NAME" >> seen'}
)x");
  w.apply(website("a", "one"));
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: '@NS@', labels: {mine: "
      "x}}}");
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("seen") == 2; }));
  w.settle();
  const std::string seen = w.read("seen");
  CHECK(seen.find(w.ns() + "-website a\n") != std::string::npos);
  CHECK(seen.find(w.ns() + "-configmap c\n") != std::string::npos);
}

E2E_CASE("namespaces join and leave a selection: finalized when asked, never taken for deleted") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaceSelector: case=@NS@}
  owns: [{apiVersion: v1, kind: ConfigMap}]
  whenNoLongerMatched: finalize
  reconcile:
    exec: [./reconcile.sh]
    env: {TITLE: {jq: .spec.title}}
  finalize: {shell: 'echo "$KW_NAMESPACE/$KW_NAME" >> finalized'}
)x");
  w.script("reconcile.sh", kPrintConfigMap);
  const std::string in =
      "{apiVersion: v1, kind: Namespace, metadata: {name: '@NS@', labels: {case: "
      "'@NS@'}}}";
  w.apply(in);
  w.apply(website("a", "one"));
  w.apply(
      "{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: b, namespace: "
      "'@NS2@'}, spec: {title: two}}");
  w.start();
  REQUIRE(w.eventually([&] { return title_of(w, "a-page", "@NS@") == "one"; }));
  w.settle();
  CHECK_FALSE(w.get("ConfigMap", "b-page", "@NS2@"));

  w.apply("{apiVersion: v1, kind: Namespace, metadata: {name: '@NS2@', labels: {case: '@NS@'}}}");
  REQUIRE(w.eventually([&] { return title_of(w, "b-page", "@NS2@") == "two"; }));
  w.settle();

  w.apply("{apiVersion: v1, kind: Namespace, metadata: {name: '@NS2@'}}");
  REQUIRE(w.eventually([&] { return w.lines("finalized") == 1; }));
  REQUIRE(w.eventually([&] {
    const auto b = w.get("Website", "b", "@NS2@");
    return b && !(*b)["metadata"].contains("finalizers");
  }));
  w.settle();
  CHECK(w.read("finalized") == w.ns2() + "/b\n");
  // Not selected: a change there runs nothing.
  const std::size_t before = w.runs_of("b");
  w.merge("Website", "b", "{spec: {title: three}}", "@NS2@");
  w.apply(website("a", "four"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page", "@NS@") == "four"; }));
  CHECK(w.runs_of("b") == before);

  // Back again, with its latest state.
  w.apply("{apiVersion: v1, kind: Namespace, metadata: {name: '@NS2@', labels: {case: '@NS@'}}}");
  REQUIRE(w.eventually([&] { return title_of(w, "b-page", "@NS2@") == "three"; }));
  w.remove("Website", "b", "@NS2@");
  w.remove("Website", "a");
  CHECK(w.eventually([&] { return !w.get("Website", "a") && !w.get("Website", "b", "@NS2@"); }));
}

E2E_CASE("children and related objects in selected namespaces follow the labels live") {
  World w;
  w.apply(kFleetCrd);
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Fleet, labelSelector: case=@NS@}
  owns: [{apiVersion: v1, kind: ConfigMap, namespaceSelector: case=@NS@}]
  watches:
    - {name: settings, apiVersion: v1, kind: ConfigMap, namespaceSelector: case=@NS@, labelSelector: part, map: all}
  retry: {initial: 200ms, max: 1s, factor: 2, jitter: 0}
  reconcile: {exec: [./reconcile.sh]}
)x");
  // A copy of each part beside it.
  w.script("reconcile.sh", R"x(
echo '{apiVersion: kubewatch.dev/v1, kind: Result, message: copied}'
for at in $(grep -o '"part":"[a-z0-9-]*"' "$KW_INPUT" | cut -d'"' -f4 || true); do
  printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: copy, namespace: %s}}\n' "$at"
done
)x");
  for (const char* ns : {"@NS@", "@NS2@"}) {
    w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: part, namespace: '" +
            std::string(ns) + "', labels: {part: '" + ns + "'}}}");
  }
  w.apply("{apiVersion: v1, kind: Namespace, metadata: {name: '@NS@', labels: {case: '@NS@'}}}");
  w.apply(
      "{apiVersion: e2e.kubewatch.dev/v1, kind: Fleet, metadata: {name: '@NS@', labels: {case: "
      "'@NS@'}}, spec: {}}");
  w.start();
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "copy", "@NS@").has_value(); }));
  w.settle();
  CHECK_FALSE(w.get("ConfigMap", "copy", "@NS2@"));

  w.apply("{apiVersion: v1, kind: Namespace, metadata: {name: '@NS2@', labels: {case: '@NS@'}}}");
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "copy", "@NS2@").has_value(); }));
  w.settle();
  // It leaves: the hook does not print the copy there any more, and it is pruned there.
  w.apply("{apiVersion: v1, kind: Namespace, metadata: {name: '@NS2@'}}");
  CHECK(w.eventually([&] { return !w.get("ConfigMap", "copy", "@NS2@"); }));
  CHECK(w.get("ConfigMap", "copy", "@NS@"));
  CHECK(w.get("ConfigMap", "part", "@NS2@"));
  w.remove("Fleet", "@NS@", "");
}

E2E_CASE("a hook patches what stands in a namespace that its owns selects") {
  World w;
  w.apply(kWebsiteCrd);
  w.apply("{apiVersion: v1, kind: Namespace, metadata: {name: '@NS2@', labels: {case: '@NS@'}}}");
  w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: shared, namespace: '@NS2@'}}");
  w.rules(website_rule("  owns: [{apiVersion: v1, kind: ConfigMap, namespaceSelector: case=@NS@}]" +
                       std::string(kReconcile)));
  w.script("reconcile.sh",
           "echo \"{apiVersion: kubewatch.dev/v1, kind: Result, patches: [{apiVersion: v1, kind: "
           "ConfigMap, namespace: " +
               w.ns2() + ", name: shared, patch: {data: {title: '$TITLE'}}}]}\"\n");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return title_of(w, "shared", "@NS2@") == "one"; }));
}

}  // namespace kubewatch::e2e
