// Rules against the kinds that are known without a server: the built-in ones and those of
// definitions in a folder of rules. Kinds of other groups are let be: the server will say.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "hooks/rule_file.hpp"

namespace kubewatch::cli {

// As hooks::load_rules(), with problems of kinds that do not exist, and of namespaces where a kind
// has none, at their places.
hooks::LoadedRules load_checked_rules(const std::vector<std::string>& paths);
// As hooks::load_rules_to_read(), with the same further problems.
hooks::LoadedRules load_checked_rules_to_read(const std::vector<std::string>& paths);
// The CustomResourceDefinitions in the files of a folder of rules. What else is there, or cannot be
// read, is passed over: whoever needs it says so.
std::vector<Json> definitions_beside_rules(const std::string& folder);

}  // namespace kubewatch::cli
