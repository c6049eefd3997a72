// Recordings put together by hand, replayed with real shell hooks.
#include "rehearsal/replay.hpp"

#include <cstdint>
#include <tuple>

#include "hooks/recording_format.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::rehearsal;

namespace {

constexpr const char* kRules = R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: copier}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: copy=yes}
  owns:
    - {apiVersion: v1, kind: ConfigMap}
  triggers:
    - exec: [./trigger.sh]
  reconcile:
    env: {DATA: {jq: .data}}
    shell: |
      cat <<END
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: $KW_NAME-copy, namespace: $KW_NAMESPACE}
      data: $DATA
      END
)";

Json config_map(const std::string& name, const char* version, const char* value, bool copy = true) {
  Json out = {{"metadata",
               {{"name", name},
                {"namespace", "shop"},
                {"uid", "uid-" + name},
                {"resourceVersion", version}}},
              {"data", {{"k", value}}}};
  if (copy) out["metadata"]["labels"] = {{"copy", "yes"}};
  return out;
}

// As the rule's child is sent for an object.
Json copy_of(const Json& object) {
  const std::string name = object["metadata"]["name"];
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata",
           {{"name", name + "-copy"},
            {"namespace", "shop"},
            {"annotations", {{"kubewatch.dev/owner", "v1 ConfigMap shop/" + name}}},
            {"labels",
             {{"kubewatch.dev/controller", "copier"},
              {"kubewatch.dev/owner-uid", object["metadata"]["uid"]}}},
            {"ownerReferences", Json::array({{{"apiVersion", "v1"},
                                              {"kind", "ConfigMap"},
                                              {"name", name},
                                              {"uid", object["metadata"]["uid"]},
                                              {"controller", true},
                                              {"blockOwnerDeletion", false}}})}}},
          {"data", object["data"]}};
}

class Made {
 public:
  Made() {
    add({{"t", "start"},
         {"v", 1},
         {"time", "2026-01-01T00:00:00Z"},
         {"key", "00000000000000010000000000000002"},
         {"complete", true}});
    open(1, "copy=yes");
    open(2, "kubewatch.dev/controller=copier");
    page(2);
  }
  void open(int stream, const char* labels) {
    add({{"t", "open"},
         {"s", stream},
         {"path", "/api/v1/configmaps"},
         {"labels", labels},
         {"how", "list"}});
  }
  void page(int stream) { add({{"t", "page"}, {"s", stream}, {"rv", "9"}, {"more", false}}); }
  void item(const Json& object) { add({{"t", "item"}, {"s", 1}, {"o", object}}); }
  void event(const char* type, const Json& object, int stream = 1, int at = 0) {
    add({{"t", "event"}, {"s", stream}, {"type", type}, {"o", object}, {"at", at}});
  }
  void wrote(const Json& body, const char* version) {
    const std::string name = body["metadata"]["name"];
    add({{"t", "write"},
         {"verb", "apply"},
         {"path", "/api/v1/namespaces/shop/configmaps/" + name},
         {"body", body},
         {"code", 201},
         {"rv", version}});
  }
  void end(bool idle = true, int at = 0) {
    add({{"t", "end"}, {"why", "done"}, {"idle", idle}, {"at", at}});
  }
  void add(const Json& entry) { lines_ += base::dump_json(entry) + "\n"; }
  std::string bytes() const {
    return std::string(hooks::kRecordingMagic) + hooks::recording_block(lines_);
  }

 private:
  std::string lines_;
};

struct Rules {
  test::RuleFolder folder;
  std::vector<hooks::Rule> load(std::string text = kRules) {
    folder.script("trigger.sh");
    auto loaded = hooks::load_rules({folder.write("rules.yaml", text)});
    for (const auto& problem : loaded.problems) FAIL_CHECK(problem.str());
    return std::move(loaded.rules);
  }
  std::vector<hooks::Rule> changed(const std::string& from, const std::string& to) {
    std::string text = kRules;
    text.replace(text.find(from), from.size(), to);
    return load(text);
  }
};

