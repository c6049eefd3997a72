// Objects and their children from birth to death: create, change, drift, prune, finalizers.
#include "base/json.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/requests.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

E2E_CASE("a website is created, changed and deleted through its finalizer") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile +
                       "\n  finalize: {exec: [./cleanup.sh]}\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.script("cleanup.sh", "echo \"$KW_NAME $KW_FINALIZING\" >> cleaned\n");
  w.start();

  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  const auto live = w.get("Website", "a");
  REQUIRE(live);
  CHECK((*live)["metadata"]["finalizers"] == Json::array({"kubewatch.dev/" + w.ns()}));
  const auto child = w.get("ConfigMap", "a-page");
  CHECK((*child)["metadata"]["ownerReferences"][0]["uid"] == (*live)["metadata"]["uid"]);
  CHECK((*child)["metadata"]["ownerReferences"][0]["controller"] == true);
  CHECK((*child)["metadata"]["labels"]["kubewatch.dev/owner-uid"] == (*live)["metadata"]["uid"]);
  CHECK((*child)["metadata"]["labels"]["kubewatch.dev/controller"] == w.ns());

  w.apply(website("a", "two"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "two"; }));

  w.remove("Website", "a");
  REQUIRE(w.eventually([&] { return !w.get("Website", "a"); }));
  CHECK(w.read("cleaned") == "a true\n");
  REQUIRE(w.eventually([&] { return !w.get("ConfigMap", "a-page"); }, kCollected));
}

E2E_CASE("an object deleted with its children to stay leaves them, and takes them over again") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry +
                       "\n  finalize: {exec: [./cleanup.sh]}\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  // The garbage collector is done with the orphans before.
  w.script("cleanup.sh", "[ -e go ] || exit 75\necho \"$KW_NAME\" >> cleaned\n");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  const Json first = (*w.get("ConfigMap", "a-page"))["metadata"]["uid"];
  const std::string path = "/apis/e2e.kubewatch.dev/v1/namespaces/" + w.ns() + "/websites/a";
  REQUIRE(send(w, "DELETE", path, {{"propagationPolicy", "Orphan"}}).code < 300);
  REQUIRE(w.eventually(
      [&] { return !(*w.get("ConfigMap", "a-page"))["metadata"].contains("ownerReferences"); },
      kCollected));
  w.file("go", "");
  REQUIRE(w.eventually([&] { return !w.get("Website", "a"); }, kCollected));
  CHECK(w.read("cleaned") == "a\n");
  auto child = w.get("ConfigMap", "a-page");
  REQUIRE(child);
  CHECK((*child)["metadata"]["uid"] == first);

  const Json again = w.apply(website("a", "two"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "two"; }));
  child = w.get("ConfigMap", "a-page");
  CHECK((*child)["metadata"]["uid"] == first);
  CHECK((*child)["metadata"]["labels"]["kubewatch.dev/owner-uid"] == again["metadata"]["uid"]);
  CHECK((*child)["metadata"]["ownerReferences"][0]["uid"] == again["metadata"]["uid"]);
}

E2E_CASE("an object whose children are to stay leaves them to a start that has not seen it said") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry +
                       "\n  finalize: {exec: [./cleanup.sh]}\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.script("cleanup.sh", "echo \"$KW_NAME\" >> cleaned\n");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  w.settle();
  w.stop();
  // Of what was written in the second of the deletion nobody knows what was first.
  const Json page = *w.get("ConfigMap", "a-page");
  const auto written =
      base::parse_rfc3339(page["metadata"]["creationTimestamp"].get<std::string>());
  REQUIRE(written.ok());
  REQUIRE(w.eventually(
      [&] { return std::chrono::system_clock::now() > *written + std::chrono::seconds(2); }));
  const std::string path = "/apis/e2e.kubewatch.dev/v1/namespaces/" + w.ns() + "/websites/a";
  REQUIRE(send(w, "DELETE", path, {{"propagationPolicy", "Orphan"}}).code < 300);
  REQUIRE(w.eventually(
      [&] { return !(*w.get("ConfigMap", "a-page"))["metadata"].contains("ownerReferences"); },
      kCollected));
  REQUIRE(w.eventually(
      [&] { return (*w.get("Website", "a"))["metadata"]["finalizers"].size() == 1; }, kCollected));
  w.start();
  REQUIRE(w.eventually([&] { return !w.get("Website", "a"); }, kCollected));
  CHECK(w.read("cleaned") == "a\n");
  const auto child = w.get("ConfigMap", "a-page");
  REQUIRE(child);
  CHECK((*child)["metadata"]["uid"] == page["metadata"]["uid"]);
}

