// CRDs of one kind that hold different versions, made one. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::crdgen {

struct Merged {
  Json crd;
  std::vector<std::string> warnings;
};

// `crds`: as readable_crd gives them. The head (names, labels, conversion) is that of the CRD that
// holds the storage version.
// Errors: invalid: no CRD, another group, kind, plural or scope, a version that two of them hold
// and that differs, a storage version that none holds.
Result<Merged> merge_crds(const std::vector<Json>& crds, const std::string& storage);

}  // namespace kubewatch::crdgen
