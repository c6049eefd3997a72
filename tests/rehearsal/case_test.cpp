// Test cases as files and as runs: real shell hooks on the embedded server, time skipped.
#include <filesystem>
#include <optional>

#include "base/strings.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "rehearsal/case_file.hpp"
#include "rehearsal/case_runner.hpp"
#include "rehearsal/report.hpp"
#include "rehearsal/world.hpp"
#include "support/catch.hpp"
#include "support/nobody.hpp"

using namespace kubewatch;
using namespace kubewatch::rehearsal;

namespace {

// A ConfigMap labelled copy=yes gets a copy NAME-copy of its data.
constexpr const char* kRules = R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: copier}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: copy=yes}
  owns:
    - {apiVersion: v1, kind: ConfigMap}
  resync: 10m
  reconcile:
    env: {DATA: {jq: .data}}
    shell: |
      echo "copying $KW_NAME" >&2
      cat <<END
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: $KW_NAME-copy, namespace: $KW_NAMESPACE}
      data: $DATA
      END
)";

constexpr const char* kGiven = R"(
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: it copies}
controller: rules.yaml
given:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: a, labels: {copy: 'yes'}}
    data: {k: v}
)";

// In the place of the copier's output; what is in the file `mode` decides.
constexpr const char* kFailOrTell = R"x(echo "fail $(wc -l < fails)" >&2
      case $(cat mode) in
        fail) echo >> fails; cat <<END
      apiVersion: kubewatch.dev/v1
      kind: Result
      metrics: [{name: built, type: counter, value: 1}]
      END
          exit 1 ;;
        tell) cat <<END
      ---
      apiVersion: kubewatch.dev/v1
      kind: Result
      events: [{reason: Told, note: once more}]
      metrics: [{name: built, type: counter, value: 1, labels: {a: b}}]
      ---
      END
      esac
      cat <<END)x";

constexpr const char* kGivenEvent = R"x(
  - apiVersion: events.k8s.io/v1
    kind: Event
    metadata: {name: given}
    eventTime: 2026-01-01T00:00:00.000000Z
    reportingController: somebody.else/x
    reportingInstance: x
    action: Look
    reason: Given
    type: Normal
    regarding: {apiVersion: v1, kind: ConfigMap, name: a, namespace: default}
)x";

constexpr const char* kCountingWorker = R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: counter}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: copy=yes}
  reconcile:
    mode: worker
    shell: |
      while IFS= read -r line; do
        id=${line#*\"id\":\"}; id=${id%%\"*}
        result='"apiVersion":"kubewatch.dev/v1","kind":"Result"'
        metric='{"name":"seen","type":"gauge","value":2,"ttl":"1h"}'
        echo "{\"id\":\"$id\",\"documents\":[{$result,\"metrics\":[$metric]}]}"
      done
)x";

// What it prints is another thing for each controller process, and the same for all its runs.
std::string counts_starts() {
  std::string rules = kRules;
  rules.replace(rules.find("data: $DATA"), 11, "data: {starts: \"$(wc -l < starts)\"}");
  rules.replace(rules.find("echo \"copying"), 4,
                "[ -e $KW_WORKDIR/m ] || { touch $KW_WORKDIR/m; echo >> starts; }\n      echo");
  return rules;
}

// The copier, which waits for more changes.
std::string debounced() {
  std::string rules = kRules;
  return rules.replace(rules.find("  resync: 10m"), 13, "  resync: 10m\n  debounce: 5s");
}

// Of what it copies, as a step's `when`.
std::string changed_to(const std::string& value) {
  return "apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {copy: 'yes'}}, "
         "data: {k: " +
         value + "}}";
}

CaseResult run_text(const test::RuleFolder& folder, const std::string& text,
                    const std::string& rules = kRules) {
  folder.write("rules.yaml", rules);
  const auto loaded = parse_cases(text, folder.file("tests.yaml"));
  for (const auto& problem : loaded.problems) FAIL_CHECK(problem.str());
  REQUIRE(loaded.cases.size() == 1);
  return run_case(loaded.cases[0]);
}

std::string messages(const CaseResult& result) {
  std::string out;
  for (const auto& failure : result.failures) out += failure.place + ": " + failure.message + "\n";
  return out;
}

}  // namespace

TEST_CASE("a case that expects what happens passes, log and writes included") {
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"(
expect:
  objects: [{kind: ConfigMap, name: a-copy, data: {k: v}}]
  absent: [{kind: ConfigMap, name: b-copy}]
  runs: [{name: a, namespace: default, outcome: done, created: 1}]
  writes: [{verb: apply, kind: ConfigMap, name: a-copy, effect: created, times: 1}]
  object: {kind: ConfigMap, name: a}
  finalizers: []
  log: [copying a]
)");
  CHECK(messages(result) == "");
}

