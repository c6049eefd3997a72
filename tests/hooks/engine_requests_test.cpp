// What an engine asks the server for, what of the answers must be there before a hook runs, and
// what comes of a refusal.
#include <algorithm>

#include "base/log.hpp"
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::kSite;
using test::list;
using test::object;
using test::ScriptedEngine;

namespace {

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("selectors of a rule go to the server, in lists and in watches") {
  ScriptedEngine world(
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, labelSelector: site, map: "
      "all}]\n",
      ", labelSelector: tier=web, fieldSelector: metadata.namespace=shop");
  world.transport.answer(200, list(""));
  world.transport.answer(200, list(""));
  world.start();
  for (const std::string& line : {world.asked("websites").line(), world.watch("websites").line()}) {
    CHECK(has(line, "labelSelector=tier%3Dweb"));
    CHECK(has(line, "fieldSelector=metadata.namespace%3Dshop"));
  }
  CHECK(has(world.asked("configmaps").line(), "labelSelector=site"));
  CHECK(has(world.watch("configmaps").line(), "labelSelector=site"));
}

TEST_CASE("rules that ask for the same are fed by one list and one watch of it") {
  ScriptedEngine world(
      "---\n"
      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: second}\nspec:\n"
      "  for: {apiVersion: demo.dev/v1, kind: Website}\n"
      "  reconcile: {exec: [./hook.sh, second], output: log}\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  auto& watch = world.watch("websites");
  watch.head(200);
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  watch.data(test::event(object(kSite, "Website", "6", R"({"a":1})", R"(,"labels":{"a":"b"})")));
  REQUIRE(world.until([&] { return world.runs.size() == 4; }));
  std::vector<std::string> requests;
  for (std::size_t i = 0; i < world.transport.size(); ++i) {
    if (has(world.transport.call(i).path(), "/websites")) {
      requests.push_back(world.transport.call(i).line());
    }
  }
  CHECK(requests.size() == 2);
}

TEST_CASE("no hook runs before the last list of its rule is complete, and then with all of it") {
  ScriptedEngine world("  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: all}]\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  auto& late = world.asked("configmaps");
  world.watch("websites");  // these are complete
  CHECK_FALSE(world.engine->drivers().at(0)->status().started);
  // Half a list is none.
  const std::string first = list(object("v1", "ConfigMap", "4", "{}"));
  late.head(200);
  late.data(first.substr(0, first.size() / 2));
  CHECK_FALSE(world.engine->drivers().at(0)->status().started);
  late.data(first.substr(first.size() / 2));
  late.end();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "done");
  CHECK(has(world.read("input"), R"("kind":"ConfigMap","metadata":{"name":"a")"));
}

TEST_CASE("a write that is throttled is tried again when the server says, whatever the backoff") {
  ScriptedEngine world(
      "  owns: [{apiVersion: v1, kind: ConfigMap}]\n  apply: {validate: none}\n", "",
      "{shell: 'echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: page}}\"'}");
  const std::string page = "/api/v1/namespaces/shop/configmaps/page";
  world.transport.route("GET", page, 404, R"({"kind":"Status","reason":"NotFound","code":404})");
  http::Headers later;
  later.add("Retry-After", "3600");
  world.transport.route("PATCH", page, 429, R"({"kind":"Status","code":429})", later);
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  world.give_list("configmaps", "");
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "write-failed");
  const auto entry = world.engine->drivers().at(0)->queue().look({"shop", "a"});
  REQUIRE(entry);
  CHECK(entry->pending);
  CHECK(entry->due - world.loop.now() > Duration{3500000});
}

TEST_CASE("the requests of a run are among the log lines of its controller, and say of which run") {
  std::vector<std::string> lines;
  base::LogOptions options;
  options.format = base::LogFormat::json;
  options.filter = *base::LogFilter::parse("off,controller/web=6");
  base::configure_log(options);
  base::capture_log(&lines);
  std::string run;
  {
    ScriptedEngine world(
        "  owns: [{apiVersion: v1, kind: ConfigMap}]\n  apply: {validate: none}\n", "",
        "{shell: 'echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: page}}\"'}");
    const std::string page = "/api/v1/namespaces/shop/configmaps/page";
    world.transport.route("GET", page, 404, R"({"kind":"Status","reason":"NotFound","code":404})");
    world.transport.route("PATCH", page, 403, R"({"kind":"Status","code":403})");
    world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
    world.start();
    world.give_list("configmaps", "");
    CHECK(world.until([&] { return !world.runs.empty(); }));
    if (!world.runs.empty()) run = world.runs[0].id;
  }
  base::capture_log(nullptr);
  base::configure_log({});
  std::size_t patches = 0;
  for (const std::string& line : lines) {
    const Json told = Json::parse(line);
    INFO(line);
    CHECK(told.value("controller", "") == "web");
    if (told["msg"] != "request") continue;
    CHECK(told.value("run", "") == run);
    CHECK(told.value("object", "") == "Website shop/a");
    CHECK(told.value("attempt", "") == "1");
    CHECK_FALSE(told.value("reason", "").empty());
    if (told["method"] == "PATCH") ++patches;
  }
  CHECK(patches == 1);
}

