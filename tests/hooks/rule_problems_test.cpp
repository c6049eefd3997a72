// What is refused in a rule file, and how: every diagnostic with its exact position and words.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;

namespace {

struct Case {
  std::string text;
  // "LINE:COLUMN: message"; a * at the end stands for another room's words.
  std::vector<std::string> expected;
};

// Lines 1 to 6 of a good rule; more of the spec follows from line 7 on, indented by two.
const std::string kHead =
    "apiVersion: kubewatch.dev/v1\n"
    "kind: Controller\n"
    "metadata: {name: website}\n"
    "spec:\n"
    "  for: {apiVersion: v1, kind: ConfigMap}\n"
    "  reconcile: {exec: [./hook.sh]}\n";

// Lines 1 to 4: `for` (line 5) and `reconcile` (line 6) are what the case is about.
const std::string kBareHead = kHead.substr(0, kHead.find("  for:"));
const std::string kFor = "  for: {apiVersion: v1, kind: ConfigMap}\n";
const std::string kReconcile = "  reconcile: {exec: [./hook.sh]}\n";

void check(const Case& one) {
  const test::RuleFolder folder;
  folder.script("hook.sh");
  folder.write("plain.txt", "no program");
  const std::string file = folder.file("rules.yaml");
  std::vector<std::string> found;
  for (const base::Remark& problem : hooks::parse_rules(one.text, file).problems) {
    std::string line = problem.str();
    for (std::size_t at = 0; (at = line.find(folder.path(), at)) != std::string::npos;) {
      line.replace(at, folder.path().size(), "DIR");
    }
    REQUIRE(line.starts_with("DIR/rules.yaml:"));
    line = line.substr(std::string("DIR/rules.yaml:").size());
    if (found.size() < one.expected.size() && one.expected[found.size()].ends_with('*')) {
      const std::string& wanted = one.expected[found.size()];
      if (line.starts_with(wanted.substr(0, wanted.size() - 1)) && line.size() >= wanted.size())
        line = wanted;
    }
    found.push_back(line);
  }
  INFO(one.text);
  CHECK(found == one.expected);
}

void check_all(const std::string& head, const std::vector<Case>& cases) {
  for (const Case& one : cases) check({head + one.text, one.expected});
}

}  // namespace

TEST_CASE("a document that is no rule is refused") {
  check_all(
      "",
      {
          {"[]\n",
           {"1:1: must be a mapping with apiVersion: kubewatch.dev/v1 and kind: Controller, not a "
            "list"}},
          {"", {" no rule: the file is empty"}},
          {"# only a comment\n---\n", {" no rule: the file is empty"}},
          {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
           {"1:13: apiVersion: must be kubewatch.dev/v1 in a rule file, not \"v1\""}},
          {"apiVersion: kubewatch.dev/v1\nkind: Controler\nmetadata: {name: a}\n",
           {"2:7: kind: must be Controller, Admission, Conversion, ControllerTest or "
            "TypeDefinitions, not "
            "\"Controler\", "
            "did you mean \"Controller\"?"}},
          {"apiVersion: kubewatch.dev/v1\nkind: Admission\n",
           {"2:7: kind: Admission: not supported yet"}},
          {"apiVersion: kubewatch.dev/v1\nkind: ControllerTest\n",
           {"2:7: kind: ControllerTest: a test case is no rule; run it with `run-controller "
            "test`"}},
          {"kind: Controller\n",
           {"1:1: key \"apiVersion\" is missing", "1:1: key \"metadata\" is missing",
            "1:1: key \"spec\" is missing"}},
          {"apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {}\nspec: {}\n",
           {"3:11: metadata: key \"name\" is missing", "4:7: spec: key \"reconcile\" is missing"}},
          {"apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: Web_Site}\nspec: []\n",
           {"3:18: metadata.name: \"Web_Site\" is not a name: a lowercase RFC 1123*",
            "4:7: spec: must be a mapping, not a list"}},
      });
}

TEST_CASE("text that is not YAML is refused with its position") {
  check_all("", {
                    {"a: [1\nb: 2\n", {"2:2: *"}},
                    {"a: &x [*x]\n", {"1:8: anchor \"x\" contains itself"}},
                    {"a: 1\na: 2\n", {"2:1: key \"a\" appears twice"}},
                    {"a: \"\xff\"\n", {"1:5: not valid UTF-8"}},
                });
}

