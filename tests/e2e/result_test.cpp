// What a Result asks for besides children and status: events, patches, metrics; and the choices of
// `apply`: force by path, onImmutable, validate.
#include <algorithm>
#include <cstdlib>

#include "base/json.hpp"
#include "base/log.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"
#include "http/server.hpp"

namespace kubewatch::e2e {

namespace {

const char* const kWritesServices = R"(
  writes:
    - {apiVersion: v1, kind: Service}
)";

std::vector<Json> events_of(World& w, const std::string& name) {
  std::vector<Json> out;
  for (Json& event : w.list("events.k8s.io/Event")) {
    if (base::string_at(event, {"regarding", "name"}) == name) out.push_back(std::move(event));
  }
  return out;
}

bool has_event(World& w, const std::string& name, const std::string& reason,
               const std::string& words) {
  for (const Json& event : events_of(w, name)) {
    if (event["reason"] == reason &&
        base::string_at(event, {"note"}).find(words) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// The condition Reconciled of a website, or null.
Json condition_of(World& w, const std::string& name) {
  const auto object = w.get("Website", name);
  const Json* conditions = object ? base::find(*object, {"status", "conditions"}) : nullptr;
  if (conditions == nullptr) return nullptr;
  for (const Json& condition : *conditions) {
    if (condition["type"] == "Reconciled") return condition;
  }
  return nullptr;
}

// The log lines of its life.
struct Captured {
  Captured() { base::capture_log(&lines); }
  ~Captured() { base::capture_log(nullptr); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  bool has(const std::string& one, const std::string& other) const {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(one) != std::string::npos && line.find(other) != std::string::npos;
    });
  }
  std::vector<std::string> lines;
};

// Takes spans, as a collector of OpenTelemetry would.
struct Collector {
  explicit Collector(loop::EventLoop& loop) {
    auto listening = http::Server::listen(
        loop, {}, [this](http::ServerRequest request, std::shared_ptr<http::Responder> responder) {
          path = request.path;
          key = std::string(request.headers.get("api-key"));
          const auto document = base::parse_json(request.body);
          if (document.ok()) {
            for (const Json& span : (*document)["resourceSpans"][0]["scopeSpans"][0]["spans"]) {
              spans.push_back(span);
            }
          }
          responder->respond(status, {}, "{}");
        });
    if (!listening.ok()) FAIL(listening.error().render());
    server = std::move(*listening);
  }
  const Json* find(const std::string& name) const {
    for (const Json& span : spans) {
      if (span["name"] == name) return &span;
    }
    return nullptr;
  }
  int status = 200;
  std::string path;
  std::string key;
  std::vector<Json> spans;
  std::unique_ptr<http::Server> server;
};

}  // namespace

E2E_CASE("each run is a span with its requests below it, and the hook may add its own") {
  World w;
  Collector collector(w.loop());
  w.trace_to({"http://127.0.0.1:" + std::to_string(collector.server->port()) + "/v1/traces",
              {{"api-key", "k"}},
              "e2e"});
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh",
           std::string("[ -e parent ] || echo \"$TRACEPARENT\" > parent; echo said >&2\n") +
               kPrintConfigMap);
  const Captured log;
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "done") > 0; }));
  w.settle();
  const std::string trace = w.runs().front().trace;
  w.stop();  // sends what is left
  CHECK(collector.path == "/v1/traces");
  CHECK(collector.key == "k");
  const Json* run = collector.find("reconcile " + w.ns());
  REQUIRE(run != nullptr);
  CHECK(run->at("traceId") == trace);
  const Json* apply = collector.find("apply");
  REQUIRE(apply != nullptr);
  CHECK(apply->at("traceId") == trace);
  CHECK(apply->at("parentSpanId") == run->at("spanId"));
  // The hook is below the run, not in a trace of its own.
  CHECK(w.read("parent") == "00-" + trace + "-" + std::string(run->at("spanId")) + "-01\n");
  CHECK(log.has("said", "trace=" + trace));
}