E2E_CASE("a child that is deleted or changed by hand comes back") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", kPrintConfigMap);
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  w.settle();

  w.remove("ConfigMap", "a-page");
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  w.settle();
  CHECK(w.runs().back().reason == "OwnedChanged");

  w.merge("ConfigMap", "a-page", "{data: {title: null, more: x}}");
  CHECK(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  w.settle();
  CHECK((*w.get("ConfigMap", "a-page"))["data"]["more"] == "x");  // not ours
}

E2E_CASE("a child that the hook stops printing is pruned, one marked prune: disabled is kept") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", R"x(
for n in $TITLE; do
  note=""; [ "$n" = kept ] && note=', annotations: {kubewatch.dev/prune: disabled}'
  printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-%s, namespace: %s%s}}\n' \
    "$KW_NAME" "$n" "$KW_NAMESPACE" "$note"
done
)x");
  w.start();
  w.apply(website("a", "'x y kept'"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-kept").has_value(); }));
  w.settle();
  w.apply(website("a", "'x'"));
  REQUIRE(w.eventually([&] { return !w.get("ConfigMap", "a-y"); }));
  w.settle();
  CHECK(w.get("ConfigMap", "a-x"));
  CHECK(w.get("ConfigMap", "a-kept"));
}

E2E_CASE("a hook that exits 0 and prints nothing prunes nothing; children: none removes all") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", std::string(R"x(
[ "$TITLE" = silent ] && exit 0
if [ "$TITLE" = empty ]; then
  echo '{apiVersion: kubewatch.dev/v1, kind: Result, children: none}'; exit 0
fi
)x") + kPrintConfigMap);
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  w.settle();
  w.apply(website("a", "silent"));
  REQUIRE(w.eventually([&] { return w.runs_of("a") >= 2; }));
  w.settle();
  CHECK(w.get("ConfigMap", "a-page"));
  w.apply(website("a", "empty"));
  CHECK(w.eventually([&] { return !w.get("ConfigMap", "a-page"); }));
}

E2E_CASE("a finalize hook that prints children: none has them removed once it is done") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry +
                       "\n  finalize: {exec: [./cleanup.sh]}\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.script("cleanup.sh", R"x(
echo '{apiVersion: kubewatch.dev/v1, kind: Result, children: none}'
[ -e go ] || { echo >> waits; exit 75; }
)x");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  w.settle();
  w.remove("Website", "a");
  REQUIRE(w.eventually([&] { return w.lines("waits") > 0; }));
  CHECK(w.get("ConfigMap", "a-page"));
  CHECK(w.get("Website", "a"));
  w.file("go", "");
  CHECK(w.eventually([&] { return !w.get("Website", "a"); }));
  CHECK_FALSE(w.get("ConfigMap", "a-page"));
}

E2E_CASE("a cluster-scoped owner has children in two namespaces") {
  World w;
  w.apply(kFleetCrd);
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Fleet, labelSelector: 'case=@NS@'}
  owns: [{apiVersion: v1, kind: ConfigMap}]
  writes: [{apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@', '@NS2@']}]
  reconcile:
    shell: |
      for n in @NS@ @NS2@; do
        printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: fleet, namespace: %s}}\n' "$n"
      done
)x");
  w.start();
  const Json fleet = w.apply(
      "{apiVersion: e2e.kubewatch.dev/v1, kind: Fleet, metadata: {name: '@NS@', labels: {case: "
      "'@NS@'}}, spec: {title: x}}");
  REQUIRE(w.eventually(
      [&] { return w.get("ConfigMap", "fleet") && w.get("ConfigMap", "fleet", "@NS2@"); }));
  const auto child = w.get("ConfigMap", "fleet", "@NS2@");
  CHECK((*child)["metadata"]["ownerReferences"][0]["uid"] == fleet["metadata"]["uid"]);
  w.remove("ConfigMap", "fleet", "@NS2@");
  CHECK(w.eventually([&] { return w.get("ConfigMap", "fleet", "@NS2@").has_value(); }));
  w.remove("Fleet", "@NS@", "");
  // By the cluster's garbage collector, which looks for new kinds every 30 s.
  CHECK(w.eventually(
      [&] { return !w.get("ConfigMap", "fleet") && !w.get("ConfigMap", "fleet", "@NS2@"); },
      kCollected));
}