TEST_CASE("unknown keys and wrong values of the spec are all listed at their positions") {
  check_all(
      kHead,
      {
          {"  conurrency: 4\n",
           {"7:3: spec.conurrency: unknown key, did you mean \"concurrency\"?"}},
          {"  colour: red\n", {"7:3: spec.colour: unknown key"}},
          {"  concurrency: 0\n", {"7:16: spec.concurrency: must be from 1 to 1000, not 0"}},
          {"  concurrency: 18446744073709551615\n",
           {"7:16: spec.concurrency: must be from 1 to 1000, not 18446744073709551615"}},
          {"  concurrency: many\n", {"7:16: spec.concurrency: must be a whole number, not text"}},
          {"  concurrency: 1.5\n",
           {"7:16: spec.concurrency: must be a whole number, not a number"}},
          {"  debounce: 5\n",
           {"7:13: spec.debounce: must be a duration such as 30s, 5m or 1h30m, not a number"}},
          {"  debounce: soon\n",
           {"7:13: spec.debounce: \"soon\" is not a duration; write it like 500ms, 30s or 1h30m"}},
          {"  resync: 10ms\n", {"7:11: spec.resync: must be at least 1s, or 0 for never"}},
          {"  resync: 9000h\n", {"7:11: spec.resync: must be from 0s to 8760h, not 9000h"}},
          {"  whenNoLongerMatched: kep\n",
           {"7:24: spec.whenNoLongerMatched: must be keep, release or finalize, not \"kep\", did "
            "you mean "
            "\"keep\"?"}},
          {"  whenNoLongerMatched: finalize\n",
           {"7:24: spec.whenNoLongerMatched: finalize needs spec.finalize: there is nothing to "
            "run"}},
          {"  changed: []\n",
           {"7:12: spec.changed: must not be empty; leave it out for the default"}},
          {"  changed: [.spec, '.a | .b', 3, spec]\n",
           {"7:20: spec.changed[1]: \".a | .b\" is no path of keys alone, such as .spec or "
            ".metadata.labels[\"a/b\"]; a filter is no path",
            "7:31: spec.changed[2]: must be text, not a number (put it in quotes)",
            "7:34: spec.changed[3]: \"spec\" is no path such as .spec or "
            ".metadata.labels[\"a/b\"]: it must start with a dot"}},
          {"  onDelete: false\n", {}},
          {"  onDelete: true\n", {}},
          {"  onDelete: maybe\n", {"7:13: spec.onDelete: must be true or false, not text"}},
      });
}

TEST_CASE("wrong schedules and triggers are refused") {
  check_all(kHead, {
                       {"  schedule: '*/5 * * * *'\n", {}},
                       {"  schedule: 'TZ=UTC 0 3 1-15/2 jan,6 mon-fri'\n", {}},
                       {"  schedule: 'TZ=Mars/Olympus 0 3 * * *'\n",
                        {"7:13: spec.schedule: time zone Mars/Olympus: this machine knows no such "
                         "time zone*"}},
                       {"  schedule: 'TZ=../../etc/passwd 0 3 * * *'\n",
                        {"7:13: spec.schedule: time zone ../../etc/passwd: no time zone has such a "
                         "name"}},
                       {"  schedule: 'TZ= 0 3 * * *'\n",
                        {"7:13: spec.schedule: the time zone is missing"}},
                       {"  schedule: '0 0 31 feb *'\n",
                        {"7:13: spec.schedule: is never due: no such date exists"}},
                       {"  schedule: '*/5 * * *'\n",
                        {"7:13: spec.schedule: must have 5 fields (minute hour day-of-month month "
                         "day-of-week), not 4"}},
                       {"  schedule: '0 24 * * *'\n",
                        {"7:13: spec.schedule: \"24\" is not valid as hour (0 to 23)"}},
                       {"  triggers: [{file: kicks}]\n", {}},
                       {"  triggers: [{file: .}, {file: /dev/zero}, {file: /no/such/kicks}]\n",
                        {"7:21: spec.triggers[0].file: \"DIR/.\" is no regular file",
                         "7:32: spec.triggers[1].file: \"/dev/zero\" is no regular file"}},
                       {"  triggers: [{exec: [./hook.sh]}, {http: {path: /kick}}]\n", {}},
                       {"  triggers: [{http: {path: '/kick?x'}}]\n",
                        {"7:28: spec.triggers[0].http.path: must be a path of letters, digits and "
                         "-_.~/"}},
                       {"  triggers: [{}, {http: {path: kick}}]\n",
                        {"7:14: spec.triggers[0]: needs one of exec, file and http",
                         "7:32: spec.triggers[1].http.path: must start with /"}},
                   });
}

