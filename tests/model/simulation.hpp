// One random schedule: a cluster, a pair of API servers, several reflectors behind links with
// faults, one controller. The seed decides everything; equal seeds run alike.
#pragma once

#include <cstdint>

#include "model/verdict.hpp"

namespace kubewatch::model {

Verdict run_schedule(std::uint64_t seed, bool trace);

}  // namespace kubewatch::model
