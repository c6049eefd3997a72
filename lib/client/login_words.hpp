// By what a configuration logs in, in words for whoever was refused. Never the secret itself. Pure.
#pragma once

#include <string>

#include "client/config.hpp"

namespace kubewatch::client {

// "the server does not accept the token in /run/token (context kind-a of /home/me/.kube/config)".
std::string why_unauthorized(const ClientConfig& config);
// Of a request that nobody has answered, to be followed by the time that it had. `awaits_login`: it
// was not sent, for whoever logs in takes that long.
std::string why_no_answer(const ClientConfig& config, bool awaits_login);

}  // namespace kubewatch::client
