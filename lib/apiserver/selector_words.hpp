// What the API server says of a label or field selector that it cannot read. Whether one can be
// read is core/selector.hpp's to decide: this is asked afterwards. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::apiserver {

// Null where its parser takes the text.
std::optional<std::string> why_no_label_selector(std::string_view text);
std::optional<std::string> why_no_field_selector(std::string_view text);

// The fields that a text names, "" among them, of one that its parser takes.
std::vector<std::string> selected_fields(std::string_view text);

}  // namespace kubewatch::apiserver
