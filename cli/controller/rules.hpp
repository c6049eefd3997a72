// What is wrong with rule files, told in one way by all commands that read them.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "hooks/rule_file.hpp"

namespace kubewatch::cli {

// "3 problems in rules.yaml"; "3 problems in a.yaml and b.yaml", at most three files by name.
std::string count_of_problems(const std::vector<hooks::Diagnostic>& problems);

// Prints each on stderr and how many there are; the exit code of an invalid file.
int refuse_rules(Context& context, const std::vector<hooks::Diagnostic>& problems,
                 const std::string& consequence = "nothing was started");

}  // namespace kubewatch::cli
