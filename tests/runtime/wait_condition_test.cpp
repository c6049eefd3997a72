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
      {R"(jsonpath={.status.containers[?(@.ready=="true")].name}=a)",
       "error: incompatible types for comparison: a truth value and a text"},
      {R"(jsonpath={.status.containers[?(@.name==1)].name})",
       "error: incompatible types for comparison: a text and a number"},
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

TEST_CASE("a jsonpath into a status goes by the generation of what it leads to") {
  Json object = *base::parse_json(kDeployment);
  object["metadata"]["generation"] = 5;
  object["status"]["conditions"][1]["observedGeneration"] = 5;
  const auto ready = R"(jsonpath={.status.conditions[?(@.type=="Ready")].status}=False)";
  const std::vector<std::pair<std::string, std::string>> rows = {
      // As condition= has it: by the condition's own, else by that of the status.
      {ready, "met"},
      {"condition=Ready=False", "met"},
      {R"(jsonpath={.status.conditions[?(@.type=="Progressing")].status}=True)", "not met"},
      {R"(jsonpath={.status.conditions[?(@.type=="Old")].status}=True)", "not met"},
      // Which generation was observed is true whatever it is.
      {"jsonpath={.status.observedGeneration}=4", "met"},
      {R"(jsonpath={.status.conditions[?(@.type=="Old")].observedGeneration}=3)", "met"},
      // Whichever way it goes there.
      {"jsonpath={..phase}=Running", "not met"},
      {"jsonpath={.*.phase}=Running", "not met"},
      {"jsonpath={['status'].phase}", "not met"},
      {"jsonpath={.status}", "not met"},
      {"jsonpath={.status.containers[*].name}", "not met"},
      {"jsonpath={..labels}", "met"},
      {"jsonpath={.metadata.name}=web", "met"},
      // A program is asked of the object as it is.
      {R"(jq=.status.phase == " Running ")", "met"},
  };
  for (const auto& [condition, verdict] : rows) {
    CAPTURE(condition);
    CHECK(judge(condition, &object) == verdict);
  }
  CHECK(describe("jsonpath={..phase}=Running", &object) ==
        "{..phase} is  Running , of generation 4, now 5");
  CHECK(describe("jsonpath={.status.observedGeneration}=5", &object) ==
        "{.status.observedGeneration} is 4");
  // In a status that is up to date a condition may not be.
  object["status"]["observedGeneration"] = 5;
  CHECK(judge(R"(jsonpath={.status.conditions[?(@.type=="Old")].status}=True)", &object) ==
        "not met");
  CHECK(judge("jsonpath={.status.phase}=Running", &object) == "met");
}

TEST_CASE("what lies deep in a status goes by the generation that is told around it") {
  Json object = *base::parse_json(kDeployment);
  object["metadata"]["generation"] = 5;
  object["status"] = *base::parse_json(R"({"parents": [
    {"conditions": [{"type": "Accepted", "status": "True", "observedGeneration": 4}], "name": "a"},
    {"conditions": [{"type": "Accepted", "status": "True", "observedGeneration": 5}]}]})");
  CHECK(judge("jsonpath={.status.parents[0].conditions[0].status}=True", &object) == "not met");
  CHECK(judge("jsonpath={.status.parents[1].conditions[0].status}=True", &object) == "met");
  CHECK(judge("jsonpath={.status.parents[0].name}=a", &object) == "met");
}

