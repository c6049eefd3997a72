// Custom resources made up from a schema: the smallest that it takes, and one with every field.
// Pure; of CEL rules only those that count fields are looked at, so that what comes out is to be
// validated.
#pragma once

#include <string>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::crdgen {

enum class SampleSize { minimal, full };

// Errors: not_found, when the CRD has no such version; "" is the stored one.
Result<Json> sample_of(const Json& crd, const std::string& version, SampleSize size);

// A text that the pattern matches, as far as patterns are simple: literals, classes, groups,
// alternatives and repetitions. At least and at most so many characters. "" when there is none.
std::string text_for_pattern(const std::string& pattern, std::size_t min, std::size_t max);

}  // namespace kubewatch::crdgen
