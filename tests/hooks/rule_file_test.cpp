// Good rule files become rules; files, folders and checks across rules. Refusals are in
// rule_problems_test.
#include "hooks/rule_file.hpp"

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/strings.hpp"
#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace std::chrono_literals;

namespace {

const std::string kFull = R"(apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: website}
spec:
  for:
    apiVersion: demo.kubewatch.dev/v1
    kind: Website
    namespaces: [shop, blog]
    labelSelector: tier in (web)
    fieldSelector: metadata.name!=old
    filter: .spec.paused != true
    content: full
    strip: ['.metadata.annotations["a/b~c"]']
    optional: false
    list: {strategy: streaming, semantics: any, pageSize: 100, timeout: 60s, bookmarks: false, backoff: {initial: 1s, max: 9s}}
  owns:
    - {apiVersion: apps/v1, kind: Deployment}
    - {apiVersion: v1, kind: Service, on: [delete], namespaces: [other]}
  writes:
    - {apiVersion: v1, kind: Secret, namespaces: [vault]}
  watches:
    - name: config
      apiVersion: v1
      kind: ConfigMap
      labelSelector: {matchLabels: {app: web}}
      map: '{name: .metadata.labels.website, namespace: .metadata.namespace}'
    - {name: everyone, apiVersion: v1, kind: Namespace, map: all}
    - {name: refs, apiVersion: v1, kind: Secret, refs: '.spec.configRef | {name, namespace}'}
  changed: [.spec, .metadata.labels]
  debounce: 250ms
  resync: 10m
  onDelete: false
  whenNoLongerMatched: finalize
  concurrency: 7
  reconcile:
    exec: [./hook.sh, --all, '']
    timeout: 20s
    grace: 2s
    env: {LOG: debug, KEY: {from: {file: key.txt}}, REPLICAS: {jq: .spec.replicas}}
    inheritEnv: [LANG]
    output: log
    credentials: none
    limits: {output: 64Ki, memory: 256Mi, cpu: 10s, processes: 64}
    mode: worker
    lists: files
  finalize:
    name: example.com/website
    shell: |
      echo bye
    apply: true
  retry: {initial: 2s, max: 1m, factor: 3, jitter: 0.5, maxAttempts: 4, exits: {17: permanent, 3: {after: 1m}}}
  apply: {fieldManager: me, force: true, adopt: unowned, onImmutable: fail, prune: false, ownerReference: plain, validate: none}
)";

const std::string kSmall = R"(apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: NAME}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  reconcile: {shell: 'true'}
)";

std::string small(const std::string& name, const std::string& more = "") {
  std::string out = kSmall;
  return out.replace(out.find("NAME"), 4, name) + more;
}

std::vector<std::string> lines(const hooks::LoadedRules& loaded, const std::string& folder) {
  std::vector<std::string> out;
  for (const base::Remark& problem : loaded.problems) {
    std::string line = problem.str();
    for (std::size_t at = 0; (at = line.find(folder, at)) != std::string::npos;) {
      line.replace(at, folder.size(), "DIR");
    }
    out.push_back(std::move(line));
  }
  return out;
}

class FullFolder : public test::RuleFolder {
 public:
  FullFolder() {
    script("hook.sh");
    write("key.txt", "k");
  }
};

}  // namespace

