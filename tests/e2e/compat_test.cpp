// Hooks of shell-operator, run unchanged. Those in tests/compat/hooks were written from its public
// documentation alone; their README says what must come of them, and these cases follow its steps.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "compat/engine.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

namespace fs = std::filesystem;

// The engine on a folder of hooks, and what it says.
class Hooks {
 public:
  explicit Hooks(World& w) : w_(w) { fs::create_directories(folder() + "/lib"); }
  ~Hooks() {
    engine.reset();
    base::capture_log(nullptr);
  }
  std::string folder() const { return w_.folder() + "/hooks"; }
  void provided(const std::string& name) const {
    fs::copy_file(std::string(COMPAT_HOOKS) + "/" + name, folder() + "/" + name);
  }
  // A shell script that prints `config` for --config and else runs `body`.
  void hook(const std::string& name, const std::string& config, const std::string& body) const {
    w_.script("hooks/" + name, "if [ \"${1:-}\" = --config ]; then cat <<'END'\n" + config +
                                   "\nEND\nexit 0; fi\n" + body + "\n");
  }
  void start() {
    compat::EngineOptions options;
    options.folder = folder();
    options.retry = {Duration{100}, Duration{200}, 1.5, 0.0};
    compat::EngineCallbacks callbacks;
    callbacks.on_run = [this](const hooks::RunRecord& run) { runs.push_back(run); };
    base::capture_log(&log);
    engine.emplace(w_.loop(), w_.client(), std::move(options), std::move(callbacks));
    const auto started = engine->start();
    INFO((started.ok() ? "" : started.error().render()));
    REQUIRE(started.ok());
  }
  void stop() {
    bool done = false;
    engine->shut_down([&] { done = true; });
    REQUIRE(w_.eventually([&] { return done; }));
    engine.reset();
  }
  std::size_t says(const std::string& text) const {
    return static_cast<std::size_t>(std::count_if(
        log.begin(), log.end(),
        [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }
  std::size_t failed() const {
    return static_cast<std::size_t>(std::count_if(
        runs.begin(), runs.end(), [](const auto& run) { return run.outcome != "done"; }));
  }
  // Everything is done, and stays so for a while.
  void settle(Duration quiet = Duration{300}) {
    const auto is_quiet = [&] {
      const std::size_t before = runs.size();
      return w_.holds_for([&] { return engine->status().idle && runs.size() == before; }, quiet);
    };
    REQUIRE(w_.eventually(is_quiet));
  }

  std::vector<std::string> log;
  std::vector<hooks::RunRecord> runs;
  std::optional<compat::Engine> engine;

 private:
  World& w_;
};

// The decoded value of one key; "" when there is none.
std::string secret_value(World& w, const std::string& place, const std::string& name,
                         const std::string& key) {
  const auto secret = w.get("Secret", name, place);
  if (!secret) return "";
  return base::base64_decode(base::string_at(*secret, {"data", key})).value();
}

std::string version_of(World& w, const std::string& kind, const std::string& name,
                       const std::string& place) {
  const auto object = w.get(kind, name, place);
  return object ? base::string_at(*object, {"metadata", "resourceVersion"}) : "";
}

std::string uid_of(World& w, const std::string& kind, const std::string& name,
                   const std::string& place) {
  const auto object = w.get(kind, name, place);
  return object ? base::string_at(*object, {"metadata", "uid"}) : "";
}

// data.KEY of a ConfigMap.
std::string data_of(World& w, const std::string& name, const std::string& key,
                    const std::string& place) {
  const auto object = w.get("ConfigMap", name, place);
  return object ? base::string_at(*object, {"data", key}) : "";
}

const char* const kTeams = R"(
apiVersion: v1
kind: Namespace
metadata: {name: team-a, labels: {copy-secrets: "yes"}}
---
apiVersion: v1
kind: Namespace
metadata: {name: team-b, labels: {copy-secrets: "yes"}}
---
apiVersion: v1
kind: Namespace
metadata: {name: team-c}
---
apiVersion: v1
kind: Secret
metadata: {name: db-pass, namespace: default, labels: {secret-copier: "yes"}}
stringData: {user: alice, password: s3cret}
---
apiVersion: v1
kind: Secret
metadata: {name: api-key, namespace: default, labels: {secret-copier: "yes"}}
stringData: {key: k1}
---
apiVersion: v1
kind: Secret
metadata: {name: private, namespace: default}
stringData: {p: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: stray, namespace: team-a, labels: {secret-copier: "yes"}}
stringData: {s: "1"}
---
apiVersion: v1
kind: Secret
metadata:
  name: db-pass
  namespace: team-c
  labels: {secret-copier-managed: "yes"}
  annotations: {secret-copier/source: default/db-pass}
stringData: {user: old}
)";

}  // namespace

E2E_CASE("compat: the secret copier copies, restores and removes") {
  World w;
  Hooks hooks(w);
  hooks.provided("10-secret-copier.sh");
  w.apply(kTeams);
  const auto soon = [&](const std::function<bool()>& holds) {
    const bool came = w.eventually(holds);
    INFO(base::join(hooks.log, "\n"));
    REQUIRE(came);
    hooks.settle();
  };
  const std::string stray = version_of(w, "Secret", "stray", "team-a");
  hooks.start();
  // A1
  soon([&] {
    return secret_value(w, "team-a", "db-pass", "password") == "s3cret" &&
           secret_value(w, "team-b", "api-key", "key") == "k1" &&
           !w.get("Secret", "db-pass", "team-c");
  });
  CHECK(secret_value(w, "team-b", "db-pass", "user") == "alice");
  CHECK_FALSE(w.get("Secret", "private", "team-a"));
  CHECK_FALSE(w.get("Secret", "stray", "team-b"));
  CHECK(hooks.says("Synchronization source-secrets 2 object(s)") == 1);
  CHECK(hooks.says("Synchronization target-namespaces 2 object(s)") == 1);
  CHECK(hooks.says("Synchronization copies") == 0);
  CHECK(hooks.says("Event Added") == 0);
  // A2, A3
  const std::string key = version_of(w, "Secret", "api-key", "team-a");
  const std::string uid = uid_of(w, "Secret", "db-pass", "team-a");
  w.merge("Secret", "db-pass", "{stringData: {password: new}}", "default");
  soon([&] { return secret_value(w, "team-a", "db-pass", "password") == "new"; });
  CHECK(version_of(w, "Secret", "api-key", "team-a") == key);
  CHECK(uid_of(w, "Secret", "db-pass", "team-a") == uid);
  w.merge("Secret", "db-pass", "{data: {user: null}}", "default");
  soon([&] {
    const auto copy = w.get("Secret", "db-pass", "team-b");
    return copy && (*copy)["data"].size() == 1;
  });
  // A4; what the copies of A3 bring back may come late.
  hooks.settle(Duration{2000});
  const std::size_t runs = hooks.runs.size();
  w.merge("Secret", "db-pass", "{metadata: {annotations: {note: x}}}", "default");
  w.merge("Namespace", "team-a", "{metadata: {annotations: {note: x}}}", "");
  w.holds_for([] { return true; }, Duration{700});
  CHECK(hooks.runs.size() == runs);
  // A5, A6
  w.merge("Namespace", "team-c", "{metadata: {labels: {copy-secrets: 'yes'}}}", "");
  soon([&] { return secret_value(w, "team-c", "db-pass", "password") == "new"; });
  CHECK(hooks.says("Event Added target-namespaces team-c") == 1);
  w.merge("Namespace", "team-a", "{metadata: {labels: {copy-secrets: null}}}", "");
  soon([&] {
    return !w.get("Secret", "db-pass", "team-a") && !w.get("Secret", "api-key", "team-a");
  });
  CHECK(hooks.says("Event Deleted target-namespaces team-a") == 1);
  CHECK(version_of(w, "Secret", "stray", "team-a") == stray);
  // A7, A8
  w.merge("Secret", "api-key", "{metadata: {labels: {secret-copier: null}}}", "default");
  soon([&] {
    return !w.get("Secret", "api-key", "team-b") && !w.get("Secret", "api-key", "team-c");
  });
  CHECK(w.get("Secret", "api-key", "default"));
  w.merge("Secret", "private", "{metadata: {labels: {secret-copier: 'yes'}}}", "default");
  soon([&] { return secret_value(w, "team-c", "private", "p") == "1"; });
  // A9, A10, A11
  const std::string old = uid_of(w, "Secret", "db-pass", "team-b");
  w.remove("Secret", "db-pass", "team-b");
  soon([&] {
    const std::string now = uid_of(w, "Secret", "db-pass", "team-b");
    return !now.empty() && now != old;
  });
  CHECK(hooks.says("Event Deleted copies team-b/db-pass") >= 1);
  w.merge("Secret", "db-pass", "{stringData: {password: hacked, extra: '1'}}", "team-b");
  soon([&] { return secret_value(w, "team-b", "db-pass", "password") == "new"; });
  CHECK(secret_value(w, "team-b", "db-pass", "extra").empty());
  const std::string before = uid_of(w, "Secret", "db-pass", "team-b");
  w.merge("Secret", "db-pass", "{metadata: {labels: {secret-copier-managed: null}}}", "team-b");
  soon([&] { return w.list("Secret", "secret-copier-managed=yes", "team-b").size() == 2; });
  CHECK(uid_of(w, "Secret", "db-pass", "team-b") == before);
  // A12, A13
  w.remove("Secret", "private", "default");
  w.create(
      "{apiVersion: v1, kind: Secret, metadata: {name: private, namespace: default, labels: "
      "{secret-copier: 'yes'}}, type: example.com/token, stringData: {p: '2'}}");
  soon([&] {
    return secret_value(w, "team-b", "private", "p") == "2" &&
           secret_value(w, "team-c", "private", "p") == "2";
  });
  CHECK(base::string_at(*w.get("Secret", "private", "team-c"), {"type"}) == "example.com/token");
  std::string burst;
  for (int i = 10; i < 30; ++i) {
    const std::string n = std::to_string(i);
    burst += "---\n{apiVersion: v1, kind: Secret, metadata: {name: burst-" + n +
             ", namespace: default, labels: {secret-copier: 'yes'}}, stringData: {number: '" + n +
             "'}}\n";
  }
  w.apply(burst);
  soon([&] {
    return w.list("Secret", "secret-copier-managed=yes", "team-b").size() == 22 &&
           w.list("Secret", "secret-copier-managed=yes", "team-c").size() == 22;
  });
  CHECK(secret_value(w, "team-b", "burst-17", "number") == "17");
  CHECK(hooks.says("Event Added source-secrets default/burst-") == 20);
  for (int i = 10; i < 30; ++i) w.remove("Secret", "burst-" + std::to_string(i), "default");
  soon([&] { return w.list("Secret", "secret-copier-managed=yes", "team-b").size() == 2; });
  // A14
  hooks.stop();
  w.remove("Secret", "db-pass", "default");
  const std::string kept = version_of(w, "Secret", "private", "team-c");
  hooks.start();
  soon([&] {
    return !w.get("Secret", "db-pass", "team-b") && !w.get("Secret", "db-pass", "team-c");
  });
  CHECK(version_of(w, "Secret", "private", "team-c") == kept);
  CHECK(hooks.failed() == 0);
  CHECK(hooks.says("bad input") == 0);
  CHECK(hooks.says("s3cret") == 0);
  for (const char* name : {"api-key", "private"}) w.remove("Secret", name, "default");
}

E2E_CASE("compat: the config report counts contexts and patches its summary") {
  World w;
  Hooks hooks(w);
  hooks.provided("20-config-report.sh");
  const std::string ns = "report-demo";
  // The hook names this namespace: on a server that is used again they are from the run before.
  for (const char* left : {"alpha", "beta", "void", "gamma", "config-report"}) {
    w.try_remove("ConfigMap", left, ns);
  }
  w.apply(R"(
{apiVersion: v1, kind: Namespace, metadata: {name: report-demo}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: alpha, namespace: report-demo}, data: {a: "1", b: "2"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: beta, namespace: report-demo}, data: {x: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: void, namespace: report-demo}}
)");
  const auto has = [&](const std::string& line) {
    const auto text = hooks.engine->metrics_text(hooks.engine->facts(), true);
    return text.find(line) != std::string::npos;
  };
  const auto contexts = [&](const std::string& source, const std::string& what, int count) {
    return has("config_report_contexts_total{hook=\"20-config-report.sh\",source=\"" + source +
               "\",what=\"" + what + "\"} " + std::to_string(count) + "\n");
  };
  const auto keys = [&](const std::string& name) {
    return "config_report_keys{configmap=\"" + name +
           "\",hook=\"20-config-report.sh\",target=\"report-demo\"}";
  };
  const auto soon = [&](const std::function<bool()>& holds) {
    const bool came = w.eventually(holds);
    INFO(base::join(hooks.log, "\n"));
    REQUIRE(came);
    hooks.settle();
  };
  hooks.start();
  // B1
  soon([&] { return contexts("configs", "Synchronization", 1); });
  CHECK(contexts("onStartup", "Startup", 1));
  CHECK(has(keys("alpha") + " 2"));
  CHECK(has(keys("void") + " 0"));
  CHECK_FALSE(has("kube-root-ca.crt"));
  CHECK_FALSE(w.get("ConfigMap", "config-report", ns));
  // B2, B3
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: config-report, namespace: "
      "report-demo}, data: {note: keep, count: stale}}");
  w.merge("ConfigMap", "alpha", "{metadata: {annotations: {x: '1'}}}", ns);
  w.merge("ConfigMap", "alpha", "{binaryData: {bin: AA==}}", ns);
  w.holds_for([] { return true; }, Duration{700});
  CHECK_FALSE(contexts("configs", "Modified", 1));
  CHECK(data_of(w, "config-report", "count", ns) == "stale");
  // B4, B5
  w.merge("ConfigMap", "alpha", "{data: {c: '3'}}", ns);
  soon([&] { return contexts("configs", "Modified", 1); });
  CHECK(data_of(w, "config-report", "count", ns) == "3");
  CHECK(data_of(w, "config-report", "keys", ns) == "4");
  CHECK(data_of(w, "config-report", "names", ns) == "alpha,beta,void");
  CHECK(data_of(w, "config-report", "note", ns) == "keep");
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: gamma, namespace: report-demo}, "
      "data: {g: '1'}}");
  soon([&] { return contexts("configs", "Added", 1); });
  CHECK(has(keys("gamma") + " 1"));
  // B6, B8
  w.remove("ConfigMap", "beta", ns);
  soon([&] { return contexts("configs", "Deleted", 1); });
  CHECK_FALSE(has(keys("beta")));
  CHECK(contexts("configs", "Added", 1));
  CHECK(data_of(w, "config-report", "names", ns) == "alpha,gamma,void");
  w.merge("ConfigMap", "alpha", "{data: null}", ns);
  soon([&] { return contexts("configs", "Modified", 2); });
  CHECK(data_of(w, "config-report", "empty", ns) == "2");
  // B10
  hooks.stop();
  w.merge("ConfigMap", "config-report", "{data: {count: '999'}}", ns);
  hooks.start();
  soon([&] { return contexts("configs", "Synchronization", 1); });
  CHECK(data_of(w, "config-report", "count", ns) == "3");
  CHECK_FALSE(has("Modified"));
  CHECK(hooks.failed() == 0);
}