TEST_CASE("wrong values of content and optional are refused") {
  check_all(kBareHead + kReconcile,
            {
                {"  for: {apiVersion: v1, kind: Pod, content: full, optional: false}\n", {}},
                {"  for: {apiVersion: v1, kind: Pod, content: metadata, optional: true}\n", {}},
                {"  for: {apiVersion: v1, kind: Pod, optional: 1}\n",
                 {"6:46: spec.for.optional: must be true or false, not a number"}},
                {"  for: {apiVersion: v1, kind: Pod, content: some}\n",
                 {"6:45: spec.for.content: must be full or metadata, not \"some\""}},
            });
}

TEST_CASE("filters and paths that read what content: metadata does not keep are refused") {
  check_all(
      kBareHead + kReconcile,
      {
          {"  for: {apiVersion: v1, kind: Pod, content: metadata}\n"
           "  changed: [.metadata.labels, .spec]\n",
           {"7:31: spec.changed[1]: looks at .spec, which spec.for.content: metadata does not "
            "keep"}},
          {"  for: {apiVersion: v1, kind: Pod, content: metadata, filter: .metadata.labels.a}\n",
           {}},
          {"  for: {apiVersion: v1, kind: Pod, content: metadata, filter: '.kind | .a'}\n", {}},
          {"  for: {apiVersion: v1, kind: Pod, content: metadata, filter: .spec.paused != true}\n",
           {"6:63: spec.for.filter: reads .spec, which spec.for.content: metadata does not keep"}},
          {"  for: {apiVersion: v1, kind: Pod, content: metadata, filter: "
           "'any(.metadata.ownerReferences[]; .controller)'}\n",
           {}},
          {"  for: {apiVersion: v1, kind: Pod, content: metadata, filter: "
           "'.metadata.annotations | .spec or (.a as $data | .data)'}\n",
           {}},
          {"  for: {apiVersion: v1, kind: Pod, content: metadata, filter: "
           "'any(.status.conditions[]; .x)'}\n",
           {"6:63: spec.for.filter: reads .status, which spec.for.content: metadata does not "
            "keep"}},
          {"  for: {apiVersion: v1, kind: Pod, content: metadata, filter: 'objects | .data'}\n",
           {"6:63: spec.for.filter: reads .data, which spec.for.content: metadata does not keep"}},
          // libjq's: its text is all that is known.
          {"  for: {apiVersion: v1, kind: Pod, content: metadata, filter: "
           "'.metadata | path(.data)'}\n",
           {"6:63: spec.for.filter: reads .data, which spec.for.content: metadata does not keep"}},
          {"  for: {apiVersion: v1, kind: Pod}\n"
           "  watches: [{name: a, apiVersion: v1, kind: Secret, content: metadata, map: "
           ".data.a}]\n",
           {"7:77: spec.watches[0].map: reads .data, which content: metadata does not keep"}},
      });
}

