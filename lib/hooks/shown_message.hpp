// What is told of a run in its record, in logs and Events. Pure.
#pragma once

#include <string>
#include <string_view>

#include "hooks/secret_mask.hpp"

namespace kubewatch::hooks {

// Masked, and then cut to some 4 KiB, which it says: who prints a name of 4 MB would have it in
// each line and in each of the runs that are remembered. Never the other way round: the mask does
// not know a value that was cut.
std::string shown_message(const SecretMask& mask, std::string_view text);

}  // namespace kubewatch::hooks
