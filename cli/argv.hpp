// Brings kubectl's ways of writing flags into the one way that CLI11 reads right. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kubewatch::cli {

// The short names of flags, which take no value, with their long ones: "-A" -> "--all-namespaces".
using ShortFlags = std::map<std::string, std::string>;
// Those of the app and all of its subcommands.
ShortFlags short_flags_of(const CLI::App& app);

// A flag that is given no value where it says that one comes ("-A="), "" where there is none.
std::string invalid_argument(const std::vector<std::string>& words, const ShortFlags& flags);

// "-n=x" -> "-n" "x" (CLI11 would read "=x"), but "-A=false" -> "--all-namespaces=false"; of
// several letters the last has the value; "-nx" and "--flag=x" stay; all after "--" stays.
std::vector<std::string> normalise_argv(const std::vector<std::string>& words,
                                        const ShortFlags& flags);

}  // namespace kubewatch::cli
