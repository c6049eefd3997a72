// Values of the built-in kinds as kube-apiserver prints its own structures in refusals: all fields
// by their Go names, in the order of the structure, with null for what is absent. Of the types that
// are shown so in practice. Pure.
#pragma once

#include <string>

#include "base/json_fwd.hpp"

namespace kubewatch::builtin {

// `value` is what a manifest has: {"name":"a"} of a Container is {"Name":"a","Image":"",...}.
std::string go_value(const std::string& type, const Json& value);
// Whether the server takes both for the same: as same_value() of checks.hpp, but it knows that a
// structure with nothing in it is not none.
bool same_go_value(const std::string& type, const Json& a, const Json& b);
// What an update would change of one, line by line.
std::string go_difference(const std::string& type, const Json& before, const Json& after);

}  // namespace kubewatch::builtin
