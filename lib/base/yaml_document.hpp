// The document type of base/yaml.hpp: apart, because it holds a whole Json by value.
#pragma once

#include "base/json.hpp"
#include "base/yaml.hpp"

namespace kubewatch::base {

struct YamlDocument {
  Json value;
  YamlMarks marks;
};

}  // namespace kubewatch::base