TEST_CASE("filters and paths that read what strip drops are refused") {
  check_all(
      kBareHead + kReconcile,
      {
          {"  for: {apiVersion: v1, kind: Pod, strip: [.spec.x], filter: .spec.x.y == 1}\n",
           {"6:62: spec.for.filter: reads .spec.x, which spec.for.strip drops before the cache"}},
          {"  for: {apiVersion: v1, kind: Pod, strip: ['.spec.x'], filter: '.spec.a or (.spec | .b "
           "== .x)'}\n",
           {"6:64: spec.for.filter: reads .spec.x, which spec.for.strip drops before the cache"}},
          {"  for: {apiVersion: v1, kind: Pod, strip: [.spec.x], filter: '.spec.xy and .spec and "
           ".x'}\n",
           {}},
          {"  for: {apiVersion: v1, kind: Pod, filter: .metadata.managedFields}\n",
           {"6:44: spec.for.filter: reads .metadata.managedFields, which spec.for.strip drops "
            "before the cache"}},
          {"  for: {apiVersion: v1, kind: Pod, strip: [.status]}\n"
           "  changed: [.spec, .status.phase]\n",
           {"7:20: spec.changed[1]: reads .status.phase, which spec.for.strip drops before the "
            "cache"}},
          {"  for: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Node, strip: [.spec]}]\n"
           "  changed: [.spec]\n",
           {"7:13: spec.changed[0]: reads .spec, which spec.for.strip drops before the cache"}},
          {"  for: {apiVersion: v1, kind: Pod}\n"
           "  watches: [{name: a, apiVersion: v1, kind: Secret, strip: [.data], map: "
           "'.data[\"a\"]'}]\n",
           {"7:74: spec.watches[0].map: reads .data, which strip drops before the cache"}},
          {"  for: {apiVersion: v1, kind: Pod, strip: [.spec.a]}\n"
           "  watches: [{name: a, apiVersion: v1, kind: Secret, refs: .spec.a}]\n",
           {"7:59: spec.watches[0].refs: reads .spec.a, which spec.for.strip drops before the "
            "cache"}},
      });
}

TEST_CASE("wrong lists of kinds are refused, and namespaces that are both listed and selected") {
  check_all(
      kBareHead + kReconcile,
      {
          {"  for: {apiVersion: v1, kind: Pod, namespaceSelector: team=web}\n", {}},
          {"  for: {apiVersion: v1, kind: Pod, namespaces: [a], namespaceSelector: team=web}\n",
           {"6:53: spec.for.namespaceSelector: and namespaces exclude each other"}},
          {"  for: [{apiVersion: v1, kind: Pod}, {group: apps, kinds: '*'}]\n", {}},
          {"  for: [{apiVersion: v1, kind: Pod}, {apiVersion: x.dev/v1, kind: pod}]\n",
           {"6:38: spec.for[1]: pod is listed already: the controllers of a list are named after "
            "their kinds; give it a document of its own"}},
          {"  for: [{group: apps, kinds: '*'}, {apiVersion: apps/v1, kind: Deployment}]\n",
           {"6:36: spec.for[1]: is in a group of which every kind is listed"}},
          {"  for: [{group: apps, kinds: '*'}, {group: batch, kinds: '*'}]\n", {}},
          {"  for: [{apiVersion: v1}, 5]\n",
           {"6:9: spec.for[0]: key \"kind\" is missing",
            "6:27: spec.for[1]: must be a mapping, not a number"}},
          {"  for: {group: apps, kinds: '*'}\n", {}},
          {"  for: {group: apps, kinds: Pod}\n", {"6:29: spec.for.kinds: must be \"*\""}},
      });
}

TEST_CASE("wrong limits and credentials of a hook are refused") {
  check_all(
      kBareHead + kFor,
      {
          {"  reconcile: {exec: [./hook.sh], mode: process, credentials: none}\n", {}},
          {"  reconcile: {exec: [./hook.sh], mode: worker}\n", {}},
          {"  reconcile: {exec: [./hook.sh], credentials: kubeconfig}\n", {}},
          {"  reconcile: {exec: [./hook.sh], credentials: {serviceAccount: robot}}\n", {}},
          {"  reconcile: {exec: [./hook.sh], credentials: cache}\n", {}},
          {"  reconcile: {exec: [./hook.sh], credentials: kubeconfig, env: {KUBECONFIG: x}}\n",
           {"6:47: spec.reconcile.credentials: sets KUBECONFIG, and so does env or inheritEnv"}},
          {"  reconcile: {exec: [./hook.sh], limits: {memory: 256Mi, cpu: 10s, processes: 64}}\n",
           {}},
          {"  reconcile: {exec: [./hook.sh], limits: {processes: 0}}\n",
           {"6:54: spec.reconcile.limits.processes: must be from 1 to 1000000, not 0"}},
          {"  reconcile: {exec: [./hook.sh], limits: {memory: lots}}\n",
           {"6:51: spec.reconcile.limits.memory: \"lots\" is not a size; write it like 65536, "
            "64Ki, 4Mi or "
            "1Gi"}},
      });
}