TEST_CASE("a deletion raises the generation, and no controller need observe it") {
  Json object = *base::parse_json(kDeployment);
  object["metadata"]["generation"] = 5;
  object["status"]["phase"] = "Deleting";
  CHECK(judge("jsonpath={.status.phase}=Deleting", &object) == "not met");
  object["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z";
  CHECK(judge("jsonpath={.status.phase}=Deleting", &object) == "met");
  CHECK(describe("jsonpath={.status.phase}=Gone", &object) == "{.status.phase} is Deleting");
  // A Pod that is being deleted is ready no more, whatever its condition says: as with kubectl.
  CHECK(judge("condition=Progressing", &object) == "not met");
}

TEST_CASE("what is seen instead is told in one line") {
  Json object = *base::parse_json(kDeployment);
  CHECK(describe("condition=Ready", &object) == "Ready is False (reason Crash: back-off)");
  CHECK(describe("condition=Absent", &object) == "Absent is absent");
  CHECK(describe("jsonpath={.status.readyReplicas}=5", &object) == "{.status.readyReplicas} is 3");
  CHECK(describe("jsonpath={.nope}", &object) == "{.nope} is absent");
  CHECK(describe("jsonpath={.status.containers[7].name}", &object) ==
        "{.status.containers[7].name} cannot be followed: array index out of bounds: index 7, "
        "length 2");
  CHECK(describe("jsonpath={.status[?(@.a==1)]}", &object) ==
        "{.status[?(@.a==1)]} cannot be followed: a filter is used on something that is not an "
        "array");
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
       {"", "readyish", "ready=x", "jq=", "jq=.a[", "condition=", "condition=Ready=", "jsonpath=",
        "jsonpath={.a}=", "jsonpath={", "jsonpath={.a", "jsonpath={.a[}", "jsonpath={.a[x]}",
        "jsonpath={.a[?(b)]}", "jsonpath={.a['b]}", "jsonpath={.a[0]b}"}) {
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

TEST_CASE("a judgement says what is seen, what is wanted and by which rule") {
  const Json object = *base::parse_json(kDeployment);
  const auto judge = [&](const std::string& text, const Json* what) {
    const auto said = WaitCondition::parse(text)->judge(what, WallTime{});
    const char* states[] = {"met", "not met", "failed", "invalid"};
    return std::string(states[static_cast<int>(said.state)]) + " | " + said.current + " | " +
           said.wanted + " | " + said.rule;
  };
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"condition=Ready",
       "not met | Ready is False (reason Crash: back-off) | Ready=true | status.conditions"},
      {"jsonpath={.status.readyReplicas}=4",
       "not met | {.status.readyReplicas} is 3 | 4 | jsonpath"},
      {"jsonpath={.status.conditions}=4",
       "invalid | jsonpath {.status.conditions} leads to a list or an object, which cannot be "
       "compared with a value | 4 | jsonpath"},
      {R"(jsonpath={.status.containers[?(@.ready=="true")].name}=a)",
       "invalid | incompatible types for comparison: a truth value and a text | a | jsonpath"},
      {"jsonpath={.status.containers[7].name}=b",
       "not met | {.status.containers[7].name} cannot be followed: array index out of bounds: "
       "index 7, length 2 | b | jsonpath"},
      {"jq=.status.readyReplicas >= 3", "met | true | true | jq"},
      {"jq=.status.readyReplicas > 3", "not met | false | true | jq"},
      {"jq=.status.absent", "not met | null | true | jq"},
      {"jq=.status.containers", "met | a list | true | jq"},
      {"jq=empty", "not met | no output | true | jq"},
      {"create", "met | exists | it exists | exists"},
      {"delete", "not met | still exists | gone | exists"},
      {"Ready",
       "not met | InProgress: Ready is False (reason Crash: back-off) | Ready=True | "
       "condition Ready"},
      {"rollout",
       "not met | InProgress: Ready is False (reason Crash: back-off) | Ready=True | "
       "condition Ready"},
  };
  for (const auto& [text, said] : rows) {
    INFO(text);
    CHECK(judge(text, &object) == said);
  }
  CHECK(judge("ready", nullptr) == "not met | NotFound: it does not exist | it exists | exists");
  CHECK(judge("jq=true", nullptr) == "not met | does not exist | true | jq");
  CHECK(judge("delete", nullptr) == "met | does not exist | gone | exists");
}

TEST_CASE("a comparison with what is null as yet may be made later") {
  Json object = *base::parse_json(R"({"spec":{"list":[{"name":"a","value":null}]}})");
  const std::string condition = R"(jsonpath={.spec.list[?(@.value=="x")].name}=a)";
  CHECK(judge(condition, &object) == "not met");
  CHECK(describe(condition, &object).find("invalid type for comparison: null") !=
        std::string::npos);
  object["spec"]["list"][0]["value"] = "x";
  CHECK(judge(condition, &object) == "met");
}

TEST_CASE("a jq program that cannot be asked yet may be asked later") {
  const Json fresh = *base::parse_json(R"({"kind":"Thing"})");
  const auto said =
      WaitCondition::parse("jq=.status.conditions[].type == \"Ready\"")->judge(&fresh, WallTime{});
  CHECK(said.state == runtime::Judgement::State::not_met);
}

TEST_CASE("what kubectl keeps of a Secret in an annotation is not told either") {
  const Json secret = *base::parse_json(
      R"({"kind":"Secret","metadata":{"annotations":{"last":"{\"password\":\"hunter2\"}"}}})");
  for (const char* path : {"{.metadata.annotations.last}", "{.metadata.*['last']}",
                           "{.metadata['annotations'].last}", "{.*.annotations.last}"}) {
    CAPTURE(path);
    const auto condition = WaitCondition::parse(std::string("jsonpath=") + path + "=x");
    REQUIRE(condition.ok());
    const std::string seen = condition->judge(&secret, WallTime{}).current;
    CHECK(seen.find("hunter2") == std::string::npos);
    CHECK(seen.find("not shown") != std::string::npos);
  }
}

TEST_CASE("what is harmless of a Secret is told") {
  const Json secret =
      *base::parse_json(R"({"kind":"Secret","type":"Opaque","metadata":{"labels":{"a":"b"}}})");
  for (const auto& [path, value] :
       {std::pair("{.type}", "Opaque"), {"{.metadata.labels.a}", "b"}}) {
    const auto condition = WaitCondition::parse(std::string("jsonpath=") + path + "=x");
    REQUIRE(condition.ok());
    CHECK(condition->judge(&secret, WallTime{}).current.find(value) != std::string::npos);
  }
}

TEST_CASE("what a Secret holds is not told by jq conditions") {
  const Json secret = *base::parse_json(R"({"kind":"Secret","data":{"key":"aHVudGVyMg=="}})");
  const auto said = WaitCondition::parse("jq=.data.key")->judge(&secret, WallTime{});
  CHECK(said.current.find("aHVudGVy") == std::string::npos);
}
