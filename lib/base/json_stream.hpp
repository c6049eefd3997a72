// JSON documents one after the other: with or without white space between, as jq prints them, or
// with lines of --- between, as manifests have them. Private to base: yaml.hpp reads text that
// begins like JSON with it.
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

// Objects and arrays only, all of the text or nothing; numbers as the YAML reader has them. Errors:
// invalid (also duplicate keys), too_large; the message begins with "LINE:COLUMN: ", that of the
// document where no nearer one is known. `only_json`: the one that cannot be read follows another
// without a line of ---, so no YAML reader can have it either.
Result<std::vector<JsonAt>> parse_json_stream(std::string_view text, const YamlLimits& limits,
                                              bool& only_json);

}  // namespace kubewatch::base