TEST_CASE("what the filter holds is not among what a request runs, unless a person names it") {
  using runtime::Reason;
  ScriptedEngine world("", ", filter: .spec.paused != true");
  world.transport.answer(200, list(object(kSite, "Website", "4", R"({"paused":true})")));
  world.start();
  world.watch("websites");
  REQUIRE(world.until([&] { return world.engine->status().idle; }));
  hooks::TriggerRequest all;
  all.all = true;
  hooks::TriggerRequest named;
  named.key = {"shop", "a"};
  CHECK(world.engine->trigger("", all, Reason::manual) == 0);
  CHECK(world.engine->trigger("", named, Reason::external) == 0);
  CHECK(world.engine->trigger("", named, Reason::manual) == 0);  // as retry --parked does
  named.by_person = true;
  CHECK(world.engine->trigger("", named, Reason::manual) == 1);
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.runs[0].reason == "Manual");
  REQUIRE(world.until([&] { return world.engine->status().idle; }));
  named.by_person = false;
  CHECK(world.engine->trigger("", named, Reason::external) == 0);
  CHECK(world.runs.size() == 1);
}

TEST_CASE("a list that the server refuses for good is named where somebody asks") {
  ScriptedEngine world("");
  world.transport.answer(400, R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                              R"("message":"field label not supported: spec.x",)"
                              R"("reason":"BadRequest","code":400})");
  world.start();
  REQUIRE(world.until([&] { return world.engine->status().waiting_rules == 1; }));
  CHECK(world.engine->status().idle);  // --once ends
  const auto why = world.engine->drivers().at(0)->why_not_started();
  REQUIRE(why.size() == 1);
  CHECK(has(why[0], "websites.demo.dev: "));
  CHECK(has(why[0], "field label not supported: spec.x"));
  CHECK(has(world.explain().text, "field label not supported: spec.x"));
}

TEST_CASE(
    "a failing watch makes stale what its own rule says, not what another rule of the kind says") {
  ScriptedEngine world(
      "---\n"
      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: bad}\nspec:\n"
      "  for: {apiVersion: demo.dev/v1, kind: Website, namespaces: [blog], fieldSelector: "
      "spec.x=y}\n"
      "  reconcile: {exec: [./hook.sh], output: log}\n",
      ", namespaces: [shop]");
  world.transport.route("GET", "/apis/demo.dev/v1/namespaces/blog/websites", 400,
                        R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                        R"("message":"field label not supported: spec.x",)"
                        R"("reason":"BadRequest","code":400})");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  REQUIRE(world.until([&] {
    return world.engine->status().idle && world.engine->status().waiting_rules == 1 &&
           !world.runs.empty();
  }));
  CHECK(world.state() == "idle");
  CHECK(world.explained() == "");
  REQUIRE(world.engine->drivers().size() == 2);
  CHECK(world.engine->drivers().at(0)->why_not_listed().empty());
  CHECK(has(world.engine->drivers().at(1)->why_not_listed(),
            "websites.demo.dev in namespace blog: "));

  // Its own, once it fails.
  world.watch("websites").fail(Error(ErrorKind::unreachable, "cut off"));
  REQUIRE(world.until([&] { return world.state() == "stale"; }));
  CHECK(has(world.explained(), "the watch of websites.demo.dev in namespace shop has failed"));
}