E2E_CASE("a secret that a failing hook says is in no span, no run and no Event") {
  World w;
  Collector collector(w.loop());
  w.trace_to(
      {"http://127.0.0.1:" + std::to_string(collector.server->port()) + "/v1/traces", {}, "e2e"});
  w.apply(kWebsiteCrd);
  w.apply(
      "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: '@NS@'}, stringData: {p: "
      "hunter2-long}}");
  w.rules(website_rule(std::string(R"x(
  watches: [{name: passwords, apiVersion: v1, kind: Secret, namespaces: ['@NS@'], map: all}]
  retry: {initial: 5m}
)x") + kReconcile));
  w.script("reconcile.sh", "echo 'no login with hunter2-long' >&2\nexit 3\n");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return has_event(w, "a", "HookFailed", "no login with ***"); }));
  CHECK_FALSE(has_event(w, "a", "HookFailed", "hunter2"));
  w.stop();  // sends what is left
  const Json* run = collector.find("reconcile " + w.ns());
  REQUIRE(run != nullptr);
  CHECK(run->dump().find("no login with ***") != std::string::npos);
  for (const Json& span : collector.spans) CHECK(span.dump().find("hunter2") == std::string::npos);
  for (const auto& one : w.runs()) {
    CHECK(one.message.find("hunter2") == std::string::npos);
    CHECK(one.stderr_tail.find("hunter2") == std::string::npos);
  }
}

E2E_CASE("a secret that a hook prints and says is told nowhere, however the hook ends") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"x(
  owns: [{apiVersion: v1, kind: Secret}]
  retry: {initial: 5m}
  reconcile:
    exec: [./reconcile.sh]
    timeout: 20s
    grace: 100ms
    env: {TITLE: {jq: .spec.title}}
)x"));
  w.script("reconcile.sh", R"x(
echo "made password hunter2-very-secret for $KW_NAME" >&2
cat <<SECRET
apiVersion: v1
kind: Secret
metadata: {name: $KW_NAME}
stringData:
  password: hunter2-very-secret
SECRET
case $TITLE in
  done) ;;
  exit) exit 1 ;;
  killed) kill -9 $$ ;;
  slow) sleep 600 ;;
  twice) echo "  password: hunter2-very-secret" ;;
  broken) printf -- '---\nkind: [\n' ;;
  cut) printf -- '---\n'; kill -9 $$ ;;
  unlisted) printf -- '---\n{apiVersion: v1, kind: Pod, metadata: {name: p}}\n' ;;
esac
)x");
  const std::vector<std::string> titles = {"done",  "exit",   "killed", "slow",
                                           "twice", "broken", "cut",    "unlisted"};
  for (const std::string& title : titles) w.apply(website(title, title));
  Captured log;
  w.start();
  REQUIRE(w.eventually([&] {
    return std::all_of(titles.begin(), titles.end(),
                       [&](const std::string& name) { return w.runs_of(name) > 0; });
  }));
  for (const std::string& title : titles) {
    if (title == "done") continue;
    INFO(title);
    CHECK(w.eventually([&] { return !events_of(w, title).empty(); }));
  }
  CHECK(w.get("Secret", "done"));
  for (const std::string& line : log.lines) CHECK(line.find("hunter2") == std::string::npos);
  for (const Json& event : w.list("events.k8s.io/Event")) {
    CHECK(event.dump().find("hunter2") == std::string::npos);
  }
  for (const auto& run : w.runs()) {
    INFO(run.key.name << ": " << run.outcome << ": " << run.message);
    CHECK(run.message.find("hunter2") == std::string::npos);
    CHECK(run.stderr_tail.find("hunter2") == std::string::npos);
    const bool withheld = run.key.name == "twice" || run.key.name == "broken";
    const std::string shown = withheld ? "1 line of stderr is withheld" : "made password ***";
    CHECK(run.stderr_tail.find(shown) != std::string::npos);
    if (run.key.name != "done") CHECK(run.message.find(shown) != std::string::npos);
  }
}

E2E_CASE("events of a Result stand on the object and on what it regards") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", std::string(kPrintConfigMap) + R"x(
cat <<RESULT
---
apiVersion: kubewatch.dev/v1
kind: Result
events:
- {reason: Built, note: made the page}
- {type: Warning, reason: Old, note: an old page, regarding: {apiVersion: v1, kind: ConfigMap, namespace: $KW_NAMESPACE, name: $KW_NAME-page}}
RESULT
)x");
  w.apply(website("a", "one"));
  w.start();
  CHECK(w.eventually([&] { return has_event(w, "a", "Built", "made the page"); }));
  CHECK(w.eventually([&] { return has_event(w, "a-page", "Old", "an old page"); }));
  const auto events = events_of(w, "a");
  REQUIRE_FALSE(events.empty());
  CHECK(events[0]["regarding"]["uid"] == (*w.get("Website", "a"))["metadata"]["uid"]);
  CHECK(events[0]["type"] == "Normal");
}

