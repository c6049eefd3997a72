// Documents of YAML: a text is checked, then its events are fed to YamlBuilder. Private to base:
// yaml.hpp says what is read as JSON instead.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/yaml_document.hpp"

namespace kubewatch::base {

// Size, UTF-8 and %TAG lines. Errors: invalid, too_large; "LINE:COLUMN: what", as below.
Result<void> check_yaml_text(std::string_view text, const YamlLimits& limits);

// Of a text that was checked. `scanner_failed` is set where it is no YAML at all.
Result<std::vector<YamlDocument>> read_yaml_stream(std::string_view text, const YamlLimits& limits,
                                                   bool with_marks, bool& scanner_failed);

// The first document alone, whatever follows it; null where it is empty. Keys may be said twice.
Result<Json> read_first_yaml_document(std::string_view text, const YamlLimits& limits,
                                      std::vector<YamlRepeat>& repeated);

}  // namespace kubewatch::base
