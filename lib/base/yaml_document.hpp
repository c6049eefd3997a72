// The document type of base/yaml.hpp: apart, because it holds a whole Json by value.
#pragma once

#include "base/json.hpp"
#include "base/yaml.hpp"

namespace kubewatch::base {

struct YamlDocument {
  Json value;
  YamlMarks marks;
};

// A key that its mapping has already, and the line where it is said again.
struct YamlRepeat {
  std::string key;
  std::size_t line = 1;
};

}  // namespace kubewatch::base
