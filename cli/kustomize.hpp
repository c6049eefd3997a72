// -k DIR: what `kustomize build`, or else `kubectl kustomize`, makes of a folder. Runs a program of
// $PATH; parses what it prints.
#pragma once

#include <string>
#include <vector>

#include "cli/manifests.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::cli {

// Turns the loop until the program ended, at most a minute; what it warned of is logged. A signal
// that ends this process ends the program and what it started, too. Errors: unsupported (neither
// program is there), invalid (it failed, with its words; its output is no list of objects),
// timeout, too_large.
Result<std::vector<Manifest>> build_kustomization(loop::EventLoop& loop, const std::string& folder);

}  // namespace kubewatch::cli