E2E_CASE(
    "a child in another namespace is found and pruned after a restart, and removed with its "
    "owner") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(R"x(
  writes: [{apiVersion: v1, kind: ConfigMap, namespaces: ['@NS2@']}]
)x") + kReconcile));
  w.script("reconcile.sh", R"x(
for n in $TITLE; do
  printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-%s, namespace: @NS2@}}\n' \
    "$KW_NAME" "$n"
done
)x");
  w.start();
  w.apply(website("a", "'x y'"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-y", "@NS2@").has_value(); }));
  w.settle();
  const auto child = w.get("ConfigMap", "a-y", "@NS2@");
  CHECK_FALSE((*child)["metadata"].contains("ownerReferences"));
  CHECK((*w.get("Website", "a"))["metadata"]["finalizers"].size() == 1);
  w.stop();
  w.apply(website("a", "'x'"));
  w.start();
  REQUIRE(w.eventually([&] { return !w.get("ConfigMap", "a-y", "@NS2@"); }));
  w.settle();
  CHECK(w.get("ConfigMap", "a-x", "@NS2@"));
  w.remove("Website", "a");
  REQUIRE(w.eventually([&] { return !w.get("Website", "a"); }));
  CHECK_FALSE(w.get("ConfigMap", "a-x", "@NS2@"));
}

E2E_CASE("a child made by `create` in another namespace keeps its owner guarded after later runs") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(R"x(
  owns: [{apiVersion: v1, kind: ConfigMap}]
  writes: [{apiVersion: v1, kind: Secret, namespaces: ['@NS2@']}]
)x") + kReconcile));
  w.script("reconcile.sh", std::string(kPrintConfigMap) + R"x(
if test "$TITLE" = first; then
  printf -- '---\n{apiVersion: kubewatch.dev/v1, kind: Result, create: [{apiVersion: v1, kind: Secret, '
  printf 'metadata: {name: %s-key, namespace: @NS2@}, stringData: {k: v}}]}\n' "$KW_NAME"
fi
)x");
  w.start();
  w.apply(website("a", "first"));
  REQUIRE(w.eventually([&] { return w.get("Secret", "a-key", "@NS2@").has_value(); }));
  w.settle();
  w.apply(website("a", "second"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "second"; }));
  w.settle();
  CHECK((*w.get("Website", "a"))["metadata"]["finalizers"].size() == 1);
  CHECK(w.get("Secret", "a-key", "@NS2@"));
  w.remove("Website", "a");
  REQUIRE(w.eventually([&] { return !w.get("Website", "a"); }));
  CHECK_FALSE(w.get("Secret", "a-key", "@NS2@"));
}

namespace {

// Of a rule that prints `a-page` for the website `a`.
void dies_while_printed(World& w) {
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  w.settle();
  w.merge("ConfigMap", "a-page", "{metadata: {finalizers: [e2e.kubewatch.dev/held]}}");
  w.remove("ConfigMap", "a-page");
  w.apply(website("a", "two"));
  REQUIRE(w.eventually([&] { return w.runs_of("a", "write-failed") > 0; }));
  w.merge("ConfigMap", "a-page", "{metadata: {finalizers: null}}");
  CHECK(w.eventually([&] { return title_of(w, "a-page") == "two"; }));
}

}  // namespace

E2E_CASE("a child that is dying while it is printed comes back, also under owns.on: [apply]") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(R"x(
  owns: [{apiVersion: v1, kind: ConfigMap, on: [apply]}]
)x") + kFastRetry + kReconcile));
  w.script("reconcile.sh", kPrintConfigMap);
  dies_while_printed(w);
}

