// What happened in a step of a test case, and the objects that there are after it; and whether that
// is what was expected. Pure.
#pragma once

#include <string>
#include <vector>

#include "apiserver/resource.hpp"
#include "base/json.hpp"
#include "hooks/engine.hpp"
#include "rehearsal/case_file.hpp"
#include "rehearsal/local_server.hpp"

namespace kubewatch::rehearsal {

struct Observed {
  std::vector<Json> objects;  // all of the server's as they are stored, without managedFields
  std::vector<apiserver::ResourcePtr> resources;  // that the server has, in all their versions
  std::vector<core::Gvk> for_;                    // the kinds that the rules are for
  std::vector<core::Gvk> used;  // as the rules have them; of several versions the first counts
  std::vector<std::string> controllers;
  std::vector<Json> runs;  // and what has only waited, once for each expression that holds it
  std::vector<Json> writes;
  std::vector<Json> events;
  std::vector<Json> metrics;
  std::vector<std::string> log;
};

struct Failure {
  std::string place;  // "tests.yaml:23"
  std::string message;
};

// As an expectation of `runs` and `writes` names it.
Json run_json(const hooks::RunRecord& run);
Json write_json(const ApiWrite& write);
// Of a run as above: its hook was started, or would have been.
bool has_run(const Json& run);

std::vector<Failure> check_step(const TestCase& test, const Step& step, const Observed& seen);

}  // namespace kubewatch::rehearsal