TEST_CASE("events and metrics are those since the last step, repeated ones each time") {
  const test::RuleFolder folder;
  std::string rules = kRules;
  rules.replace(rules.find("cat <<END"), 9, kFailOrTell);
  rules.replace(rules.find("resync: 10m"), 11, "resync: 10m\n  retry: {initial: 1m, factor: 1}");
  folder.write("mode", "fail");
  folder.write("fails", "");
  CHECK(messages(run_text(folder, std::string(kGiven) + kGivenEvent + R"x(
idempotent: false
steps:
  - expect:
      events: [{reason: HookFailed, note: "exit code 1 (last line of stderr: fail 0)", times: 1}]
      metrics: []                      # its run failed: nothing was recorded
  - name: nothing is due
    when: [{advance: 30s}]
    expect: {runs: [], events: [], metrics: []}
  - name: it fails twice
    when: [{advance: 1m}, {advance: 1m}]
    expect:
      events: [{reason: HookFailed, times: 2, regarding: {name: a}}]
  - name: and once again
    when: [{advance: 1m}]
    expect:
      events: [{reason: HookFailed, note: "exit code 1 (last line of stderr: fail 3)", times: 1}]
  - name: somebody else tells again
    when:
      - apply:
          apiVersion: events.k8s.io/v1
          kind: Event
          metadata: {name: given}
          eventTime: 2026-01-01T00:00:00.000000Z
          series: {count: 2, lastObservedTime: 2026-01-01T00:00:01.000000Z}
          reportingController: somebody.else/x
          reportingInstance: x
          action: Look
          reason: Given
          type: Normal
          regarding: {apiVersion: v1, kind: ConfigMap, name: a, namespace: default}
    expect: {events: [{reason: Given, times: 1}]}
)x",
                          rules)) == "");

  folder.write("mode", "tell");
  CHECK(messages(run_text(folder, std::string(kGiven) + R"x(
steps:
  - name: it runs, and once again for its new child
    expect:
      events: [{reason: Told, type: Normal, note: once more, times: 2}]
      metrics: [{name: built, type: counter, value: 1, labels: {a: b}, times: 2}]
  - when: [{advance: 5m}]
    expect: {events: [], metrics: []}
  - when: [{advance: 10m}, {advance: 10m}, {restart: controller}]
    expect:
      events: [{reason: Told, times: 3}]
      metrics: [{name: built, times: 3}]
)x",
                          rules)) == "");

  // What did not happen again is not there.
  const std::string missed = messages(run_text(folder, std::string(kGiven) + R"x(
steps:
  - expect: {events: [{reason: Told}]}
  - when: [{advance: 5m}]
    expect: {events: [{reason: Told}], metrics: [{name: built}]}
)x",
                                               rules));
  CHECK(missed.find("no such event: {\"reason\":\"Told\"}; there was none at all") !=
        std::string::npos);
  CHECK(missed.find("no such metric: {\"name\":\"built\"}; there was none at all") !=
        std::string::npos);
}

TEST_CASE("metrics that a worker answers with are seen") {
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"x(
expect: {metrics: [{name: seen, type: gauge, value: 2, ttl: 1h, times: 1}]}
)x",
                               kCountingWorker);
  CHECK(messages(result) == "");
}

TEST_CASE("a case that expects something else fails at the line that expects it") {
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"(
expect:
  objects:
    - kind: ConfigMap
      name: a-copy
      data:
        k: other
    - {kind: ConfigMap, name: missing}
  absent: [{kind: ConfigMap, name: a-copy}]
  runs: [{name: a, outcome: failed}]
  writes: []
  requeueAfter: 30s
  log: [something else]
)");
  const std::string text = messages(result);
  const std::string file = folder.file("tests.yaml");
  CHECK(text.find(file + ":17: ConfigMap default/a-copy: .data.k: expected \"other\", got \"v\"") !=
        std::string::npos);
  CHECK(text.find(file + ":18: ConfigMap missing: there is no such object") != std::string::npos);
  CHECK(text.find(file + ":19: ConfigMap default/a-copy: it should not be there") !=
        std::string::npos);
  CHECK(text.find(file +
                  ":20: no such run: {\"name\":\"a\",\"outcome\":\"failed\"}; the nearest is") !=
        std::string::npos);
  CHECK(text.find(file + ":21: expected no write, got 1") != std::string::npos);
  CHECK(text.find(file + ":22: expected \"30s\", the last run asked for none") !=
        std::string::npos);
  CHECK(text.find(file + ":23: no log line has \"something else\"") != std::string::npos);
}

TEST_CASE("objects are compared in the version that is named, or else in that of the rules") {
  constexpr const char* kScaler = R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: scaler}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  reconcile:
    shell: |
      cat <<END
      apiVersion: autoscaling/v1
      kind: HorizontalPodAutoscaler
      metadata: {name: $KW_NAME}
      spec:
        maxReplicas: 3
        targetCPUUtilizationPercentage: 50
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
      END
)";
  constexpr const char* kExpected = R"(
expect:
  objects:
    - {apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, name: a,
       spec: {targetCPUUtilizationPercentage: 50, metrics: null}}
    - {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: a,
       spec: {targetCPUUtilizationPercentage: null,
              metrics: [{type: Resource, resource: {name: cpu}}]}}
    - {kind: HorizontalPodAutoscaler, name: a, spec: )";
  constexpr const char* kV1 = "{targetCPUUtilizationPercentage: 50}}\n";
  constexpr const char* kV2 = "{metrics: [{resource: {target: {averageUtilization: 50}}}]}}\n";
  const test::RuleFolder folder;
  const auto ended = [&](const char* form, const std::string& more) {
    std::string rules = kScaler;
    rules.insert(rules.find("  reconcile:"), more);
    return messages(run_text(folder, std::string(kGiven) + kExpected + form, rules));
  };
  SECTION("the rule only writes it") {
    const std::string writes =
        "  writes: [{kind: HorizontalPodAutoscaler, apiVersion: autoscaling/";
    CHECK(ended(kV1, writes + "v1}]\n") == "");
    CHECK_FALSE(ended(kV2, writes + "v1}]\n") == "");
  }
  SECTION("the rule owns it, in the version that it writes or in the other") {
    const std::string owns = "  owns: [{kind: HorizontalPodAutoscaler, apiVersion: autoscaling/";
    CHECK(ended(kV1, owns + "v1}]\n") == "");
    CHECK(ended(kV2, owns + "v2}]\n") == "");
  }
  SECTION("the rule watches it in the other version") {
    const std::string watches =
        "  writes: [{kind: HorizontalPodAutoscaler, apiVersion: autoscaling/v1}]\n"
        "  watches: [{name: h, map: all, kind: HorizontalPodAutoscaler, apiVersion: "
        "autoscaling/v2}]\n";
    CHECK(ended(kV2, watches) == "");
  }
}

