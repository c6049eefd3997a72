// The endpoints of a Pod that write one part of its spec each: containers that join it while it
// runs ("ephemeralcontainers"), and what its containers ask for ("resize"). What each of them keeps
// of the Pod as it is; their rules are in validation_pod_subresources.hpp. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::builtin {

bool is_pod_part(const std::string& subresource);

// `pod` is left with the part that the endpoint writes; all else is as in `live`. A resize that
// adds, removes or renames containers is left whole, for its rules to refuse it.
void keep_other_parts(const std::string& subresource, const Json& live, Json& pod);

}  // namespace kubewatch::builtin
