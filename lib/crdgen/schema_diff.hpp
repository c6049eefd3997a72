// The changes between two schemas of one version; the part of diff.hpp that looks into them. What
// the keywords of one place say is in keyword_diff.hpp. Pure.
#pragma once

#include <string>
#include <vector>

#include "crdgen/diff.hpp"

namespace kubewatch::crdgen {

// As most changes are judged three times.
inline constexpr Verdict kSafe = Verdict::safe;
inline constexpr Verdict kRisky = Verdict::risky;
inline constexpr Verdict kBreaking = Verdict::breaking;

void diff_schemas(const Json& before, const Json& after, const std::string& version,
                  std::vector<Change>& out);

}  // namespace kubewatch::crdgen