TEST_CASE("a finalizer's whenControllerRemoved is release or keep") {
  check_all(
      kHead,
      {
          {"  finalize: {exec: [./hook.sh], whenControllerRemoved: release}\n", {}},
          {"  finalize: {exec: [./hook.sh], whenControllerRemoved: keep}\n", {}},
          {"  finalize: {exec: [./hook.sh], whenControllerRemoved: never}\n",
           {"7:56: spec.finalize.whenControllerRemoved: must be release or keep, not \"never\""}},
      });
}

TEST_CASE("each value of apply that is documented is accepted") {
  check_all(
      kHead,
      {
          {"  apply: {onImmutable: fail, validate: none}\n", {}},
          {"  apply: {onImmutable: recreate, validate: schema}\n", {}},
          {"  apply: {validate: server, force: [.spec.replicas, '.metadata.labels[\"a/b\"]']}\n",
           {}},
      });
}

TEST_CASE("a rule without for may not speak of an object") {
  check_all(
      kBareHead,
      {
          {kReconcile, {}},
          {kReconcile + "  watches: [{name: a, apiVersion: v1, kind: Pod}]\n", {}},
          {kReconcile + "  watches: [{name: a, apiVersion: v1, kind: Pod, map: all}]\n", {}},
          {kReconcile + "  schedule: '0 0 * * *'\n  resync: 1h\n  debounce: 5s\n", {}},
          {kReconcile + "  watches: [{name: a, apiVersion: v1, kind: Pod, refs: .spec}]\n"
                        "  finalize: {shell: 'true'}\n"
                        "  whenNoLongerMatched: keep\n"
                        "  onDelete: true\n"
                        "  changed: [.spec]\n"
                        "  concurrency: 2\n",
           {"6:56: spec.watches[0].refs: needs spec.for: there is no object to look into",
            "7:3: spec.finalize: needs spec.for: there is no object to finalize",
            "8:3: spec.whenNoLongerMatched: needs spec.for: there is no object to match",
            "9:3: spec.onDelete: needs spec.for: there is no object to be deleted",
            "10:3: spec.changed: needs spec.for: there is no object to change",
            "11:16: spec.concurrency: must be 1 or left out: a rule without spec.for is one run "
            "for "
            "everything"}},
          {"  reconcile: {exec: [./hook.sh], env: {A: {jq: .spec}}}\n"
           "  watches: [{name: a, apiVersion: v1, kind: Pod, map: '{name: .x}'}]\n"
           "  apply: {ownerReference: none}\n",
           {"5:43: spec.reconcile.env.A: needs spec.for: there is no object for jq to read",
            "6:55: spec.watches[0].map: needs spec.for: there is no object to map to; leave it out",
            "7:11: spec.apply.ownerReference: needs spec.for: there is no object that could own "
            "the "
            "children"}},
      });
}

