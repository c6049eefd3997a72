// Fields that a JSON body says twice, which parsers pass over in silence: the last one counts.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::apiserver {

// Sentences as the server has them, `duplicate field "data.a"`, each field once; at most 100, and
// no more once their paths are too long together. Nothing of a text that is no JSON.
std::vector<std::string> duplicate_fields(std::string_view json);

}  // namespace kubewatch::apiserver
