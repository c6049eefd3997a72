// What --config of a hook says.
#include "compat/hook_config.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using compat::parse_hook_config;
using compat::WatchEvent;

namespace {

compat::HookConfig config_of(const std::string& text) {
  auto parsed = parse_hook_config(text);
  INFO((parsed.ok() ? "" : parsed.error().render()));
  REQUIRE(parsed.ok());
  return *std::move(parsed);
}

std::string problem_of(const std::string& text) {
  const auto parsed = parse_hook_config(text);
  REQUIRE_FALSE(parsed.ok());
  return parsed.error().render();
}

std::string binding(const std::string& fields) {
  return "configVersion: v1\nkubernetes:\n- kind: Pod\n  " + fields + "\n";
}

}  // namespace

TEST_CASE("a compat configuration has its defaults") {
  const auto config = config_of("configVersion: v1\nkubernetes: [{kind: Pod}]\n");
  REQUIRE(config.kubernetes.size() == 1);
  const auto& pods = config.kubernetes[0];
  CHECK(pods.name == "kubernetes");
  CHECK(pods.queue == "main");
  CHECK(pods.events.size() == 3);
  CHECK(pods.on_synchronization);
  CHECK(pods.wait_for_synchronization);
  CHECK(pods.keep_objects);
  CHECK_FALSE(pods.filter);
  CHECK_FALSE(config.on_startup);
  CHECK(config.rate.min_interval == Duration{0});
}

TEST_CASE("a compat configuration may be JSON") {
  const auto config = config_of(
      R"({"configVersion":"v1","onStartup":10,"schedule":[{"crontab":"*/5 * * * * *"}]})");
  CHECK(config.on_startup == 10.0);
  REQUIRE(config.schedules.size() == 1);
  CHECK(config.schedules[0].name == "schedule");
}

TEST_CASE("a kubernetes binding has all its selectors") {
  const auto config = config_of(R"(
configVersion: v1
settings: {executionMinInterval: 3s, executionBurst: 2}
kubernetes:
- name: pods
  apiVersion: v1
  kind: po
  watchEvent: [Added, Deleted]
  nameSelector: {matchNames: [a, b]}
  labelSelector:
    matchLabels: {app: web}
    matchExpressions: [{key: tier, operator: NotIn, values: [cache]}]
  fieldSelector:
    matchExpressions:
    - {field: status.phase, operator: Equals, value: Running}
    - {field: spec.nodeName, operator: "!=", value: "n,1"}
  namespace:
    nameSelector: {matchNames: [shop]}
    labelSelector: {matchLabels: {env: prod}}
  jqFilter: .metadata.labels
  queue: pods
  group: all
  allowFailure: true
  waitForSynchronization: false
  keepFullObjectsInMemory: false
  includeSnapshotsFrom: [pods]
)");
  const auto& pods = config.kubernetes.at(0);
  CHECK(pods.events == std::set<WatchEvent>{WatchEvent::added, WatchEvent::deleted});
  CHECK(pods.names == std::vector<std::string>{"a", "b"});
  CHECK(pods.label_selector.str() == "app=web,tier!=cache");
  CHECK(pods.field_selector.str() == "spec.nodeName!=n\\,1,status.phase=Running");
  CHECK(pods.namespaces == std::vector<std::string>{"shop"});
  CHECK(pods.namespace_selector.str() == "env=prod");
  CHECK(pods.filter->text() == ".metadata.labels");
  CHECK(pods.queue == "pods");
  CHECK(pods.group == "all");
  CHECK(pods.allow_failure);
  CHECK_FALSE(pods.wait_for_synchronization);
  CHECK_FALSE(pods.keep_objects);
  CHECK(config.rate.min_interval == Duration{3000});
  CHECK(config.rate.burst == 2);
}

TEST_CASE("an empty list of events makes a binding that is a snapshot only") {
  CHECK(config_of(binding("executeHookOnEvent: []")).kubernetes[0].events.empty());
}

TEST_CASE("the short form of a name selector that the documentation shows is taken") {
  const auto config = config_of(binding("namespace: {nameSelector: [default]}"));
  CHECK(config.kubernetes[0].namespaces == std::vector<std::string>{"default"});
}