TEST_CASE("the object of a rule is looked at in the version that the rule is for") {
  constexpr const char* kFor = R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: scaler}
spec:
  for: {apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler}
  reconcile: {shell: 'true'}
)";
  const test::RuleFolder folder;
  CHECK(messages(run_text(folder, R"(
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: it is looked at}
controller: rules.yaml
given:
  - apiVersion: autoscaling/v2
    kind: HorizontalPodAutoscaler
    metadata: {name: a}
    spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
    status:
      currentMetrics:
        - {type: Resource, resource: {name: cpu, current: {averageUtilization: 7}}}
expect: {status: {currentCPUUtilizationPercentage: 7, currentMetrics: null}}
)",
                          kFor)) == "");
}

TEST_CASE("what can never be there is no proof that something is absent") {
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"(
expect:
  absent:
    - {kind: ConfigMpa, name: gone}
    - {kind: ConfigMap, apiVersion: apps/v1, name: gone}
    - {kind: ConfigMap, name: gone}
)");
  const std::string text = messages(result);
  const std::string file = folder.file("tests.yaml");
  CHECK(text.find(file + ":14: the server has no kind ConfigMpa") != std::string::npos);
  CHECK(text.find(file + ":15: the server has no kind ConfigMap of apps/v1") != std::string::npos);
  CHECK(text.find(":16:") == std::string::npos);
}

TEST_CASE(
    "members and words that no run, write, event or metric has are refused where they stand") {
  const test::RuleFolder folder;
  folder.write("rules.yaml", kRules);
  const auto loaded = parse_cases(std::string(kGiven) + R"(
when:
  - delete: {kind: ConfigMap, namespce: other, name: a}
expect:
  runs: [{nme: a, times: 0}]
  writes: [{verb: aply, times: 0}, {effect: changed, times: 0}, {code: none}]
  events: [{resaon: X, times: 0}, {type: Waring, times: 0}, {regarding: {nme: a}, times: 0}]
  metrics: [{valeu: 1, times: 0}, {type: conuter, times: 0}]
  absent: [{kind: ConfigMap, namespce: other, name: a}, {kind: ConfigMap, metadata: {name: a, namepace: b}}]
)",
                                  folder.file("tests.yaml"));
  const auto words = parse_cases(std::string(kGiven) + R"(
expect:
  runs:
    - {outcome: Done, times: 0}
    - {reason: Restart, times: 0}
    - {outcome: done, times: "0"}
    - {exitCode: null, requeueAfter: null, kind: <none>, name: "", times: 0}
)",
                                 folder.file("words.yaml"));
  std::string all;
  for (const auto& problem : loaded.problems) all += problem.str() + "\n";
  for (const auto& problem : words.problems) all += problem.str() + "\n";
  INFO(all);
  for (const char* part :
       {"tests.yaml:13:31: when[0].delete.namespce: unknown key, did you mean \"namespace\"?",
        "tests.yaml:15:11: expect.runs[0].nme: unknown key",
        "tests.yaml:16:19: expect.writes[0].verb: must be create, apply, patch, update, delete or "
        "deletecollection, not \"aply\", did you mean \"apply\"?",
        ":16:45: expect.writes[1].effect: must be created, ", "expect.writes[2].code: must be ",
        "tests.yaml:17:13: expect.events[0].resaon: unknown key, did you mean \"reason\"?",
        "expect.events[1].type: must be Normal or Warning, not \"Waring\"",
        "expect.events[2].regarding.nme: unknown key", "expect.metrics[0].valeu: unknown key",
        "expect.metrics[1].type: must be counter, gauge or histogram, not \"conuter\"",
        "tests.yaml:19:30: expect.absent[0].namespce: unknown key",
        "expect.absent[1].metadata.namepace: unknown key, did you mean \"namespace\"?",
        "words.yaml:14:17: expect.runs[0].outcome: must be done, not-yet, permanent, failed, "
        "timeout, invalid-output, write-failed or incomplete, not \"Done\"",
        "words.yaml:15:16: expect.runs[1].reason: must be Created, ",
        "words.yaml:16:30: expect.runs[2].times: must be a whole number, not text"}) {
    INFO(part);
    CHECK(all.find(part) != std::string::npos);
  }
  CHECK(words.problems.size() == 3);
}

TEST_CASE("a kind or a controller that is not there is no proof that nothing happened") {
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"(
expect:
  runs: [{kind: ConfigMap, outcome: failed, times: 0}, {controller: copier, name: a}]
  writes: [{kind: Secret, times: 0}, {kind: ConfigMpa, times: 0}]
  events: [{regarding: {kind: ConfigMpa}, times: 0}]
  metrics: [{controller: copyer, times: 0}]
)");
  const std::string text = messages(result);
  const std::string file = folder.file("tests.yaml");
  CHECK(text == file + ":14: the server has no kind ConfigMpa\n" + file +
                    ":15: the server has no kind ConfigMpa\n" + file +
                    ":16: there is no controller copyer\n");
}

TEST_CASE("a failure that no request meets fails its case, one that is met less often does not") {
  const test::RuleFolder folder;
  const auto never = run_text(folder, std::string(kGiven) + R"(
when:
  - fail: {verb: apply, kind: ConfigMap, name: a-copyy}
  - fail: {verb: apply, kind: ConfigMap, name: a-copy, times: 9}
  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {copy: 'yes'}}, data: {k: w}}
expect: {writes: [{effect: created}, {effect: failed, times: 1}]}
)");
  CHECK(messages(never) ==
        folder.file("tests.yaml") + ":13: nothing failed by this: there was no such request\n");
  const auto unknown = run_text(folder, std::string(kGiven) + R"(
when:
  - fail: {verb: apply, kind: ConfgMap}
expect: {objects: [{kind: ConfigMap, name: a-copy}]}
)");
  CHECK(messages(unknown).find(":13: there is no kind ConfgMap: give its") != std::string::npos);
}

