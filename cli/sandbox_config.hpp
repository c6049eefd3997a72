// What the verbs that start a sandbox share: loading files, being its client.
#pragma once

#include <string>
#include <vector>

#include "apiserver/sandbox.hpp"
#include "cli/manifests.hpp"
#include "client/config.hpp"

namespace kubewatch::cli {

// CRDs and namespaces first. Errors name file and object.
Result<void> load_into(apiserver::Sandbox& server, std::vector<Manifest> manifests);

client::ClientConfig sandbox_client_config(const apiserver::Sandbox& server);

}  // namespace kubewatch::cli
