// Variables of our environment. What is handed on to other programs is whole: environ.
#pragma once

#include <cstdlib>
#include <string>

namespace kubewatch::base {

// "" also where it is not set.
inline std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace kubewatch::base