TEST_CASE("the class of a given Pod is the server's, the rest of its status as it is given") {
  constexpr const char* kOfPods = R"(apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: pods}
spec:
  for: {apiVersion: v1, kind: Pod}
  reconcile: {shell: 'true'}
)";
  const test::RuleFolder folder;
  CHECK(messages(run_text(folder, R"(
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: it runs}
controller: rules.yaml
given:
  - apiVersion: v1
    kind: Pod
    metadata: {name: a}
    spec: {containers: [{name: c, image: i}]}
    status: {phase: Running, qosClass: Guaranteed}
expect: {status: {phase: Running, qosClass: BestEffort}}
)",
                          kOfPods)) == "");
}

TEST_CASE("no status is what null expects of it") {
  const test::RuleFolder folder;
  CHECK(messages(run_text(
            folder, std::string(kGiven) +
                        "expect: {object: {kind: ConfigMap, name: a}, status: null}\n")) == "");
  const auto there =
      run_text(folder, std::string(kGiven) +
                           "expect: {object: {kind: Namespace, name: default}, status: null}\n");
  CHECK(messages(there) == folder.file("tests.yaml") +
                               ":11: Namespace default: status: expected not to be there, got "
                               "{\"phase\":\"Active\"}\n");
}

TEST_CASE("a duration is the same however it is written") {
  const test::RuleFolder folder;
  std::string rules = kRules;
  rules.replace(rules.find("cat <<END"), 9, R"x(cat <<END
      apiVersion: kubewatch.dev/v1
      kind: Result
      requeueAfter: 90s
      metrics: [{name: built, type: counter, value: 1, ttl: 90m}]
      ---)x");
  const auto result = run_text(folder, std::string(kGiven) + R"(
expect:
  runs: [{requeueAfter: 90s}]
  metrics: [{name: built, ttl: 90m}]
  requeueAfter: 90s
)",
                               rules);
  CHECK(messages(result) == "");
}

TEST_CASE("rules that guard the same object get out of each other's way, and each cleans up once") {
  const test::RuleFolder folder;
  std::string rules;
  for (const char* name : {"one", "two", "three"}) {
    rules += std::string("---\napiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: ") +
             name + R"(}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: copy=yes}
  reconcile: {shell: 'true'}
  finalize: {shell: 'echo cleaning >&2'}
)";
  }
  const auto result = run_text(folder, std::string(kGiven) + R"(
steps:
  - expect:
      runs: [{outcome: done}, {outcome: failed, times: 0}]
      events: []
  - when: [{delete: {kind: ConfigMap, name: a}}]
    expect:
      runs: [{outcome: done}, {outcome: write-failed, times: 0}]
      events: []
      absent: [{kind: ConfigMap, name: a}]
)",
                               rules);
  CHECK(messages(result) == "");
  std::size_t cleaned = 0;
  for (const std::string& line : result.log) {
    cleaned += line.find("cleaning") == std::string::npos ? 0 : 1;
  }
  CHECK(cleaned == 3);
}

TEST_CASE("a child that is deleted to be made anew counts as both") {
  const test::RuleFolder folder;
  std::string rules = kRules;
  rules.replace(rules.find("data: $DATA"), 11, "immutable: true\n      data: $DATA");
  rules.replace(rules.find("resync: 10m"), 11, "apply: {onImmutable: recreate}");
  const auto result = run_text(folder, std::string(kGiven) + R"(
steps:
  - expect: {runs: [{created: 1, deleted: 0}]}
  - when: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {copy: 'yes'}}, data: {k: w}}}]
    expect:
      runs: [{created: 1, deleted: 1, outcome: done, times: 1}]
      objects: [{kind: ConfigMap, name: a-copy, data: {k: w}}]
)",
                               rules);
  CHECK(messages(result) == "");
}

TEST_CASE("resyncs come by skipped time, once each, and hours of it pass at once") {
  const test::RuleFolder folder;
  const auto started = std::chrono::steady_clock::now();
  const auto result = run_text(folder, std::string(kGiven) + R"(
steps:
  - expect: {runs: [{reason: Startup, name: a}]}
  - when: [{advance: 9m}]
    expect: {runs: []}
  - when: [{advance: 1m}]
    expect: {runs: [{reason: Resync, times: 1}], writes: []}
  - when: [{advance: 3h}]
    expect: {runs: [{reason: Resync, times: 18}]}
)");
  CHECK(messages(result) == "");
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(30));
}

TEST_CASE(
    "a step goes on where a controller starts anew, or ends, as an optional kind comes and goes") {
  const test::RuleFolder folder;
  std::string rules = kRules;
  rules += R"(  watches:
    - {name: anys, apiVersion: t.example.com/v1, kind: Any, optional: true, map: all}
)";
  const auto result = run_text(folder, std::string(kGiven) + R"(
steps:
  - expect: {runs: [{reason: Startup, name: a}]}
  - name: its kind comes
    when:
      - apply:
          apiVersion: apiextensions.k8s.io/v1
          kind: CustomResourceDefinition
          metadata: {name: anys.t.example.com}
          spec:
            group: t.example.com
            names: {kind: Any, plural: anys}
            scope: Namespaced
            versions:
              - name: v1
                served: true
                storage: true
                schema: {openAPIV3Schema: {type: object}}
      - advance: 1m
    expect: {runs: [{name: a, outcome: done, times: 1}]}
  - name: its kind goes
    when:
      - delete: {kind: CustomResourceDefinition, name: anys.t.example.com}
      - advance: 1m
    expect: {runs: [{name: a, outcome: done, times: 1}]}
)",
                               rules);
  CHECK(messages(result) == "");
}

