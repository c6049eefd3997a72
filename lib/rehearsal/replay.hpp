// Runs rules with their real hooks on a recording of run-controller --record: the embedded server
// gets what the recorded watches told, in the same order and with time skipped to the recorded
// moments, and what the rules write is compared with what was written. Blocks until it is over.
//
// What the recorded controller wrote itself is not replayed but written anew, so that a changed
// hook has its own consequences; what others did to such objects is replayed as the change that it
// was. Not reproduced: failures of the server, the durations of hooks, jitter, and which changes
// one run took together: every event has its whole effect before the next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hooks/rule.hpp"
#include "rehearsal/replay_compare.hpp"

namespace kubewatch::rehearsal {

struct ReplayOptions {
  Duration patience{600000};  // real time that one event's runs may take
};

struct ReplayReport {
  std::size_t events = 0;  // changes from outside that were replayed
  std::size_t recorded_runs = 0;
  std::size_t replayed_runs = 0;
  std::size_t recorded_writes = 0;
  std::vector<ReplayDifference> differences;
  std::vector<std::string> failed_runs;  // of the replay: "copier ConfigMap shop/a: exit 1: ..."
  std::vector<std::string> notes;        // what could not be replayed or compared
  // Damage, a missing end, or the first event of a kind that the embedded server does not have:
  // "byte 1234: a block is cut off"; "" = all of it was replayed.
  std::string early;
};

// Errors: invalid (not a recording), timeout (a hook does not end), or of the embedded server.
Result<ReplayReport> replay(std::string_view recording, std::vector<hooks::Rule> rules,
                            const ReplayOptions& options = {});

// For people. `name`: of the file.
std::string text_of(const ReplayReport& report, const std::string& name);
// {"equal", "events", "runs": {"recorded", "replayed"}, "writes", "differences": [...],
// "failedRuns", "notes", "endsEarly"?}.
Json json_of(const ReplayReport& report);

}  // namespace kubewatch::rehearsal
