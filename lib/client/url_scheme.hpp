// Schemes have no case; what reads URLs after us knows small letters alone. Internal to lib/client.
#pragma once

#include <string>

namespace kubewatch::client {

std::string with_lower_scheme(std::string url);

}  // namespace kubewatch::client