// One object from the start, changed once; its copy is made twice.
Made simple() {
  Made made;
  made.item(config_map("a", "3", "v"));
  made.page(1);
  made.wrote(copy_of(config_map("a", "3", "v")), "10");
  made.event("ADDED", copy_of(config_map("a", "3", "v")), 2);
  made.event("MODIFIED", config_map("a", "12", "w"));
  made.wrote(copy_of(config_map("a", "12", "w")), "13");
  made.end();
  return made;
}

ReplayReport replayed(const std::string& bytes, std::vector<hooks::Rule> rules) {
  auto report = replay(bytes, std::move(rules));
  REQUIRE(report.ok());
  return *report;
}

std::string shown(const ReplayReport& report) {
  return text_of(report, "r");
}

}  // namespace

TEST_CASE("the rules that were recorded write the same on the recording") {
  Rules rules;
  const auto report = replayed(simple().bytes(), rules.load());
  INFO(shown(report));
  CHECK(report.differences.empty());
  CHECK(report.early == "");
  CHECK(report.events == 2);
  CHECK(report.replayed_runs >= 2);
  CHECK(report.recorded_writes == 2);
  CHECK(json_of(report)["equal"] == true);
}

TEST_CASE("a changed hook shows as a diff of what it writes") {
  Rules rules;
  const auto report = replayed(simple().bytes(), rules.changed("data: $DATA", "data: {k: other}"));
  INFO(shown(report));
  REQUIRE(report.differences.size() == 1);
  CHECK(report.differences[0].change == "changed");
  CHECK(report.differences[0].object == "ConfigMap shop/a-copy");
  CHECK(report.differences[0].diff.find("-  k: v\n+  k: other") != std::string::npos);
  CHECK(json_of(report)["equal"] == false);
}

TEST_CASE("another name is one write missing and one created, and a filter writes nothing") {
  Rules rules;
  const auto report = replayed(simple().bytes(), rules.changed("$KW_NAME-copy", "$KW_NAME-2"));
  INFO(shown(report));
  REQUIRE(report.differences.size() == 2);
  CHECK(report.differences[0].change == "missing");
  CHECK(report.differences[1].change == "created");
  CHECK(report.differences[1].object == "ConfigMap shop/a-2");

  const auto none = replayed(simple().bytes(), rules.changed("copy=yes", "copy=no"));
  REQUIRE(none.differences.size() == 1);
  CHECK(none.differences[0].change == "missing");
  CHECK(none.replayed_runs == 0);
}

TEST_CASE("a failing hook is told, with what it does not write any more") {
  Rules rules;
  const auto report = replayed(simple().bytes(), rules.changed("cat <<END", "exit 3; cat <<END"));
  INFO(shown(report));
  REQUIRE(report.differences.size() == 1);
  CHECK(report.differences[0].change == "missing");
  REQUIRE_FALSE(report.failed_runs.empty());
  CHECK(report.failed_runs[0].find("copier ConfigMap shop/a: failed") == 0);
}

TEST_CASE("a run that was done and now fails is a difference, one that failed before is none") {
  for (const char* outcome : {"done", "failed"}) {
    Rules rules;
    Made made;
    made.item(config_map("a", "3", "v"));
    made.page(1);
    made.add({{"t", "run"},
              {"controller", "copier"},
              {"object", "ConfigMap shop/a"},
              {"namespace", "shop"},
              {"name", "a"},
              {"reason", "Added"},
              {"attempt", 1},
              {"outcome", outcome}});
    made.end();
    const auto report = replayed(made.bytes(), rules.changed("cat <<END", "exit 3; cat <<END"));
    INFO(shown(report));
    CHECK(report.differences.size() == (std::string(outcome) == "done" ? 1 : 0));
    if (report.differences.empty()) continue;
    CHECK(report.differences[0].change == "changed");
    CHECK(report.differences[0].verb == "run");
    CHECK(report.differences[0].object == "copier ConfigMap shop/a");
    CHECK(report.differences[0].diff.find("-done\n+failed: ") != std::string::npos);
  }
}

TEST_CASE("events of a kind that is not there end the replay early, whatever else is equal") {
  Rules rules;
  Made made;
  made.page(1);
  made.add({{"t", "open"}, {"s", 3}, {"path", "/api/v1/gadgets"}, {"how", "list"}});
  made.add({{"t", "item"}, {"s", 3}, {"o", config_map("g", "3", "v")}});
  made.page(3);
  made.end();
  const auto report = replayed(made.bytes(), rules.load());
  CHECK(report.differences.empty());
  CHECK(report.events == 0);
  CHECK(report.early == "gadgets of v1 shop/g: the embedded server has no such kind");
}