TEST_CASE("every key of a rule arrives where it belongs") {
  const FullFolder folder;
  const auto loaded = hooks::parse_rules(kFull, folder.file("rules.yaml"));
  REQUIRE(lines(loaded, folder.path()) == std::vector<std::string>{});
  REQUIRE(loaded.rules.size() == 1);
  const hooks::Rule& rule = loaded.rules[0];
  CHECK(rule.name == "website");
  CHECK(rule.file == folder.file("rules.yaml"));
  CHECK(rule.line == 1);
  CHECK(rule.debounce == 250ms);
  CHECK(rule.resync == 10min);
  CHECK(rule.concurrency == 7);
  CHECK(rule.when_no_longer_matched == hooks::WhenUnmatched::finalize);
  CHECK(rule.changed == std::vector<std::string>{".spec", ".metadata.labels"});

  SECTION("the streams") {
    const hooks::StreamRule& stream = rule.for_;
    CHECK(stream.gvk.str() == "demo.kubewatch.dev/v1 Website");
    CHECK(stream.namespaces == std::vector<std::string>{"shop", "blog"});
    CHECK(stream.list.label_selector == core::LabelSelector::parse("tier in (web)")->str());
    CHECK(stream.list.field_selector == "metadata.name!=old");
    CHECK(stream.filter.has_value());
    CHECK(stream.strip ==
          std::vector<std::string>{"/metadata/managedFields", "/metadata/annotations/a~1b~0c"});
    CHECK(stream.list.strategy == runtime::ListStrategy::streaming);
    CHECK(stream.list.semantics == runtime::ListSemantics::any);
    CHECK(stream.list.page_size == 100);
    CHECK(stream.list.timeout == 60s);
    CHECK_FALSE(stream.list.bookmarks);
    CHECK(stream.list.backoff.initial == 1s);
    CHECK(stream.list.backoff.max == 9s);
    REQUIRE(rule.owns.size() == 2);
    CHECK((rule.owns[0].on_apply && rule.owns[0].on_delete));
    CHECK((!rule.owns[1].on_apply && rule.owns[1].on_delete));
    CHECK(rule.owns[1].stream.namespaces == std::vector<std::string>{"other"});
    REQUIRE(rule.writes.size() == 1);
    CHECK(rule.writes[0].gvk.kind == "Secret");
    CHECK(rule.writes[0].namespaces == std::vector<std::string>{"vault"});
    REQUIRE(rule.watches.size() == 3);
    CHECK((rule.watches[0].map.has_value() && !rule.watches[0].map_all && !rule.watches[0].refs));
    CHECK(rule.watches[0].stream.label_selector.str() == "app=web");
    CHECK((rule.watches[1].map_all && !rule.watches[1].map));
    CHECK((rule.watches[2].refs.has_value() && !rule.watches[2].map_all));
  }
  SECTION("the hooks") {
    const hooks::HookRule& hook = rule.reconcile;
    CHECK(hook.argv == std::vector<std::string>{folder.file("hook.sh"), "--all", ""});
    CHECK(hook.directory == folder.path());
    CHECK(hook.timeout == 20s);
    CHECK(hook.grace == 2s);
    CHECK(hook.env.at("LOG").literal == "debug");
    CHECK(hook.env.at("KEY").file == folder.file("key.txt"));
    CHECK(hook.env.at("REPLICAS").jq.has_value());
    CHECK(hook.inherit_env == std::vector<std::string>{"LANG"});
    CHECK_FALSE(hook.output_manifests);
    CHECK(hook.max_output == 65536);
    CHECK(hook.limits.memory == 256U << 20U);
    CHECK(hook.limits.cpu == Duration{10000});
    CHECK(hook.limits.processes == 64);
    CHECK(hook.mode == hooks::HookMode::worker);
    CHECK(hook.lists == hooks::ListsIn::files);
    REQUIRE(rule.finalize.has_value());
    CHECK(rule.finalize->hook.argv ==
          std::vector<std::string>{"/bin/sh", "-e", "-c", "echo bye\n", "hook"});
    CHECK(rule.finalize->apply);
    CHECK(rule.finalizer_name == "example.com/website");
  }
  SECTION("retry and apply") {
    CHECK(rule.retry.backoff.initial == 2s);
    CHECK(rule.retry.backoff.max == 1min);
    CHECK(rule.retry.backoff.factor == 3);
    CHECK(rule.retry.backoff.jitter == 0.5);
    CHECK(rule.retry.max_attempts == 4);
    CHECK(rule.retry.exits.at(17).permanent);
    CHECK(rule.retry.exits.at(3).after == Duration(1min));
    CHECK(rule.apply.field_manager == "me");
    CHECK(rule.apply.force);
    CHECK(rule.apply.adopt == hooks::Adopt::unowned);
    CHECK_FALSE(rule.apply.prune);
    CHECK(rule.apply.owner_reference == hooks::OwnerRef::plain);
  }
}