TEST_CASE("wrong streams are refused") {
  check_all(
      kBareHead + kReconcile,
      {
          {"  for: {kind: Pod}\n", {"6:8: spec.for: key \"apiVersion\" is missing"}},
          {"  for: {apiVersion: a/b/c, kind: 'my pod'}\n",
           {"6:21: spec.for.apiVersion: apiVersion \"a/b/c\" is not VERSION or GROUP/VERSION*",
            "6:34: spec.for.kind: \"my pod\" is not a kind such as Deployment"}},
          {"  for: {apiVersion: v1, kind: Pod, namespaces: []}\n",
           {"6:48: spec.for.namespaces: must not be empty; leave it out for all namespaces"}},
          {"  for: {apiVersion: v1, kind: Pod, namespaces: [a, A, a]}\n",
           {"6:52: spec.for.namespaces[1]: \"A\" is not a namespace: a lowercase RFC 1123 label*",
            "6:55: spec.for.namespaces[2]: \"a\" is listed twice"}},
          {"  for: {apiVersion: v1, kind: Pod, labelSelector: 'a in (b'}\n",
           {"6:51: spec.for.labelSelector: label selector \"a in (b\": *"}},
          {"  for: {apiVersion: v1, kind: Pod, labelSelector: {matchLabel: {a: b}}}\n",
           {"6:51: spec.for.labelSelector: label selector: unknown key matchLabel*"}},
          {"  for: {apiVersion: v1, kind: Pod, labelSelector: 5}\n",
           {"6:51: spec.for.labelSelector: must be text such as \"tier in (web)\" or {matchLabels, "
            "matchExpressions}, not a number"}},
          {"  for: {apiVersion: v1, kind: Pod, fieldSelector: 'a'}\n",
           {"6:51: spec.for.fieldSelector: field selector \"a\": *"}},
          {"  for: {apiVersion: v1, kind: Pod, filter: '.a |'}\n", {"6:44: spec.for.filter: *"}},
          {"  for: {apiVersion: v1, kind: Pod, filter: {a: b}}\n",
           {"6:44: spec.for.filter: must be text (a jq program), not a mapping (put it in "
            "quotes)"}},
          {"  for: {apiVersion: v1, kind: Pod, strip: [.metadata.uid, .spec]}\n",
           {"6:44: spec.for.strip[0]: \".metadata.uid\" cannot be dropped: kubewatch needs it"}},
          {"  for:\n    apiVersion: v1\n    kind: Pod\n    list: {strategy: stream, pageSize: -1, "
           "timeout: 10m, "
           "backoff: {initial: 1m, max: 1s}}\n",
           {"9:22: spec.for.list.strategy: must be auto, paged, unpaged or streaming, not "
            "\"stream\"",
            "9:40: spec.for.list.pageSize: must be from 0 to 10000, not -1",
            "9:53: spec.for.list.timeout: must be from 5s to 4m54s, not 10m",
            "9:67: spec.for.list.backoff: max is shorter than initial"}},
          {"  for: {apiVersion: v1, kind: Pod, list: {strategy: paged, pageSize: 0}}\n",
           {"6:70: spec.for.list.pageSize: must be above 0 with strategy paged: 0 means never in "
            "pages"}},
      });
  check_all(
      kHead,
      {
          {"  owns: {apiVersion: v1, kind: Secret}\n",
           {"7:9: spec.owns: must be a list, not a mapping"}},
          {"  owns: [{apiVersion: v1, kind: Secret, on: [aply]}]\n",
           {"7:46: spec.owns[0].on[0]: must be apply or delete, not \"aply\", did you mean "
            "\"apply\"?"}},
          {"  owns: [{apiVersion: v1, kind: Secret, on: []}]\n",
           {"7:45: spec.owns[0].on: must not be empty; leave it out for [apply, delete]"}},
          {"  owns: [{apiVersion: v1, kind: Secret, no: x}]\n",
           {"7:41: spec.owns[0].false: unknown key"}},
          {"  writes: [{apiVersion: v1, kind: Secret, labelSelector: a}]\n",
           {"7:43: spec.writes[0].labelSelector: unknown key"}},
          {"  watches: [{apiVersion: v1, kind: Secret}]\n",
           {"7:13: spec.watches[0]: key \"name\" is missing",
            "7:13: spec.watches[0]: needs map (from the related object to ours) or refs (from our "
            "object to "
            "the related one)"}},
          {"  watches:\n    - {name: a, apiVersion: v1, kind: Secret, map: all}\n"
           "    - {name: a, apiVersion: v1, kind: Secret, map: all, refs: .spec}\n"
           "    - {name: a.b, apiVersion: v1, kind: Secret, map: '{'}\n",
           {"9:7: spec.watches[1]: map and refs exclude each other: one of both finds the matches",
            "9:14: spec.watches[1].name: \"a\" is the name of another entry",
            "10:14: spec.watches[2].name: \"a.b\" is not a name of letters, digits, _ and -",
            "10:54: spec.watches[2].map: *"}},
      });
}