TEST_CASE("a wrong compat configuration is refused with its place and field") {
  CHECK(
      problem_of(binding("knd: x")).find("kubernetes[0].knd: unknown field, did you mean kind?") !=
      std::string::npos);
  CHECK(problem_of(binding("knd: x")).find("4:") != std::string::npos);
  CHECK(problem_of(binding("executeHookOnEvent: [Changed]")).find("executeHookOnEvent") !=
        std::string::npos);
  CHECK(problem_of(binding("jqFilter: '.a | ['")).find("jqFilter") != std::string::npos);
  CHECK(problem_of(binding("includeSnapshotsFrom: [other]")).find("\"other\"") !=
        std::string::npos);
  CHECK(problem_of(binding("allowFailure: maybe")).find("true or false") != std::string::npos);
  CHECK(problem_of("configVersion: v1\nkubernetes: [{name: a}]\n").find("kind is missing") !=
        std::string::npos);
  CHECK(problem_of("configVersion: v1\nschedule: [{name: a}]\n").find("crontab is missing") !=
        std::string::npos);
  CHECK(problem_of("configVersion: v1\nschedule: [{crontab: '61 * * * *'}]\n").find("minute") !=
        std::string::npos);
  CHECK(problem_of("configVersion: v1\n").find("no binding") != std::string::npos);
  CHECK(problem_of("").find("no configuration") != std::string::npos);
  CHECK(problem_of("[]").find("mapping") != std::string::npos);
}

TEST_CASE("the old format without a version is refused by name") {
  CHECK(problem_of("onStartup: 1\n").find("v0") != std::string::npos);
  const auto parsed = parse_hook_config("configVersion: v2\nonStartup: 1\n");
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.error().kind() == ErrorKind::unsupported);
}

TEST_CASE("webhook bindings are refused by name") {
  for (const char* const name :
       {"kubernetesValidating", "kubernetesMutating", "kubernetesCustomResourceConversion"}) {
    const std::string key = name;
    const auto parsed = parse_hook_config("configVersion: v1\n" + key + ": [{name: a.b.c}]\n");
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().kind() == ErrorKind::unsupported);
    CHECK(parsed.error().message().find(key) != std::string::npos);
  }
}

TEST_CASE("a field selector by name and a name selector exclude each other") {
  CHECK(problem_of(binding("nameSelector: {matchNames: [a]}\n  fieldSelector: {matchExpressions: "
                           "[{field: metadata.name, operator: '=', value: b}]}"))
            .find("nameSelector") != std::string::npos);
}

TEST_CASE("not to wait for a synchronization needs a queue that is written, be it main") {
  const auto without = config_of(binding("waitForSynchronization: false"));
  CHECK(without.kubernetes[0].wait_for_synchronization);
  REQUIRE(without.notes.size() == 1);
  CHECK(without.notes[0].find("waitForSynchronization") != std::string::npos);
  for (const std::string queue : {"main", "own"}) {
    const auto with = config_of(binding("waitForSynchronization: false\n  queue: " + queue));
    CHECK_FALSE(with.kubernetes[0].wait_for_synchronization);
    CHECK(with.notes.empty());
  }
}

TEST_CASE("of both names of the events the newer one counts") {
  const std::set<WatchEvent> added{WatchEvent::added};
  for (const std::string fields : {"executeHookOnEvent: [Added]\n  watchEvent: [Deleted]",
                                   "watchEvent: [Deleted]\n  executeHookOnEvent: [Added]"}) {
    CHECK(config_of(binding(fields)).kubernetes[0].events == added);
  }
  CHECK(config_of(binding("watchEvent: [Added]\n  executeHookOnEvent: []"))
            .kubernetes[0]
            .events.empty());
  CHECK(
      config_of(binding("watchEvent: [Added]\n  executeHookOnEvent: null")).kubernetes[0].events ==
      added);
}

TEST_CASE("a resynchronization period is taken and said to have no effect") {
  CHECK(config_of(binding("resynchronizationPeriod: 10m")).notes.size() == 1);
}