TEST_CASE("names and messages of a recording make no lines of the report") {
  ReplayReport report;
  report.differences.push_back({"changed", "apply\nnote: a", "", "x\nnote: b", "-a\n+b\n"});
  report.failed_runs.push_back("c\nnote: d");
  report.notes.push_back("e\nnote: f");
  report.early = "g";
  const std::string text = text_of(report, "r\nnote: h");
  CHECK(text.find("\n-a\n+b\n") != std::string::npos);
  CHECK(text.find("\nnote: e") != std::string::npos);
  for (const char* forged : {"\nnote: a", "\nnote: b", "\nnote: d", "\nnote: f", "\nnote: h"}) {
    CHECK(text.find(forged) == std::string::npos);
  }
}

TEST_CASE("no change is lost where metadata of an object is told before the whole object") {
  Rules rules;
  Made made;
  const auto metadata_of = [](Json object) {
    object["kind"] = "PartialObjectMetadata";
    object.erase("data");
    return object;
  };
  made.open(3, "");
  made.page(1);
  made.page(3);
  made.add({{"t", "run"}});  // at work
  std::size_t version = 20;
  for (const char* value : {"v", "w"}) {
    const std::string at = std::to_string(version++);
    const Json object = config_map("a", at.c_str(), value);
    made.event("MODIFIED", metadata_of(object), 3);
    made.event("MODIFIED", object);
    made.wrote(copy_of(object), std::to_string(version++).c_str());
  }
  made.end();
  const auto report = replayed(made.bytes(), rules.load());
  INFO(shown(report));
  CHECK(report.differences.empty());
  CHECK(report.events == 2);
  CHECK(report.replayed_runs >= 2);
}

TEST_CASE("a child that was listed before its owner is there at the start, too") {
  Rules rules;
  Made made;
  const Json owner = config_map("owner", "4", "v");
  Json child = config_map("child", "5", "w");
  child["metadata"]["ownerReferences"] = Json::array(
      {{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "owner"}, {"uid", "uid-owner"}}});
  made.item(child);
  made.item(owner);
  made.page(1);
  made.wrote(copy_of(child), "10");
  made.wrote(copy_of(owner), "11");
  made.end();
  const auto report = replayed(made.bytes(), rules.load());
  INFO(shown(report));
  CHECK(report.differences.empty());
  CHECK(report.replayed_runs >= 2);
}

TEST_CASE("what others did to a child is replayed, and put right again") {
  Rules rules;
  Made made;
  const Json owner = config_map("a", "3", "v");
  made.item(owner);
  made.page(1);
  Json child = copy_of(owner);
  made.wrote(child, "10");
  child["metadata"]["resourceVersion"] = "10";
  made.event("ADDED", child, 2);
  Json spoilt = child;
  spoilt["metadata"]["resourceVersion"] = "11";
  spoilt["data"]["k"] = "by hand";
  made.event("MODIFIED", spoilt, 2);
  made.wrote(copy_of(owner), "12");
  made.event("DELETED", spoilt, 2);
  made.wrote(copy_of(owner), "14");
  made.end();
  const auto report = replayed(made.bytes(), rules.load());
  INFO(shown(report));
  CHECK(report.differences.empty());
  CHECK(report.events == 3);
  CHECK(report.replayed_runs >= 3);
}

