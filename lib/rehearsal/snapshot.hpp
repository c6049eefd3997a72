// The end state of a rehearsal in a form that can be compared with another's: without what differs
// each time (uids, versions, times). Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "core/meta.hpp"

namespace kubewatch::rehearsal {

// By "Kind namespace/name"; Events and Leases are left out.
using Snapshot = std::map<std::string, Json>;
Snapshot snapshot_of(const std::vector<Json>& objects);

std::string snapshot_name(const std::string& kind, const core::ObjectKey& key);

// A line for each object that differs, is missing or is too much. Of those named in `only_there`
// it counts that they are there.
std::vector<std::string> snapshot_differences(const Snapshot& expected, const Snapshot& actual,
                                              const std::set<std::string>& only_there = {});

}  // namespace kubewatch::rehearsal