E2E_CASE("compat: the janitor sweeps every two seconds by its snapshots") {
  World w;
  Hooks hooks(w);
  // Beside the others, each in a queue of its own.
  for (const char* name : {"10-secret-copier.sh", "20-config-report.sh", "30-janitor.py"}) {
    hooks.provided(name);
  }
  const std::string ns = "janitor-demo";
  const auto config_map = [&](const std::string& name, const std::string& label,
                              const std::string& annotation) {
    w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name +
            ", namespace: janitor-demo, labels: {" + label + "}, annotations: {" + annotation +
            "}}, data: {k: v}}");
  };
  w.apply("{apiVersion: v1, kind: Namespace, metadata: {name: janitor-demo}}");
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: janitor-ledger, namespace: "
      "janitor-demo}, data: {opened: 'yes'}}");
  config_map("short-1", "ttl: short", "janitor/max-age: 1s");
  config_map("long-1", "ttl: short", "janitor/max-age: 1h");
  config_map("unmarked", "", "janitor/max-age: 1s");
  config_map("wrong", "ttl: short", "janitor/max-age: soon");
  const std::string uid = uid_of(w, "ConfigMap", "short-1", ns);
  const std::string unmarked = version_of(w, "ConfigMap", "unmarked", ns);
  const auto soon = [&](const std::function<bool()>& holds) {
    const bool came = w.eventually(holds);
    INFO(base::join(hooks.log, "\n"));
    REQUIRE(came);
  };
  hooks.start();
  // C1
  soon([&] { return !w.get("ConfigMap", "short-1", ns); });
  soon([&] { return data_of(w, "janitor-ledger", "configmap.short-1", ns) == uid; });
  soon([&] {
    const auto wrong = w.get("ConfigMap", "wrong", ns);
    return base::string_at(*wrong, {"metadata", "annotations", "janitor/problem"}) ==
           "janitor/max-age is not a duration";
  });
  CHECK(version_of(w, "ConfigMap", "unmarked", ns) == unmarked);
  CHECK(w.get("ConfigMap", "long-1", ns));
  // C4, C5
  w.merge("ConfigMap", "wrong", "{metadata: {annotations: {janitor/max-age: 1s}}}", ns);
  w.merge("ConfigMap", "unmarked", "{metadata: {labels: {ttl: short}}}", ns);
  soon([&] { return !w.get("ConfigMap", "wrong", ns) && !w.get("ConfigMap", "unmarked", ns); });
  CHECK(w.get("ConfigMap", "long-1", ns));
  CHECK(hooks.says("unexpected context") == 0);
  CHECK(hooks.says("config-report: starting") == 1);
  CHECK(hooks.says("Synchronization source-secrets") == 1);
}

