// Which paths differ between two states of an object: for a hook's `reason`, for people. Texts are
// walked side by side without trees; equal parts are not looked into. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::hooks {

// ".spec.replicas", ".metadata.labels[\"a/b\"]", ".spec.list[0]"; the deepest that differ, or a
// list as a whole when its length changed. At most `max`; then "..." follows. Without what the
// server counts: resourceVersion, generation, managedFields. Empty for what is no JSON object.
std::vector<std::string> changed_paths(std::string_view before, std::string_view after,
                                       std::size_t max);

// A key, as its JSON text with quotes, as a step of such a path: .spec, ["a/b"].
std::string path_step(std::string_view literal);

}  // namespace kubewatch::hooks