TEST_CASE("time is skipped while an idle worker with limits is looked at") {
  const test::RuleFolder folder;
  std::string rules = kCountingWorker;
  rules.replace(rules.find("mode: worker"), 12, "mode: worker\n    limits: {processes: 64}");
  const auto result = run_text(folder, std::string(kGiven) + R"(
when: [{advance: 48h}]
expect: {runs: [{name: a, outcome: done, times: 1}]}
)",
                               rules);
  CHECK(messages(result) == "");
}

TEST_CASE("a rehearsal opens no trigger of its rules") {
  const test::RuleFolder folder;
  folder.write("rules.yaml", std::string(kRules) + R"(  triggers:
    - exec: [/bin/sh, -c, "while :; do echo '{\"all\": true}'; done"]
    - file: kicks
    - http: {path: /kick}
)");
  auto loaded = hooks::load_rules({folder.file("rules.yaml")});
  REQUIRE(loaded.problems.empty());
  REQUIRE(loaded.rules.at(0).triggers.size() == 3);
  const World world(std::move(loaded.rules), {});
  CHECK(world.rules().at(0).triggers.empty());
}

TEST_CASE("changes of one step within the debounce are one run, at the latest at its end") {
  std::string rules = debounced();
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"(
steps:
  - expect: {runs: [{reason: Startup}]}
  - when:
    - )" + changed_to("vw") + R"(
    - )" + changed_to("vx") + R"(
    expect:
      runs: [{reason: Updated, times: 1}]
      objects: [{kind: ConfigMap, name: a-copy, data: {k: vx}}]
  - when:
    - )" + changed_to("vy") + R"(
    - advance: 4s
    - )" + changed_to("vz") + R"(
    - advance: 2s
    - )" + changed_to("vu") + R"(
    expect:
      runs: [{reason: Updated, times: 2}]
      objects: [{kind: ConfigMap, name: a-copy, data: {k: vu}}]
)",
                               rules);
  CHECK(messages(result) == "");
}

TEST_CASE("a step gathers changes also where a requeue is due before the debounce ends") {
  std::string rules = debounced();
  rules.replace(rules.find("data: $DATA"), 11,
                "data: $DATA\n      ---\n      apiVersion: kubewatch.dev/v1\n"
                "      kind: Result\n      requeueAfter: 3s");
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"(
steps:
  - expect: {runs: [{reason: Startup}]}
  - when:
    - )" + changed_to("vw") + R"(
    - )" + changed_to("vx") + R"(
    expect:
      runs: [{reason: Updated, times: 1}]
      objects: [{kind: ConfigMap, name: a-copy, data: {k: vx}}]
)",
                               rules);
  CHECK(messages(result) == "");
}

TEST_CASE("a refused write is retried after its backoff, not before") {
  const test::RuleFolder folder;
  const auto result = run_text(folder, R"(
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: it retries}
controller: rules.yaml
steps:
  - when:
      - fail: {verb: apply, kind: ConfigMap, name: a-copy, code: 503}
      - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {copy: 'yes'}}, data: {k: v}}
    expect:
      runs: [{name: a, outcome: write-failed, times: 1}]
      writes: [{verb: apply, name: a-copy, code: 503, effect: failed}]
      absent: [{kind: ConfigMap, name: a-copy}]
  - when: [{advance: 500ms}]
    expect: {runs: []}
  - when: [{advance: 1s}]
    expect:
      runs: [{name: a, outcome: done, reason: Retry}]
      objects: [{kind: ConfigMap, name: a-copy}]
)");
  CHECK(messages(result) == "");
}

TEST_CASE("changes, deletions, restarts and gaps in the history lead to the right end") {
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"(
steps:
  - name: a child that is deleted comes back
    when: [{delete: {kind: ConfigMap, name: a-copy}}]
    expect: {objects: [{kind: ConfigMap, name: a-copy, data: {k: v}}]}
  - name: a change is followed after a gap
    when:
      - compact: true
      - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {copy: 'yes'}}, data: {k: w}}
    expect: {objects: [{kind: ConfigMap, name: a-copy, data: {k: w}}]}
  - name: a restart changes nothing
    when: [{restart: controller}]
    expect: {writes: [], runs: [{name: a, outcome: done}]}
  - name: the child goes with its owner
    when: [{delete: {kind: ConfigMap, name: a}}]
    expect: {absent: [{kind: ConfigMap, name: a-copy}]}
)");
  CHECK(messages(result) == "");
}

TEST_CASE("watches that are refused and answers that are lost are staged, and gone through") {
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"(
steps:
  - when:
      - fail: {verb: watch, kind: ConfigMap, code: 503, times: 2}
      - compact: true
      - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {copy: 'yes'}}, data: {k: w}}
    expect: {objects: [{kind: ConfigMap, name: a-copy, data: {k: w}}]}
  - when:
      - fail: {verb: write, code: 0}
      - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {copy: 'yes'}}, data: {k: x}}
    expect:
      writes: [{verb: apply, name: a-copy, code: 0, effect: failed, times: 1}]
      objects: [{kind: ConfigMap, name: a-copy, data: {k: w}}]
  - when: [{advance: 2s}]
    expect: {objects: [{kind: ConfigMap, name: a-copy, data: {k: x}}]}
)");
  CHECK(messages(result) == "");
}

TEST_CASE("a hook that prints something else each time is caught by the second pass") {
  const test::RuleFolder folder;
  const std::string rules = counts_starts();
  const auto result = run_text(
      folder, std::string(kGiven) + "expect: {objects: [{kind: ConfigMap, name: a-copy}]}\n",
      rules);
  INFO(messages(result));
  CHECK(messages(result).find("must write nothing, but: apply ConfigMap default/a-copy: "
                              "configured") != std::string::npos);
}

