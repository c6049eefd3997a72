// One event of a watch, as an API server sends it.
#pragma once

#include <string>

namespace kubewatch::test {

inline std::string watch_line(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

}  // namespace kubewatch::test