TEST_CASE("a recorded version that is not the stored one is replayed whole") {
  const auto scaler = [](const char* version, const char* memory) {
    Json out = config_map("a", version, "v");
    out.erase("data");
    out["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"] =
        std::string(R"([{"type":"Resource","resource":{"name":"memory",)") +
        R"("targetAverageValue":")" + memory + R"("}}])";
    out["spec"] = {
        {"maxReplicas", 3},
        {"targetCPUUtilizationPercentage", 50},
        {"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "web"}}}};
    out["status"] = {{"currentReplicas", 0}, {"desiredReplicas", 0}};
    return out;
  };
  // What the changed rule copies.
  const auto seen_of = [](Json object) {
    object["data"] = {
        {"metrics", object["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"]},
        {"cpu", "50"}};
    Json out = copy_of(object);
    out["metadata"]["annotations"]["kubewatch.dev/owner"] =
        "autoscaling/v1 HorizontalPodAutoscaler shop/a";
    Json& owner = out["metadata"]["ownerReferences"][0];
    owner["apiVersion"] = "autoscaling/v1";
    owner["kind"] = "HorizontalPodAutoscaler";
    return out;
  };
  const auto metadata_of = [](Json object) {
    object["apiVersion"] = "meta.k8s.io/v1";
    object["kind"] = "PartialObjectMetadata";
    object.erase("spec");
    object.erase("status");
    return object;
  };
  const bool whole = GENERATE(true, false);
  INFO("changed as a whole: " << whole);
  Rules rules;
  std::string text = kRules;
  const std::string from = "{apiVersion: v1, kind: ConfigMap, labelSelector: ";
  text.replace(text.find(from), from.size(),
               "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, labelSelector: ");
  text.replace(
      text.find("{jq: .data}"), 11,
      R"({jq: '{metrics: .metadata.annotations["autoscaling.alpha.kubernetes.io/metrics"],)"
      " cpu: (.spec.targetCPUUtilizationPercentage | tostring)}'}");
  const Json before = scaler("3", "1Gi");
  const Json after = scaler("12", "2Gi");
  Made made;
  made.page(1);
  const auto open = [&](int stream) {
    made.add({{"t", "open"},
              {"s", stream},
              {"path", "/apis/autoscaling/v1/horizontalpodautoscalers"},
              {"labels", "copy=yes"},
              {"how", "list"}});
  };
  open(3);
  made.add({{"t", "item"}, {"s", 3}, {"o", before}});
  made.page(3);
  open(4);
  made.page(4);
  made.wrote(seen_of(before), "10");
  made.event("MODIFIED", whole ? after : metadata_of(after), whole ? 3 : 4);
  made.wrote(seen_of(after), "13");
  made.end();
  const auto report = replayed(made.bytes(), rules.load(text));
  INFO(shown(report));
  CHECK(report.differences.empty());
  CHECK(report.events == 2);
}

TEST_CASE("a custom version that a webhook converted is replayed with all its fields") {
  const auto version = [](const char* name, bool storage, const char* field) {
    return Json{
        {"name", name},
        {"served", true},
        {"storage", storage},
        {"schema",
         {{"openAPIV3Schema",
           {{"type", "object"},
            {"properties",
             {{field, {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}}}}}}}}};
  };
  const Json definition = {
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", {{"name", "sites.demo.example.com"}}},
      {"spec",
       {{"group", "demo.example.com"},
        {"scope", "Namespaced"},
        {"names", {{"plural", "sites"}, {"kind", "Site"}}},
        {"versions", {version("v1", false, "data"), version("v2", true, "content")}}}}};
  Rules rules;
  Made made;
  made.add({{"t", "kind"}, {"name", "sites.demo.example.com"}, {"crd", definition}});
  made.add({{"t", "open"}, {"s", 3}, {"path", "/apis/demo.example.com/v1/sites"}, {"how", "list"}});
  made.add({{"t", "item"}, {"s", 3}, {"o", config_map("a", "3", "v")}});
  made.page(3);
  made.end();
  const auto report =
      replayed(made.bytes(), rules.changed("{apiVersion: v1, kind: ConfigMap, labelSelector: ",
                                           "{apiVersion: demo.example.com/v1, kind: Site, "
                                           "labelSelector: "));
  INFO(shown(report));
  REQUIRE(report.differences.size() == 1);
  CHECK(report.differences[0].diff.find("+  k: v\n") != std::string::npos);
}

TEST_CASE("schedules run at the recorded times, which are skipped to") {
  Rules rules;
  std::vector<std::size_t> runs;
  for (const int hours : {0, 3}) {
    Made made;
    made.item(config_map("a", "3", "v"));
    made.page(1);
    made.wrote(copy_of(config_map("a", "3", "v")), "10");
    made.end(true, hours * 3600 * 1000);
    const auto report = replayed(
        made.bytes(),
        rules.changed("  triggers:\n    - exec: [./trigger.sh]\n", "  schedule: '30 * * * *'\n"));
    INFO(shown(report));
    CHECK(report.differences.empty());
    runs.push_back(report.replayed_runs);
  }
  CHECK(runs[1] == runs[0] + 3);
}

TEST_CASE("runs that were asked for from outside run again, trigger programs do not") {
  Rules rules;
  std::vector<std::size_t> runs;
  for (const bool asked : {false, true}) {
    Made made;
    made.item(config_map("a", "3", "v"));
    made.page(1);
    made.wrote(copy_of(config_map("a", "3", "v")), "10");
    const Json run = {{"t", "run"},  {"controller", "copier"}, {"namespace", "shop"},
                      {"name", "a"}, {"reason", "External"},   {"reasonObject", "a push"},
                      {"attempt", 1}};
    if (asked) made.add(run);
    made.end();
    const auto report = replayed(made.bytes(), rules.load());
    INFO(shown(report));
    CHECK(report.recorded_runs == (asked ? 1 : 0));
    runs.push_back(report.replayed_runs);
  }
  CHECK(runs[1] == runs[0] + 1);
}

TEST_CASE("a recording that ends early is replayed so far, what it lacks is no difference") {
  Rules rules;
  const std::string whole = simple().bytes();
  Made started;
  started.item(config_map("a", "3", "v"));
  started.page(1);
  const auto open_end = replayed(started.bytes(), rules.load());
  CHECK(open_end.differences.empty());
  CHECK(open_end.events == 1);
  CHECK(open_end.early.find("its end is missing") != std::string::npos);

  const auto cut =
      replayed(started.bytes() + whole.substr(hooks::kRecordingMagic.size(), 40), rules.load());
  CHECK(cut.early.find("a block is cut off") != std::string::npos);
  CHECK(cut.events == 1);
  CHECK(json_of(cut)["endsEarly"] == cut.early);
}

TEST_CASE("a recording that was stopped at work does not miss what was not written yet") {
  Rules rules;
  Made made;
  made.item(config_map("a", "3", "v"));
  made.page(1);
  made.end(/*idle=*/false);
  const auto report = replayed(made.bytes(), rules.load());
  CHECK(report.differences.empty());
  CHECK(report.early == "");
  REQUIRE(report.notes.size() == 1);
}

TEST_CASE("a custom kind whose definition was not to be had is replayed without a schema") {
  Rules rules;
  Made made;
  made.add({{"t", "kind"}, {"name", "sites.demo.example.com"}, {"crd", nullptr}});
  made.add({{"t", "open"}, {"s", 3}, {"path", "/apis/demo.example.com/v1/sites"}, {"how", "list"}});
  Json site = config_map("a", "3", "v");
  site["apiVersion"] = "demo.example.com/v1";
  site["kind"] = "Site";
  made.add({{"t", "item"}, {"s", 3}, {"o", site}});
  made.page(3);
  made.end();
  const auto report =
      replayed(made.bytes(), rules.changed("{apiVersion: v1, kind: ConfigMap, labelSelector: ",
                                           "{apiVersion: demo.example.com/v1, kind: Site, "
                                           "labelSelector: "));
  INFO(shown(report));
  REQUIRE(report.differences.size() == 1);
  CHECK(report.differences[0].change == "created");
  CHECK(report.differences[0].object == "ConfigMap shop/a-copy");
  CHECK(report.failed_runs.empty());
}

TEST_CASE("a recording ends where a line is no entry, or its time is none") {
  Rules rules;
  const std::string no_time = "line 8: its time is no time of a recording";
  for (const auto& [first, second, said] : std::vector<std::tuple<Json, Json, std::string>>{
           {5, 5, ""},
           {0, -1, no_time},
           {0, INT64_MAX, no_time},
           {0, UINT64_MAX, no_time},
           {0, 366LL * 24 * 3600 * 1000 + 1, no_time},
           {0, "soon", no_time},
           {9, 8, "line 8: its time is before that of the line above"}}) {
    Made made;
    made.item(config_map("a", "3", "v"));
    made.page(1);
    made.add({{"t", "kind"}, {"name", "x.y"}, {"crd", nullptr}, {"at", first}});
    made.add({{"t", "end"}, {"why", "done"}, {"idle", false}, {"at", second}});
    const auto report = replayed(made.bytes(), rules.load());
    CHECK(report.early == said);
    CHECK(report.events == 1);
  }
  Made made;
  made.add(Json("an entry?"));
  made.item(config_map("a", "3", "v"));
  made.page(1);
  made.end();
  const auto report = replayed(made.bytes(), rules.load());
  CHECK(report.early == "line 5: it is no JSON object");
  CHECK(report.events == 0);
}

TEST_CASE("a child in a namespace that held nothing watched is written again") {
  Rules rules;
  Made made;
  const Json owner = config_map("a", "3", "v");
  made.item(owner);
  made.page(1);
  Json child = copy_of(owner);
  child["metadata"]["namespace"] = "elsewhere";
  child["metadata"].erase("ownerReferences");
  made.add({{"t", "write"},
            {"verb", "apply"},
            {"path", "/api/v1/namespaces/elsewhere/configmaps/a-copy"},
            {"body", child},
            {"code", 201},
            {"rv", "10"}});
  made.end(false);  // the guard of such a child is not in it
  std::string text = kRules;
  text.replace(text.find("namespace: $KW_NAMESPACE"), 24, "namespace: elsewhere");
  text.replace(
      text.find("  triggers:"), 11,
      "  writes: [{apiVersion: v1, kind: ConfigMap, namespaces: [elsewhere]}]\n  triggers:");
  const auto report = replayed(made.bytes(), rules.load(text));
  INFO(shown(report));
  CHECK(report.differences.empty());
  CHECK(report.failed_runs.empty());
}

namespace {

// Patches one object that no watch tells of, and deletes another.
constexpr const char* kPatcher = R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: copier}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: copy=yes}
  writes:
    - {apiVersion: v1, kind: Service}
  reconcile:
    shell: |
      cat <<END
      apiVersion: kubewatch.dev/v1
      kind: Result
      delete: [{apiVersion: v1, kind: Service, name: old}]
      patches:
        - apiVersion: v1
          kind: Service
          name: web
          type: json
          patch: [{op: test, path: /spec/type, value: ClusterIP},
                  {op: replace, path: /spec/type, value: NodePort}]
      END
)";

