// What is wrong with rule files, told in one way by all commands that read them.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "hooks/rule_file.hpp"

namespace kubewatch::cli {

// "3 problems in rules.yaml"; "3 problems in a.yaml and b.yaml", at most three files by name.
// `where`: in place of the files.
std::string count_of_problems(const std::vector<base::Remark>& problems, std::string where = "");

// Prints each on stderr and how many there are; the exit code of an invalid file.
int refuse_rules(Context& context, const std::vector<base::Remark>& problems,
                 const std::string& consequence = "nothing was started",
                 const std::string& where = "");

}  // namespace kubewatch::cli
