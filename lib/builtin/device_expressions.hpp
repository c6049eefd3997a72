// The expressions that select devices (resource.k8s.io), compiled as when the server is given them.
// Not here: that an attribute is neither list nor map. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kubewatch::builtin {

struct DeviceSelector {
  std::string problem;     // what is wrong with it, in the server's words; "" when nothing is
  std::uint64_t cost = 0;  // at worst, where nothing is wrong
};

DeviceSelector read_device_selector(std::string_view source);

}  // namespace kubewatch::builtin