Json service(const std::string& name, const char* version) {
  Json out = config_map(name, version, "", false);
  out.erase("data");
  out["apiVersion"] = "v1";
  out["kind"] = "Service";
  out["spec"] = {{"type", "ClusterIP"}, {"ports", Json::array({{{"port", 80}}})}};
  return out;
}

// What the rule above did; with what it read first, or as older versions recorded it.
Made patched(bool with_readings) {
  Made made;
  made.item(config_map("a", "3", "v"));
  made.page(1);
  made.add({{"t", "run"}});  // at work
  int stream = 3;
  for (const char* name : {"web", "old"}) {
    if (!with_readings) break;
    made.add({{"t", "open"},
              {"s", stream},
              {"path", "/api/v1/namespaces/shop/services"},
              {"fields", std::string("metadata.name=") + name},
              {"how", "list"},
              {"object", true}});
    made.add({{"t", "item"}, {"s", stream}, {"o", service(name, "5")}});
    made.page(stream++);
  }
  const std::string path = "/api/v1/namespaces/shop/services/";
  const auto replace = [](const char* op, const char* value) {
    return Json{{"op", op}, {"path", "/spec/type"}, {"value", value}};
  };
  made.add({{"t", "write"},
            {"verb", "patch"},
            {"path", path + "web"},
            {"body", Json::array({replace("test", "ClusterIP"), replace("replace", "NodePort")})},
            {"code", 200},
            {"rv", "10"}});
  made.add({{"t", "write"}, {"verb", "delete"}, {"path", path + "old"}, {"code", 200}});
  made.end();
  return made;
}

}  // namespace