TEST_CASE("wrong hooks are refused") {
  check_all(
      kBareHead + kFor,
      {
          {"  reconcile: {}\n", {"6:14: spec.reconcile: needs exec or shell: what to run"}},
          {"  reconcile: {exec: [./hook.sh], shell: 'true'}\n",
           {"6:14: spec.reconcile: exec and shell exclude each other"}},
          {"  reconcile: {exec: ./hook.sh}\n",
           {"6:21: spec.reconcile.exec: must be a list: [PROGRAM, ARGUMENT...]; for a command line "
            "use shell"}},
          {"  reconcile: {exec: []}\n",
           {"6:21: spec.reconcile.exec: must not be empty; name the program"}},
          {"  reconcile: {exec: [./gone.sh]}\n",
           {"6:22: spec.reconcile.exec[0]: \"DIR/gone.sh\": No such file or directory"}},
          {"  reconcile: {exec: [./plain.txt]}\n",
           {"6:22: spec.reconcile.exec[0]: \"DIR/plain.txt\" is not executable; run: chmod +x "
            "DIR/plain.txt"}},
          {"  reconcile: {exec: [../]}\n", {"6:22: spec.reconcile.exec[0]: *"}},
          {"  reconcile: {exec: [hook.sh]}\n",
           {"6:22: spec.reconcile.exec[0]: \"hook.sh\" is not in PATH; for the file beside this "
            "one write "
            "./hook.sh"}},
          {"  reconcile: {exec: [no-such-program-here]}\n",
           {"6:22: spec.reconcile.exec[0]: \"no-such-program-here\" is not in PATH"}},
          {"  reconcile: {exec: [./hook.sh, 5]}\n",
           {"6:33: spec.reconcile.exec[1]: must be text, not a number (put it in quotes)"}},
          {"  reconcile: {shell: ''}\n", {"6:22: spec.reconcile.shell: must not be empty"}},
          {"  reconcile: {shell: \"a\\0b\"}\n",
           {"6:22: spec.reconcile.shell: must not contain NUL"}},
          {"  reconcile: {shell: 'true', timeout: 0s}\n",
           {"6:39: spec.reconcile.timeout: must be from 1ms to 24h, not 0s"}},
          {"  reconcile: {shell: 'true', output: json}\n",
           {"6:38: spec.reconcile.output: must be manifests or log, not \"json\""}},
          {"  reconcile: {shell: 'true', limits: {output: 10}}\n",
           {"6:47: spec.reconcile.limits.output: must be from 1Ki to 256Mi bytes"}},
          {"  reconcile: {shell: 'true', env: {A: {from: {file: /dev/zero}}}}\n",
           {"6:53: spec.reconcile.env.A.from.file: \"/dev/zero\" is no regular file"}},
          {"  reconcile:\n    shell: 'true'\n    env:\n      A: 1\n      B: {jq: '.a |'}\n      C: "
           "{from: {file: gone}}\n"
           "      D: {}\n      KW_NAME: x\n      PATH: x\n      a-b: x\n      Y: x\n      'false': "
           "x\n      E: {jq: "
           ".a, from: {file: plain.txt}}\n",
           {"9:10: spec.reconcile.env.A: must be text, not a number (put it in quotes)",
            "10:15: spec.reconcile.env.B.jq: *",
            "11:24: spec.reconcile.env.C.from.file: \"DIR/gone\": No such file or directory",
            "12:10: spec.reconcile.env.D: needs one of from and jq",
            "13:7: spec.reconcile.env.KW_NAME: set by kubewatch itself",
            "14:7: spec.reconcile.env.PATH: set by kubewatch itself",
            "15:7: spec.reconcile.env.a-b: not the name of an environment variable",
            "16:7: spec.reconcile.env.true: YAML reads names such as Y, N, ON and OFF as true and "
            "false; put "
            "it in quotes",
            "18:10: spec.reconcile.env.E: from and jq exclude each other: one of both gives the "
            "value"}},
          {"  reconcile: {shell: 'true', env: {LANG: C}, inheritEnv: [LANG, TERM, TERM, HOME]}\n",
           {"6:58: spec.reconcile.inheritEnv: \"LANG\" is in env too",
            "6:71: spec.reconcile.inheritEnv[2]: \"TERM\" is listed twice",
            "6:77: spec.reconcile.inheritEnv[3]: \"HOME\": set by kubewatch itself"}},
      });
  check_all(kHead,
            {
                {"  finalize: {shell: 'true', name: website}\n",
                 {"7:35: spec.finalize.name: \"website\" has no domain; write it like "
                  "example.com/website"}},
                {"  finalize: {shell: 'true', name: /website}\n",
                 {"7:35: spec.finalize.name: \"/website\": prefix part must be non-empty"}},
                {"  finalize: {shell: 'true', apply: yes please}\n",
                 {"7:36: spec.finalize.apply: must be true or false, not text"}},
                {"  finalize: {}\n", {"7:13: spec.finalize: needs exec or shell: what to run"}},
            });
}

