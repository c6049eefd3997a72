// Runs one test case: an engine with the real hooks, the embedded server, and time that is skipped
// (pace.hpp). Blocks until it is over; everything it started is gone then.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rehearsal/case_file.hpp"
#include "rehearsal/observed.hpp"
#include "rehearsal/snapshot.hpp"

namespace kubewatch::rehearsal {

struct CaseOptions {
  Duration patience{60000};  // real time for one step
  // Instead of checking what is expected: interrupts one write, goes on through all retries, and
  // tells only how things end.
  std::optional<Interruption> interruption;
};

struct CaseResult {
  std::vector<Failure> failures;
  std::vector<std::string> log;  // what the hooks said
  // "web ConfigMap shop/a: failed: exit code 1": each once, the first of them. What a case misses
  // may be what they did not do.
  std::vector<std::string> failed_runs;
  std::size_t steps = 0;
  std::size_t runs = 0;
  std::size_t client_writes = 0;  // of all steps, the second pass not counted
  bool fails_on_purpose = false;  // some run failed or was parked: not for interruptions
  Snapshot end_state;
  // Objects of `create`, by their names in the snapshot: a hook may make up what is in them.
  std::set<std::string> made_once;
  bool ok() const { return failures.empty(); }
};

CaseResult run_case(const TestCase& test, const CaseOptions& options = {});

// Runs the case once for each write of `plain`, and twice: with the write refused, and with its
// answer lost. Each must end as `plain` did. The number of interruptions is told.
struct InterruptResult {
  std::vector<Failure> failures;
  std::size_t interruptions = 0;
};
InterruptResult run_interrupted(const TestCase& test, const CaseResult& plain,
                                const CaseOptions& options = {});

}  // namespace kubewatch::rehearsal
