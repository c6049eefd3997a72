// Custom kinds of a recording on the embedded server: by their definitions, or where those were not
// to be had by permissive ones made from what the recording says of their objects.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "rehearsal/world.hpp"

namespace kubewatch::rehearsal {

// `kinds`: entries "kind"; `lines`: all of the recording. Errors: the server's.
Result<void> install_kinds(World& world, const std::vector<Json>& kinds,
                           const std::vector<std::string>& lines);

// As it can be applied: without status, conversion webhook and the server's metadata.
Json plain_definition(const Json& crd);

}  // namespace kubewatch::rehearsal
