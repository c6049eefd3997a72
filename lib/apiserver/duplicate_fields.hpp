// Fields that a JSON body says twice, which parsers pass over in silence: the last one counts. And
// how they are told with those that the body should not have. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::apiserver {

// Sentences as the server has them, `duplicate field "data.a"`, each field once; at most 100, and
// no more once their paths are too long together. Nothing of a text that is no JSON.
std::vector<std::string> duplicate_fields(std::string_view json);

// "unknown field "spec.x"".
std::string unknown_field(std::string_view path);

// The sentences about the fields of one text as a reader that looks for both meets them: in the
// order of the text, and nothing of what stands in a field that it does not know. Those that it
// does not find come last; names that are very long leave them as they are.
std::vector<std::string> faults_in_order(std::string_view json,
                                         const std::vector<std::string>& duplicates,
                                         const std::vector<std::string>& unknown);

}  // namespace kubewatch::apiserver
