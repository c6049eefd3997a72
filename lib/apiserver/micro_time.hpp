// metav1.MicroTime: the times of Leases and Events, which must have six digits after the point.
#pragma once

#include <optional>
#include <string>

#include "base/json_fwd.hpp"

namespace kubewatch::apiserver {

// Why the server does not take the text, in the words of Go's time.Parse; absent when it does.
std::optional<std::string> why_no_micro_time(const std::string& text);

// The same of the first such time of an object of the kind.
std::optional<std::string> why_no_micro_times(const std::string& storage_id, const Json& object);

}  // namespace kubewatch::apiserver