E2E_CASE("compat: a wrong hook is named, the others run, onStartup in order") {
  World w;
  Hooks hooks(w);
  const auto startup = [&](const std::string& name, const std::string& order) {
    hooks.hook(name, "{\"configVersion\": \"v1\", \"onStartup\": " + order + "}",
               "echo " + name + " >> " + w.folder() + "/order\npwd >> " + w.folder() +
                   "/where\ntest ! -s \"$METRICS_PATH\"\ntest -f \"$KUBERNETES_PATCH_PATH\"\n"
                   "test $# -eq 0");
  };
  startup("a.sh", "20");
  startup("b.sh", "10");
  startup("c.sh", "20");
  hooks.hook("wrong.sh", "configVersion: v1\nkubernetes: [{kind: Pod, knd: x}]", "true");
  hooks.hook("webhook.sh", "configVersion: v1\nkubernetesValidating: [{name: a.b.c}]", "true");
  hooks.hook("lib/functions.sh", "none", "exit 1");
  hooks.hook("waits.sh", "configVersion: v1\nkubernetes: [{kind: NoSuchKind}]", "exit 1");
  hooks.start();
  REQUIRE(w.eventually([&] { return w.lines("order") == 3; }));
  hooks.settle();
  CHECK(w.read("order") == "b.sh\na.sh\nc.sh\n");
  CHECK(w.read("where").find(hooks.folder()) == 0);
  CHECK(hooks.says("kubernetes[0].knd: unknown field") == 1);
  CHECK(hooks.says("kubernetesValidating: not supported") == 1);
  CHECK(hooks.says("functions.sh") == 0);
  CHECK(hooks.says("the server has no kind NoSuchKind") >= 1);
  CHECK(hooks.engine->status().waiting_rules == 3);
  CHECK(hooks.failed() == 0);
}

