// What was saved of a cluster (kubectl get -o yaml), made ready for a server that has other
// addresses, and of which it may be a part only. Pure. What the server itself keeps of it is
// Api::load's.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::apiserver {

// Those that are there to be loaded.
std::set<std::string> uids_of(const std::vector<const Json*>& objects);

// Takes out of an object what cannot be so here, and tells each of it: addresses of a Service,
// ephemeral containers of a Pod, and owners of which no uid is among `loaded`, for whose lack it
// would be deleted at once.
std::vector<std::string> fit_saved(Json& object, const std::set<std::string>& loaded);

}  // namespace kubewatch::apiserver
