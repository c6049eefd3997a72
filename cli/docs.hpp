// Completions and man pages, made from the command tree and the pages; committed under completions/
// and man/, where a test keeps them from going stale. Pure: tree in, text out.
#pragma once

#include <map>
#include <string>

#include "cli/app.hpp"

namespace kubewatch::cli {

// `shell`: bash, zsh or fish.
std::string completion_script(const CommandTree& tree, const std::string& shell);

// File name -> roff, one page per command and kubewatch.1.
std::map<std::string, std::string> man_pages(const CommandTree& tree);

}  // namespace kubewatch::cli
