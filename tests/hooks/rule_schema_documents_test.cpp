// Documents put through both the reader and the schema for editors: they must agree on each.
#include "base/yaml.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "hooks/rule_schema.hpp"
#include "support/catch.hpp"
#include "support/json_schema_check.hpp"

using namespace kubewatch;

namespace {

// A whole document is a spec with what every rule needs; `for` and `reconcile` may be given anew.
std::string document(const std::string& spec) {
  std::string out =
      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n" + spec + "\n";
  if (spec.find("reconcile:") == std::string::npos) out += "  reconcile: {shell: x}\n";
  return out;
}

std::string with_for(const std::string& spec) {
  return document("  for: {apiVersion: v1, kind: ConfigMap}\n" + spec);
}

struct Verdicts {
  std::string reader;  // "" = fine
  std::string schema;
};

Verdicts verdicts(const std::string& text) {
  const test::RuleFolder folder;
  folder.write("key", "k");
  Verdicts out;
  const auto loaded = hooks::parse_rules(text, folder.file("rules.yaml"));
  for (const auto& problem : loaded.problems) out.reader += problem.str() + "\n";
  const auto values = base::parse_yaml_values(text);
  REQUIRE(values.ok());
  static const Json schema = hooks::rule_schema();
  out.schema = test::JsonSchemaCheck()(schema, values->front());
  return out;
}

void check_good(const std::string& text) {
  const Verdicts seen = verdicts(text);
  INFO(text);
  CHECK(seen.reader == "");
  CHECK(seen.schema == "");
}

void check_bad(const std::string& text) {
  const Verdicts seen = verdicts(text);
  INFO(text);
  CHECK(seen.reader != "");
  CHECK(seen.schema != "");
}

std::string hook(const std::string& keys) {
  return with_for("  reconcile: {" + keys + "}");
}

}  // namespace

TEST_CASE("what the reader takes the schema for editors takes") {
  for (const char* spec : {
           "  owns: []",
           "  owns: [{apiVersion: apps/v1, kind: Deployment, \"on\": [apply, delete], strip: []}]",
           "  writes: [{apiVersion: v1, kind: Secret, namespaces: [a, b]}]",
           "  watches: [{name: a-b_C, apiVersion: v1, kind: Secret, map: '{name: "
           ".metadata.name}'}]",
           "  watches: [{name: a, apiVersion: v1, kind: Secret, refs: .spec.ref}]",
           "  triggers: [{exec: [/bin/true, \"\"]}, {file: kicks}, {http: {path: /a/b.c, "
           "tokenFile: key}}]",
           "  changed: [., .spec, '.metadata.labels[\"a/b\"]']",
           "  debounce: 0",
           "  debounce: 1h30m",
           "  debounce: 1.5s",
           "  resync: 0s",
           "  schedule: '*/5 * * * *'",
           "  schedule: 'TZ=UTC  0 9 * * 1-5'",
           "  schedule: \"TZ=UTC\\t0\\t9 * *\\t\\t1-5\"",
           "  onDelete: true",
           "  concurrency: 1000",
           "  whenNoLongerMatched: release",
           "  finalize: {shell: x, whenControllerRemoved: keep}",
           "  whenNoLongerMatched: finalize\n  finalize: {shell: x, name: example.com/a, apply: "
           "true}",
           "  retry: {initial: 1s, max: 5m, factor: 1, jitter: 0.5, maxAttempts: 0}",
           "  retry: {exits: {17: permanent, 3: {after: 1m}, 255: permanent}}",
           "  apply: {fieldManager: a b, force: [.spec, '.a[\"b/c\"]'], prune: false}",
           "  apply: {force: true, ownerReference: plain, validate: server}",
       }) {
    check_good(with_for(spec));
  }
  for (const char* keys : {
           "exec: [/bin/echo, -n, \"\"]",
           "shell: x, timeout: 1ms, grace: 0, output: log, mode: worker, lists: files",
           "shell: x, env: {A: \"\", _b1: {jq: .spec}, C: {from: {file: key}}}, inheritEnv: [LANG]",
           "shell: x, credentials: kubeconfig",
           "shell: x, credentials: cache",
           "shell: x, credentials: {serviceAccount: robot}",
           "shell: x, credentials: none, env: {KUBECONFIG: mine}",
           "shell: x, limits: {memory: 256Mi, cpu: 10s, output: 4096, processes: 1}",
       }) {
    check_good(hook(keys));
  }
  for (const char* of : {
           "{apiVersion: v1, kind: ConfigMap, namespaces: [a], labelSelector: tier in (web)}",
           "{apiVersion: v1, kind: ConfigMap, namespaceSelector: {matchLabels: {a: b}}, "
           "fieldSelector: \"\"}",
           "{apiVersion: v1, kind: ConfigMap, labelSelector: {matchExpressions: [{key: a, "
           "operator: Exists}]}}",
           "{apiVersion: v1, kind: ConfigMap, filter: .data, content: full, optional: true}",
           "{apiVersion: v1, kind: ConfigMap, list: {strategy: paged, pageSize: 1, timeout: 5s, "
           "backoff: {initial: 10ms}}}",
           "{apiVersion: v1, kind: ConfigMap, list: {pageSize: 0}}",
           "{apiVersion: v1, kind: ConfigMap, list: {strategy: streaming, pageSize: 0}}",
           "{apiVersion: v1, kind: ConfigMap, list: {strategy: paged}}",
           "{group: \"\", kinds: \"*\"}",
           "[{apiVersion: v1, kind: ConfigMap}, {group: apps, kinds: \"*\"}]",
       }) {
    check_good(document("  for: " + std::string(of)));
  }
}

