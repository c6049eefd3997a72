// Ready or not, alive or not.
#include "hooks/health.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

EngineFacts well() {
  EngineFacts facts;
  facts.discovered = true;
  facts.controllers.emplace_back();
  facts.controllers[0].controller = "website";
  facts.controllers[0].started = true;
  facts.watches.emplace_back();
  facts.watches[0].resource = "websites.demo.dev";
  facts.watches[0].synced = true;
  return facts;
}

bool says(const HealthReport& report, const std::string& what) {
  INFO(report.text());
  return report.text().find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("an engine with its caches is ready, and idle it is alive") {
  CHECK(judge_readiness(well(), {}).ok());
  CHECK(judge_readiness(well(), {}).text() == "ok\n");
  EngineFacts idle = well();
  idle.since_finish = Duration{1000000000};
  CHECK(judge_liveness(idle, Duration{1000}, {}).ok());
}

TEST_CASE("not ready before discovery, first sync and start, nor while shutting down") {
  EngineFacts facts = well();
  facts.discovered = false;
  CHECK(says(judge_readiness(facts, {}), "what kinds it has"));
  facts = well();
  facts.watches[0].synced = false;
  CHECK(says(judge_readiness(facts, {}), "not synced yet: websites.demo.dev\n"));
  facts.watches[0].failure = "field label not supported";
  CHECK(says(judge_readiness(facts, {}),
             "not synced yet: websites.demo.dev: field label not supported"));
  facts = well();
  facts.controllers[0].started = false;
  CHECK(says(judge_readiness(facts, {}),
             "controller website has not started: a kind is not synced\n"));
  facts.controllers[0].why_not_started = "its file is wrong";
  CHECK(
      says(judge_readiness(facts, {}), "controller website has not started: its file is wrong\n"));
  facts = well();
  facts.stopping = true;
  CHECK(says(judge_readiness(facts, {}), "shutting down"));
}

TEST_CASE("a watch that fails is stale only after the limit") {
  HealthLimits limits;
  limits.max_stale = Duration{10000};
  EngineFacts facts = well();
  facts.watches[0].failing_for = Duration{10000};
  CHECK(judge_readiness(facts, limits).ok());
  facts.watches[0].failing_for = Duration{10001};
  CHECK(says(judge_readiness(facts, limits), "the watch of websites.demo.dev has failed for"));
  CHECK(judge_liveness(facts, Duration{0}, limits).ok());
  limits.max_stale = Duration{0};
  CHECK(judge_readiness(facts, limits).ok());
}

TEST_CASE("who cannot lead, and sees nobody who does, is not ready after the limit") {
  HealthLimits limits;
  limits.max_stale = Duration{10000};
  EngineFacts facts = well();
  facts.lead_trouble = LeadTrouble{"create leases: forbidden", Duration{10000}};
  CHECK(judge_readiness(facts, limits).ok());
  facts.lead_trouble->lasts = Duration{11000};
  CHECK(says(judge_readiness(facts, limits),
             "it could not lead for 11s: create leases: forbidden\n"));
  CHECK(judge_liveness(facts, Duration{0}, limits).ok());
}

TEST_CASE("an object that waits too long for its run makes it not ready") {
  HealthLimits limits;
  limits.max_wait = Duration{1000};
  EngineFacts facts = well();
  facts.controllers[0].oldest = Duration{1001};
  CHECK(says(judge_readiness(facts, limits), "has waited for its run"));
}

TEST_CASE("not alive when the loop does not turn") {
  CHECK(says(judge_liveness(well(), Duration{30001}, {}), "has not turned"));
  CHECK(judge_liveness(well(), Duration{30000}, {}).ok());
}

TEST_CASE("not alive when objects are due and no run ends, alive as long as some do") {
  HealthLimits limits;
  limits.liveness = Duration{60000};
  EngineFacts facts = well();
  facts.controllers[0].oldest = Duration{60001};
  CHECK(says(judge_liveness(facts, Duration{0}, limits), "no run has ended"));
  facts.since_finish = Duration{5000};
  CHECK(judge_liveness(facts, Duration{0}, limits).ok());
  // Long idle, and due only now.
  facts.since_finish = Duration{1000000};
  facts.controllers[0].oldest = Duration{10};
  CHECK(judge_liveness(facts, Duration{0}, limits).ok());
}

TEST_CASE("a watch that nobody waits for does not hold readiness") {
  EngineFacts facts = well();
  facts.watches.emplace_back();
  facts.watches[1].resource = "customresourcedefinitions.apiextensions.k8s.io";
  facts.watches[1].failing_for = Duration{1000000000};
  CHECK_FALSE(judge_readiness(facts, {}).ok());
  facts.watches[1].needed = false;
  CHECK(judge_readiness(facts, {}).ok());
}

TEST_CASE("without a limit of its own liveness follows the times that the present rules give") {
  EngineFacts facts = well();
  facts.controllers[0].oldest = Duration{1'000'000};  // more than 15 minutes
  facts.longest_run = Duration{35'000};
  CHECK(says(judge_liveness(facts, Duration{0}, {}), "no run has ended"));
  // A rule whose hook may take ten minutes was read meanwhile.
  facts.longest_run = Duration{600'000};
  CHECK(judge_liveness(facts, Duration{0}, {}).ok());
  HealthLimits limits;
  limits.liveness = Duration{60'000};
  CHECK(says(judge_liveness(facts, Duration{0}, limits), "no run has ended"));
}