TEST_CASE("wrong retry and apply blocks are refused") {
  check_all(
      kHead,
      {
          {"  retry: {initial: 1m, max: 1s}\n",
           {"7:10: spec.retry: max (1s) is shorter than initial (1m)"}},
          {"  retry: {factor: 0.5, jitter: 2, maxAttempts: -1}\n",
           {"7:19: spec.retry.factor: must be from 1 to 100, not 0.5",
            "7:32: spec.retry.jitter: must be from 0 to 1, not 2",
            "7:48: spec.retry.maxAttempts: must be from 0 to 1000000, not -1"}},
          {"  retry: {exits: {0: permanent, 65: permanent, 300: permanent, x: permanent, 3: later, "
           "4: {after: 0s}}}\n",
           {"7:19: spec.retry.exits.0: has a fixed meaning: 0 done, 65 permanent failure, 75 not "
            "yet",
            "7:33: spec.retry.exits.65: has a fixed meaning: 0 done, 65 permanent failure, 75 not "
            "yet",
            "7:48: spec.retry.exits.300: not an exit code (1 to 255)",
            "7:64: spec.retry.exits.x: not an exit code (1 to 255)",
            "7:81: spec.retry.exits.3: must be permanent or {after: DURATION}",
            "7:99: spec.retry.exits.4.after: must be from 1ms to 8760h, not 0s"}},
          {"  apply: {fieldManager: \"a\\tb\"}\n",
           {"7:25: spec.apply.fieldManager: \"a\tb\" has characters that cannot be printed"}},
          {"  apply: {fieldManager: '" + std::string(129, 'x') + "'}\n",
           {"7:25: spec.apply.fieldManager: longer than 128 bytes"}},
          {"  apply: {adopt: always, ownerReference: yes, force: 1}\n",
           {"7:18: spec.apply.adopt: must be never or unowned, not \"always\"",
            "7:42: spec.apply.ownerReference: must be controller, plain or none, not true or false",
            "7:54: spec.apply.force: must be true or false, not a number"}},
      });
}

TEST_CASE("what a file says is shortened and made safe before it is shown") {
  const std::string longer(5000, 'x');
  check_all(kHead, {
                       {"  \"k\\e[31m\": 1\n", {"7:3: spec.k\\x1b[31m: unknown key"}},
                       {"  apply: {adopt: " + longer + "}\n",
                        {"7:18: spec.apply.adopt: must be never or unowned, not \"" +
                         longer.substr(0, 80) + "...\""}},
                   });
  const test::RuleFolder folder;
  const auto loaded =
      hooks::parse_rules(kBareHead + "  for: {apiVersion: v1, kind: Pod, labelSelector: '" +
                             longer + "('}\n" + kReconcile,
                         folder.file("rules.yaml"));
  REQUIRE_FALSE(loaded.problems.empty());
  for (const base::Remark& problem : loaded.problems) CHECK(problem.message.size() < 1200);
}

TEST_CASE("all problems of a file are listed at once, in order of position") {
  check(
      {"apiVersion: kubewatch.dev/v1\n"
       "kind: Controller\n"
       "metadata: {name: website, labels: {}}\n"
       "spec:\n"
       "  zone: 1\n"
       "  for: {apiVersion: v1, kind: Pod, filtr: .a}\n"
       "  reconcile: {exec: [./gone.sh]}\n"
       "---\n"
       "apiVersion: kubewatch.dev/v1\n"
       "kind: Controller\n"
       "metadata: {name: other}\n"
       "spec: {for: {apiVersion: v1, kind: Pod}, reconcile: {shell: 'true', time: 1s}}\n",
       {"3:27: metadata.labels: unknown key", "5:3: spec.zone: unknown key",
        "6:36: spec.for.filtr: unknown key, did you mean \"filter\"?",
        "7:22: spec.reconcile.exec[0]: \"DIR/gone.sh\": No such file or directory",
        "12:69: spec.reconcile.time: unknown key"}});
}
