// By what a configuration logs in, in words for whoever was refused. Never the secret itself. Pure.
#pragma once

#include <string>

#include "client/config.hpp"

namespace kubewatch::client {

// "the server does not accept the token in /run/token (context kind-a of /home/me/.kube/config)".
std::string why_unauthorized(const ClientConfig& config);

}  // namespace kubewatch::client
