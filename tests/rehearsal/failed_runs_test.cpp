// When a run that failed comes again, and what is told of it: exit codes with a meaning of their
// own, and finalizers that may not be written.
#include "hooks/rule_folder.hpp"
#include "rehearsal/case_file.hpp"
#include "rehearsal/case_runner.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::rehearsal;

namespace {

constexpr const char* kRule = R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: web}
spec:
  for: {apiVersion: apps/v1, kind: Deployment}
)x";

constexpr const char* kCase = R"x(
apiVersion: kubewatch.dev/v1
kind: ControllerTest
metadata: {name: it fails}
controller: rules.yaml
idempotent: false
given:
  - {apiVersion: v1, kind: Namespace, metadata: {name: other}}
steps:
)x";

constexpr const char* kDeployment =
    "apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: "
    "{matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: "
    "[{name: a, image: a}]}}}}\n";

std::string failures_of(const std::string& rule, const std::string& steps) {
  const test::RuleFolder folder;
  folder.write("rules.yaml", kRule + rule);
  const auto loaded = parse_cases(kCase + steps, folder.file("tests.yaml"));
  for (const auto& problem : loaded.problems) FAIL_CHECK(problem.str());
  REQUIRE(loaded.cases.size() == 1);
  std::string out;
  for (const auto& failure : run_case(loaded.cases[0]).failures) {
    out += failure.place + ": " + failure.message + "\n";
  }
  return out;
}

// The Deployment comes while a patch of it is refused, or is deleted then.
std::string refused(const std::string& code, const std::string& what) {
  return "  - when:\n      - fail: {verb: patch, kind: Deployment, name: a, code: " + code +
         "}\n      - " + what;
}

constexpr const char* kTold = R"x(
    expect:
      runs: [{name: a, outcome: write-failed, times: 1}]
      events: [{reason: WriteFailed, times: 1}, {reason: HookFailed, times: 0}]
      conditions: [{type: Reconciled, status: "False", reason: WriteFailed}]
)x";

constexpr const char* kNotBeforeAnHour = R"x(
  - when: [{advance: 59m}]
    expect: {runs: [], events: []}
  - when: [{advance: 2m}]
)x";

}  // namespace

TEST_CASE("an exit code with a time of its own is retried after exactly that, however often") {
  std::string steps = std::string("  - when:\n      - ") + kDeployment;
  steps +=
      "    expect: {runs: [{name: a, outcome: failed, exitCode: 3, times: 1}]}\n"
      "  - when: [{advance: 50s}]\n    expect: {runs: []}\n"
      "  - when: [{advance: 10s}]\n    expect: {runs: [{name: a, times: 1}]}\n";
  for (int i = 0; i < 8; ++i) {
    steps += "  - when: [{advance: 1m}]\n    expect: {runs: [{name: a, exitCode: 3, times: 1}]}\n";
  }
  // The backoff would wait longer from the first time on, or from the seventh.
  for (const char* backoff : {"initial: 2m, ", ""}) {
    INFO(backoff);
    CHECK(failures_of(std::string("  reconcile: {shell: 'exit 3'}\n  retry: {") + backoff +
                          "exits: {3: {after: 1m}}}\n",
                      steps) == "");
  }
}

TEST_CASE("an exit code that the rule calls permanent is not retried, whatever was printed") {
  std::string steps = std::string("  - when:\n      - ") + kDeployment;
  steps +=
      "    expect: {runs: [{name: a, outcome: permanent, exitCode: 17, times: 1}]}\n"
      "  - when: [{advance: 3h}]\n    expect: {runs: []}\n";
  for (const char* hook : {"exit 17", "echo it is broken; exit 17"}) {
    INFO(hook);
    CHECK(failures_of(std::string("  reconcile: {shell: \"") + hook +
                          "\"}\n  retry: {exits: {17: permanent}}\n",
                      steps) == "");
  }
}