TEST_CASE("a hook that fails once its work is done is caught by the second pass") {
  const test::RuleFolder folder;
  std::string rules = kRules;
  rules.replace(rules.find("echo \"copying"), 4,
                "[ -e $KW_WORKDIR/m ] || { [ ! -e been ] || exit 1; touch been $KW_WORKDIR/m; }\n"
                "      echo");
  const auto result = run_text(
      folder, std::string(kGiven) + "expect: {objects: [{kind: ConfigMap, name: a-copy}]}\n",
      rules);
  INFO(messages(result));
  CHECK(messages(result).find("must succeed, but the run of ConfigMap default/a ended with "
                              "failed: ") != std::string::npos);
}

TEST_CASE("a hook that wakes itself by what it writes ends its case with the reason") {
  const test::RuleFolder folder;
  std::string rules = kRules;
  rules.replace(rules.find("data: $DATA"), 11, "data: {id: $KW_ID}");
  const auto result = run_text(folder, std::string(kGiven) + "expect: {runs: []}\n", rules);
  CHECK(messages(result).find("more than 200 runs in one step: does a hook print something else "
                              "each time") != std::string::npos);
}

TEST_CASE("a second pass that may write is not looked at") {
  const test::RuleFolder folder;
  const std::string rules = counts_starts();
  const auto result = run_text(folder,
                               std::string(kGiven) +
                                   "idempotent: false\n"
                                   "expect: {objects: [{kind: ConfigMap, name: a-copy}]}\n",
                               rules);
  CHECK(messages(result) == "");
}

namespace {

// The rules, and the case of kGiven with more.
TestCase case_of(const test::RuleFolder& folder, const std::string& rules,
                 const std::string& more) {
  folder.write("rules.yaml", rules);
  auto loaded = parse_cases(kGiven + more, folder.file("tests.yaml"));
  REQUIRE(loaded.problems.empty());
  return std::move(loaded.cases.at(0));
}

}  // namespace

TEST_CASE("each write interrupted, refused or unanswered, leads to the same end") {
  const test::RuleFolder folder;
  const TestCase test =
      case_of(folder, kRules, "expect: {objects: [{kind: ConfigMap, name: a-copy}]}\n");
  const auto plain = run_case(test);
  REQUIRE(messages(plain).empty());
  REQUIRE(plain.client_writes >= 1);
  const auto ended = run_interrupted(test, plain);
  CHECK(ended.interruptions == 2 * plain.client_writes);
  for (const auto& failure : ended.failures) FAIL_CHECK(failure.message);
}

TEST_CASE("a hook whose work depends on having been interrupted is found out") {
  const test::RuleFolder folder;
  std::string rules = kRules;
  rules.replace(rules.find("data: $DATA"), 11, "data: {retried: \"$(ls retried 2>&1)\"}");
  rules.replace(rules.find("echo \"copying"), 4,
                "[ $KW_ATTEMPT = 1 ] || touch retried\n      echo");
  const TestCase test = case_of(folder, rules,
                                "idempotent: false\n"
                                "expect: {objects: [{kind: ConfigMap, name: a-copy}]}\n");
  const auto plain = run_case(test);
  REQUIRE(messages(plain) == "");
  const auto ended = run_interrupted(test, plain);
  REQUIRE_FALSE(ended.failures.empty());
  CHECK(ended.failures[0].message.find("with write 1 refused: it ends otherwise: ConfigMap "
                                       "default/a-copy: .data.retried: expected ") == 0);
}

TEST_CASE("what a hook makes up and creates once may end otherwise, but must be there") {
  const test::RuleFolder folder;
  std::string rules = kRules;
  rules.replace(
      rules.find("      apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: $KW"), 0,
      "      apiVersion: kubewatch.dev/v1\n"
      "      kind: Result\n"
      "      create:\n"
      "      - {apiVersion: v1, kind: Secret, metadata: {name: once},\n"
      "         stringData: {p: \"p$(date +%s%N)$$\"}}\n"
      "      ---\n");
  rules.replace(rules.find("  resync:"), 0, "  writes: [{apiVersion: v1, kind: Secret}]\n");
  const TestCase test = case_of(folder, rules, "expect: {objects: [{kind: Secret, name: once}]}\n");
  const auto plain = run_case(test);
  REQUIRE(messages(plain) == "");
  REQUIRE(plain.made_once == std::set<std::string>{"Secret default/once"});
  const auto ended = run_interrupted(test, plain);
  CHECK(ended.interruptions >= 4);
  for (const auto& failure : ended.failures) FAIL_CHECK(failure.message);
  Snapshot without = plain.end_state;
  without.erase("Secret default/once");
  CHECK(snapshot_differences(plain.end_state, without, plain.made_once) ==
        std::vector<std::string>{"Secret default/once is missing"});
}

TEST_CASE("a write whose answer is lost is done, and done again by a further attempt") {
  const test::RuleFolder folder;
  std::string rules = kRules;
  rules.replace(rules.find("echo \"copying"), 4, "echo \"attempt $KW_ATTEMPT\" >&2\n      echo");
  const TestCase test =
      case_of(folder, rules, "expect: {objects: [{kind: ConfigMap, name: a-copy}]}\n");
  const auto said = [](const CaseResult& result, const std::string& words) {
    return base::join(result.log, "\n").find(words) != std::string::npos;
  };
  const auto plain = run_case(test);
  REQUIRE(said(plain, "attempt 1"));
  REQUIRE_FALSE(said(plain, "attempt 2"));
  CaseOptions lost;
  lost.interruption = Interruption{0, true};
  const auto ended = run_case(test, lost);
  CHECK(messages(ended) == "");
  CHECK(said(ended, "attempt 2"));
  CHECK(snapshot_differences(plain.end_state, ended.end_state).empty());
}

