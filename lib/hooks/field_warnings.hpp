// Fields of a manifest that a hook would come to own without meaning it: nulls and empty values,
// which server-side apply takes for wishes, and fields that the server keeps. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::hooks {

// "spec.replicas is null", at most `most`; "" list when all is well. Values that mean something
// when empty (emptyDir: {}, podSelector: {} and the like) are not told.
std::vector<std::string> field_warnings(const Json& manifest, std::size_t most);

}  // namespace kubewatch::hooks
