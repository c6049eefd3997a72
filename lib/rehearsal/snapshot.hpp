// The end state of a rehearsal in a form that can be compared with another's: without what differs
// each time (uids, versions, times). Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::rehearsal {

// By "Kind namespace/name"; Events and Leases are left out.
using Snapshot = std::map<std::string, Json>;
Snapshot snapshot_of(const std::vector<Json>& objects);

// A line for each object that differs, is missing or is too much.
std::vector<std::string> snapshot_differences(const Snapshot& expected, const Snapshot& actual);

}  // namespace kubewatch::rehearsal
