// What CLI11 calls the type of an option, taken apart: "FORMAT:{json,yaml}" of one that may have
// these values alone (CLI::IsMember). Pure.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace kubewatch::cli {

// "FORMAT"; "" = it has none.
std::string argument_of(const CLI::Option& option);
// "json", "yaml"; none: it takes any value.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace kubewatch::cli
