// Durations in a request as Go reads them: "1m30s", "-1.5h". Pure. Not those of rule files and
// flags: base/time.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kubewatch::apiserver {

// Why the text is none, in the words of Go's time package; null where it is one.
std::optional<std::string> why_no_duration(std::string_view text);

}  // namespace kubewatch::apiserver
