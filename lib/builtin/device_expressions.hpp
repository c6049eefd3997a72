// The expressions that select devices (resource.k8s.io), compiled as when the server is given them.
// Not here: what they may cost at worst, and that an attribute is neither list nor map. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::builtin {

// What is wrong with it, in the server's words; "" when nothing is.
std::string device_selector_problem(std::string_view source);

}  // namespace kubewatch::builtin