TEST_CASE("rules without an object are taken by the schema for editors as by the reader") {
  check_good(document("  watches: [{name: a, apiVersion: v1, kind: Secret}]"));
  check_good(document("  watches: [{name: a, apiVersion: v1, kind: Secret, map: all}]"));
  check_good(document("  concurrency: 1\n  schedule: '0 * * * *'"));
  for (const char* spec : {
           "  watches: [{name: a, apiVersion: v1, kind: Secret, map: .x}]",
           "  watches: [{name: a, apiVersion: v1, kind: Secret, refs: .x}]",
           "  finalize: {shell: x}",
           "  changed: [.spec]",
           "  onDelete: true",
           "  whenNoLongerMatched: keep",
           "  concurrency: 2",
           "  apply: {ownerReference: none}",
           "  reconcile: {shell: x, env: {A: {jq: .spec}}}",
       }) {
    check_bad(document(spec));
  }
}

TEST_CASE("what the reader refuses by its shape the schema for editors refuses") {
  for (const char* spec : {
           "  own: []",
           "  owns: {apiVersion: v1, kind: Secret}",
           "  owns: [{apiVersion: v1}]",
           "  owns: [{apiVersion: a/b/c, kind: Secret}]",
           "  owns: [{apiVersion: v1, kind: my kind}]",
           "  owns: [{apiVersion: v1, kind: Secret, \"on\": []}]",
           "  owns: [{apiVersion: v1, kind: Secret, \"on\": [update]}]",
           "  owns: null",
           "  writes: [{apiVersion: v1, kind: Secret, namespaces: []}]",
           "  watches: [{name: a, apiVersion: v1, kind: Secret}]",
           "  watches: [{name: a, apiVersion: v1, kind: Secret, map: all, refs: .x}]",
           "  watches: [{name: a b, apiVersion: v1, kind: Secret, map: all}]",
           "  triggers: []",
           "  triggers: [{exec: [/bin/true], file: kicks}]",
           "  triggers: [{}]",
           "  triggers: [{exec: []}]",
           "  triggers: [{exec: [\"\"]}]",
           "  triggers: [{http: {path: kick}}]",
           "  triggers: [{http: {path: /a b}}]",
           "  changed: []",
           "  changed: [spec]",
           "  changed: .spec",
           "  debounce: 5",
           "  debounce: soon",
           "  debounce: -1s",
           "  resync: [1m]",
           "  schedule: '* * * *'",
           "  onDelete: \"yes\"",
           "  concurrency: 0",
           "  concurrency: 1.5",
           "  concurrency: many",
           "  whenNoLongerMatched: forget",
           "  whenNoLongerMatched: finalize",
           "  finalize: {shell: x, name: nodomain}",
           "  finalize: {apply: true}",
           "  retry: {initial: 0s}",
           "  retry: {factor: 0.5}",
           "  retry: {jitter: 2}",
           "  retry: {maxAttempts: -1}",
           "  retry: {exits: {0: permanent}}",
           "  retry: {exits: {75: permanent}}",
           "  retry: {exits: {256: permanent}}",
           "  retry: {exits: {3: {after: 0s}}}",
           "  retry: {exits: {3: never}}",
           "  apply: {force: []}",
           "  apply: {force: [.]}",
           "  apply: {fieldManager: \"\"}",
           "  apply: {adopt: always}",
           "  apply: {prune: 1}",
           "  apply: all",
       }) {
    check_bad(with_for(spec));
  }
}