E2E_CASE("a secret that the hook prints is masked in its events and conditions") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(
      website_rule(std::string("\n  owns:\n    - {apiVersion: v1, kind: Secret}\n") + kReconcile));
  w.script("reconcile.sh", R"x(
printf '{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {password: hunter2-long}}\n---\n'
printf '{apiVersion: kubewatch.dev/v1, kind: Result, events: [{reason: Made, note: the password is hunter2-long}],'
printf ' conditions: [{type: Ready, status: "True", reason: Made, message: it is hunter2-long}]}\n'
)x");
  w.apply(website("a", "one"));
  w.start();
  CHECK(w.eventually([&] { return has_event(w, "a", "Made", "the password is ***"); }));
  CHECK_FALSE(has_event(w, "a", "Made", "hunter2"));
  const Json site = w.get("Website", "a").value_or(Json());
  const Json* conditions = base::find(site, {"status", "conditions"});
  REQUIRE(conditions != nullptr);
  CHECK((*conditions)[0]["message"] == "it is ***");
}

E2E_CASE("patches of all three types change an object that is not a child") {
  World w;
  w.apply(kWebsiteCrd);
  w.apply(
      "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: '@NS@', labels: {a: x}}, "
      "spec: {selector: {app: old}, ports: [{name: http, port: 80}]}}");
  w.rules(website_rule(std::string(kWritesServices) + kReconcile));
  w.script("reconcile.sh", R"x(
cat <<RESULT
apiVersion: kubewatch.dev/v1
kind: Result
patches:
- {apiVersion: v1, kind: Service, name: web, patch: {spec: {selector: {app: $TITLE}}}}
- {apiVersion: v1, kind: Service, name: web, type: json, patch: [{op: add, path: /metadata/labels/b, value: z}]}
- {apiVersion: v1, kind: Service, name: web, type: strategic, patch: {spec: {ports: [{port: 81, name: more}]}}}
RESULT
)x");
  w.apply(website("a", "new"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a") > 0; }));
  w.settle();
  INFO(w.runs().back().message);
  CHECK(w.runs().back().outcome == "done");
  CHECK(w.runs().back().configured == 3);
  const Json service = *w.get("Service", "web");
  CHECK(service["spec"]["selector"]["app"] == "new");
  CHECK(service["metadata"]["labels"] == Json{{"a", "x"}, {"b", "z"}});
  CHECK(service["spec"]["ports"].size() == 2);
}

E2E_CASE("a patch that may not be written refuses all of the output") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", std::string(kPrintConfigMap) + R"x(
printf -- '---\n{apiVersion: kubewatch.dev/v1, kind: Result, patches: [{apiVersion: v1, kind: Secret, name: s, patch: {data: {}}}]}\n'
)x");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "invalid-output") > 0; }));
  CHECK_FALSE(w.get("ConfigMap", "a-page").has_value());
}

E2E_CASE("a patch of a Secret that is refused does not tell what is in the Secret") {
  World w;
  w.apply(kWebsiteCrd);
  w.apply(
      "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: '@NS@'}, "
      "data: {p: aHVudGVyMi1sb25n}}");
  w.rules(website_rule(std::string("\n  writes: [{apiVersion: v1, kind: Secret}]\n") + kReconcile));
  // The server quotes the whole object when it reads that.
  w.script("reconcile.sh", R"x(
printf '{apiVersion: kubewatch.dev/v1, kind: Result, patches: [{apiVersion: v1, kind: Secret, name: s, patch: {metadata: {nam: x}}}]}\n'
)x");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "write-failed") > 0; }));
  const std::string message = w.runs().back().message;
  INFO(message);
  CHECK(message.find("patching Secret " + w.ns() + "/s") != std::string::npos);
  CHECK(message.find("aHVudGVy") == std::string::npos);
  CHECK(message.find("hunter2") == std::string::npos);
}

E2E_CASE("metrics of a Result are served with their controller") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(kReconcile));
  w.script("reconcile.sh", R"x(
printf '{apiVersion: kubewatch.dev/v1, kind: Result, metrics: [{name: sites_built, type: counter, value: 2, labels: {site: %s}}]}\n' "$KW_NAME"
)x");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "done") > 0; }));
  w.settle();
  const std::string text = w.metrics();
  INFO(text);
  CHECK(text.find("sites_built{controller=\"" + w.ns() + "\",site=\"a\"} 2\n") !=
        std::string::npos);
  CHECK(text.find("kubewatch_runs_total{controller=\"" + w.ns() + "\",outcome=\"done\"} 1\n") !=
        std::string::npos);
  CHECK(text.find("kubewatch_ready 1\n") != std::string::npos);
}

