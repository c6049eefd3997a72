// What the verbs that start a sandbox share: the --listen value, loading files, being its client.
#pragma once

#include <string>
#include <vector>

#include "apiserver/sandbox.hpp"
#include "cli/manifests.hpp"
#include "client/config.hpp"

namespace kubewatch::cli {

// "127.0.0.1:0", "[::1]:6443". Errors: invalid.
Result<apiserver::SandboxOptions> parse_listen(const std::string& text);

// CRDs and namespaces first. Errors name file and object.
Result<void> load_into(apiserver::Sandbox& server, std::vector<Manifest> manifests);

client::ClientConfig sandbox_client_config(const apiserver::Sandbox& server);

}  // namespace kubewatch::cli