TEST_CASE("hooks that the reader refuses by their shape the schema for editors refuses") {
  for (const char* keys : {
           "",
           "shell: x, exec: [/bin/true]",
           "shell: \"\"",
           "shell: [x]",
           "exec: /bin/true",
           "shell: x, timeout: 0s",
           "shell: x, timeout: 30",
           "shell: x, env: {A: {from: {file: key}, jq: .spec}}",
           "shell: x, env: {A: {}}",
           "shell: x, env: {A: {from: {}}}",
           "shell: x, env: {A: 1}",
           "shell: x, env: {1A: x}",
           "shell: x, env: {KW_NAME: x}",
           "shell: x, env: {PATH: x}",
           "shell: x, env: {KUBEWATCH_PROCESS_MARK: x}",
           "shell: x, env: [A]",
           "shell: x, inheritEnv: [HOME]",
           "shell: x, inheritEnv: [LANG, LANG]",
           "shell: x, output: yaml",
           "shell: x, mode: daemon",
           "shell: x, credentials: {}",
           "shell: x, credentials: {serviceAccount: Robot}",
           "shell: x, credentials: kubeconfig, env: {KUBECONFIG: mine}",
           "shell: x, credentials: kubeconfig, inheritEnv: [KUBECONFIG]",
           "shell: x, limits: {memory: lots}",
           "shell: x, limits: {memory: 1}",
           "shell: x, limits: {cpu: 0s}",
           "shell: x, limits: {processes: 0}",
           "shell: x, limits: {disk: 1Gi}",
           "shell: x, timout: 3s",
       }) {
    check_bad(hook(keys));
  }
}

TEST_CASE("selections and headers that the reader refuses the schema for editors refuses") {
  for (const char* of : {
           "[]",
           "{kind: ConfigMap}",
           "{group: apps}",
           "{group: apps, kinds: [a]}",
           "{group: Apps, kinds: \"*\"}",
           "{apiVersion: v1, kind: ConfigMap, kinds: \"*\"}",
           "{apiVersion: v1, kind: ConfigMap, namespaces: []}",
           "{apiVersion: v1, kind: ConfigMap, namespaces: [a, a]}",
           "{apiVersion: v1, kind: ConfigMap, namespaces: [A]}",
           "{apiVersion: v1, kind: ConfigMap, namespaces: a}",
           "{apiVersion: v1, kind: ConfigMap, namespaces: [a], namespaceSelector: a=b}",
           "{apiVersion: v1, kind: ConfigMap, labelSelector: [a]}",
           "{apiVersion: v1, kind: ConfigMap, labelSelector: {a: b}}",
           "{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {a: 1}}}",
           "{apiVersion: v1, kind: ConfigMap, labelSelector: {matchExpressions: [{key: a, "
           "operator: Has}]}}",
           "{apiVersion: v1, kind: ConfigMap, fieldSelector: {a: b}}",
           "{apiVersion: v1, kind: ConfigMap, filter: {a: b}}",
           "{apiVersion: v1, kind: ConfigMap, filter: \"\"}",
           "{apiVersion: v1, kind: ConfigMap, content: all}",
           "{apiVersion: v1, kind: ConfigMap, strip: [status]}",
           "{apiVersion: v1, kind: ConfigMap, strip: [.]}",
           "{apiVersion: v1, kind: ConfigMap, optional: maybe}",
           "{apiVersion: v1, kind: ConfigMap, list: {pageSize: -1}}",
           "{apiVersion: v1, kind: ConfigMap, list: {strategy: paged, pageSize: 0}}",
           "{apiVersion: v1, kind: ConfigMap, list: {pageSize: 10001}}",
           "{apiVersion: v1, kind: ConfigMap, list: {strategy: fast}}",
           "{apiVersion: v1, kind: ConfigMap, list: {backoff: {initial: 0s}}}",
       }) {
    check_bad(document("  for: " + std::string(of)));
  }
  const std::string good = with_for("");
  const auto replaced = [&good](const std::string& what, const std::string& by) {
    std::string out = good;
    return out.replace(out.find(what), what.size(), by);
  };
  check_good(good);
  check_bad(replaced("kubewatch.dev/v1", "kubewatch.dev/v2"));
  check_bad(replaced("kind: Controller", "kind: Controler"));
  check_bad(replaced("{name: a}", "{name: A}"));
  check_bad(replaced("{name: a}", "{name: a, labels: {b: c}}"));
  check_bad(replaced("{name: a}", "{}"));
  check_bad(replaced("{name: a}", "{name: " + std::string(64, 'a') + "}"));
  check_bad(replaced("  reconcile: {shell: x}\n", ""));
}