E2E_CASE("what each run used is served: CPU seconds and memory") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(kReconcile));
  w.script("reconcile.sh", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done\n");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "done") > 0; }));
  w.settle();
  const std::string text = w.metrics();
  INFO(text);
  const auto value = [&](const std::string& name) {
    const std::string begin = name + "{controller=\"" + w.ns() + "\"} ";
    const auto at = text.find(begin);
    return at == std::string::npos ? -1.0 : std::strtod(text.c_str() + at + begin.size(), nullptr);
  };
  const auto runs = static_cast<double>(w.runs().size());
  CHECK(value("kubewatch_run_cpu_seconds_count") == runs);
  CHECK(value("kubewatch_run_cpu_seconds_sum") > 0.001);
  // Less than this process, from which the kernel began to count.
  CHECK(value("kubewatch_run_max_rss_bytes_count") == -1.0);
}

E2E_CASE("a retry sends only what failed") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile +
                       "\n  retry: {initial: 200ms, max: 200ms}\n"));
  w.script("reconcile.sh", std::string(kPrintConfigMap) + R"x(
printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a-other}, data: {title: "%s"}}\n' "$TITLE"
)x");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-other").has_value(); }));
  w.settle();
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a-other, namespace: '@NS@'}, data: "
      "{title: taken}}",
      "intruder");
  // Once its failure is told on the object, nothing but the retries writes.
  REQUIRE(w.eventually([&] { return w.runs_of("a", "write-failed") >= 2; }));
  const auto applied = [&](const std::string& result) {
    const std::string begin = "kubewatch_writes_total{result=\"" + result + "\",verb=\"apply\"} ";
    const std::string text = w.metrics();
    const auto at = text.find(begin);
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + begin.size());
  };
  const int well = applied("ok");
  const int refused = applied("conflict");
  REQUIRE(w.eventually([&] { return applied("conflict") >= refused + 2; }));
  CHECK(applied("ok") == well);
}

E2E_CASE("a conflict becomes a condition and an Event that name the manager and the path") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(
      website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  retry: {initial: 200ms}\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "done") > 0; }));
  w.settle();
  w.stop();
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a-page, namespace: '@NS@'}, data: "
      "{title: taken}}",
      "intruder");
  w.apply(website("a", "two"));
  w.start();
  REQUIRE(w.eventually([&] { return condition_of(w, "a")["reason"] == "ApplyConflict"; }));
  const std::string message = condition_of(w, "a")["message"];
  INFO(message);
  CHECK(message.find("intruder") != std::string::npos);
  CHECK(message.find(".data.title") != std::string::npos);
  CHECK(w.eventually([&] { return has_event(w, "a", "ApplyConflict", "intruder"); }));
}

E2E_CASE("apply.force by path takes over what it names and nothing else") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile +
                       "\n  apply: {force: [.data.title]}\n  retry: {initial: 5m}\n"));
  w.script("reconcile.sh", R"x(
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: a-page}, data: {title: "%s", other: "%s"}}\n' "$TITLE" "${TITLE%%-*}"
)x");
  w.apply(website("a", "one-1"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "done") > 0; }));
  w.settle();
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a-page, namespace: '@NS@'}, data: "
      "{title: taken}}",
      "intruder");
  w.apply(website("a", "one-2"));
  REQUIRE(
      w.eventually([&] { return (*w.get("ConfigMap", "a-page"))["data"]["title"] == "one-2"; }));
  w.settle();
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a-page, namespace: '@NS@'}, data: "
      "{other: taken}}",
      "intruder");
  w.apply(website("a", "two-1"));
  REQUIRE(w.eventually([&] { return w.runs_of("a", "write-failed") > 0; }));
  CHECK((*w.get("ConfigMap", "a-page"))["data"]["other"] == "taken");
}

E2E_CASE("onImmutable: recreate deletes a child that cannot be changed and makes it anew") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile +
                       "\n  apply: {onImmutable: recreate}\n"));
  w.script("reconcile.sh", R"x(
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: a-page}, immutable: true, data: {title: "%s"}}\n' "$TITLE"
)x");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  w.settle();
  const Json before = *w.get("ConfigMap", "a-page");
  w.apply(website("a", "two"));
  REQUIRE(w.eventually([&] {
    const auto now = w.get("ConfigMap", "a-page");
    return now && (*now)["data"]["title"] == "two";
  }));
  CHECK((*w.get("ConfigMap", "a-page"))["metadata"]["uid"] != before["metadata"]["uid"]);
}