E2E_CASE("a child to be created once that is dying is made when it is gone") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string("\n  writes: [{apiVersion: v1, kind: ConfigMap}]\n") +
                       kFastRetry + kReconcile));
  w.script("reconcile.sh", R"x(
cat <<END
apiVersion: kubewatch.dev/v1
kind: Result
create:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a-page}, data: {title: "$TITLE"}}
END
)x");
  dies_while_printed(w);
}

E2E_CASE(
    "an object that leaves the selector loses our finalizer, or is finalized, as the rule says") {
  for (const std::string policy : {"release", "finalize", "keep"}) {
    INFO(policy);
    World w;
    w.apply(kWebsiteCrd);
    w.rules(website_rule(std::string(kOwnsConfigMaps) + "\n  whenNoLongerMatched: " + policy +
                             kReconcile + "\n  finalize: {exec: [./cleanup.sh]}\n",
                         "    labelSelector: tier=web\n"));
    w.script("reconcile.sh", kPrintConfigMap);
    w.script("cleanup.sh", "echo \"$KW_NAME\" >> cleaned\n");
    w.start();
    w.apply(website("a", "one", ", labels: {tier: web}"));
    REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
    w.settle();
    w.merge("Website", "a", "{metadata: {labels: {tier: other}}}");
    const auto finalizers = [&] {
      const auto live = w.get("Website", "a");
      return live && (*live)["metadata"].contains("finalizers")
                 ? (*live)["metadata"]["finalizers"].size()
                 : 0;
    };
    if (policy == "keep") {
      CHECK(w.holds_for([&] { return finalizers() == 1; }, Duration{1500}));
    } else {
      REQUIRE(w.eventually([&] { return finalizers() == 0; }));
      CHECK(w.read("cleaned") == (policy == "finalize" ? "a\n" : ""));
    }
    CHECK(w.get("ConfigMap", "a-page"));  // leaving a selection is no deletion: no prune
    // Deleted while outside the selection: finalize runs whatever the selector says, if ours is
    // there.
    w.remove("Website", "a");
    REQUIRE(w.eventually([&] { return !w.get("Website", "a"); }));
    CHECK(w.read("cleaned") == (policy == "release" ? "" : "a\n"));
  }
}

namespace {

std::string places_rule(const std::string& namespaces, const std::string& more = "") {
  return "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: '@NS@'}\nspec:\n  for: "
         "{apiVersion: e2e.kubewatch.dev/v1, kind: Website" +
         (namespaces.empty() ? "" : ", namespaces: [" + namespaces + "]") +
         "}\n  reconcile: {shell: 'true', output: log}\n  finalize: {shell: 'echo $KW_NAME >> "
         "cleaned', output: log}\n" +
         more;
}

// With an object in both namespaces of the case.
void make_two(World& w) {
  w.apply(kWebsiteCrd);
  w.apply(website("a", "one"));
  w.apply(
      "{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: b, namespace: '@NS2@'}}");
}

bool is_ours(World& w, const std::string& name, const std::string& namespace_) {
  const auto live = w.get("Website", name, namespace_);
  const auto* list = live ? base::find(*live, {"metadata", "finalizers"}) : nullptr;
  return list != nullptr && !list->empty();
}

}  // namespace

E2E_CASE("an object in a namespace that a changed rule leaves out is treated as the rule says") {
  for (const std::string policy : {"release", "finalize", "keep"}) {
    INFO(policy);
    World w;
    make_two(w);
    const std::string more = "  whenNoLongerMatched: " + policy + "\n";
    w.rules(places_rule("'@NS@', '@NS2@'", more));
    w.start();
    REQUIRE(w.eventually([&] { return is_ours(w, "a", "@NS@") && is_ours(w, "b", "@NS2@"); }));
    w.settle();
    w.reload(places_rule("'@NS@'", more));
    if (policy == "keep") {
      w.settle();
      CHECK(is_ours(w, "b", "@NS2@"));
    } else {
      REQUIRE(w.eventually([&] { return !is_ours(w, "b", "@NS2@"); }));
      w.settle();
      CHECK(w.get("Website", "b", "@NS2@"));
    }
    CHECK(w.read("cleaned") == (policy == "finalize" ? "b\n" : ""));
    CHECK(is_ours(w, "a", "@NS@"));
    // A deleted object with our finalizer is finalized wherever it is.
    w.remove("Website", "b", "@NS2@");
    REQUIRE(w.eventually([&] { return !w.get("Website", "b", "@NS2@"); }));
    CHECK(w.read("cleaned") == (policy == "release" ? "" : "b\n"));
    w.remove("Website", "a");
    REQUIRE(w.eventually([&] { return !w.get("Website", "a"); }));
  }
}

