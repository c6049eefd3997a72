// Bodies of requests that the API server reads as YAML 1.1, though most clients send JSON: those of
// server-side apply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/yaml.hpp"

namespace kubewatch::base {

// Compact JSON that such a reader takes for this value: characters that it refuses (U+007F), or
// takes for the end of a line (U+0085, U+2028), are escaped.
std::string dump_json_for_yaml(const Json& value);

// A body as the server reads it, by the rules of YAML also where the text is JSON: the first
// document alone, null where it is empty; the last value of a key that is said twice.
struct YamlBody {
  Json value;
  std::vector<std::string> repeated;  // sentences of go-yaml: line 4: key "data" already set in map
};
// Errors: as parse_yaml().
Result<YamlBody> parse_yaml_body(std::string_view text, const YamlLimits& limits = {});

}  // namespace kubewatch::base