E2E_CASE("a binding of another role is a new one where the rule recreates what cannot be changed") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(
      website_rule(std::string("  owns:\n    - {apiVersion: rbac.authorization.k8s.io/v1, kind: "
                               "RoleBinding}\n") +
                   kReconcile + "\n  apply: {onImmutable: recreate}\n"));
  w.script("reconcile.sh", R"x(
cat <<END
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "$TITLE"}
END
)x");
  w.apply(website("a", "one"));
  w.start();
  const auto is_of = [&](const std::string& role) {
    const auto now = w.get("RoleBinding", "a");
    return now && (*now)["roleRef"]["name"] == role;
  };
  REQUIRE(w.eventually([&] { return is_of("one"); }));
  w.settle();
  const Json before = *w.get("RoleBinding", "a");
  w.apply(website("a", "two"));
  REQUIRE(w.eventually([&] { return is_of("two"); }));
  CHECK((*w.get("RoleBinding", "a"))["metadata"]["uid"] != before["metadata"]["uid"]);
}

E2E_CASE("a manifest that the schema refuses is invalid output, and nothing is written") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", R"x(
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: good}, data: {a: b}}\n---\n'
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, data: {a: [1]}}\n'
)x");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "invalid-output") > 0; }));
  INFO(w.runs().back().message);
  CHECK(w.runs().back().message.find("ConfigMap") != std::string::npos);
  CHECK_FALSE(w.get("ConfigMap", "good").has_value());
}

E2E_CASE("validate: server writes nothing unless the server would take all of it") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile +
                       "\n  apply: {validate: server, adopt: unowned}\n"));
  w.script("reconcile.sh", R"x(
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: good}, data: {a: b}}\n---\n'
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: b}}\n---\n' "$TITLE"
printf '{apiVersion: kubewatch.dev/v1, kind: Result, create: [{apiVersion: v1, kind: ConfigMap, metadata: {name: once}, data: {title: "%s"}, immutable: true}]}\n' "$TITLE"
)x");
  // Which nothing but the server knows.
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: stone, namespace: '@NS@'}, data: {k: v}, "
      "immutable: true}");
  w.apply(website("a", "stone"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "write-failed") > 0; }));
  INFO(w.runs().back().message);
  CHECK(w.runs().back().message.find("dry run of") != std::string::npos);
  CHECK_FALSE(w.get("ConfigMap", "good").has_value());
  w.apply(website("a", "other"));
  CHECK(w.eventually([&] { return w.get("ConfigMap", "other") && w.get("ConfigMap", "good"); }));
  // What is created once is not tried again, though it could not be changed.
  w.apply(website("a", "third"));
  CHECK(w.eventually([&] { return w.get("ConfigMap", "third").has_value(); }));
  CHECK((*w.get("ConfigMap", "once"))["data"]["title"] == "other");
}

E2E_CASE("validate: server tries what lacks its namespace again before the rest is written") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(R"x(
  owns:
    - {apiVersion: v1, kind: ConfigMap}
  writes:
    - {apiVersion: v1, kind: Namespace}
    - {apiVersion: apps/v1, kind: Deployment, namespaces: ['@NS@-late']}
)x") + kReconcile + "\n  apply: {validate: server}\n"));
  // A selector that the template's labels do not have is refused once the namespace is there.
  w.script("reconcile.sh", R"x(
cat <<MANIFESTS
{apiVersion: v1, kind: Namespace, metadata: {name: $KW_NAMESPACE-late}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: good}, data: {a: b}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $KW_NAMESPACE-late}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: $TITLE}}
    spec: {containers: [{name: a, image: a}]}
MANIFESTS
)x");
  const std::string late = w.ns() + "-late";
  w.apply(website("a", "other"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "write-failed") > 0; }));
  INFO(w.runs().back().message);
  CHECK(w.runs().back().message.find("dry run of Deployment") != std::string::npos);
  CHECK(w.get("Namespace", late, "").has_value());
  CHECK_FALSE(w.get("ConfigMap", "good").has_value());
  w.apply(website("a", "web"));
  CHECK(
      w.eventually([&] { return w.get("Deployment", "web", late) && w.get("ConfigMap", "good"); }));
  w.stop();  // else it makes them anew
  w.remove("Deployment", "web", late);
  w.remove("Namespace", late, "");
}

namespace {

// Prints a ConfigMap, and the title as this field of the status.
std::string print_status(const std::string& field) {
  return R"x(
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: good}, data: {a: b}}\n---\n'
printf '{apiVersion: kubewatch.dev/v1, kind: Result, status: {)x" +
         field + R"x(: %s}}\n' "$TITLE"
)x";
}

