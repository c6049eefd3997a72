// Random histories of applies and updates that the library of kube-apiserver played
// (oracle/main.go), played again by ours. Objects, owners and conflicts must agree after every
// step.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "schema/managed_entries.hpp"
#include "schema_fixture.hpp"

using namespace schema_test;

namespace {

Json histories() {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "oracle" / "histories.json";
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return json(text.str());
}

Json owners_of(const Json& object) {
  const Result<Managed> managed = decode_managed(managed_fields_of(object));
  REQUIRE(managed.ok());
  Json out = Json::object();
  for (const auto& [identity, entry] : *managed) out[entry.manager] = entry.fields.to_fields_v1();
  return out;
}

Json conflicts_of(const ApplyOutcome& outcome) {
  std::vector<std::string> out;
  for (const Conflict& conflict : outcome.conflicts) {
    const std::string manager =
        conflict.manager_text.substr(1, conflict.manager_text.rfind('"') - 1);
    out.push_back(manager + " " + path_str(conflict.path));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string bare(Json object) {
  object.erase("metadata");
  return base::dump_json(object);
}

// What both kinds of requests share.
template <class Request>
Request request_of(const Json& step, const Json* live, const MergeNodePtr& schema) {
  Request request;
  request.live = live;
  request.manager = step["manager"];
  request.schema = schema;
  request.now = at_second(0);
  return request;
}

void play(const Json& step, Json& live, const MergeNodePtr& schema) {
  const Json* before = live.is_null() ? nullptr : &live;
  if (!step.contains("force")) {
    auto request = request_of<UpdateRequest>(step, before, schema);
    request.updated = step["body"];
    Result<Json> updated = track_update(request);
    REQUIRE(updated.ok());
    live = std::move(*updated);
    return;
  }
  auto request = request_of<ApplyRequest>(step, before, schema);
  request.applied = step["body"];
  request.force = step["force"];
  Result<ApplyOutcome> outcome = apply(request);
  REQUIRE(outcome.ok());
  CHECK(conflicts_of(*outcome) == step.value("conflicts", Json::array()));
  if (outcome->conflicts.empty()) live = std::move(outcome->object);
}

}  // namespace

TEST_CASE("random histories end as in the library of kube-apiserver") {
  const Json recorded = histories();
  const MergeNodePtr schema = crd_merge_schema(recorded["crd_schema"]);
  std::size_t number = 0;
  for (const Json& history : recorded["histories"]) {
    Json live;
    std::size_t index = 0;
    for (const Json& step : history) {
      INFO("history " << number << " step " << index << " " << base::dump_json(step["body"])
                      << " on " << base::dump_json(live));
      play(step, live, schema);
      if (live.is_null()) break;  // a first step in conflict with nothing cannot be
      CHECK(bare(live) == base::dump_json(step["live"]));
      CHECK(base::dump_json(owners_of(live)) == base::dump_json(step["owners"]));
      ++index;
    }
    ++number;
  }
  CHECK(number == 100);
}