TEST_CASE("patches and deletions of what no watch tells of meet it as it was first read") {
  Rules rules;
  const auto report = replayed(patched(true).bytes(), rules.load(kPatcher));
  INFO(shown(report));
  CHECK(report.differences.empty());
  CHECK(report.failed_runs.empty());
  CHECK(report.notes.empty());
  CHECK(report.events == 1);

  std::string other = kPatcher;
  other.replace(other.find("value: ClusterIP"), 16, "value: LoadBalancer");
  const auto failed = replayed(patched(true).bytes(), rules.load(other));
  CHECK_FALSE(failed.failed_runs.empty());
}

TEST_CASE("what a recording does not have is noted, and no difference where the writes are equal") {
  Rules rules;
  const auto report = replayed(patched(false).bytes(), rules.load(kPatcher));
  INFO(shown(report));
  CHECK(report.differences.empty());
  CHECK(report.failed_runs.empty());
  REQUIRE(report.notes.size() == 2);
  CHECK(report.notes[0].find("Service shop/old is not in the recording") == 0);
  CHECK(report.notes[1].find("Service shop/web is not in the recording") == 0);

  std::string other = kPatcher;
  other.replace(other.find("NodePort"), 8, "LoadBalancer");
  const auto changed = replayed(patched(false).bytes(), rules.load(other));
  REQUIRE(changed.differences.size() == 1);
  CHECK(changed.differences[0].path == "/api/v1/namespaces/shop/services/web");
}