bool has_status(World& w, const std::string& field, const Json& value) {
  const auto site = w.get("Website", "a");
  const Json* found = site ? base::find(*site, {"status", field}) : nullptr;
  return found != nullptr && *found == value;
}

}  // namespace

E2E_CASE("a status that the schema refuses is invalid output, and nothing is written") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", print_status("ready"));
  w.apply(website("a", "maybe"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "invalid-output") > 0; }));
  const std::string message = w.runs().back().message;
  INFO(message);
  CHECK(message.find("invalid output: ") != std::string::npos);
  CHECK(message.find("status.ready: ") != std::string::npos);
  CHECK(message.find("maybe") == std::string::npos);
  CHECK_FALSE(w.get("ConfigMap", "good").has_value());
  CHECK_FALSE(w.get("Website", "a")->contains("status"));
  w.apply(website("a", "'true'"));
  CHECK(w.eventually([&] { return w.get("ConfigMap", "good") && has_status(w, "ready", true); }));
}

// Half a generation is a number, and the schema says no more than that to an apply.
E2E_CASE("validate: server tries the status before the first child is written") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(
      website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  apply: {validate: server}\n"));
  w.script("reconcile.sh", print_status("observedGeneration"));
  w.apply(website("a", "'1.5'"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "write-failed") > 0; }));
  const std::string message = w.runs().back().message;
  INFO(message);
  CHECK(message.find("dry run of writing status of ") != std::string::npos);
  CHECK(message.find("status.observedGeneration") != std::string::npos);
  CHECK_FALSE(w.get("ConfigMap", "good").has_value());
  CHECK(w.eventually([&] { return condition_of(w, "a")["reason"] == "WriteFailed"; }));
  CHECK_FALSE(w.get("Website", "a")->at("status").contains("observedGeneration"));
  w.apply(website("a", "'2'"));
  CHECK(w.eventually(
      [&] { return w.get("ConfigMap", "good") && has_status(w, "observedGeneration", 2); }));
  CHECK(w.eventually([&] { return condition_of(w, "a")["status"] == "True"; }));
}

E2E_CASE("a misspelt field of a built-in kind is refused before anything is written") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"x(
  owns:
    - {apiVersion: v1, kind: ConfigMap}
    - {apiVersion: apps/v1, kind: Deployment}
)x" + std::string(kReconcile)));
  w.script("reconcile.sh", R"x(
cat <<MANIFESTS
{apiVersion: v1, kind: ConfigMap, metadata: {name: first}, data: {a: b}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: second}
spec:
  $TITLE: 0
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: a}]}
MANIFESTS
)x");
  w.apply(website("a", "replcas"));
  w.start();
  REQUIRE(w.eventually([&] { return w.runs_of("a", "write-failed") > 0; }));
  const auto& run = w.runs().back();
  INFO(run.message);
  CHECK(run.message.find("dry run of") != std::string::npos);
  CHECK(run.message.find(".spec.replcas") != std::string::npos);
  CHECK(run.created == 0);
  CHECK_FALSE(w.get("ConfigMap", "first").has_value());
  w.apply(website("a", "replicas"));
  CHECK(w.eventually([&] { return w.get("ConfigMap", "first") && w.get("Deployment", "second"); }));
}

E2E_CASE("an object that its own writes run again is slowed down and told with the paths") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", R"x(
echo x >> calls
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: a-page}, data: {time: "%s", same: x}}\n' "$(wc -l < calls)"
)x");
  w.apply(website("a", "one"));
  w.start();
  CHECK(w.eventually([&] { return has_event(w, "a", "ReconcileLoop", "data.time"); }));
  const std::size_t runs = w.runs_of("a");
  CHECK(w.holds_for([&] { return w.runs_of("a") <= runs + 2; }, Duration{3000}));
}

E2E_CASE("a run that writes what its rule watches, or a status that wakes it, is slowed down") {
  const std::string watches = R"x(
  writes: [{apiVersion: v1, kind: ConfigMap}]
  watches: [{name: pages, apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@'], map: all}]
)x";
  const std::string print = R"x(
echo x >> calls
n=$(wc -l < calls)
)x";
  const std::string child =
      "printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: a-page}, data: {time: "
      "\"%s\"}}\n' "
      "\"$n\"\n";
  const std::string status =
      "printf '{apiVersion: kubewatch.dev/v1, kind: Result, status: {title: \"%s\"}}\n' \"$n\"\n";
  for (const auto& [rule, hook] :
       {std::pair(watches, print + child),
        std::pair(std::string("\n  changed: [.spec, .status]\n"), print + status)}) {
    INFO(rule);
    World w;
    w.apply(kWebsiteCrd);
    w.rules(website_rule(rule + kReconcile));
    w.script("reconcile.sh", hook);
    w.apply(website("a", "one"));
    w.start();
    CHECK(w.eventually([&] { return has_event(w, "a", "ReconcileLoop", ""); }));
    const std::size_t runs = w.runs_of("a");
    CHECK(w.holds_for([&] { return w.runs_of("a") <= runs + 2; }, Duration{3000}));
  }
}