TEST_CASE("a rule that says little gets the documented defaults") {
  const auto loaded = hooks::parse_rules(small("web"), "rules.yaml");
  REQUIRE(loaded.problems.empty());
  const hooks::Rule& rule = loaded.rules.at(0);
  CHECK(rule.concurrency == 4);
  CHECK(rule.debounce == 0ms);
  CHECK(rule.resync == 0ms);
  CHECK(rule.when_no_longer_matched == hooks::WhenUnmatched::release);
  CHECK(rule.for_.strip ==
        std::vector<std::string>{
            "/metadata/managedFields",
            "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"});
  CHECK(rule.for_.list.page_size == 500);
  CHECK(rule.for_.list.timeout == 290s);
  CHECK(rule.reconcile.timeout == 30s);
  CHECK(rule.reconcile.grace == 5s);
  CHECK(rule.reconcile.max_output == 4U << 20U);
  CHECK(rule.reconcile.output_manifests);
  CHECK_FALSE(rule.finalize.has_value());
  CHECK(rule.finalizer_name == "kubewatch.dev/web");
  CHECK(rule.apply.field_manager == "kubewatch/web");
  CHECK((!rule.apply.force && rule.apply.prune));
  CHECK(rule.apply.owner_reference == hooks::OwnerRef::controller);
  CHECK(rule.retry.backoff.initial == 1s);
  CHECK(rule.retry.backoff.max == 5min);
  CHECK(rule.retry.max_attempts == 0);
}

TEST_CASE("a program without a slash is found in PATH, and kept with its absolute path") {
  const auto loaded = hooks::parse_rules(
      small("web").replace(small("web").find("shell: 'true'"), 13, "exec: [sh, -c, exit 0]"),
      "r.yaml");
  REQUIRE(loaded.problems.empty());
  const std::string& program = loaded.rules.at(0).reconcile.argv.at(0);
  CHECK(program.starts_with('/'));
  CHECK(program.ends_with("/sh"));
}

TEST_CASE("who runs none of the rules reads them without their programs and files") {
  const test::RuleFolder folder;
  const std::string file =
      folder.write("rules.yaml",
                   "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: web}\nspec:\n"
                   "  for: {apiVersion: v1, kind: ConfigMap}\n"
                   "  reconcile: {exec: [./gone.sh], env: {A: {from: {file: gone.txt}}}}\n"
                   "  finalize: {exec: [no-such-program]}\n");
  CHECK(hooks::load_rules({file}).problems.size() == 3);
  const auto loaded = hooks::load_rules_to_read({file});
  CHECK(loaded.problems.empty());
  REQUIRE(loaded.rules.size() == 1);
  CHECK(loaded.rules[0].reconcile.argv[0] == folder.file("gone.sh"));
}

TEST_CASE("two rules must differ in name, field manager and finalizer") {
  const std::string same_manager = "  apply: {fieldManager: kubewatch/a}\n";
  const std::string same_finalizer = "  finalize: {shell: 'true', name: kubewatch.dev/a}\n";
  const auto loaded = hooks::parse_rules(small("a") + "---\n" + small("b", same_manager) + "---\n" +
                                             small("c", same_finalizer) + "---\n" + small("a") +
                                             "---\n" + small("d"),
                                         "r.yaml");
  CHECK(lines(loaded, "/nowhere") ==
        std::vector<std::string>{
            "r.yaml:14:25: field manager \"kubewatch/a\" is already that of controller \"a\" "
            "(r.yaml:1): "
            "they would prune each other's fields",
            "r.yaml:22:35: finalizer \"kubewatch.dev/a\" is already that of controller \"a\" "
            "(r.yaml:1): "
            "one would release what the other guards",
            "r.yaml:26:18: name \"a\" is already that of controller \"a\" (r.yaml:3)"});
}