TEST_CASE("a hook that hangs ends its case, not the others") {
  const test::RuleFolder folder;
  std::string rules = kRules;
  rules.replace(rules.find("echo \"copying"), 4, "sleep 60; echo");
  const TestCase test = case_of(folder, rules, "expect: {runs: []}\n");
  CaseOptions options;
  options.patience = Duration{2000};
  const auto result = run_case(test, options);
  CHECK(messages(result).find("not done after 2s of real time: a hook still runs") !=
        std::string::npos);
}

TEST_CASE("everything wrong with a test file is named with its place") {
  const test::RuleFolder folder;
  folder.write("rules.yaml", kRules);
  const auto loaded = parse_cases(R"(apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: bad}
controller: none.yaml
given: [{kind: ConfigMap}, {kind: ConfigMap, metadata: {name: y}}]
when:
  - {advance: soon}
  - {apply: {apiVersion: v1, kind: A, metadata: {name: a}}, compact: true}
  - {fail: {verb: steal}}
expect: {object: {name: a}, run: []}
)",
                                  folder.file("tests.yaml"));
  std::string all;
  for (const auto& problem : loaded.problems) all += problem.str() + "\n";
  INFO(all);
  const std::string file = folder.file("tests.yaml");
  for (const char* part :
       {":4:13: controller: ", "there is no such file", ":5:9: given[0]: needs a name",
        "given[1]: its name must be text, not true; put it in quotes",
        ":7:15: when[0].advance: ", ":8:5: when[1]: must have exactly one key",
        ":9:19: when[2].fail.verb: must be ", ":10:18: expect.object: needs a kind",
        ":10:29: expect.run: unknown key, did you mean \"runs\"?"}) {
    INFO(part);
    CHECK(all.find(part) != std::string::npos);
  }
}

TEST_CASE("a case that expects nothing is refused, and a folder without cases") {
  const test::RuleFolder folder;
  folder.write("rules.yaml", kRules);
  const auto loaded = parse_cases(kGiven, folder.file("tests.yaml"));
  REQUIRE(loaded.problems.size() == 1);
  CHECK(loaded.problems[0].message.find("expects nothing") != std::string::npos);
  const auto none = load_cases({folder.path()});
  REQUIRE(none.problems.size() == 1);
  CHECK(none.problems[0].message.find("no test case") == 0);
  for (const char* steps : {"steps: []\n", "steps: [{name: one}, {when: [{advance: 1m}]}]\n"}) {
    INFO(steps);
    const auto in_steps = parse_cases(std::string(kGiven) + steps, folder.file("tests.yaml"));
    REQUIRE(in_steps.problems.size() == 1);
    CHECK(in_steps.problems[0].message.find("expects nothing") != std::string::npos);
  }
  const auto one_of_two = parse_cases(
      std::string(kGiven) + "steps: [{when: [{advance: 1m}]}, {expect: {writes: []}}]\n",
      folder.file("tests.yaml"));
  CHECK(one_of_two.problems.empty());
}

TEST_CASE("a file without a document is refused, in a folder it is passed over") {
  const test::RuleFolder folder;
  folder.write("rules.yaml", kRules);
  folder.write("tests.yaml", std::string(kGiven) + "expect: {writes: []}\n");
  for (const char* text : {"", "# nothing yet\n", "---\n---\n"}) {
    CAPTURE(text);
    const auto file = folder.write("empty.yaml", text);
    const auto loaded = load_cases({file});
    REQUIRE(loaded.problems.size() == 1);
    CHECK(loaded.problems[0].str() == file + ": no test case: the file is empty");
    CHECK(load_cases({folder.path()}).problems.empty());
  }
}

TEST_CASE("a case of a version that is none is refused, in a folder as well") {
  const test::RuleFolder folder;
  folder.write("tests.yaml",
               "apiVersion: kubewatch.dev/v2\nkind: ControllerTest\nmetadata: {name: x}\n");
  const auto loaded = load_cases({folder.path()});
  REQUIRE_FALSE(loaded.problems.empty());
  CHECK(loaded.problems[0].str().find(
            "tests.yaml:1:13: apiVersion: must be kubewatch.dev/v1, not \"kubewatch.dev/v2\"") !=
        std::string::npos);
}

TEST_CASE("no case of a folder is left out in silence") {
  const test::RuleFolder folder;
  folder.write("none.yaml", "kind: ControllerTest\nmetadata: {name: x}\n");
  CHECK(load_cases({folder.path()})
            .problems.at(0)
            .str()
            .find("none.yaml:1:1: key \"apiVersion\" is missing") != std::string::npos);
  const std::string closed = folder.file("closed");
  namespace fs = std::filesystem;
  fs::create_directory(closed);
  fs::permissions(closed, fs::perms::none);
  // Nobody of root's group.
  fs::permissions(folder.path(), fs::perms::group_exec, fs::perm_options::add);
  std::optional<test::AsNobody> nobody(std::in_place);
  const auto loaded = load_cases({closed});
  nobody.reset();
  REQUIRE_FALSE(loaded.problems.empty());
  CHECK(loaded.problems[0].str().find("closed: not all of it was looked at: ") !=
        std::string::npos);
}

