// Who runs when: mappings, changes that count and that do not, parallelism, gaps, many objects at
// once.
#include <set>

#include "base/json.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

// For websites, with the labelled ConfigMaps that `map` brings to them.
std::string rule_with_map(const std::string& map) {
  return website_rule(R"x(
  watches:
    - name: config
      apiVersion: v1
      kind: ConfigMap
      namespaces: ['@NS@']
      labelSelector: website
      map: ')x" + map +
                      "'\n" + kReconcile);
}

}  // namespace

E2E_CASE("a ConfigMap change reaches the websites it maps to and no others") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(rule_with_map("{name: .metadata.labels.website, namespace: .metadata.namespace}"));
  w.script("reconcile.sh", R"x(
echo "$KW_NAME $KW_REASON" >> calls
grep -o '"color":"[a-z]*"' "$KW_INPUT" >> colors || true
)x");
  w.apply(website("a", "one"));
  w.apply(website("b", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("calls") == 2; }));
  w.settle();
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: '@NS@', labels: "
      "{website: a}}, data: {color: red}}");
  REQUIRE(w.eventually([&] { return w.lines("calls") == 3; }));
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: '@NS@', labels: "
      "{website: a}}, data: {color: blue}}");
  REQUIRE(w.eventually([&] { return w.lines("calls") == 4; }));
  w.settle();
  CHECK(w.read("calls").find("a RelatedChanged\na RelatedChanged\n") != std::string::npos);
  CHECK(w.runs_of("b") == 1);
  CHECK(w.read("colors") == "\"color\":\"red\"\n\"color\":\"blue\"\n");
}

E2E_CASE("refs: an object names the ConfigMap it depends on") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(R"x(
  watches:
    - name: config
      apiVersion: v1
      kind: ConfigMap
      namespaces: ['@NS@']
      refs: '{name: .spec.config, namespace: .metadata.namespace}'
)x") + kReconcile));
  w.script("reconcile.sh", "echo \"$KW_NAME\" >> calls\n");
  for (const std::string name : {"a", "b"}) {
    w.apply("{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: " + name +
            ", namespace: '@NS@'}, spec: {config: cfg-" + name + "}}");
  }
  w.start();
  REQUIRE(w.eventually([&] { return w.lines("calls") == 2; }));
  w.settle();
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: cfg-b, namespace: '@NS@'}, data: {x: "
      "z}}");
  REQUIRE(w.eventually([&] { return w.runs_of("b") == 2; }));
  w.settle();
  CHECK(w.runs_of("a") == 1);
}

E2E_CASE(
    "an object on which map fails holds the runs, and a condition names it until it is mended") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(rule_with_map("{name: (.data.site | fromjson)}"));
  w.script("reconcile.sh", "grep -o '\"color\":\"[a-z]*\"' \"$KW_INPUT\" >> colors\n");
  const auto config = [&](const std::string& site) {
    w.apply(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: '@NS@', labels: "
        "{website: x}}, data: {color: red, site: '" +
        site + "'}}");
  };
  const auto condition = [&](const std::string& name) {
    const auto live = w.get("Website", "a");
    const Json* conditions = live ? base::find(*live, {"status", "conditions"}) : nullptr;
    return conditions == nullptr || conditions->empty() ? ""
                                                        : base::string_at((*conditions)[0], {name});
  };
  config("no JSON");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return condition("reason") == "IncompleteInput"; }));
  CHECK(condition("message").find("fails on v1 ConfigMap " + w.ns() + "/settings: ") !=
        std::string::npos);
  CHECK(w.lines("colors") == 0);
  config("\"a\"");
  REQUIRE(w.eventually([&] { return condition("status") == "True"; }));
  CHECK(w.read("colors").starts_with("\"color\":\"red\"\n"));
}

E2E_CASE("status written by the hook does not run the hook again") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", std::string("echo x >> calls\n") + kPrintConfigMap + R"x(
printf -- '---\napiVersion: kubewatch.dev/v1\nkind: Result\nstatus: {ready: true, title: "%s"}\n' "$TITLE"
printf 'conditions: [{type: Ready, status: "True", reason: Up, message: "run %s"}]\n' "$(wc -l < calls)"
)x");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] {
    const auto live = w.get("Website", "a");
    return base::string_at(*live, {"status", "title"}) == "one";
  }));
  w.settle();
  const auto live = w.get("Website", "a");
  CHECK((*live)["status"]["conditions"][0]["observedGeneration"] == 1);
  CHECK((*live)["status"]["conditions"][0].contains("lastTransitionTime"));
  // The first run creates the child, whose event may run the owner once more, however late it
  // comes; then it is quiet.
  const auto quiet = [&] {
    const auto runs = w.lines("calls");
    return w.holds_for([&] { return w.lines("calls") == runs; }, Duration{1500});
  };
  CHECK((quiet() || quiet()));
  CHECK(w.lines("calls") <= 2);
}

