// What a recorded controller wrote against what the replayed one writes, object by object. A replay
// lets every event have its effect before the next, so it may write states that the recorded runs
// passed over: what counts is that everything recorded is written again, in order, and that it ends
// the same. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::rehearsal {

// As hooks::write_entry() has it, secrets hidden.
using WriteEntries = std::vector<Json>;

struct ReplayDifference {
  std::string change;  // changed, missing (not written again), created (not in the recording)
  std::string verb;    // "run": of a run that was done and now fails
  std::string path;    // "/api/v1/namespaces/shop/configmaps/a"; "" of a run
  std::string object;  // "ConfigMap shop/a", or the path; of a run "copier ConfigMap shop/a"
  std::string diff;    // unified, from what was recorded to what is written now
};

// Without `whole`, what the recording lacks is no difference: it may have ended before.
std::vector<ReplayDifference> compare_writes(const WriteEntries& recorded,
                                             const WriteEntries& replayed, bool whole);

// Without what differs each time: uids, resourceVersions, times of transitions.
Json comparable(Json body);

}  // namespace kubewatch::rehearsal