E2E_CASE("compat: each operation of a patch file does what it says") {
  World w;
  Hooks hooks(w);
  w.apply(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: there, namespace: "@NS@"}, data: {a: "1", b: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: "@NS@"}, data: {a: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: edited, namespace: "@NS@"}, data: {count: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: gone, namespace: "@NS@"}}
)");
  hooks.hook("hook.sh", "{configVersion: v1, onStartup: 1}", w.expand(R"(
cat > $KUBERNETES_PATCH_PATH <<'END'
operation: Create
object: {apiVersion: v1, kind: ConfigMap, metadata: {name: made, namespace: @NS@}, data: {a: "2"}}
---
operation: CreateOrUpdate
object: |
  {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "there", "namespace": "@NS@"},
   "data": {"a": "2"}}
---
operation: CreateIfNotExists
object: {apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: @NS@}, data: {a: "2"}}
---
{operation: JQPatch, kind: configmap, namespace: @NS@, name: edited, jqFilter: '.data.count |= . + "1"'}
---
{operation: MergePatch, kind: ConfigMap, namespace: @NS@, name: edited, mergePatch: {data: {m: "1"}}}
---
{operation: JSONPatch, kind: ConfigMap, namespace: @NS@, name: edited,
 jsonPatch: [{op: add, path: /data/j, value: "1"}]}