TEST_CASE("what was read in a namespace that came later is not there before it") {
  Rules rules;
  Made made;
  made.add({{"t", "open"}, {"s", 4}, {"path", "/api/v1/namespaces"}, {"how", "list"}});
  made.page(1);
  made.page(4);
  made.add({{"t", "run"}});  // at work
  Json space = config_map("late", "4", "", false);
  space.erase("data");
  space["metadata"].erase("namespace");
  made.event("ADDED", space, 4);
  Json object = config_map("a", "5", "v");
  object["metadata"]["namespace"] = "late";
  made.add({{"t", "open"},
            {"s", 6},
            {"path", "/api/v1/namespaces/late/services"},
            {"how", "list"},
            {"object", true}});
  Json found = service("web", "5");
  found["metadata"]["namespace"] = "late";
  made.add({{"t", "item"}, {"s", 6}, {"o", found}});
  made.page(6);
  made.event("ADDED", object);
  made.end();
  const auto report = replayed(made.bytes(), rules.load(kPatcher));
  INFO(shown(report));
  CHECK(report.failed_runs.empty());
  CHECK(report.events == 2);
  REQUIRE_FALSE(report.notes.empty());
  CHECK(report.notes[0].find("Service late/web is not in the recording") == 0);
}

namespace {

constexpr const char* kTold = R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: copier}
spec:
  for: {apiVersion: v1, kind: ConfigMap, labelSelector: copy=yes}
  onDelete: true
  reconcile: {shell: "true", output: log}
)";

// One object that a watch with a selector tells as deleted; and what the server said then.
Made departed(const Json& still) {
  Made made;
  made.item(config_map("a", "3", "v"));
  made.page(1);
  made.add({{"t", "run"}});  // at work
  made.event("DELETED", config_map("a", "12", "v"));
  if (!still.is_null()) {
    made.add(still);
  }
  made.end();
  return made;
}

}  // namespace

TEST_CASE("an object that has left the selection is not told as deleted by the replay") {
  Rules rules;
  Json still = {{"t", "still"},        {"s", 1},      {"rv", "12"},
                {"namespace", "shop"}, {"name", "a"}, {"uid", "uid-a"}};
  const auto gone = replayed(departed(still).bytes(), rules.load(kTold));
  INFO(shown(gone));
  CHECK(gone.replayed_runs == 2);
  CHECK(gone.notes.empty());

  still["o"] = config_map("a", "12", "v", false);
  const auto left = replayed(departed(still).bytes(), rules.load(kTold));
  INFO(shown(left));
  CHECK(left.replayed_runs == 1);
  CHECK(left.events == 2);
  CHECK(left.notes.empty());
  CHECK(left.failed_runs.empty());
}

TEST_CASE("where a recording does not tell what left from what was deleted, a note says so") {
  Rules rules;
  const auto report = replayed(departed(nullptr).bytes(), rules.load(kTold));
  INFO(shown(report));
  CHECK(report.replayed_runs == 2);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0].find("ConfigMap shop/a: the recording does not tell whether it was deleted "
                             "or only left the selection") == 0);
}

TEST_CASE("files that are no recording are refused") {
  Rules rules;
  CHECK(replay("hello", rules.load()).error().kind() == ErrorKind::invalid);
  CHECK(replay(std::string(hooks::kRecordingMagic), rules.load()).error().message() ==
        "it ends before anything was recorded");
}