namespace {

// Its runs patch a ConfigMap that the rule watches.
std::string patching_rule() {
  return website_rule(std::string(R"x(
  writes: [{apiVersion: v1, kind: ConfigMap}]
  watches:
    - {name: shared, apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@'], labelSelector: shared, map: all}
)x") + kReconcile);
}

const char* const kShared =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: shared, namespace: '@NS@', labels: "
    "{shared: x}}}";

}  // namespace

E2E_CASE("runs that patch what their rule watches are slowed down and told with the paths") {
  for (const bool two : {false, true}) {
    INFO((two ? "two objects" : "one object"));
    World w;
    w.apply(kWebsiteCrd);
    w.rules(patching_rule());
    // Two patches of it in one run. No two runs may print the same, or the later one changes
    // nothing and has not looped: they run side by side.
    w.script("reconcile.sh", R"x(
cat <<END
apiVersion: kubewatch.dev/v1
kind: Result
patches:
- {apiVersion: v1, kind: ConfigMap, name: shared, type: merge, patch: {data: {time: "run $$"}}}
- {apiVersion: v1, kind: ConfigMap, name: shared, type: merge, patch: {data: {last: "run $$"}}}
END
)x");
    w.apply(kShared);
    w.apply(website("a", "one"));
    if (two) w.apply(website("b", "one"));
    w.start();
    CHECK(w.eventually([&] { return has_event(w, "a", "ReconcileLoop", "data.time"); }));
    CHECK(has_event(w, "a", "ReconcileLoop", "patch of ConfigMap"));
    if (two) CHECK(w.eventually([&] { return has_event(w, "b", "ReconcileLoop", ""); }));
    const std::size_t runs = w.runs().size();
    CHECK(w.holds_for([&] { return w.runs().size() <= runs + 6; }, Duration{3000}));
  }
}

E2E_CASE("many changes of what its runs patch are no loop, and each is answered") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(patching_rule());
  w.script("reconcile.sh", R"x(
sleep 0.05
in=$(jq -r '.related.shared[0].data.in // empty' "$KW_INPUT")
printf '{apiVersion: kubewatch.dev/v1, kind: Result, patches: [{apiVersion: v1, kind: ConfigMap, name: shared, type: merge, patch: {data: {out: "%s"}}}]}\n' "$in"
)x");
  w.apply(kShared);
  w.apply(website("a", "one"));
  w.start();
  // Faster than the runs: each has a change by others and the event of the patch before it.
  for (int i = 1; i <= 200; ++i) {
    w.merge("ConfigMap", "shared", "{data: {in: '" + std::to_string(i) + "'}}");
  }
  CHECK(w.eventually([&] {
    return base::string_at(*w.get("ConfigMap", "shared"), {"data", "out"}) == "200";
  }));
  w.settle();
  CHECK_FALSE(has_event(w, "a", "ReconcileLoop", ""));
}

E2E_CASE("a hook that gives up is heard though the server refuses the status that it printed") {
  for (const char* const status : {"{bogus: x}", "{title: [not, a, text]}"}) {
    INFO(status);
    World w;
    w.apply(kWebsiteCrd);
    w.rules(website_rule(kReconcile));
    w.script("reconcile.sh", std::string("cat <<END\nkind: Result\napiVersion: "
                                         "kubewatch.dev/v1\nmessage: gave up\nstatus: ") +
                                 status +
                                 "\nconditions: [{type: Ready, status: 'False', reason: Broken, "
                                 "message: ''}]\nevents: [{type: Warning, reason: GaveUp, note: "
                                 "told}]\nEND\nexit 65\n");
    w.apply(website("a", "one"));
    w.start();
    REQUIRE(w.eventually([&] { return condition_of(w, "a")["reason"] == "HookFailed"; }));
    const std::string message = condition_of(w, "a")["message"];
    INFO(message);
    CHECK(message.find("gave up") != std::string::npos);
    CHECK(message.find("status of Website") != std::string::npos);
    CHECK(w.eventually([&] { return has_event(w, "a", "GaveUp", "told"); }));
    const auto live = w.get("Website", "a");
    CHECK(live->dump().find("Broken") != std::string::npos);
    CHECK(w.holds_for([&] { return w.runs_of("a") == 1; }, Duration{3000}));
    CHECK(w.runs().back().outcome == "permanent");
  }
}

E2E_CASE("a rule that is done does not take back what another one says has failed") {
  World w;
  w.apply(kWebsiteCrd);
  const auto rule = [](const std::string& name, const std::string& script) {
    return "---\napiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: '@NS@-" + name +
           "'}\nspec:\n  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaces: "
           "['@NS@']}\n  reconcile: {shell: '" +
           script + "'}\n";
  };
  const std::string result =
      R"(echo "{apiVersion: kubewatch.dev/v1, kind: Result, message: said so}"; )";
  w.rules(rule("strict", result + R"x(test "$(cat state)" = good || exit 65)x") +
          rule("easy", result + "echo easy >> easy-runs"));
  w.file("state", "bad\n");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return condition_of(w, "a")["reason"] == "HookFailed"; }));
  // Both run: one gives up again, the other is done again.
  const auto easy_runs = [&] { return w.read("easy-runs").size(); };
  const auto before = easy_runs();
  w.merge("Website", "a", "{spec: {title: two}}");
  REQUIRE(w.eventually([&] { return easy_runs() > before; }));
  w.settle();
  CHECK(condition_of(w, "a")["status"] == "False");
  CHECK(condition_of(w, "a")["reason"] == "HookFailed");
  w.file("state", "good\n");
  w.merge("Website", "a", "{spec: {title: three}}");
  CHECK(w.eventually([&] { return condition_of(w, "a")["status"] == "True"; }));
}