---
{operation: DeleteInBackground, kind: ConfigMap, namespace: @NS@, name: gone}
---
{operation: DeleteNonCascading, kind: ConfigMap, namespace: @NS@, name: never-was}
---
{operation: MergePatch, kind: ConfigMap, namespace: @NS@, name: none, mergePatch: {}, ignoreMissingObject: true}
END
)"));
  hooks.start();
  REQUIRE(w.eventually([&] { return !hooks.runs.empty(); }));
  INFO(hooks.runs[0].message);
  CHECK(hooks.runs[0].outcome == "done");
  CHECK(hooks.runs[0].created == 1);
  CHECK(hooks.runs[0].deleted == 1);
  CHECK(data_of(w, "made", "a", w.ns()) == "2");
  CHECK((*w.get("ConfigMap", "there"))["data"] == Json({{"a", "2"}}));
  CHECK(data_of(w, "kept", "a", w.ns()) == "1");
  CHECK((*w.get("ConfigMap", "edited"))["data"] == Json({{"count", "11"}, {"m", "1"}, {"j", "1"}}));
  CHECK_FALSE(w.get("ConfigMap", "gone"));
}

E2E_CASE("compat: a failing hook is tried again with newer snapshots and loses no event") {
  World w;
  Hooks hooks(w);
  w.file("broken", "");
  hooks.hook("a.sh", w.expand(R"(
configVersion: v1
kubernetes:
- {name: maps, kind: ConfigMap, namespace: {nameSelector: {matchNames: [@NS@]}}, labelSelector: {matchLabels: {seen: "1"}}, includeSnapshotsFrom: [maps]})"),
             "jq -c '[.[] | {type, watchEvent, name: .object.metadata.name, now: (.snapshots.maps "
             "| length)}]' $BINDING_CONTEXT_PATH >> " +
                 w.folder() + "/seen\ntest ! -e " + w.folder() +
                 "/broken || { echo '{\"operation\":\"Nonsense\"}' > $KUBERNETES_PATCH_PATH; "
                 "echo failing >&2; exit 3; }");
  hooks.hook(
      "b.sh",
      "{configVersion: v1, onStartup: 1, schedule: [{crontab: '* * * * * *', queue: other}]}",
      "echo b >> " + w.folder() + "/b");
  hooks.start();
  REQUIRE(w.eventually([&] { return hooks.failed() >= 2; }));
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: '@NS@', labels: "
      "{seen: '1'}}}");
  REQUIRE(w.eventually(
      [&] { return w.read("seen").find("\"name\":null,\"now\":1") != std::string::npos; }));
  const std::size_t ticks = w.lines("b");
  REQUIRE(w.eventually([&] { return w.lines("b") > ticks; }));
  fs::remove(w.folder() + "/broken");
  REQUIRE(w.eventually([&] { return w.read("seen").find("\"Added\"") != std::string::npos; }));
  const std::string seen = w.read("seen");
  // The Synchronization that worked has what came meanwhile, and the event follows it.
  CHECK(seen.find(R"([{"type":"Synchronization","watchEvent":null,"name":null,"now":1}])") !=
        std::string::npos);
  CHECK(seen.find(R"([{"type":"Event","watchEvent":"Added","name":"one","now":1}])") !=
        std::string::npos);
  const auto wrong = std::find_if(hooks.runs.begin(), hooks.runs.end(),
                                  [](const auto& run) { return run.outcome == "failed"; });
  REQUIRE(wrong != hooks.runs.end());
  CHECK(wrong->controller == "a.sh");
  CHECK(wrong->message == "exit code 3: failing");
}