TEST_CASE("a folder is read in order, and manifests beside the rules are passed over") {
  const test::RuleFolder folder;
  folder.write("b.yaml", small("b"));
  folder.write("a.yml", small("a"));
  folder.write(
      "c.json",
      R"({"apiVersion":"kubewatch.dev/v1","kind":"Controller","metadata":{"name":"c"},"spec":)"
      R"({"for":{"apiVersion":"v1","kind":"Pod"},"reconcile":{"shell":"true"}}})");
  folder.write("crd.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n");
  folder.write("types.yaml", "apiVersion: kubewatch.dev/v1\nkind: TypeDefinitions\n");
  folder.write("case.yaml", "apiVersion: kubewatch.dev/v1\nkind: ControllerTest\n");
  folder.write("notes.txt", "not a rule: [");
  folder.write(".hidden.yaml", "not a rule: [");
  const auto loaded = hooks::load_rules({folder.path(), folder.file("a.yml")});
  REQUIRE(lines(loaded, folder.path()) == std::vector<std::string>{});
  REQUIRE(loaded.rules.size() == 3);
  CHECK(loaded.rules[0].name == "a");
  CHECK(loaded.rules[1].name == "b");
  CHECK(loaded.rules[2].name == "c");
  CHECK(loaded.rules[2].file == folder.file("c.json"));
}

TEST_CASE("problems of several files are listed together, sorted") {
  const test::RuleFolder folder;
  folder.write("b.yaml", small("b", "  nonsense: 1\n"));
  folder.write("a.yaml", "apiVersion: [\n");
  folder.write("m.yaml", "kind: ConfigMap\n");
  folder.write("t.yaml", "apiVersion: kubwatch.dev/v1\nkind: Controller\n");
  const auto loaded = hooks::load_rules({folder.path(), folder.file("gone.yaml")});
  const auto found = lines(loaded, folder.path());
  REQUIRE(found.size() == 7);
  CHECK(found[0].starts_with("DIR/a.yaml:2:1: "));
  CHECK(found[1] == "DIR/b.yaml:7:3: spec.nonsense: unknown key");
  CHECK(found[2] == "DIR/gone.yaml: cannot read: No such file or directory");
  CHECK(found[3] == "DIR/m.yaml:1:1: key \"apiVersion\" is missing");
  CHECK(found[6] ==
        "DIR/t.yaml:1:13: apiVersion: must be kubewatch.dev/v1 in a rule file, not "
        "\"kubwatch.dev/v1\"");
}

TEST_CASE("a folder without a rule is refused") {
  const test::RuleFolder folder;
  folder.write("crd.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n");
  CHECK(lines(hooks::load_rules({folder.path()}), folder.path()) ==
        std::vector<std::string>{
            "DIR: no rule: no *.yaml, *.yml or *.json file in this folder holds a "
            "document of apiVersion kubewatch.dev/v1"});
}

TEST_CASE("huge, deep and exploding files are refused with one line each") {
  const test::RuleFolder folder;
  const auto problem_of = [&](const std::string& text) {
    const auto found = lines(hooks::load_rules({folder.write("r.yaml", text)}), folder.path());
    return found.size() == 1 ? found[0] : base::join(found, "\n");
  };
  CHECK(problem_of(std::string(10U << 20U, '#')) ==
        "DIR/r.yaml: the file is larger than the limit of 1048576 bytes");
  CHECK(problem_of(std::string(100'000, '[')) == "DIR/r.yaml:1:65: nested deeper than 64 levels");
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias;
    for (int j = 1; j < 10; ++j) bomb += ", " + alias;
    bomb += "]\n";
  }
  CHECK(problem_of(bomb).find("aliases repeat more than 20000 values") != std::string::npos);
}

TEST_CASE("no beginning of a good file crashes or passes as something else") {
  const FullFolder folder;
  std::size_t accepted = 0;
  for (std::size_t size = 0; size < kFull.size(); ++size) {
    const auto loaded = hooks::parse_rules(kFull.substr(0, size), folder.file("rules.yaml"));
    for (const base::Remark& problem : loaded.problems) REQUIRE_FALSE(problem.message.empty());
    if (loaded.problems.empty()) ++accepted;
  }
  // Only cuts between whole keys after `reconcile` leave a rule.
  CHECK(accepted < 200);
}

TEST_CASE("no changed byte of a good file crashes") {
  const FullFolder folder;
  const std::string replacements = "\t:-{[\"'#&*!|\x01z0";
  for (std::size_t at = 0; at < kFull.size(); ++at) {
    std::string text = kFull;
    text[at] = replacements[at % replacements.size()];
    const auto loaded = hooks::parse_rules(text, folder.file("rules.yaml"));
    CHECK((loaded.problems.empty() || loaded.problems[0].line > 0));
  }
}