E2E_CASE(
    "a finalizer outside the namespaces of a rule that starts is told of, or with --state let go") {
  World w;
  make_two(w);
  w.rules(places_rule("'@NS@', '@NS2@'"));
  auto kubewatch = controller(w, {"--state", w.folder() + "/state"});
  REQUIRE(w.eventually([&] { return is_ours(w, "a", "@NS@") && is_ours(w, "b", "@NS2@"); }));
  kubewatch->end();

  // It may be another instance's.
  w.rules(places_rule("'@NS@'"));
  kubewatch = controller(w);
  REQUIRE(w.eventually([&] { return kubewatch->says("outside the rule's namespaces"); }));
  CHECK(kubewatch->says(w.ns2() + "/b"));
  kubewatch->end();
  CHECK(is_ours(w, "b", "@NS2@"));

  kubewatch = controller(w, {"--state", w.folder() + "/state"});
  REQUIRE(w.eventually([&] { return !is_ours(w, "b", "@NS2@"); }));
  kubewatch->end();
  CHECK_FALSE(kubewatch->says("outside the rule's namespaces"));
  CHECK(is_ours(w, "a", "@NS@"));
  CHECK(w.read("cleaned").empty());
  w.merge("Website", "a", "{metadata: {finalizers: null}}");
}

E2E_CASE("an object that the filter excludes is finalized when it is deleted") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile +
                           "\n  whenNoLongerMatched: keep\n  finalize: {exec: [./cleanup.sh]}\n",
                       "    filter: .spec.paused != true\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.script("cleanup.sh", "echo \"$KW_NAME\" >> cleaned\n");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  w.merge("Website", "a", "{spec: {paused: true, title: two}}");
  CHECK(w.holds_for([&] { return title_of(w, "a-page") == "one"; }, Duration{1000}));
  w.remove("Website", "a");
  REQUIRE(w.eventually([&] { return !w.get("Website", "a"); }));
  CHECK(w.read("cleaned") == "a\n");
}

E2E_CASE("an object that goes while its run fails is not counted as failing for ever") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(kReconcile));
  w.script("reconcile.sh",
           "echo started >> started\nwhile [ ! -e go ]; do sleep 0.05; done\nexit 1\n");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.lines("started") == 1; }));
  w.remove("Website", "a");
  REQUIRE(w.eventually([&] { return !w.get("Website", "a"); }));
  w.holds_for([] { return true; }, Duration{300});  // until the cache has seen it
  w.file("go", "");
  REQUIRE(w.eventually([&] { return w.runs_of("a") == 1; }));
  CHECK(w.eventually([&] { return w.status().failing == 0 && w.status().idle; }));
}

E2E_CASE("finalize: 75 waits, 65 parks with the finalizer kept, 0 removes it") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry +
                       "\n  finalize: {exec: [./cleanup.sh]}\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.script("cleanup.sh", R"x(
echo "$KW_NAME" >> cleaned
case $(grep -c "$KW_NAME" cleaned) in
  1) exit 75 ;;
  2) echo '{apiVersion: kubewatch.dev/v1, kind: Result, message: stuck}'; exit 65 ;;
esac
)x");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return title_of(w, "a-page") == "one"; }));
  w.settle();
  w.remove("Website", "a");
  REQUIRE(w.eventually([&] { return w.lines("cleaned") == 2; }));
  CHECK(w.holds_for([&] { return w.lines("cleaned") == 2; }, Duration{1500}));
  REQUIRE(w.get("Website", "a"));
  w.merge("Website", "a", "{metadata: {annotations: {try: again}}}");
  REQUIRE(w.eventually([&] { return !w.get("Website", "a"); }));
  CHECK(w.lines("cleaned") == 3);
}

}  // namespace kubewatch::e2e
