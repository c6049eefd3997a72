// The results of test cases as text, JSON and JUnit XML. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/time.hpp"
#include "rehearsal/observed.hpp"

namespace kubewatch::rehearsal {

struct CaseReport {
  std::string name;
  std::string file;
  std::size_t line = 1;
  Duration real{0};
  std::size_t runs = 0;
  std::size_t interruptions = 0;
  std::string note;  // "not interrupted: ..."
  std::vector<Failure> failures;
  std::vector<std::string> failed_runs;  // this and the log: shown with failures
  std::vector<std::string> log;
};

// "ok    website/tests.yaml:3  creates a deployment (0.2s, 2 runs)", and what failed.
std::string text_of(const CaseReport& report);
// "5 cases, 1 failed".
std::string summary_of(const std::vector<CaseReport>& reports);
// {"cases": [{name, file, line, ok, seconds, runs, interruptions, note, failures: [{place,
// message}], failedRuns, log}], "failed": N}.
Json json_of(const std::vector<CaseReport>& reports);
std::string junit_of(const std::vector<CaseReport>& reports);

}  // namespace kubewatch::rehearsal
