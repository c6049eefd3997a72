// Brings kubectl's ways of writing flags into the one way that CLI11 reads right. Pure.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kubewatch::cli {

// `app` says what the words mean: its commands, and which options take a value. The word after one
// that does is its value, whatever it looks like.

// A flag that is given no value where it says that one comes ("-A="), "" where there is none.
std::string invalid_argument(const std::vector<std::string>& words, const CLI::App& app);

// "-n=x" -> "-n" "x" (CLI11 would read "=x"), but "-A=false" -> "--all-namespaces=false"; of
// several letters the last has the value; "-nx", "--flag=x" and values stay; all after "--" stays.
std::vector<std::string> normalise_argv(const std::vector<std::string>& words, const CLI::App& app);

}  // namespace kubewatch::cli