TEST_CASE("a finalizer that may not be added is told as a refused write and retried in an hour") {
  const std::string rule = "  reconcile: {shell: 'true'}\n  finalize: {shell: 'true'}\n";
  for (const char* code : {"403", "400", "422"}) {
    INFO(code);
    CHECK(failures_of(rule, refused(code, kDeployment) + kTold + "      finalizers: []\n" +
                                kNotBeforeAnHour + R"x(
    expect:
      runs: [{name: a, outcome: done, times: 1}]
      finalizers: [kubewatch.dev/web]
      conditions: [{type: Reconciled, status: "True"}]
)x") == "");
  }
  // The server is only busy.
  CHECK(failures_of(rule, refused("503", kDeployment) + R"x(
    expect:
      runs: [{name: a, outcome: write-failed, times: 1}]
      events: [{reason: WriteFailed, times: 1}]
      finalizers: []
      writes: [{kind: Deployment, subresource: status, times: 0}]
  - when: [{advance: 2s}]
    expect: {runs: [{name: a, outcome: done}], finalizers: [kubewatch.dev/web]}
)x") == "");
}

TEST_CASE("a change of the object comes before the hour of a refused finalizer is over") {
  std::string changed = kDeployment;
  changed.replace(changed.find("{selector"), 1, "{paused: true, ");
  CHECK(failures_of("  reconcile: {shell: 'true'}\n  finalize: {shell: 'true'}\n",
                    refused("403", kDeployment) + kTold + "  - when:\n      - " + changed + R"x(
    expect: {runs: [{name: a, outcome: done}], finalizers: [kubewatch.dev/web]}
  - when: [{advance: 3h}]
    expect: {runs: []}
)x") == "");
}

TEST_CASE("a guard that may not be put on the owner is told, and no child is written before") {
  CHECK(failures_of(R"x(
  owns: [{apiVersion: v1, kind: ConfigMap, namespaces: [other]}]
  reconcile:
    shell: 'echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: far, namespace: other}}"'
)x",
                    refused("403", kDeployment) + kTold + R"x(
      absent: [{kind: ConfigMap, namespace: other, name: far}]
)x" + kNotBeforeAnHour +
                        R"x(
    expect:
      runs: [{name: a, outcome: done}]
      objects: [{kind: ConfigMap, namespace: other, name: far}]
      finalizers: [kubewatch.dev/web]
      conditions: [{type: Reconciled, status: "True"}]
)x") == "");
}

TEST_CASE("a finalizer that may not be taken off a dying object is told and retried in an hour") {
  const std::string rule = "  reconcile: {shell: 'true'}\n  finalize: {shell: 'true'}\n";
  const std::string guarded = std::string("  - when:\n      - ") + kDeployment +
                              "    expect: {finalizers: [kubewatch.dev/web]}\n";
  for (const char* code : {"403", "422"}) {
    INFO(code);
    CHECK(failures_of(rule, guarded + refused(code, "delete: {kind: Deployment, name: a}") + kTold +
                                "      finalizers: [kubewatch.dev/web]\n" + kNotBeforeAnHour + R"x(
    expect:
      runs: [{name: a, outcome: done, times: 1}]
      absent: [{kind: Deployment, name: a}]
)x") == "");
  }
}

TEST_CASE("what only waits for whole lists is told as incomplete and not as a run that was made") {
  const std::string map =
      "  - when:\n      - apply: {apiVersion: v1, kind: ConfigMap, metadata: "
      "{name: config}, data: {of: ";
  CHECK(failures_of(R"x(
  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: '{name: (.data.of | fromjson)}'}]
  reconcile: {shell: 'true'}
)x",
                    map + "no JSON}}\n      - " + kDeployment + R"x(
    expect:
      runs: [{name: a, outcome: incomplete, times: 1}, {name: a, outcome: done, times: 0}]
      conditions: [{type: Reconciled, status: "False", reason: IncompleteInput}]
)x" + map + R"x('"a"'}}
    expect: {runs: [{name: a, outcome: done, times: 1}, {name: a, outcome: incomplete, times: 0}]}
)x") == "");
}