E2E_CASE("two objects run at once, one object never") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", R"x(
mkdir "running-$KW_NAME" 2>/dev/null || echo "$KW_NAME twice" >> broken
echo "$KW_NAME" >> calls
# The first one waits for the other.
for _ in $(seq 100); do
  [ -e together ] && break
  [ -d running-a ] && [ -d running-b ] && echo both >> together
  sleep 0.05
done
sleep 0.4
rmdir "running-$KW_NAME"
)x");
  w.start();
  w.apply(website("a", "one"));
  w.apply(website("b", "one"));
  // What comes before the engine has begun is one run.
  REQUIRE(w.eventually([&] { return w.lines("calls") >= 2; }));
  for (int i = 0; i < 5; ++i) {
    w.apply(website("a", "t" + std::to_string(i)));
    w.holds_for([] { return true; }, Duration{100});
  }
  REQUIRE(w.eventually([&] { return w.runs_of("b", "done") >= 1; }));
  CHECK(w.eventually([&] { return w.runs_of("a") >= 2; }));
  w.settle();
  CHECK(w.read("broken").empty());
  CHECK(w.lines("together") >= 1);
  CHECK(w.runs_of("a") <= 6);
}

E2E_CASE("objects that never ran go before those whose own children come back to them") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + "\n  concurrency: 1\n" + kReconcile));
  w.script("reconcile.sh", kPrintConfigMap);
  std::set<std::string> names;
  for (int i = 0; i < 12; ++i) names.insert("site-" + std::to_string(i));
  for (const std::string& name : names) w.apply(website(name, "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs().size() >= 2 * names.size(); }));
  for (std::size_t i = 0; i < 12; ++i) names.erase(w.runs()[i].key.name);
  CHECK(names.empty());
}

E2E_CASE("the server goes away and comes back: nothing is missed") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", kPrintConfigMap);
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  w.server().restart();
  w.apply(website("a", "two"));
  w.apply(website("b", "one"));
  w.remove("ConfigMap", "a-page");
  REQUIRE(w.eventually(
      [&] {
        const auto a = w.get("ConfigMap", "a-page");
        return a && (*a)["data"]["title"] == "two" && w.get("ConfigMap", "b-page");
      },
      Duration{120000}));
}

E2E_CASE("the server forgets its history while changes happen: nothing is missed") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  onDelete: false\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.start();
  for (const std::string name : {"a", "b", "c"}) w.apply(website(name, "one"));
  REQUIRE(w.eventually(
      [&] { return w.list("ConfigMap", "kubewatch.dev/controller=@NS@").size() == 3; }));
  w.settle();
  w.apply(website("a", "two"));
  w.remove("ConfigMap", "b-page");
  w.remove("Website", "c");
  w.server().compact();
  REQUIRE(w.eventually(
      [&] {
        const auto a = w.get("ConfigMap", "a-page");
        return a && (*a)["data"]["title"] == "two" && w.get("ConfigMap", "b-page") &&
               !w.get("ConfigMap", "c-page");
      },
      Duration{120000}));
}

E2E_CASE("500 objects created at once all end with exactly the right children") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  concurrency: 8\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.start();
  constexpr int kObjects = 500;
  std::vector<client::PendingPtr> writes;
  int written = 0;
  const auto& type = w.type("Website");
  for (int i = 0; i < kObjects; ++i) {
    const std::string name = "w" + std::to_string(i);
    const Json object = {{"apiVersion", "e2e.kubewatch.dev/v1"},
                         {"kind", "Website"},
                         {"metadata", {{"name", name}, {"namespace", w.ns()}}},
                         {"spec", {{"title", "title " + name}}}};
    writes.push_back(w.client().create(type, w.ns(), object, {}, [&](Result<Json> made) {
      INFO((made.ok() ? "" : made.error().render()));
      CHECK(made.ok());
      ++written;
    }));
  }
  REQUIRE(w.eventually([&] { return written == kObjects; }, Duration{120000}));
  REQUIRE(w.eventually(
      [&] { return w.list("ConfigMap", "kubewatch.dev/controller=@NS@").size() >= kObjects; },
      Duration{180000}));
  w.settle(Duration{1000}, Duration{120000});
  const auto children = w.list("ConfigMap", "kubewatch.dev/controller=@NS@");
  REQUIRE(children.size() == kObjects);
  std::map<std::string, std::string> uid_of;
  for (const auto& site : w.list("Website")) {
    uid_of[site["metadata"]["name"]] = site["metadata"]["uid"];
  }
  for (const auto& child : children) {
    const std::string name = child["metadata"]["name"];
    const std::string owner = name.substr(0, name.size() - 5);
    CHECK(child["data"]["title"] == "title " + owner);
    CHECK(child["metadata"]["labels"]["kubewatch.dev/owner-uid"] == uid_of[owner]);
  }
  for (int i = 0; i < kObjects; ++i) CHECK(w.runs_of("w" + std::to_string(i)) >= 1);
}