TEST_CASE("reports say what failed and where, in all three forms") {
  CaseReport good;
  good.name = "good";
  good.file = "t.yaml";
  good.runs = 1;
  CaseReport bad = good;
  bad.name = "bad <&>";
  bad.failures = {{"t.yaml:9", "expected \"a\", got \"b\""}};
  bad.failed_runs = {"web ConfigMap b: invalid-output: not <YAML>"};
  bad.log = {"hook said so"};
  CHECK(text_of(good) == "ok    t.yaml:1  good (0.0s, 1 run)\n");
  CHECK(text_of(bad) ==
        "FAIL  t.yaml:1  bad <&> (0.0s, 1 run)\n      t.yaml:9: expected \"a\", got \"b\"\n"
        "      failed run: web ConfigMap b: invalid-output: not <YAML>\n"
        "      log:\n        hook said so\n");
  CHECK(summary_of({good, bad}) == "2 cases, 1 failed\n");
  const Json json = json_of({good, bad});
  CHECK(json["failed"] == 1);
  CHECK(json["cases"][1]["failures"][0]["place"] == "t.yaml:9");
  CHECK(json["cases"][1]["failedRuns"] == bad.failed_runs);
  const std::string junit = junit_of({good, bad});
  CHECK(junit.find("<testsuite name=\"t.yaml\" tests=\"2\" failures=\"1\"") != std::string::npos);
  CHECK(junit.find("name=\"bad &lt;&amp;&gt;\"") != std::string::npos);
  CHECK(junit.find("failed run: web ConfigMap b: invalid-output: not &lt;YAML&gt;") !=
        std::string::npos);
  CHECK(junit.find("<failure message=\"expected &quot;a&quot;, got &quot;b&quot;\">") !=
        std::string::npos);
}

TEST_CASE("a case that misses what a failed run did not write has why that failed") {
  const test::RuleFolder folder;
  folder.write("rules.yaml",
               "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: web}\nspec:\n"
               "  for: {apiVersion: v1, kind: ConfigMap, labelSelector: copy=yes}\n"
               "  reconcile: {shell: 'echo no manifest'}\n");
  const auto loaded = parse_cases(
      "apiVersion: kubewatch.dev/v1\nkind: ControllerTest\nmetadata: {name: t}\n"
      "controller: rules.yaml\ngiven:\n"
      "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {copy: 'yes'}}}\n"
      "expect: {objects: [{kind: ConfigMap, name: b}]}\n",
      folder.file("tests.yaml"));
  REQUIRE(loaded.cases.size() == 1);
  const CaseResult result = run_case(loaded.cases[0]);
  CHECK_FALSE(result.ok());
  REQUIRE(result.failed_runs.size() == 1);
  CHECK(result.failed_runs[0].find("web ConfigMap default/a: invalid-output: invalid output: ") ==
        0);
}

TEST_CASE("trigger runs the objects that it names or selects, with its words as the reason") {
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"(  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: b, labels: {copy: 'yes', tier: web}}
    data: {k: v}
steps:
  - when: [{trigger: {name: a, namespace: default, reason: a push}}]
    expect: {runs: [{name: a, reason: External, times: 1}, {name: a, reason: Startup}, {name: b, reason: Startup}]}
  - when: [{trigger: {selector: tier=web}}]
    expect: {runs: [{name: b, reason: External, times: 1}, {name: a, times: 0}]}
  - when: [{trigger: {all: true}}]
    expect: {runs: [{name: a, reason: External, times: 1}, {name: b, reason: External, times: 1}], writes: []}
)");
  CHECK(messages(result) == "");
}

TEST_CASE("a trigger that is none is refused where it stands, one for nothing fails the case") {
  const test::RuleFolder folder;
  folder.write("rules.yaml", kRules);
  const auto refused = parse_cases(std::string(kGiven) + R"(
when:
  - trigger: {nome: a}
  - trigger: a
expect: {runs: []}
)",
                                   folder.file("tests.yaml"));
  REQUIRE(refused.problems.size() == 2);
  CHECK(refused.problems[0].str().find("tests.yaml:13") != std::string::npos);
  CHECK(refused.problems[0].str().find("has the unknown member \"nome\"") != std::string::npos);
  const auto why = [&](const std::string& trigger) {
    return messages(run_text(
        folder, std::string(kGiven) + "when: [{trigger: " + trigger + "}]\nexpect: {runs: []}\n"));
  };
  CHECK(why("{name: nobody, namespace: default}")
            .find("no object that the rules see (name \"nobody\", namespace \"default\")") !=
        std::string::npos);
  // Nor would a program's request be for one in `default`.
  CHECK(why("{name: a}").find("no object that the rules see (name \"a\", namespace \"\")") !=
        std::string::npos);
}

TEST_CASE("an expected run leaves to the others those that they alone can be met by") {
  const test::RuleFolder folder;
  const auto result = run_text(folder, std::string(kGiven) + R"(
when: [{trigger: {name: a, namespace: default}}]
expect: {runs: [{name: a}, {name: a, reason: Startup}]}
)");
  CHECK(messages(result) == "");
}

TEST_CASE("the name of a document whose `for` is a list chooses its controllers, or one of them") {
  const test::RuleFolder folder;
  const std::string rules = R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: many}
spec:
  for:
    - {apiVersion: v1, kind: ConfigMap}
    - {apiVersion: v1, kind: ServiceAccount}
  reconcile: {shell: 'true', output: log}
---
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: other}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  reconcile: {shell: 'true', output: log}
)";
  const auto run = [&](const std::string& name, const std::string& runs) {
    return messages(run_text(folder,
                             "apiVersion: kubewatch.dev/v1\nkind: ControllerTest\n"
                             "metadata: {name: chosen}\n"
                             "controller: {file: rules.yaml, name: " +
                                 name +
                                 "}\ngiven:\n"
                                 "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
                                 "  - {apiVersion: v1, kind: ServiceAccount, metadata: {name: b}}\n"
                                 "expect: {runs: " +
                                 runs + "}\n",
                             rules));
  };
  CHECK(run("many", "[{kind: ConfigMap, name: a, times: 1}, {kind: ServiceAccount, name: b}]") ==
        "");
  CHECK(run("many-serviceaccount",
            "[{kind: ServiceAccount, name: b}, {kind: ConfigMap, times: 0}]") == "");
  CHECK(run("nobody", "[]").find("has no controller nobody") != std::string::npos);
}
