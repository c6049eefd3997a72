// JSON documents one after the other, with or without white space between, as jq prints them.
// Private to base: yaml.hpp reads them where a text is JSON but not YAML.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/yaml.hpp"

namespace kubewatch::base {

struct JsonAt {
  Json value;
  std::size_t offset = 0;
};

// Objects and arrays only. Errors: invalid (also duplicate keys), too_large.
Result<std::vector<JsonAt>> parse_json_stream(std::string_view text, const YamlLimits& limits);

}  // namespace kubewatch::base