E2E_CASE("of two rules that fail the newer failure is shown, and its rule takes it back") {
  World w;
  w.apply(kWebsiteCrd);
  const auto rule = [](const std::string& name, const std::string& changed) {
    return "---\napiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: '@NS@-" + name +
           "'}\nspec:\n  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaces: "
           "['@NS@']}\n  changed: [" +
           changed +
           "]\n  reconcile:\n    shell: |\n"
           "      echo '{apiVersion: kubewatch.dev/v1, kind: Result, message: of-" +
           name + "}'\n      echo >> " + name + "-runs; test \"$(cat " + name +
           ")\" = good || exit 65\n";
  };
  const auto shows = [&](const std::string& name) {
    const Json condition = condition_of(w, "a");
    return base::string_at(condition, {"status"}) == "False" &&
           base::string_at(condition, {"message"}).find("of-" + name) != std::string::npos;
  };
  w.rules(rule("older", ".spec") + rule("newer", ".metadata.labels"));
  w.file("older", "bad\n");
  w.file("newer", "good\n");
  w.apply(website("a", "one"));
  w.start();
  REQUIRE(w.eventually([&] { return shows("older"); }));
  w.settle();
  w.file("newer", "bad\n");
  w.merge("Website", "a", "{metadata: {labels: {step: two}}}");
  REQUIRE(w.eventually([&] { return shows("newer"); }));
  w.file("older", "good\n");
  const std::size_t before = w.lines("older-runs");
  w.merge("Website", "a", "{spec: {title: two}}");
  REQUIRE(w.eventually([&] { return w.lines("older-runs") > before; }));
  w.settle();
  CHECK(shows("newer"));
  w.file("newer", "good\n");
  w.merge("Website", "a", "{metadata: {labels: {step: three}}}");
  CHECK(w.eventually([&] { return condition_of(w, "a")["status"] == "True"; }));
}

E2E_CASE("many changes by others are no loop, though each is answered in the status") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string("\n  changed: [.spec, .status]\n") + kReconcile));
  w.script("reconcile.sh", R"x(
printf '{apiVersion: kubewatch.dev/v1, kind: Result, status: {title: "%s"}}\n' "$TITLE"
)x");
  w.apply(website("a", "'0'"));
  w.start();
  for (int i = 1; i <= 20; ++i) {
    w.merge("Website", "a", "{spec: {title: '" + std::to_string(i) + "'}}");
    REQUIRE(w.eventually([&] {
      return base::string_at(*w.get("Website", "a"), {"status", "title"}) == std::to_string(i);
    }));
  }
  w.settle();
  CHECK_FALSE(has_event(w, "a", "ReconcileLoop", ""));
}

}  // namespace kubewatch::e2e