TEST_CASE("objects wait for a crashing worker without a place, and explain says for what") {
  ScriptedEngine world("  concurrency: 1\n", "", "{exec: [./hook.sh], mode: worker}");
  world.folder.write("hook.sh", "#!/bin/sh\nexit 3\n");
  std::string other = object(kSite, "Website", "4", "{}");
  other.replace(other.find(R"("name":"a")"), 10, R"("name":"b")");
  other.replace(other.find("u-Website"), 9, "u-Other");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}") + "," + other));
  world.start();
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  const core::ObjectKey waits{"shop", world.runs[0].key.name == "a" ? "b" : "a"};
  hooks::Driver& driver = *world.engine->drivers().at(0);
  hooks::Explanation said;
  REQUIRE(world.until([&] {
    said = hooks::explain(driver.rule(), driver.facts_of(waits));
    return said.state == "waiting-for-worker" && driver.queue().held().empty() &&
           driver.services().slots.used() == 0;
  }));
  CHECK(has(said.text, "without an answer; the next is started in"));
  CHECK(driver.queue().look(waits)->failures == 0);
  // Its turn comes, as if nothing had been.
  REQUIRE(world.until([&] {
    return std::any_of(world.runs.begin(), world.runs.end(),
                       [&](const auto& run) { return run.key == waits; });
  }));
  CHECK(std::find_if(world.runs.begin(), world.runs.end(), [&](const auto& run) {
          return run.key == waits;
        })->attempt == 1);
}

TEST_CASE("no text of an event or a metric shows what is secret") {
  ScriptedEngine world("", "",
                       "{shell: 'printf \"apiVersion: kubewatch.dev/v1\\nkind: Result\\nmetrics: "
                       "[{name: seen_total, "
                       "type: counter, value: 1, help: it is $KEY}]\\nevents: [{type: Normal, "
                       "reason: R$KEY, action: "
                       "A$KEY, note: m $KEY}]\\n\"', env: {KEY: {from: {file: hook.sh}}}}");
  world.folder.write("hook.sh", "hunter2pass");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  INFO(world.runs[0].message);
  CHECK(world.runs[0].outcome == "done");
  const std::string metrics = world.engine->metrics_text(world.engine->facts(), true);
  CHECK(has(metrics, "it is ***"));
  CHECK_FALSE(has(metrics, "hunter2pass"));
  REQUIRE(world.until([&] { return world.told("R***"); }));
  CHECK(world.told("A***"));
  CHECK_FALSE(world.told("hunter2pass"));
}

TEST_CASE("a child that several entries of owns cover is told once") {
  ScriptedEngine world(
      "  owns: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: ConfigMap, "
      "namespaces: [blog]}]\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  world.give_list("configmaps", object("v1", "ConfigMap", "4", "{}",
                                       R"(,"labels":{"kubewatch.dev/controller":"web",)"
                                       R"("kubewatch.dev/owner-uid":"u-Website"})"));
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  const std::string input = world.read("input");
  const std::size_t first = input.find(R"("uid":"u-ConfigMap")");
  REQUIRE(first != std::string::npos);
  CHECK(input.find(R"("uid":"u-ConfigMap")", first + 1) == std::string::npos);
}

namespace {

const std::string kSiteA = "/apis/demo.dev/v1/namespaces/shop/websites/a";
const std::string kPage = "/api/v1/namespaces/shop/configmaps/page";

std::string resource(const std::string& group, const std::string& plural, const std::string& kind,
                     const std::string& scope, const std::string& more = "") {
  const std::string gvk = R"({"group":")" + group + R"(","version":"v1","kind":")" + kind + "\"}";
  return R"({"metadata":{"name":")" + group + R"("},"versions":[{"version":"v1","resources":[{)" +
         R"("resource":")" + plural + R"(","responseKind":)" + gvk + R"(,"scope":")" + scope +
         R"(","singularResource":"x","verbs":["get","list","watch","patch"])" + more + "}]}]}";
}