E2E_CASE("resync runs each object again; debounce gathers changes; changed narrows what counts") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(R"x(
  changed: [.spec.title]
  debounce: 2s
)x") + kReconcile));
  w.script("reconcile.sh", "echo \"$TITLE\" >> calls\n");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.lines("calls") == 1; }));
  w.settle();
  w.merge("Website", "a", "{spec: {replicas: 3}}");
  CHECK(w.holds_for([&] { return w.lines("calls") == 1; }, Duration{2600}));
  // Again where a busy machine took longer for the three than they may be apart.
  bool in_time = false;
  for (int round = 1; round <= 5 && !in_time; ++round) {
    const std::string before = w.read("calls");
    const std::size_t calls = w.lines("calls");
    const std::string number = std::to_string(round);
    const TimePoint begun = w.loop().now();
    for (const std::string title : {"two", "three", "four"}) {
      w.merge("Website", "a", "{spec: {title: " + title + number + "}}");
    }
    in_time = w.loop().now() - begun < Duration{1500};
    REQUIRE(w.eventually([&] { return w.lines("calls") > calls; }));
    if (!in_time) {
      w.settle(Duration{2600});
      continue;
    }
    CHECK(w.holds_for([&] { return w.lines("calls") == calls + 1; }, Duration{2400}));
    CHECK(w.read("calls") == before + "four" + number + "\n");
  }
  CHECK(in_time);
  w.stop();

  w.rules(website_rule(std::string("\n  resync: 1s\n") + kReconcile));
  w.start();
  CHECK(w.eventually([&] { return w.lines("calls") >= 5; }));
}

E2E_CASE(
    "create makes an object once and never changes it; delete removes one; a Result writes "
    "status") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(R"x(
  owns: [{apiVersion: v1, kind: Secret}, {apiVersion: v1, kind: ConfigMap}]
)x") + kReconcile));
  w.script("reconcile.sh", R"x(
cat <<R
apiVersion: kubewatch.dev/v1
kind: Result
message: made it
status: {title: "$TITLE"}
create:
  - {apiVersion: v1, kind: Secret, metadata: {name: $KW_NAME-password, namespace: $KW_NAMESPACE}, stringData: {p: "$TITLE"}}
delete:
  - {apiVersion: v1, kind: ConfigMap, namespace: $KW_NAMESPACE, name: $KW_NAME-old}
R
)x");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("Secret", "a-password").has_value(); }));
  w.settle();
  CHECK(w.runs().back().message == "made it");
  w.apply(website("a", "two"));
  REQUIRE(w.eventually([&] {
    return base::string_at(*w.get("Website", "a"), {"status", "title"}) == "two";
  }));
  CHECK((*w.get("Secret", "a-password"))["data"]["p"] == "b25l");
}

E2E_CASE(
    "a watch of the API itself: selectors, bookmarks at the end of initial events, 410 for the "
    "past") {
  World w;
  w.apply(kWebsiteCrd);
  w.apply(website("a", "one", ", labels: {tier: web}"));
  w.apply(website("b", "one"));
  std::vector<std::string> seen;
  core::WatchParams params;
  params.send_initial_events = true;
  params.label_selector = "tier=web";
  params.timeout = Duration{30000};
  client::WatchHandlers handlers;
  handlers.on_event = [&](const core::WatchEvent& event) {
    auto object = base::parse_json(event.object);
    REQUIRE(object.ok());
    const std::string end =
        base::string_at(*object, {"metadata", "annotations", "k8s.io/initial-events-end"});
    // Between the others a server may send bookmarks whenever it likes.
    if (event.type == core::WatchEventType::bookmark && end.empty()) return;
    seen.push_back(std::string(event.type_name) + " " +
                   base::string_at(*object, {"metadata", "name"}) + end);
  };
  handlers.on_end = [&](Result<void>) {};
  const auto watch = w.client().watch(w.type("Website"), w.ns(), params, handlers);
  REQUIRE(w.eventually([&] { return seen.size() == 2; }));
  w.merge("Website", "b", "{metadata: {labels: {tier: web}}}");
  w.merge("Website", "a", "{metadata: {labels: {tier: null}}}");
  REQUIRE(w.eventually([&] { return seen.size() == 4; }));
  CHECK(seen == std::vector<std::string>{"ADDED a", "BOOKMARK true", "ADDED b", "DELETED a"});
}

}  // namespace kubewatch::e2e
