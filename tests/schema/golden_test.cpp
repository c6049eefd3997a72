// What a real kube-apiserver did, replayed: golden/*.json was recorded by record.py. Each step
// starts from the object that the server had, so that one difference does not hide the next. Server
// defaults are the server's business: for built-in kinds only owners, conflicts and no-ops are
// compared.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "schema/managed_fields.hpp"
#include "schema/patch.hpp"
#include "schema/typed.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::schema;

namespace {

const std::filesystem::path kGolden = std::filesystem::path(__FILE__).parent_path() / "golden";

Json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  Result<Json> json = base::parse_json(text.str());
  REQUIRE(json.ok());
  return *json;
}

MergeNodePtr schema_of(const Json& scenario) {
  if (scenario.contains("crd_schema")) return crd_merge_schema(scenario["crd_schema"]);
  const Json& gvk = scenario["gvk"];
  MergeNodePtr schema = builtin_merge_schema({gvk[0], gvk[1], gvk[2]});
  REQUIRE(schema);
  return schema;
}

FieldSet ignored_of(const Json& scenario, const std::string& subresource) {
  FieldSet out;
  if (!scenario["ignored"].contains(subresource)) return out;
  for (const Json& dotted : scenario["ignored"][subresource]) {
    Path path;
    for (const std::string& name : base::split(dotted.get<std::string>(), '.')) {
      path.push_back(PathElement::of_field(name));
    }
    out.insert(path);
  }
  return out;
}

Json managed_of(const Json& object) {
  return object["metadata"].value("managedFields", Json::array());
}

std::string version_of(const Json& object) {
  return object["metadata"]["resourceVersion"];
}

// The time that the server gave to this step: the newest that was not there before.
WallTime time_of(const Json& before, const Json& after) {
  std::vector<std::string> old;
  for (const Json& entry : managed_of(before)) old.push_back(entry.value("time", ""));
  std::string newest;
  for (const Json& entry : managed_of(after)) {
    const std::string time = entry.value("time", "");
    if (std::find(old.begin(), old.end(), time) == old.end()) newest = std::max(newest, time);
  }
  return base::parse_rfc3339(newest.empty() ? "2040-01-01T00:00:00Z" : newest).value();
}

// Without what the server alone sets and what is compared on its own.
Json bare(Json object) {
  for (const char* name : {"managedFields", "resourceVersion", "uid", "creationTimestamp",
                           "generation", "namespace", "name"}) {
    object["metadata"].erase(name);
  }
  if (object["metadata"].empty()) object.erase("metadata");
  return object;
}

struct Step {
  const Json& scenario;
  const Json& step;
  const Json* live;
  MergeNodePtr schema;

  std::string subresource() const { return step.value("subresource", ""); }
  const Json& answer() const { return step["answer"]; }
};

void check_refusal(const Step& at, const Result<ApplyOutcome>& outcome) {
  const int code = at.step["code"];
  if (code == 409) {
    REQUIRE(outcome.ok());
    CHECK(base::dump_json(conflict_status(outcome->conflicts)) == base::dump_json(at.answer()));
    return;
  }
  if (code == 422) return;  // the validation's business
  REQUIRE_FALSE(outcome.ok());
  CHECK(outcome.error().render() == at.answer()["message"].get<std::string>());
}

void check_apply(const Step& at) {
  const Json none = Json::object({{"metadata", Json::object()}});
  ApplyRequest request;
  request.live = at.live;
  request.applied = at.step["body"];
  request.manager = at.step["manager"];
  request.subresource = at.subresource();
  request.force = at.step.value("force", false);
  request.schema = at.schema;
  request.ignored = ignored_of(at.scenario, request.subresource);
  const bool succeeded = at.step["code"] < 300;
  if (succeeded) request.now = time_of(at.live == nullptr ? none : *at.live, at.answer());
  const Result<ApplyOutcome> outcome = apply(request);
  if (!succeeded) return check_refusal(at, outcome);
  REQUIRE(outcome.ok());
  REQUIRE(outcome->conflicts.empty());
  CHECK(base::dump_json(managed_of(outcome->object)) == base::dump_json(managed_of(at.answer())));
  if (at.live != nullptr) {
    CHECK(outcome->changed == (version_of(*at.live) != version_of(at.answer())));
  }
  if (!at.scenario.value("compare_object", false) || !request.subresource.empty()) return;
  if (at.step.contains("defaulted")) return;
  Json object = outcome->object;
  if (at.live == nullptr || !at.live->contains("status")) object.erase("status");
  CHECK(base::dump_json(bare(object)) == base::dump_json(bare(at.answer())));
}

// The object as the server saw it after patching, defaulting and resetting, with the owners as
// sent.
Json updated_object(const Step& at) {
  Json updated = at.answer();
  updated["metadata"].erase("managedFields");
  for (const Json& field : at.step.value("admission", Json::array())) {
    updated["spec"].erase(field.get<std::string>());
  }
  const Json* sent = base::find(at.step["body"], {"metadata", "managedFields"});
  if (sent != nullptr) updated["metadata"]["managedFields"] = *sent;
  return updated;
}

void check_update(const Step& at) {
  if (at.step["code"] >= 300) return;
  const Json none = Json::object({{"metadata", Json::object()}});
  UpdateRequest request;
  request.live = at.live;
  request.updated = updated_object(at);
  request.manager = at.step["manager"];
  request.subresource = at.subresource();
  request.schema = at.schema;
  request.ignored = ignored_of(at.scenario, request.subresource);
  request.now = time_of(at.live == nullptr ? none : *at.live, at.answer());
  const Result<Json> object = track_update(request);
  REQUIRE(object.ok());
  CHECK(base::dump_json(managed_of(*object)) == base::dump_json(managed_of(at.answer())));
}

void check_patch(const Step& at) {
  const std::string op = at.step["op"];
  const Json& body = at.step["body"];
  const Json live = at.live == nullptr ? Json::object() : *at.live;
  Result<Json> patched = merge_patch(live, body);
  if (op == "json") patched = json_patch(live, body);
  if (op == "strategic") patched = strategic_patch(live, body, at.schema);
  if (at.step["code"] >= 300) {
    CHECK_FALSE(patched.ok());
    return;
  }
  REQUIRE(patched.ok());
  if (!at.scenario.value("compare_object", false) || !at.subresource().empty()) return;
  as_written(*at.schema, *patched);
  CHECK(base::dump_json(bare(*patched)) == base::dump_json(bare(at.answer())));
}

void replay(const std::filesystem::path& path) {
  const Json scenario = read_json(path);
  const MergeNodePtr schema = schema_of(scenario);
  const Json* live = nullptr;
  for (std::size_t i = 0; i < scenario["steps"].size(); ++i) {
    const Json& step = scenario["steps"][i];
    const std::string op = step["op"];
    INFO(path.filename().string() << " step " << i << " " << op << " "
                                  << base::dump_json(step["body"]));
    const Step at{scenario, step, live, schema};
    if (op == "apply") {
      check_apply(at);
    } else {
      if (op != "create" && op != "update") check_patch(at);
      if (!step.contains("dry_run")) check_update(at);
    }
    if (step["code"] < 300 && !step.contains("dry_run")) live = &at.answer();
  }
}

}  // namespace

TEST_CASE("owners, conflicts and merged objects are those of a real kube-apiserver") {
  std::size_t scenarios = 0;
  for (const auto& file : std::filesystem::directory_iterator(kGolden)) {
    replay(file.path());
    ++scenarios;
  }
  CHECK(scenarios >= 14);
}
