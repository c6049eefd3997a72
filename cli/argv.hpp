// Brings kubectl's ways of writing flags into the one way that CLI11 reads right. Pure.
#pragma once

#include <string>
#include <vector>

namespace kubewatch::cli {

// "-n=x" -> "-n" "x" (CLI11 would read "=x"); "-nx" and "--flag=x" stay; all after "--" stays.
std::vector<std::string> normalise_argv(const std::vector<std::string>& words);

}  // namespace kubewatch::cli
