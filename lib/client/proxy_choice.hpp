// The proxy of all requests: of a flag, of the cluster's entry, of the environment. No I/O.
// Internal to lib/client.
#pragma once

#include "base/result.hpp"
#include "client/config.hpp"

namespace kubewatch::client {

// Of `out` it takes the server, and the cluster's own proxy, which it replaces. A proxy that a flag
// or the cluster's entry prescribes is asked whatever NO_PROXY says, as client-go's http.ProxyURL.
// Errors: invalid, naming where the proxy was given.
Result<void> choose_proxy(const ConfigOverrides& flags, const ConfigEnvironment& env,
                          ClientConfig& out);

}  // namespace kubewatch::client
