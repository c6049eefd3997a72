// Runs the program that a kubeconfig names to log in. What it is told and must answer is
// exec_plugin.hpp. Internal to lib/client.
#pragma once

#include <memory>

#include "client/config.hpp"
#include "client/login.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

// `config` has exec. Errors of fetch(): unauthorized, saying that there is no
// such program, that policy forbids it, that it failed with its exit code, or what its output
// lacks.
std::unique_ptr<LoginSource> make_exec_source(loop::EventLoop& loop, const ClientConfig& config);

}  // namespace kubewatch::client
