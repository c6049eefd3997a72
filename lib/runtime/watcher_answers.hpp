// What a resourceVersion or an error of the server says to a watcher: of the version it asked for,
// of the request, of the server. Pure; what follows from it is the watcher's.
#pragma once

#include <string>

#include "base/result.hpp"

namespace kubewatch::runtime {

// One that a watch can begin at.
bool usable_version(const std::string& resource_version);

// The resourceVersion that was asked for cannot be served: expired, or of a future that never
// comes.
bool version_is_useless(const Error& error);
// The server, or what answers in its place, does not take the request as it is.
bool refuses_request(const Error& error);
// As opposed to the load, the credentials or the network, which say nothing of the version.
bool may_be_of_version(const Error& error);
// A restore of its data takes a server away for a while.
bool is_away(const Error& error);

}  // namespace kubewatch::runtime