E2E_CASE("compat: namespaces that get the label join, and those that lose it leave") {
  World w;
  Hooks hooks(w);
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@'}, data: {k: '1'}}");
  w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS2@'}}");
  const std::string label = "joined-" + w.ns();
  w.merge("Namespace", "@NS@", "{metadata: {labels: {" + label + ": 'yes'}}}", "");
  hooks.hook(
      "a.sh",
      w.expand(R"(
configVersion: v1
kubernetes:
- name: maps
  kind: ConfigMap
  nameSelector: {matchNames: [a, b]}
  namespace: {labelSelector: {matchLabels: {)" +
               label + R"(: "yes"}}}
  jqFilter: .data.k)"),
      "jq -r '.[] | if .type == \"Synchronization\" then \"sync \\(.objects | length)\" else "
      "\"\\(.watchEvent) \\(.object.metadata.namespace)/\\(.object.metadata.name) "
      "\\(.filterResult)\" end' $BINDING_CONTEXT_PATH >> " +
          w.folder() + "/seen");
  hooks.start();
  const auto seen = [&](const std::string& lines) {
    return w.eventually([&] { return w.read("seen") == w.expand(lines); });
  };
  std::string lines = "sync 1\n";
  REQUIRE(seen(lines));
  w.merge("Namespace", "@NS2@", "{metadata: {labels: {" + label + ": 'yes'}}}", "");
  REQUIRE(seen(lines += "Added @NS2@/a null\n"));
  w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: '@NS@'}}");
  w.merge("ConfigMap", "a", "{data: {k: '2'}}");
  REQUIRE(seen(lines += "Modified @NS@/a 2\n"));
  w.merge("Namespace", "@NS@", "{metadata: {labels: {" + label + ": null}}}", "");
  REQUIRE(seen(lines += "Deleted @NS@/a 2\n"));
}

E2E_CASE("compat: a hook that hangs is ended with its children at shutdown") {
  World w;
  Hooks hooks(w);
  hooks.hook("hangs.sh", "{configVersion: v1, onStartup: 1}",
             "sleep 1000 & echo $! > " + w.folder() + "/child\nwait");
  compat::EngineOptions options;
  options.folder = hooks.folder();
  options.shutdown_timeout = Duration{100};
  options.grace = Duration{200};
  hooks.engine.emplace(w.loop(), w.client(), std::move(options), compat::EngineCallbacks{});
  REQUIRE(hooks.engine->start().ok());
  REQUIRE(w.eventually([&] { return w.lines("child") == 1; }));
  bool done = false;
  hooks.engine->shut_down([&] { done = true; });
  REQUIRE(w.eventually([&] { return done; }));
  CHECK(hooks.engine->cut_off() == std::vector<std::string>{"hangs.sh: onStartup"});
  CHECK(w.eventually(
      [&] { return !fs::exists("/proc/" + std::string(base::trim(w.read("child")))); }));
}

}  // namespace kubewatch::e2e
