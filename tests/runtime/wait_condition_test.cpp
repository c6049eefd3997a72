#include "runtime/wait_condition.hpp"

#include "base/json.hpp"
#include "core/json_path.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using runtime::WaitCondition;

namespace {

const char* const kDeployment = R"({
  "kind": "Deployment",
  "metadata": {"name": "web", "generation": 4, "labels": {"a.b/c": "x"}},
  "status": {
    "observedGeneration": 4, "readyReplicas": 3, "phase": " Running ", "none": null,
    "flag": true, "ratio": 1.5,
    "conditions": [
      {"type": "Progressing", "status": "True", "reason": "Done"},
      {"type": "Ready", "status": "False", "reason": "Crash", "message": "back-off"},
      {"type": "Old", "status": "True", "observedGeneration": 3}
    ],
    "containers": [{"name": "a", "ready": true}, {"name": "b", "ready": false}]
  }})";

// "met", "not met", or the error.
std::string judge(const std::string& condition, const Json* object) {
  auto parsed = WaitCondition::parse(condition);
  if (!parsed.ok()) return "parse: " + parsed.error().render();
  auto met = parsed->met(object);
  if (!met.ok()) return "error: " + met.error().render();
  return *met ? "met" : "not met";
}

std::string describe(const std::string& condition, const Json* object) {
  return WaitCondition::parse(condition)->describe(object);
}

}  // namespace

TEST_CASE("conditions are judged as kubectl wait judges them") {
  const Json object = *base::parse_json(kDeployment);
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"delete", "not met"},
      {"Delete", "not met"},
      {"create", "met"},
      {"condition=Progressing", "met"},
      {"condition=progressing=TRUE", "met"},
      {"condition=Ready", "not met"},
      {"condition=Ready=False", "met"},
      {"condition=Absent", "not met"},
      {"condition=Old", "not met"},  // of an older generation
      {"jsonpath={.status.readyReplicas}=3", "met"},
      {"jsonpath='{.status.readyReplicas}'=3", "met"},
      {"jsonpath='{.status.readyReplicas}=3'", "met"},
      {"jsonpath=.status.readyReplicas=3", "met"},
      {"jsonpath=status.readyReplicas=3", "met"},
      {"jsonpath={.status.readyReplicas}=4", "not met"},
      {"jsonpath={.status.phase}=Running", "met"},
      {"jsonpath={.status.flag}=true", "met"},
      {"jsonpath={.status.ratio}=1.5", "met"},
      {"jsonpath={.status.flag}", "met"},
      {"jsonpath={.status}", "met"},
      {"jsonpath={.status.none}", "not met"},
      {"jsonpath={.status.missing}", "not met"},
      {"jsonpath={.status.missing.deeper}=1", "not met"},
      {R"(jsonpath={.metadata.labels.a\.b/c}=x)", "met"},
      {"jsonpath={.metadata.labels['a.b/c']}=x", "met"},
      {R"(jsonpath={.status.conditions[?(@.type=="Ready")].status}=False)", "met"},
      {R"(jsonpath={.status.conditions[?(@.type!="Ready")].type})",
       "error: jsonpath {.status.conditions[?(@.type!=\"Ready\")].type} leads to 2 values, one is "
       "needed"},
      {R"(jsonpath={.status.containers[?(@.ready==true)].name}=a)", "met"},
      {R"(jsonpath={.status.containers[?(@.ready=="true")].name}=a)", "not met"},
      {"jsonpath={.status.containers[?(@.nope)].name}", "not met"},
      {"jsonpath={.status.containers[0].name}=a", "met"},
      {"jsonpath={.status.containers[-1].name}=b", "met"},
      {"jsonpath={.status.containers[7].name}=b", "not met"},
      {"jsonpath={.status.containers[*].name}=b",
       "error: jsonpath {.status.containers[*].name} leads to 2 values, one is needed"},
      {"jsonpath={.status.containers}=x",
       "error: jsonpath {.status.containers} leads to a list or an object, which cannot be "
       "compared with a value"},
  };
  for (const auto& [condition, verdict] : rows) {
    CAPTURE(condition);
    CHECK(judge(condition, &object) == verdict);
  }
}

TEST_CASE("an object that does not exist meets only delete") {
  CHECK(judge("delete", nullptr) == "met");
  CHECK(judge("create", nullptr) == "not met");
  CHECK(judge("condition=Ready", nullptr) == "not met");
  CHECK(judge("jsonpath={.a}", nullptr) == "not met");
  CHECK(describe("condition=Ready", nullptr) == "does not exist");
}

TEST_CASE("a status of an older generation proves nothing") {
  Json object = *base::parse_json(kDeployment);
  object["metadata"]["generation"] = 5;
  CHECK(judge("condition=Progressing", &object) == "not met");
  CHECK(judge("jsonpath={.status.readyReplicas}=3", &object) == "not met");
  CHECK(judge("jsonpath={.metadata.generation}=5", &object) == "met");
  CHECK(describe("condition=Progressing", &object) ==
        "Progressing is True (reason Done), of generation 4, now 5");
  // Some controllers write it as a string.
  object["status"]["observedGeneration"] = "5";
  CHECK(judge("condition=Progressing", &object) == "met");
  object["status"].erase("observedGeneration");
  CHECK(judge("condition=Progressing", &object) == "met");
}

TEST_CASE("what is seen instead is told in one line") {
  Json object = *base::parse_json(kDeployment);
  CHECK(describe("condition=Ready", &object) == "Ready is False (reason Crash: back-off)");
  CHECK(describe("condition=Absent", &object) == "Absent is absent");
  CHECK(describe("jsonpath={.status.readyReplicas}=5", &object) == "{.status.readyReplicas} is 3");
  CHECK(describe("jsonpath={.nope}", &object) == "{.nope} is absent");
  CHECK(describe("jsonpath={.status}=1", &object) == "{.status} is an object");
  CHECK(describe("delete", &object) == "still exists");
  object["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z";
  object["metadata"]["finalizers"] = {"a/b", "c/d"};
  CHECK(describe("delete", &object) == "is being deleted, held by finalizers a/b, c/d");
  const Json secret = {{"kind", "Secret"}, {"data", {{"password", "aHVudGVyMg=="}}}};
  CHECK(describe("jsonpath={.data.password}=x", &secret).find("aHVudGVyMg") == std::string::npos);
}

TEST_CASE("conditions that make no sense are refused") {
  for (const char* text :
       {"", "ready", "condition=", "condition=Ready=", "jsonpath=", "jsonpath={.a}=", "jsonpath={",
        "jsonpath={.a", "jsonpath={..}", "jsonpath={.a[}", "jsonpath={.a[x]}",
        "jsonpath={.a[?(@.b=~1)]}", "jsonpath={.a[?(b)]}", "jsonpath={.a['b]}", "jsonpath={}",
        "jsonpath={.a[0]b}"}) {
    CAPTURE(text);
    CHECK(judge(text, nullptr).find("parse: ") == 0);
  }
}

TEST_CASE("conditions know what they wait for") {
  CHECK(WaitCondition::parse("delete")->waits_for_deletion());
  CHECK(WaitCondition::parse(" create ")->waits_for_creation());
  CHECK_FALSE(WaitCondition::parse("condition=Ready")->waits_for_deletion());
  CHECK(WaitCondition::parse("condition=Ready")->text() == "condition=Ready");
}
