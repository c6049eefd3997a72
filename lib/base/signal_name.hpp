// What a signal is called: "SIGTERM", or its number where it has no name.
#pragma once

#include <string.h>

#include <string>

namespace kubewatch::base {

inline std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name == nullptr ? std::to_string(number) : "SIG" + std::string(name);
}

}  // namespace kubewatch::base