// Websites with a status, of which there is the definition. The hook prints `printed`, besides a
// ConfigMap, and ends with `code`.
struct Sites : ScriptedEngine {
  Sites(const std::string& validate, const std::string& replicas_type)
      : ScriptedEngine(
            "  owns: [{apiVersion: v1, kind: ConfigMap}]\n  apply: {validate: " + validate + "}\n",
            "", "{exec: [./hook.sh]}") {
    const std::string status =
        R"(,"subresources":[{"subresource":"status","responseKind":{"group":"demo.dev",)"
        R"("version":"v1","kind":"Website"},"verbs":["get","patch","update"]}])";
    transport.route("GET", "/apis", 200,
                    R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",)"
                    R"("items":[)" +
                        resource("demo.dev", "websites", "Website", "Namespaced", status) + "," +
                        resource("apiextensions.k8s.io", "customresourcedefinitions",
                                 "CustomResourceDefinition", "Cluster") +
                        "]}");
    define(replicas_type);
    transport.route("GET", kSiteA, 200, object(kSite, "Website", "4", "{}"));
    transport.route("PATCH", kSiteA + "/status", 200, object(kSite, "Website", "5", "{}"));
    transport.route("GET", kPage, 404, R"({"kind":"Status","reason":"NotFound","code":404})");
    transport.route("PATCH", kPage, 201,
                    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"page",)"
                    R"("namespace":"shop","uid":"u-page","resourceVersion":"7"}})");
    folder.write("hook.sh", "#!/bin/sh\ncd \"$(dirname \"$0\")\"\ncat printed\nexit $(cat code)\n");
  }

  void define(const std::string& replicas_type) {
    transport.route(
        "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.demo.dev", 200,
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
        R"("metadata":{"name":"websites.demo.dev"},"spec":{"versions":[{"name":"v1","schema":)"
        R"({"openAPIV3Schema":{"type":"object","properties":{"status":{"type":"object",)"
        R"("properties":{"replicas":{"type":")" +
            replicas_type + R"("}}}}}}}]}})");
  }
  void print(const std::string& replicas, int code = 0, bool child = true) {
    folder.write("code", std::to_string(code));
    folder.write(
        "printed",
        std::string(child ? "{apiVersion: v1, kind: ConfigMap, metadata: {name: page}}\n" : "") +
            "---\n"
            "{apiVersion: kubewatch.dev/v1, kind: Result, status: {replicas: " +
            replicas + "}}\n");
  }
  void begin() {
    transport.answer(200, list(object(kSite, "Website", "4", "{}")));
    start();
    auto& children = asked("configmaps");
    children.head(200);
    children.data(list(""));
    children.end();
    REQUIRE(until([&] { return !runs.empty(); }));
  }
  std::size_t patches(const std::string& path) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < transport.size(); ++i) {
      if (transport.request(i).method == "PATCH" && transport.call(i).path() == path) ++count;
    }
    return count;
  }
};

}  // namespace

TEST_CASE("a status that its schema refuses is invalid output, and nothing is written") {
  for (const char* const validate : {"schema", "server"}) {
    for (const int code : {0, 75}) {
      INFO(validate << ", exit code " << code);
      Sites world(validate, "integer");
      world.print("two-hunter2", code);
      world.begin();
      CHECK(world.runs[0].outcome == "invalid-output");
      CHECK(has(world.runs[0].message, "invalid output: "));
      CHECK(has(world.runs[0].message, "status.replicas: "));
      CHECK_FALSE(has(world.runs[0].message, "hunter2"));
      CHECK(world.patches(kPage) == 0);
      CHECK(world.patches(kSiteA + "/status") == 0);
    }
  }
}

TEST_CASE("a status is the server's to judge where nothing is validated or the hook gives up") {
  const std::string refusal = R"({"kind":"Status","reason":"Invalid","code":422,"message":"no"})";
  Sites unchecked("none", "integer");
  unchecked.transport.route("PATCH", kSiteA + "/status", 422, refusal);
  unchecked.print("two");
  unchecked.begin();
  CHECK(unchecked.runs[0].outcome == "write-failed");
  CHECK(unchecked.patches(kPage) == 1);
  for (const char* const validate : {"schema", "server"}) {
    INFO(validate);
    Sites gives_up(validate, "integer");
    gives_up.transport.route("PATCH", kSiteA + "/status", 422, refusal);
    gives_up.print("two", 65);
    gives_up.begin();
    CHECK(gives_up.runs[0].outcome == "permanent");
    CHECK(gives_up.patches(kSiteA + "/status") == 1);
    CHECK(gives_up.patches(kPage) == 0);
  }
}

TEST_CASE("a status that the schema refuses is checked against the schema as it is by now") {
  Sites world("schema", "integer");
  world.print("2", 0, false);
  world.begin();
  REQUIRE(world.runs[0].outcome == "done");
  world.define("string");
  world.print("two", 0, false);
  auto& changes = world.watch("websites");
  changes.head(200);
  changes.data(test::event(object(kSite, "Website", "6", "{}", R"(,"labels":{"x":"y"})")));
  REQUIRE(world.until([&] { return world.runs.size() > 1; }));
  INFO(world.runs[1].message);
  CHECK(world.runs[1].outcome == "done");
  CHECK(world.patches(kSiteA + "/status") == 2);
}
