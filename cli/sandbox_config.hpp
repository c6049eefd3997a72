// What the verbs that start a sandbox share: loading files, being its client.
#pragma once

#include <string>
#include <vector>

#include "apiserver/sandbox.hpp"
#include "cli/manifests.hpp"
#include "client/config.hpp"

namespace kubewatch::cli {

// CRDs and namespaces first. What was saved of a cluster is loaded without what only its own
// servers know, and what is left out is told on stderr. One error names files and objects of all
// that are refused.
Result<void> load_into(apiserver::Sandbox& server, std::vector<Manifest> manifests);

client::ClientConfig sandbox_client_config(const apiserver::Sandbox& server);

}  // namespace kubewatch::cli
